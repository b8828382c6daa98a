"""Pages that people open in a browser."""
