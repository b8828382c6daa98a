"""The operations that read and dismiss a signal.

Rule: a stored row does not depend on the clock. Whether a signal has expired, and which entities
its references mean, is decided when the row is read.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import attrs
from attrs import frozen

from svc_core.base import compact
from svc_core.contract.result import Single
from svc_core.intel.entities import directory
from svc_core.intel.folding.read_declarations import SHARED, reading
from svc_core.intel.signals.model import SIGNALS, WORDS, Signal
from svc_core.intel.signals.signal_index import SIGNAL_INDEX, index_signals
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, Operation, local
from svc_core.operation.members import SignalId, next_revision
from svc_core.search.lists import Listing
from svc_core.search.ranked_rows import SearchKind
from svc_core.wire.constraints import Arg

_text = compact.compact_encoder()


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


async def current_signals(ctx: Context, raws: Sequence[bytes]) -> list[bytes]:
    """Stored signals with the status and the entities of this moment."""
    rows: list[dict[str, Any]] = [json.loads(raw) for raw in raws]
    await directory.name_participants(ctx, rows, "entityId")
    return [_text(row | {"status": _status(row, ctx.now)}).encode() for row in rows]


LISTING = Listing(
    SIGNALS, look_ups={"entity": directory.entity_references}, complete=current_signals
)
_SHOWN = "getSignal", "title", "type summary", "sig"
SIGNAL_SEARCH: Final = SearchKind(
    "signal", attrs.evolve(LISTING, words=WORDS), *_SHOWN, vectors=SIGNAL_INDEX.vectors
)


# -- use cases ---------------------------------------------------------------------------------


async def get_signal(ctx: Context, request: GetSignal) -> Single[Signal]:
    """One signal, as the list and the change feed name it.

    Raises:
        Problem: NOT_FOUND.
    """
    return await LISTING.row(ctx, request.signal_id)


async def dismiss_signal(ctx: Context, request: DismissSignal) -> Single[Signal]:
    """Dismiss a signal; one that is dismissed stays as it is.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load(SIGNALS, request.signal_id)
    signal = SIGNALS.decode(document.raw)
    if signal.status != "dismissed":
        dismissal = next_revision(signal, ctx.now, status="dismissed")
        await ctx.save(SIGNALS, signal.id, dismissal, before=document)
        await index_signals(ctx, [dismissal])
    return await LISTING.row(ctx, signal.id)


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "signals show",
        "/signals/{signalId}",
        get_signal,
        scopes=SHARED,
        summary="Read a signal",
        timeless=False,
    ),
)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "signals dismiss",
        "Dismiss a signal that means nothing",
        dismiss_signal,
        binding="system",
        description="It stays dismissed when its sources are read again.",
    ),
)
