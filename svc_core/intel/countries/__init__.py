"""Countries: their facts, and what happens in them."""
