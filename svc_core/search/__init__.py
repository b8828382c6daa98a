"""Lists and texts found by words and by meaning, for whoever registers a collection."""
