"""News items, the stories that they make, and daily recaps."""
