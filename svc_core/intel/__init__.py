"""What the sources brought, as answers: who is involved, what happened, how it is connected."""

from typing import Any

from svc_core.intel import entities, finance, finint, markets, signals
from svc_core.operation import Operation

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *entities.OPERATIONS,
    *markets.OPERATIONS,
    *finance.OPERATIONS,
    *finint.OPERATIONS,
    *signals.OPERATIONS,
)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (*signals.LOCAL_OPERATIONS,)
