"""The store in memory: for tests, demonstrations and as the plain model of the others."""
