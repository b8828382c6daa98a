"""What the service does of its own accord: take documents in, make due reports, tell webhooks.

Each is a loop that claims work before it does it and ends when it is cancelled. Killed at any
point it leaves either nothing or a whole result.
"""
