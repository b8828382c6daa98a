"""Embedding models: on this machine, or behind an HTTP address."""
