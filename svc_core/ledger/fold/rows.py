"""Records as rows of a view: head, verification, content, and what displaces them."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, TypeAlias

from svc_core.ledger.fold.standing import Displacement, Standing, Verdicts
from svc_core.ledger.fold.states import CREDIBILITY, UNVERIFIED
from svc_core.ledger.fold.view import DisplacerView, HistoryView, VerdictView, VerificationView
from svc_core.ledger.records import Payload, Record

Members: TypeAlias = tuple[str, int, str, str, str | None, str | None]

_head: Callable[[Record], Members] = attrgetter(
    "id", "seq", "author", "recorded_at", "valid_from", "valid_to"
)


def head_of(record: Record) -> tuple[*Members, bool]:
    """What every row begins with, in the order of `RecordView`."""
    return (*_head(record), record.payload is None)


def content(record: Record) -> dict[str, Any] | None:
    """What a record says, without the salt, which would let others guess what was erased."""
    if record.payload is None:
        return None
    return {name: value for name, value in record.payload.items() if name != "salt"}


def confidence_of(payload: Payload) -> int | None:
    """The confidence, where it is one."""
    value = payload.get("confidence")
    return value if type(value) is int and 0 <= value <= 100 else None


def text_of(value: Any) -> str | None:
    """The value where it is a text."""
    return value if type(value) is str else None


def texts_of(value: Any) -> tuple[str, ...]:
    """The texts in the value where it is an array."""
    if not value or type(value) is not list:
        return ()
    return tuple([item for item in value if type(item) is str])


# -- verdicts ----------------------------------------------------------------------------------

NOT_JUDGED: Final = VerificationView(UNVERIFIED, CREDIBILITY[UNVERIFIED], (), ())


def verification(standing: Standing, record: Record) -> VerificationView:
    """The state of a record and all that was said of it; NOT_JUDGED says it where nothing was."""
    found = standing.verdicts(record)
    return VerificationView(
        found.state,
        CREDIBILITY[found.state],
        tuple([_verdict(each, counts=each in found.counting) for each in found.all]),
        _dissent(found),
    )


def _dissent(found: Verdicts) -> tuple[VerdictView, ...]:
    latest = {each.author: each for each in found.counting}
    verdicts = [_verdict(each, counts=True) for each in latest.values()]
    differing = [each for each in verdicts if each.state != found.state]
    return tuple(sorted(differing, key=lambda each: (each.seq, each.id)))


def _verdict(record: Record, *, counts: bool) -> VerdictView:
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
    """Every record that is displaced at some valid time, oldest first."""
    found = standing.displacements
    return tuple(
        [
            _displaced(record, found[record.seq, record.id])
            for record in standing.records
            if (record.seq, record.id) in found
        ]
    )


def _displaced(record: Record, displacement: Displacement) -> HistoryView:
    return HistoryView(
        *head_of(record),
        record.kind,
        record.op,
        record.target,
        content(record),
        displacement.everywhere,
        tuple([_displacer(each) for each in displacement.by]),
    )


def _displacer(record: Record) -> DisplacerView:
    reason = (record.payload or {}).get("reason")
    return DisplacerView(record.id, record.op, *_head(record)[2:], reason)
