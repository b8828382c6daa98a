"""Background workers: they read sources, make reports, deliver webhooks, run automations.

Each is a loop that claims work before it does it and ends when it is cancelled. Killed at any
point it leaves either nothing or a whole result.
"""
