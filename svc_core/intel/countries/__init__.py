"""Countries: their facts, newest indicators, and a summary of recent events in them."""
