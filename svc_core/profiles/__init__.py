"""Profiles: topic monitors, each with the subscription that delivers its reports."""

from svc_core.profiles.operations import OPERATIONS

__all__ = ["OPERATIONS"]
