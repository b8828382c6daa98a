"""Test kit for ledgers, folds and stores: random histories, laws, and a state machine."""
