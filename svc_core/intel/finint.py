"""Financial and economic indicators, as rows of the second version: JSON alone."""

from typing import Any

from svc_core import problem
from svc_core.indicators import get_indicator, list_indicators
from svc_core.intel.declared import FININT, reading
from svc_core.operation import Operation

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "listFinancialIndicators",
        "indicators list",
        "/finint",
        list_indicators,
        scopes=FININT,
        columns=("id", "provider", "indicatorCode", "area.code", "period", "value", "name"),
        summary="List financial and economic indicators",
        description=(
            "Values of indicators, newest period first. The values of one filter are alternatives; "
            "different filters must all match. `latest=true` gives the newest period of each "
            "series among what matches. The rows are those of `/api/v1/osint/finint`."
        ),
        fails=(problem.CONFLICTING_PARAMETERS,),
    ),
    reading(
        "getFinancialIndicator",
        "indicators show",
        "/finint/{indicatorId}",
        get_indicator,
        scopes=FININT,
        summary="Read one value of an indicator",
        description="One row, as the list and the change feed name it.",
    ),
)
