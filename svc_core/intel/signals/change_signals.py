"""Finds signals in what changed between two documents of one source, as the change is written.

Rule 1: a change is the difference between two statements of one source. The first document that a
        source ever brought is not a change, and removing a source does not withdraw its rows.
Rule 2: the times of a change are those of the two documents, by their own stamps. A statement that
        is older than the one that is stored is compared with that, so that documents may come in
        any order; of one change seen several times the narrowest times are kept.
Rule 3: no row is read twice: the cost depends on the rows that are written alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

import attrs

from svc_core.formats.table import FORMATS
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.model import SOURCES, Source
from svc_core.intel.signals.detectors import write_signals
from svc_core.intel.signals.market_moves import follow_prices
from svc_core.intel.signals.model import Signal
from svc_core.intel.signals.parties import filing_signals, sanction_signals
from svc_core.intel.signals.scores import critical_signals, exploitation_signals
from svc_core.intel.signals.situations import escalation_signals
from svc_core.intel.signals.source_diffs import Diff
from svc_core.operation.context import Context

Claims = Mapping[str, Contribution]
LateClaims = Mapping[str, tuple[Contribution | None, Contribution | None]]
"""Older statements of a source with those that are stored, None for none, by their ids."""


async def write_change_signals(
    ctx: Context, before: Claims, after: Claims, stamp: datetime | None
) -> None:
    """Write the signals that follow from contributions changing from `before` to `after`, by a
    document with this stamp, if it has one.
    """
    claims = {**before, **after}
    ids = [id_ for id_, claim in claims.items() if claim.resource in _DETECTORS]
    sources = await ctx.find_many(SOURCES, {claims[id_].source for id_ in ids}) if ids else {}
    diffs: list[Diff] = []
    for id_ in ids:
        old, new = (_live_claim(side.get(id_)) for side in (before, after))
        source = sources.get(claims[id_].source)
        if source is not None and (old or new):
            diffs.append(_change(old, new, source, stamp or ctx.now))
    await _write(ctx, diffs)


def _change(
    old: Contribution | None, new: Contribution | None, source: Source, now: datetime
) -> Diff:
    """The change from one statement to another. Those of a snapshot are of the time of the whole
    document, others have their own.
    """
    last_at = source.health.last_success_at
    start, end = source.stamp or last_at, now
    if (format_ := FORMATS.get(source.format or "")) is None or format_.kind != "snapshot":
        start, end = (old and old.stamp) or start, (new and new.stamp) or end
    return Diff(old, new, start and min(start, end), end, last_at is not None)


async def write_late_signals(
    ctx: Context, pairs: LateClaims, start: datetime | None = None, end: datetime | None = None
) -> None:
    """Write the signals that follow from statements that are older than those that are stored.

    `start` and `end` are the times of a snapshot and of the one that is known; other statements
    have their own.
    """
    diffs: list[Diff] = []
    for reading, stored in pairs.values():
        old, new = (claim and _live_claim(claim) for claim in (reading, stored))
        first_at = start or (reading and reading.stamp) or ctx.now
        last_at = end or (stored and stored.stamp) or ctx.now
        if old or new:
            diffs.append(Diff(old, new, first_at, last_at, True))
        if old and new:
            same_row = attrs.evolve(old, row=new.row)
            diffs.append(Diff(None, same_row, None, first_at, False, is_late=True))
    await _write(ctx, diffs)


async def _write(ctx: Context, diffs: Iterable[Diff]) -> None:
    diffs = [diff for diff in diffs if diff.claim.resource in _DETECTORS]
    signals = [signal for diff in diffs for signal in _DETECTORS[diff.claim.resource](diff)]
    signals += await critical_signals(ctx, diffs)
    if signals:
        await write_signals(ctx, signals)
    prices = [diff.new for diff in diffs if diff.new and diff.new.resource == "market"]
    if prices:
        await follow_prices(ctx, prices)


def _live_claim(claim: Contribution | None) -> Contribution | None:
    return None if claim is None or claim.gone else claim


def _nothing(_: Diff) -> Iterator[Signal]:
    return iter(())


_DETECTORS: Mapping[str, Callable[[Diff], Iterator[Signal]]] = {
    "cve": exploitation_signals,
    "entity": sanction_signals,
    "filing": filing_signals,
    "market": _nothing,
    "osintEvent": escalation_signals,
}
"""Detectors by the kind of row. Those of markets need stored price points, see `follow_prices`."""

DETECTED = frozenset(_DETECTORS)
"""The kinds of rows in whose statements changes are looked for."""
