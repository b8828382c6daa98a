"""The ledger: a bitemporal, append-only log of claims that anybody can check (Spec: Ledger)."""
