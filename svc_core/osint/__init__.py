"""OSINT situation data: events, where and when they are, and the sources that bring them."""

from svc_core.osint import events, feeds, regional

__all__ = ["OPERATIONS"]

OPERATIONS = (*events.OPERATIONS, *regional.OPERATIONS, *feeds.OPERATIONS)
