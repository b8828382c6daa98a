"""Clients of everything outside the process: documents, models, voices, payment facilitators."""
