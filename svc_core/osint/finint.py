"""Financial and economic indicators among situation data."""

from typing import Any

from svc_core.indicators import LISTED, READ, get_indicator, list_indicators
from svc_core.operation import JSON, NDJSON, Operation
from svc_core.osint.declared import reading

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "finint list",
        "/osint/finint",
        list_indicators,
        media=(JSON, NDJSON),
        timeless=True,
        **LISTED,
    ),
    reading(
        "finint show",
        "/osint/finint/{indicatorId}",
        get_indicator,
        timeless=True,
        **READ,
    ),
)
