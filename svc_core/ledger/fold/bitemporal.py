"""Computes the view of a subject at a record time and a valid time: the bitemporal fold.

Rule 1: a fold is a function of the set of records and the two times, nothing else: whatever order
        the records come in, however often, and in how many parts, the view has the same bytes.
Rule 2: nothing overwrites. Contradicting claims coexist; the fold ranks them and says "contested".
Rule 3: it is total. It does not apply the rules of appending, and no set of records makes it raise,
        however malformed.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from attrs import Factory, define, fields

from svc_core.base.unset import UNSET
from svc_core.ledger.fold.claims import Groups, add_claim, rank_claims
from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.segments import split_segments
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
from svc_core.ledger.fold.view_rows import (
    NOT_JUDGED,
    confidence_of,
    history,
    public_payload,
    row_head,
    verification_view,
)
from svc_core.ledger.records import SealedRecord
from svc_core.wire import camel

R = TypeVar("R", IdentityView, DesignatorView, ObservationView)


def fold_records(
    records: Iterable[SealedRecord] | RecordSet,
    subject: str,
    *,
    valid_time: str,
    record_time: str | None = None,
    size: int | None = None,
    basis: Basis | None = None,
    with_history: bool = False,
    with_segments: bool = False,
) -> SubjectView:
    """Compute the view of `subject` at `valid_time`, from records up to `record_time`.

    `size` limits it to the first records of the ledger; with both, both apply; without either, all
    records count. Records of other subjects are ignored. Times are the ledger's texts of 27
    characters. `basis` is copied into the view.
    """
    standing = Standing.of(records, subject, record_time=record_time, size=size)
    newest = max([record.recorded_at for record in standing.records], default=None)
    rows = _sort_rows(standing, valid_time)
    return SubjectView(
        id=subject,
        record_time=newest if record_time is None else record_time,
        valid_time=valid_time,
        basis=basis,
        open=bool(rows.identities),
        identity=rows.identities[-1] if rows.identities else None,
        other_identities=tuple(rows.identities[-2::-1]),
        designators=tuple(rows.designators),
        observations=tuple(rows.observations),
        claims=rank_claims(rows.claims),
        rejected=tuple(rows.rejections),
        unreadable=tuple(rows.unreadable),
        history=history(standing) if with_history else UNSET,
        segments=split_segments(standing.records) if with_segments else UNSET,
    )


# -- what is in force, by what it is -----------------------------------------------------------


@define
class _Rows:
    """The records in force by the list of the view that shows them, oldest first in each."""

    identities: list[IdentityView] = Factory(list)
    designators: list[DesignatorView] = Factory(list)
    observations: list[ObservationView] = Factory(list)
    claims: Groups = Factory(dict)
    rejections: list[RejectedView] = Factory(list)
    unreadable: list[UnreadableView] = Factory(list)


def _sort_rows(standing: Standing, valid_time: str) -> _Rows:
    rows = _Rows()
    judged_ids = standing.verdicts_by_target
    for record in standing.live(valid_time):
        status = verification_view(standing, record) if record.id in judged_ids else NOT_JUDGED
        is_refuted = status.state == "refuted"
        if is_refuted:
            rows.rejections.append(
                RejectedView(*row_head(record), status, record.kind, public_payload(record))
            )
        if record.kind == "claim":
            if not add_claim(rows.claims, record, status):
                rows.unreadable.append(UnreadableView(*row_head(record), status))
        elif record.kind == "subject":
            rows.identities.append(_row(IdentityView, record, status))
        elif is_refuted:
            continue
        elif record.kind == "designator":
            rows.designators.append(_row(DesignatorView, record, status))
        else:
            rows.observations.append(_row(ObservationView, record, status))
    return rows


def _row(class_: type[R], record: SealedRecord, verification: VerificationView) -> R:
    """Return a record in force as a row of its view class, which shows its payload members."""
    payload = record.payload or {}
    members: dict[str, Any] = {name: payload.get(wire) for name, wire in _MEMBERS[class_]}
    if "confidence" in members:
        members["confidence"] = confidence_of(payload)
    return class_(*row_head(record), verification, **members)


_MEMBERS: Final = {
    class_: [(field.name, camel(field.name)) for field in fields(class_) if not field.inherited]
    for class_ in (IdentityView, DesignatorView, ObservationView)
}
