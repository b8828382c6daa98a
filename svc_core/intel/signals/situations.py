"""Finds signals about situations: events that a source rates graver than before."""

from collections.abc import Iterator, Mapping
from typing import Any

from svc_core import wire
from svc_core.formats.reading.severities import severity_level
from svc_core.intel.events.model import incident_of
from svc_core.intel.signals.model import Signal
from svc_core.intel.signals.source_diffs import Diff
from svc_core.operation.source_members import SEVERITIES, Place


def escalation_signals(diff: Diff) -> Iterator[Signal]:
    """The signal of an event whose severity rose on the scale by which its source judged it before.

    Both judgements are rated as of today, as each was read by the table of its day. Sources that do
    not say when they changed theirs raise none.
    """
    claim, (old, new) = diff.claim, map(_level, diff.pair("severityBasis"))
    if new is None or diff.new is None or diff.new.stamp is None:
        return
    if not (diff.is_late or _is_rise(diff)):
        return
    rank = SEVERITIES.index(new)
    members = claim.said
    place = members.get("place")
    yield diff.signal(
        "escalation",
        f"{claim.row}|{new}",
        f"{new.capitalize()}: {members['title']}",
        direction="up",
        measure=rank,
        evidence=diff.evidence(rank, SEVERITIES.index(old or new)),
        incident_ids=(incident_of(claim.row, members["provider"], members.get("url")),),
        observation_ids=(claim.row,),
        place=wire.from_json(Place, place) if place else None,
    )


def _level(basis: Mapping[str, Any] | None) -> str | None:
    """The level of what a source says of harm by the table of today."""
    return severity_level(basis["scale"], basis["value"]) if basis else None


def _is_rise(diff: Diff) -> bool:
    """Whether a source has later rated an event graver, on the same scale."""
    stamps = [claim.stamp for claim in (diff.old, diff.new) if claim and claim.stamp]
    bases = [basis for basis in diff.pair("severityBasis") if _level(basis)]
    scales = [(basis["provider"], basis["scale"]) for basis in bases]
    if not len(stamps) == len(bases) == 2 or stamps[0] >= stamps[1] or scales[0] != scales[1]:
        return False
    earlier, later = (SEVERITIES.index(_level(basis)) for basis in bases)
    return earlier < later
