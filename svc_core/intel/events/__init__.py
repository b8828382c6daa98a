"""Events that have a place and a time, of every provider of situation data."""
