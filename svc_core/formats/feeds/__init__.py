"""Feeds of news: RSS, Atom, RDF, JSON Feed, and lists of them."""
