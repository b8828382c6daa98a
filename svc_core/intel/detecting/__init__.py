"""Signals of what stands out among many rows."""
