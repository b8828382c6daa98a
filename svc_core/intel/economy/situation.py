"""Financial and economic indicators among situation data."""

from typing import Any

from svc_core.intel.economy.indicators import LISTED, READ, get_indicator, list_indicators
from svc_core.intel.folding.situation import reading
from svc_core.operation.declaration import JSON, NDJSON, Operation

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
