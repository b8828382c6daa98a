"""What a running service holds: its store, secrets, log, counts and the news of commits."""
