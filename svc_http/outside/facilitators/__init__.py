"""Who checks and settles payments, and what a chain shows of them."""
