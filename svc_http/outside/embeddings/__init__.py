"""Models of meaning: on this machine, or behind an address."""
