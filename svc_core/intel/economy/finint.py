"""Financial and economic indicators, as rows of the second version: JSON alone."""

from typing import Any

from svc_core.intel.economy.indicators import LISTED, READ, get_indicator, list_indicators
from svc_core.intel.folding.declaration import FININT, reading
from svc_core.operation.declaration import Operation

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "indicators list",
        "/finint",
        list_indicators,
        id_="listFinancialIndicators",
        scopes=FININT,
        **LISTED,
    ),
    reading(
        "indicators show",
        "/finint/{indicatorId}",
        get_indicator,
        id_="getFinancialIndicator",
        scopes=FININT,
        **READ,
    ),
)
