"""Webhooks: registration, signing and exact delivery of events (Spec: Events)."""
