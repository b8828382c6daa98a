"""The append-only log: hash chain, Merkle tree, signed checkpoints, proofs and receipts.

This package handles bytes, hashes and keys. It knows no store, and not what a record means.
"""
