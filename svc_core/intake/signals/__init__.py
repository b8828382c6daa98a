"""Signals of what changed, found in the unit that wrote it."""
