"""Name matching: compares names and identifiers, and never reads a store."""
