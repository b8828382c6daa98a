"""What the service lets others do for it, each behind a small port of our own."""
