"""Designators: identifiers that the world gives to things, each by a scheme, and their forms."""
