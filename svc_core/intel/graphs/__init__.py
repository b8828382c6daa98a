"""Graphs of entities and of attacks, built from the stored relations, and their STIX form."""
