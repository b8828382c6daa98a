"""OSINT situation data: events, where and when they are, countries, indicators, and sources."""

from typing import Any

from svc_core.operation import Operation
from svc_core.osint import countries, events, feeds, finint, regional

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *events.OPERATIONS,
    *regional.OPERATIONS,
    *feeds.OPERATIONS,
    *countries.OPERATIONS,
    *finint.OPERATIONS,
)
