"""News items, their topics, and daily recaps."""
