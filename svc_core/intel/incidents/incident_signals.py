"""Signals and the incidents that they are about: lists signals, and finds those of an incident."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import evolve

from svc_core.base.unset import Maybe, or_default
from svc_core.contract.result import Page
from svc_core.intel.folding.read_declarations import SHARED, reading
from svc_core.intel.incidents.model import INCIDENTS
from svc_core.intel.signals.model import NEVER, SIGNALS, ListSignals, Signal, SignalStatus
from svc_core.intel.signals.operations import LISTING as SIGNAL_LISTING
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation
from svc_core.operation.filters import Range
from svc_core.operation.members import micros

INCIDENTS_ASKED = 500  # ids of the incidents of one page, or of one filter
SIGNALS_TOLD = 500  # of the incidents of one page

_STATES = ("active", "expired", "dismissed")

# -- rules -------------------------------------------------------------------------------------


def _end_range(status: Maybe[tuple[SignalStatus, ...]], now: datetime) -> dict[str, Range]:
    """The range of the `end` number that selects signals in one of these states at a time."""
    states, now_micros = {*or_default(status, _STATES)}, micros(now)
    if states == {*_STATES}:
        return {}
    if states == {"expired", "dismissed"}:
        return {"ended": (-NEVER, now_micros)}
    start = 1 - NEVER if "expired" in states else now_micros + 1 if "active" in states else NEVER
    end = None if "dismissed" in states else NEVER - 1 if "active" in states else now_micros
    return {"end": (start, end)}


async def _incidents(ctx: Context, ids: Sequence[str]) -> tuple[str, ...]:
    """All ids of the incidents that these ids answer for; unknown ids stay in the list."""
    about = {"key": tuple(ids)}
    page = await ctx.tx.documents.scan(INCIDENTS, where=about, limit=INCIDENTS_ASKED)
    keys = (key for row in page.rows for key in INCIDENTS.decode(row.raw).keys)
    return tuple(dict.fromkeys([*ids, *keys]))


LISTING = evolve(SIGNAL_LISTING, look_ups={**SIGNAL_LISTING.look_ups, "incident": _incidents})


async def signals_about(ctx: Context, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The ids of the newest signals about each of these incidents, by its id."""
    names = {key: row["id"] for row in rows for key in (row["id"], *row["mergedIds"])}
    about = {"incident": tuple(names)[:INCIDENTS_ASKED]}
    page = await ctx.tx.documents.scan(SIGNALS, where=about, limit=SIGNALS_TOLD)
    signals: dict[str, list[str]] = {}
    for document in page.rows:
        incidents = {names.get(id_) for id_ in json.loads(document.raw)["incidentIds"]}
        for id_ in sorted(filter(None, incidents)):
            signals.setdefault(id_, []).append(document.id)
    return signals


# -- use cases ---------------------------------------------------------------------------------


async def list_signals(ctx: Context, request: ListSignals) -> Page[Signal]:
    """What detectors found in the rows of all sources: catalogues that grew, scores and prices that
    moved, values off their usual course, more news than usual, sources that fell silent. Each has
    its numbers and its evidence. The values of one filter are alternatives; different filters must
    all match. The latest comes first.
    """
    # Cursors are bound to the states, as the range of ends moves with the clock.
    return await LISTING.page(
        ctx,
        request,
        ranges=_end_range(request.status, ctx.now),
        binding={"status": or_default(request.status, ())},
    )


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "signals list",
        "/signals",
        list_signals,
        scopes=SHARED,
        columns=("id", "title", "type", "strength", "detectedAt", "status"),
        summary="List signals",
        timeless=False,
    ),
)
