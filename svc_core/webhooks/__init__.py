"""Webhooks: registration, signing and exact delivery of events (Spec: Events)."""

from svc_core.webhooks.operations import OPERATIONS

__all__ = ["OPERATIONS"]
