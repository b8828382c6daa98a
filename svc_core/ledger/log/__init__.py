"""The log: records sealed in a chain and a Merkle tree, and what is signed and proven of them.

It knows bytes, hashes and keys; no store and no meaning of what a record says.
"""
