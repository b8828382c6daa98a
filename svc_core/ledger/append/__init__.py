"""Appends to a ledger: validation, admission rules, sealing and storage; erasures and imports."""
