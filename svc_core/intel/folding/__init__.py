"""From what sources say of a row to the row: contributions, union, fold, writing."""
