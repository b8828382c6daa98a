"""What an HTTP API promises, each usable alone: problems, cursors, idempotency, ETags, media."""
