"""Signals: what changed in a way that somebody should look at."""
