"""The bitemporal fold: what a ledger says of a subject at a record time, for a valid time.

Rule 1: a fold is a function of the set of records and the two times, nothing else: whatever order
        the records come in, however often, and in how many parts, the view has the same bytes.
Rule 2: nothing overwrites. Contradicting claims coexist; the fold ranks them and says "contested".
Rule 3: it is total. It enforces none of the guards of appending, and no set of records, however
        ill made, makes it raise.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from attrs import Factory, define, fields

from svc_core.base.unset import UNSET
from svc_core.ledger.fold.claims import Groups, add, ranked
from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.rows import (
    NOT_JUDGED,
    confidence_of,
    content,
    head_of,
    history,
    verification,
)
from svc_core.ledger.fold.segments import segments
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.fold.view import (
    Basis,
    DesignatorView,
    IdentityView,
    ObservationView,
    RejectedView,
    SubjectView,
    UnreadableView,
    VerificationView,
)
from svc_core.ledger.records import Record
from svc_core.wire import camel

R = TypeVar("R", IdentityView, DesignatorView, ObservationView)


def fold(
    records: Iterable[Record] | RecordSet,
    subject: str,
    *,
    valid_time: str,
    record_time: str | None = None,
    size: int | None = None,
    basis: Basis | None = None,
    with_history: bool = False,
    with_segments: bool = False,
) -> SubjectView:
    """The view of `subject` at `valid_time` of what was recorded at or before `record_time`.

    `size` takes the first so many records of the ledger instead; with both, both bound it. Without
    either, all records count. Records of other subjects are passed over. Times are the ledger's
    texts of 27 characters. `basis` is repeated in the view as it is given.
    """
    standing = Standing.of(records, subject, record_time=record_time, size=size)
    newest = max([each.recorded_at for each in standing.records], default=None)
    found = _sort(standing, valid_time)
    return SubjectView(
        id=subject,
        record_time=newest if record_time is None else record_time,
        valid_time=valid_time,
        basis=basis,
        open=bool(found.identities),
        identity=found.identities[-1] if found.identities else None,
        other_identities=tuple(found.identities[-2::-1]),
        designators=tuple(found.designators),
        observations=tuple(found.observations),
        claims=ranked(found.claims),
        rejected=tuple(found.rejected),
        unreadable=tuple(found.unreadable),
        history=history(standing) if with_history else UNSET,
        segments=segments(standing.records) if with_segments else UNSET,
    )


# -- what is in force, by what it is -----------------------------------------------------------


@define
class _Found:
    """What is in force, sorted by what it is; oldest first in each."""

    identities: list[IdentityView] = Factory(list)
    designators: list[DesignatorView] = Factory(list)
    observations: list[ObservationView] = Factory(list)
    claims: Groups = Factory(dict)
    rejected: list[RejectedView] = Factory(list)
    unreadable: list[UnreadableView] = Factory(list)


def _sort(standing: Standing, valid_time: str) -> _Found:
    found = _Found()
    judged_ids = standing.judged
    for record in standing.live(valid_time):
        judged = verification(standing, record) if record.id in judged_ids else NOT_JUDGED
        refuted = judged.state == "refuted"
        if refuted:
            found.rejected.append(
                RejectedView(*head_of(record), judged, record.kind, content(record))
            )
        if record.kind == "claim":
            if not add(found.claims, record, judged):
                found.unreadable.append(UnreadableView(*head_of(record), judged))
        elif record.kind == "subject":
            found.identities.append(_row(IdentityView, record, judged))
        elif refuted:
            continue
        elif record.kind == "designator":
            found.designators.append(_row(DesignatorView, record, judged))
        else:
            found.observations.append(_row(ObservationView, record, judged))
    return found


def _row(class_: type[R], record: Record, judged: VerificationView) -> R:
    """A record in force as a row that shows its payload by the names of its members."""
    payload = record.payload or {}
    said: dict[str, Any] = {name: payload.get(wire) for name, wire in _SAID[class_]}
    if "confidence" in said:
        said["confidence"] = confidence_of(payload)
    return class_(*head_of(record), judged, **said)


_SAID: Final = {
    class_: [(each.name, camel(each.name)) for each in fields(class_) if not each.inherited]
    for class_ in (IdentityView, DesignatorView, ObservationView)
}
