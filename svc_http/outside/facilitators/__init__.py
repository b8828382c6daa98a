"""Clients that verify and settle x402 payments, and that read them from the blockchain."""
