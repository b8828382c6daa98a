"""The HTML pages and files that the service shows in a browser."""
