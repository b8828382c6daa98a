"""Countries and places."""
