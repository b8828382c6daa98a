"""Fusion: joins several kinds of rows about one company in one time window, and explains them."""
