"""Exports subjects of the ledger as STIX 2.1 (OASIS Standard, 10 June 2021)."""
