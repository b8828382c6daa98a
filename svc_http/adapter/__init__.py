"""Turns declared operations into Starlette routes, and HTTP requests into answers."""
