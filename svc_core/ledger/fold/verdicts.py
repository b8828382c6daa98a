"""Verdicts as the view shows them: the state of a record, who gave it, and who differs."""

from typing import Any, Final, TypeAlias

from svc_core.ledger.fold.standing import Standing, Verdicts
from svc_core.ledger.fold.states import CREDIBILITY, UNVERIFIED
from svc_core.ledger.fold.view import VerdictView, VerificationView
from svc_core.ledger.records import Record

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
        record.id,
        record.seq,
        record.author,
        record.recorded_at,
        text_of(payload.get("state")),
        payload.get("method"),
        texts_of(payload.get("evidence")),
        payload.get("note"),
        counts,
        record.payload is None,
    )


Head: TypeAlias = tuple[str, int, str, str, str | None, str | None, bool, VerificationView]


def head_of(record: Record, verification: VerificationView) -> Head:
    """What every view of a record in force begins with."""
    return (
        record.id,
        record.seq,
        record.author,
        record.recorded_at,
        record.valid_from,
        record.valid_to,
        record.payload is None,
        verification,
    )


def text_of(value: Any) -> str | None:
    """The value where it is a text."""
    return value if type(value) is str else None


def texts_of(value: Any) -> tuple[str, ...]:
    """The texts in the value where it is an array."""
    if not value or type(value) is not list:
        return ()
    return tuple([item for item in value if type(item) is str])
