"""Signals of what changed between two documents, found where it is written.

Rule 1: a change is what a source says beside what it said before. The first document that a source
        ever brought is no change; what a source that is removed brought is no withdrawal.
Rule 2: nothing is looked at twice: the work is that of the rows that were written.
"""

from collections.abc import Callable, Iterable, Mapping

from svc_core.base.unset import Unset
from svc_core.intel.entities.model import EntityRef
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.model import SOURCES
from svc_core.intel.incidents.model import Incident
from svc_core.intel.signals.detectors import found, measured, raised
from svc_core.intel.signals.differences import Diff
from svc_core.intel.signals.markets import moves
from svc_core.intel.signals.model import Signal
from svc_core.intel.signals.parties import filed, sanctioned
from svc_core.intel.signals.scores import critical, listed
from svc_core.operation.declaration import Context
from svc_core.operation.facts import SEVERITIES


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


async def follow_severity(ctx: Context, was: Incident, now: Incident) -> None:
    """Write the signal of an incident that became graver by the scale that it was judged by."""
    old, new = was.severity_basis, now.severity_basis
    before, grave = (SEVERITIES.index(one.severity) for one in (was, now))
    if old is None or new is None or (old.provider, old.scale) != (new.provider, new.scale):
        return
    if grave <= before:
        return
    named = [(one, one.reference) for one in now.entities]
    signal = found(
        "escalation",
        f"{now.id}|{now.severity}",
        f"{was.severity} to {now.severity}: {now.title}",
        ctx.now,
        direction="up",
        measure=grave,
        evidence=measured(grave, before, was.last_seen_at, ctx.now),
        entities=tuple(
            EntityRef(told, one.name, one.role)
            for one, told in named
            if not isinstance(told, Unset)
        ),
        incident_ids=(now.id,),
        place=now.place,
        sources=now.sources,
        source_count=now.source_count,
    )
    await raised(ctx, [signal])
