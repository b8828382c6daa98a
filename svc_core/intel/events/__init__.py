"""Events that have a place and a time, and their feeds."""
