"""Access: who calls, what they may do and how fast.

Pure: a host gathers the facts of a request (the key's record, the client address, the failures
of that address), `authorize` decides. Nothing here waits, reads a clock or draws randomness.
"""
