"""News: items taken from feeds, the sources they come from, and the 40 topics."""
