"""Search by words and by meaning, for any collection that declares how its rows are indexed."""
