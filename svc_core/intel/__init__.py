"""What the sources brought, as answers: who is involved, what happened, how it is connected."""

from typing import Any

from svc_core.intel import (
    actors,
    cves,
    cyber_graph,
    entities,
    finance,
    finint,
    fusion,
    graphs,
    incidents,
    markets,
    matching,
    signals,
)
from svc_core.operation import Operation

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *incidents.OPERATIONS,
    *entities.OPERATIONS,
    *graphs.OPERATIONS,
    *cves.OPERATIONS,
    *actors.OPERATIONS,
    *cyber_graph.OPERATIONS,
    *markets.OPERATIONS,
    *finance.OPERATIONS,
    *finint.OPERATIONS,
    *fusion.OPERATIONS,
    *signals.OPERATIONS,
)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *matching.LOCAL_OPERATIONS,
    *signals.LOCAL_OPERATIONS,
)
