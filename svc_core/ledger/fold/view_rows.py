"""Converts records to the rows of a view: head, verification, content and displacers."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, TypeAlias

from svc_core.ledger.fold.standing import Displacement, RecordVerdicts, Standing
from svc_core.ledger.fold.verification_states import CREDIBILITY, UNVERIFIED
from svc_core.ledger.fold.view import DisplacerView, HistoryView, VerdictView, VerificationView
from svc_core.ledger.records import Payload, SealedRecord

Members: TypeAlias = tuple[str, int, str, str, str | None, str | None]

_head: Callable[[SealedRecord], Members] = attrgetter(
    "id", "seq", "author", "recorded_at", "valid_from", "valid_to"
)


def row_head(record: SealedRecord) -> tuple[*Members, bool]:
    """Return the members that every row begins with, in the order of `RecordView`."""
    return (*_head(record), record.payload is None)


def public_payload(record: SealedRecord) -> dict[str, Any] | None:
    """Return the payload without its salt, which would help to guess an erased payload."""
    if record.payload is None:
        return None
    return {name: value for name, value in record.payload.items() if name != "salt"}


def confidence_of(payload: Payload) -> int | None:
    """Return the confidence of a payload; None if it is not an integer from 0 to 100."""
    value = payload.get("confidence")
    return value if type(value) is int and 0 <= value <= 100 else None


def text_of(value: Any) -> str | None:
    """Return a value if it is a text, else None."""
    return value if type(value) is str else None


def texts_of(value: Any) -> tuple[str, ...]:
    """Return the texts among the items of a value if it is an array."""
    if not value or type(value) is not list:
        return ()
    return tuple([item for item in value if type(item) is str])


# -- verdicts ----------------------------------------------------------------------------------

NOT_JUDGED: Final = VerificationView(UNVERIFIED, CREDIBILITY[UNVERIFIED], (), ())


def verification_view(standing: Standing, record: SealedRecord) -> VerificationView:
    """Return the state of a record with its verdicts; use NOT_JUDGED if it has none."""
    verdicts = standing.verdicts(record)
    return VerificationView(
        verdicts.state,
        CREDIBILITY[verdicts.state],
        tuple([_verdict_row(row, counts=row in verdicts.counting) for row in verdicts.rows]),
        _dissent(verdicts),
    )


def _dissent(verdicts: RecordVerdicts) -> tuple[VerdictView, ...]:
    latest = {verdict.author: verdict for verdict in verdicts.counting}
    rows = [_verdict_row(verdict, counts=True) for verdict in latest.values()]
    differing = [row for row in rows if row.state != verdicts.state]
    return tuple(sorted(differing, key=lambda row: (row.seq, row.id)))


def _verdict_row(record: SealedRecord, *, counts: bool) -> VerdictView:
    payload = record.payload or {}
    return VerdictView(
        *_head(record)[:4],
        text_of(payload.get("state")),
        payload.get("method"),
        texts_of(payload.get("evidence")),
        payload.get("note"),
        counts,
        record.payload is None,
    )


# -- history -----------------------------------------------------------------------------------


def history(standing: Standing) -> tuple[HistoryView, ...]:
    """Return every record that is displaced at some valid time, oldest first."""
    displacements = standing.displacements
    return tuple(
        [
            _history_row(record, displacements[record.seq, record.id])
            for record in standing.records
            if (record.seq, record.id) in displacements
        ]
    )


def _history_row(record: SealedRecord, displacement: Displacement) -> HistoryView:
    return HistoryView(
        *row_head(record),
        record.kind,
        record.op,
        record.target,
        public_payload(record),
        displacement.is_total,
        tuple([_displacer_row(displacer) for displacer in displacement.displacers]),
    )


def _displacer_row(record: SealedRecord) -> DisplacerView:
    reason = (record.payload or {}).get("reason")
    return DisplacerView(record.id, record.op, *_head(record)[2:], reason)
