"""One answer about a place, a time or a topic from everything that is known."""
