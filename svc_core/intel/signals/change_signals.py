"""Finds signals in what changed between two documents of one source, as the change is written.

Rule 1: a change is the difference between two statements of one source. The first document that a
        source ever brought is not a change, and removing a source does not withdraw its rows.
Rule 2: no row is read twice: the cost depends on the rows that are written alone.
"""

from collections.abc import Callable, Iterable, Mapping

from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.model import SOURCES
from svc_core.intel.signals.detectors import write_signals
from svc_core.intel.signals.market_moves import move_signals
from svc_core.intel.signals.model import Signal
from svc_core.intel.signals.parties import filing_signals, sanction_signals
from svc_core.intel.signals.scores import critical_signals, exploitation_signals
from svc_core.intel.signals.source_diffs import Diff
from svc_core.operation.context import Context


async def write_change_signals(
    ctx: Context, before: Mapping[str, Contribution], after: Mapping[str, Contribution]
) -> None:
    """Write the signals that follow from contributions changing from `before` to `after`."""
    diffs = await _diffs(ctx, before, after)
    signals = [signal for diff in diffs for signal in _DETECTORS[diff.claim.resource](diff)]
    for resource, detect in (("cve", critical_signals), ("market", move_signals)):
        batch = [diff for diff in diffs if diff.new is not None and diff.claim.resource == resource]
        signals += await detect(ctx, batch) if batch else ()
    if signals:
        await write_signals(ctx, signals)


async def _diffs(
    ctx: Context, before: Mapping[str, Contribution], after: Mapping[str, Contribution]
) -> list[Diff]:
    claims = {**before, **after}
    ids = [id_ for id_, claim in claims.items() if claim.resource in _DETECTORS]
    sources = await ctx.find_many(SOURCES, {claims[id_].source for id_ in ids}) if ids else {}
    diffs = []
    for id_ in ids:
        was, now = (_live_claim(side.get(id_)) for side in (before, after))
        source = sources.get(claims[id_].source)
        if source is not None and (was or now):
            diffs.append(Diff(was, now, source, ctx.now))
    return diffs


def _live_claim(claim: Contribution | None) -> Contribution | None:
    return None if claim is None or claim.gone else claim


_DETECTORS: Mapping[str, Callable[[Diff], Iterable[Signal]]] = {
    "cve": exploitation_signals,
    "entity": sanction_signals,
    "filing": filing_signals,
    "market": lambda _: (),
}
"""Detectors by the kind of row. Those of markets need stored price points, see `move_signals`."""
