"""Finds signals about situations: events that a source rates graver than before."""

from collections.abc import Iterator

from svc_core import wire
from svc_core.intel.events.model import incident_of
from svc_core.intel.signals.model import Signal
from svc_core.intel.signals.source_diffs import Diff
from svc_core.operation.source_members import SEVERITIES, Place


def escalation_signals(diff: Diff) -> Iterator[Signal]:
    """The signal of an event whose severity rose on the scale by which its source judged it before.

    Sources that do not say when they changed their judgement raise none.
    """
    claim, (old, new), bases = diff.claim, diff.pair("severity"), diff.pair("severityBasis")
    if new is None or diff.new is None or diff.new.stamp is None:
        return
    scales = [(basis["provider"], basis["scale"]) for basis in bases if basis]
    ranks = [SEVERITIES.index(severity) for severity in (old, new) if severity]
    is_rise = len(ranks) == len(scales) == 2 and ranks[0] < ranks[1] and scales[0] == scales[1]
    if not (is_rise or diff.is_late):
        return
    members = claim.said
    place = members.get("place")
    yield diff.signal(
        "escalation",
        f"{claim.row}|{new}",
        f"{new.capitalize()}: {members['title']}",
        direction="up",
        measure=ranks[-1],
        evidence=diff.evidence(ranks[-1], ranks[0]),
        incident_ids=(incident_of(claim.row, members["provider"], members.get("url")),),
        observation_ids=(claim.row,),
        place=wire.from_json(Place, place) if place else None,
    )
