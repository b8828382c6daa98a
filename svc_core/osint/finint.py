"""Financial and economic indicators among situation data."""

from typing import Any

from svc_core import problem
from svc_core.indicators import get_indicator, list_indicators
from svc_core.operation import JSON, NDJSON, Operation
from svc_core.osint.declared import reading

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "listIndicators",
        "finint list",
        "/osint/finint",
        list_indicators,
        columns=("id", "provider", "indicatorCode", "area.code", "period", "value", "name"),
        summary="List financial and economic indicators",
        description=(
            "Values of indicators, newest period first. The values of one filter are alternatives; "
            "different filters must all match. `latest=true` gives the newest period of each "
            "series among what matches."
        ),
        media=(JSON, NDJSON),
        fails=(problem.CONFLICTING_PARAMETERS,),
        timeless=True,
    ),
    reading(
        "getIndicator",
        "finint show",
        "/osint/finint/{indicatorId}",
        get_indicator,
        summary="Read one value of an indicator",
        description="One row, as the list and the change feed name it.",
        timeless=True,
    ),
)
