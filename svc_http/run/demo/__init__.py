"""What the demo starts with: news documents that are fresh on any day, and topic profiles."""
