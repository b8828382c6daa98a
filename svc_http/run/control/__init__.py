"""Carries out operations for the operator of this machine, over a socket or in this process."""
