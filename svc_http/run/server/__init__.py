"""Runs the server: Hypercorn with our HTTP/1 protocol, one process or several."""
