"""The change feed: every change that a caller can read, in commit order."""
