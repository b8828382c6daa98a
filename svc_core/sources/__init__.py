"""Parsers of news sources: bytes in, typed observations out; no input or output of their own."""
