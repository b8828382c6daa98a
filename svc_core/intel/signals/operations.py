"""The operations that read and dismiss a signal.

Rule: a stored row does not depend on the clock. Whether a signal has expired, and which entities
its references mean, is decided when the row is read.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from attrs import frozen

from svc_core.base import compact
from svc_core.contract.result import One
from svc_core.intel.entities import directory
from svc_core.intel.folding.declaration import SHARED, reading
from svc_core.intel.signals.indexing import index_signals
from svc_core.intel.signals.model import (
    SIGNALS,
    Signal,
)
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, Operation, local
from svc_core.operation.members import (
    SignalId,
    revised,
)
from svc_core.operation.ports import Document
from svc_core.wire.constraints import Arg

text = compact.encoder()


# -- requests ----------------------------------------------------------------------------------


@frozen
class GetSignal:
    """One signal."""

    signal_id: Annotated[SignalId, PATH]


@frozen
class DismissSignal:
    """The signal that means nothing."""

    signal_id: Annotated[SignalId, Arg(positional=True)]


# -- rules -------------------------------------------------------------------------------------


def _status(row: Mapping[str, Any], now: datetime) -> str:
    ends = row["expiresAt"]
    is_over = row["status"] == "active" and ends and datetime.fromisoformat(ends) <= now
    return "expired" if is_over else row["status"]


async def shown(ctx: Context, raws: Sequence[bytes]) -> list[dict[str, Any]]:
    """Stored signals as JSON members, with the status and the entities of this moment."""
    rows: list[dict[str, Any]] = [json.loads(raw) for raw in raws]
    await directory.taking_part(ctx, rows, "entityId")
    for row in rows:
        row["status"] = _status(row, ctx.now)
    return rows


async def _response(ctx: Context, document: Document[Signal]) -> One[Signal]:
    (row,) = await shown(ctx, [document.raw])
    return One(text(row).encode(), (*document.tag, row["status"], text(row["entities"])))


# -- use cases ---------------------------------------------------------------------------------


async def get_signal(ctx: Context, request: GetSignal) -> One[Signal]:
    """One signal.

    Raises:
        Problem: NOT_FOUND.
    """
    return await _response(ctx, await ctx.load(SIGNALS, request.signal_id))


async def dismiss_signal(ctx: Context, request: DismissSignal) -> One[Signal]:
    """Dismiss a signal; one that is dismissed stays as it is.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load(SIGNALS, request.signal_id)
    signal = SIGNALS.decode(document.raw)
    if signal.status != "dismissed":
        dismissal = revised(signal, ctx.now, status="dismissed")
        document = await ctx.save(SIGNALS, signal.id, dismissal, before=document)
        await index_signals(ctx, [dismissal])
    return await _response(ctx, document)


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "signals show",
        "/signals/{signalId}",
        get_signal,
        scopes=SHARED,
        summary="Read a signal",
        description="One signal, as the list and the change feed name it.",
        timeless=False,
    ),
)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "signals dismiss",
        "Dismiss a signal that means nothing",
        dismiss_signal,
        binding="system",
        description="It stays dismissed though what it was read from is read again.",
    ),
)
