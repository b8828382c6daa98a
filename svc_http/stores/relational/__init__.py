"""What the stores with tables have in common: their statements differ, and what is done with them
does not."""
