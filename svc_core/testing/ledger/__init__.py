"""What ledgers, folds and their stores are tested with: histories, properties, a machine."""
