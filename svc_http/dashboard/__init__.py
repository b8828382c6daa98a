"""The dashboard: pages for signed-in people, derived from the catalogue of operations."""
