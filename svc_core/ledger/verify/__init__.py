"""Verifies a log: whether its lines are those that were sealed, and which line is at fault."""
