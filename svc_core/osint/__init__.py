"""OSINT situation data: countries, indicators, events, feeds (Spec: Other v1 operations)."""

from typing import Any

from svc_core.operation import Operation
from svc_core.osint import countries, finint

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *countries.OPERATIONS,
    *finint.OPERATIONS,
)
