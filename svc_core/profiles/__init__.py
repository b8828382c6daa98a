"""Profiles: topic monitors, each with the subscription that delivers its reports."""

from svc_core.profiles import operations, subscriptions

OPERATIONS = (*operations.OPERATIONS, *subscriptions.OPERATIONS)

__all__ = ["OPERATIONS"]
