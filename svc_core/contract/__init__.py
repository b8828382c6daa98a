"""Parts of the contract of an HTTP API: problems, cursors, idempotency, ETags, media types."""
