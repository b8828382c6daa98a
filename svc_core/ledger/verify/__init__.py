"""Verification: whether lines are the log that was sealed, and if not, which line is at fault."""
