"""Documents taken in: the table of kinds, sources, their health and schedule."""
