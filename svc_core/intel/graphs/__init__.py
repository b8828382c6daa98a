"""Graphs around an entity or a vulnerability, and their STIX form."""
