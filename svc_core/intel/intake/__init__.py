"""Documents taken in: the table of kinds, the sources, their health and schedule."""
