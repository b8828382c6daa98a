"""Signals of what changed between two documents, found where it is written.

Rule 1: a change is what a source says beside what it said before. The first document that a source
        ever brought is no change; what a source that is removed brought is no withdrawal.
Rule 2: nothing is looked at twice: the work is that of the rows that were written.
"""

from collections.abc import Callable, Iterable, Mapping

from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.model import SOURCES
from svc_core.intel.signals.detectors import raised
from svc_core.intel.signals.differences import Diff
from svc_core.intel.signals.markets import moves
from svc_core.intel.signals.model import Signal
from svc_core.intel.signals.parties import filed, sanctioned
from svc_core.intel.signals.scores import critical, listed
from svc_core.operation.context import Context


async def follow(
    ctx: Context, before: Mapping[str, Contribution], after: Mapping[str, Contribution]
) -> None:
    """Write the signals of contributions that were `before` and are `after`."""
    diffs = await _diffs(ctx, before, after)
    signals = [each for one in diffs for each in _DETECTED[one.told.resource](one)]
    for resource, look in (("cve", critical), ("market", moves)):
        some = [one for one in diffs if one.now is not None and one.told.resource == resource]
        signals += await look(ctx, some) if some else ()
    if signals:
        await raised(ctx, signals)


async def _diffs(
    ctx: Context, before: Mapping[str, Contribution], after: Mapping[str, Contribution]
) -> list[Diff]:
    every = {**before, **after}
    ids = [id_ for id_, one in every.items() if one.resource in _DETECTED]
    sources = await ctx.find_many(SOURCES, {every[id_].source for id_ in ids}) if ids else {}
    diffs = []
    for id_ in ids:
        was, now = (_standing(side.get(id_)) for side in (before, after))
        source = sources.get(every[id_].source)
        if source is not None and (was or now):
            diffs.append(Diff(was, now, source, ctx.now))
    return diffs


def _standing(one: Contribution | None) -> Contribution | None:
    return None if one is None or one.gone else one


_DETECTED: Mapping[str, Callable[[Diff], Iterable[Signal]]] = {
    "cve": listed,
    "entity": sanctioned,
    "filing": filed,
    "market": lambda _: (),
}
"""By the kind of row; markets are looked at with the points that they had."""
