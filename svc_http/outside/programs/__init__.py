"""Other programs that are run for what they make."""
