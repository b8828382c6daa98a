"""Claims by predicate and value: who says what, which value ranks highest, what is contested.

Rule 1: values are equal where their canonical bytes are equal; 1 and 1.0 are, 1 and true are not.
Rule 2: a refuted claim lends its value no weight; where all of them are refuted the value ranks
        last and is never the one shown.
Rule 3: the order of candidates is total: rank, distinct authors, confidence, newest record, bytes.
"""

from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard

from svc_core.ledger.fold_verdicts import texts_of
from svc_core.ledger.predicates import is_single
from svc_core.ledger.records import Record
from svc_core.ledger.snapshot import readable
from svc_core.ledger.states import RANK
from svc_core.ledger.view import CandidateView, ClaimView, SupportView, VerificationView

Judged: TypeAlias = tuple[Record, VerificationView]

REFUTED: Final = RANK["refuted"]


class _Value(NamedTuple):
    """A value that claims give, with those claims, oldest first."""

    value: Any
    support: list[SupportView]


def by_predicate(claims: Iterable[Judged]) -> tuple[dict[str, ClaimView], list[Judged]]:
    """The claims grouped by predicate and value, and ranked; and those that cannot be read.

    They are claims in force, oldest first, each with its state.
    """
    groups: dict[str, dict[str, _Value]] = {}
    unreadable = []
    for judged in claims:
        payload: Mapping[str, Any] = judged[0].payload or {}
        predicate, value = payload.get("predicate"), payload.get("value")
        text = value_text(value)
        if text is None or not _is_name(predicate):
            unreadable.append(judged)
            continue
        values = groups.get(predicate)
        if values is None:
            values = groups[predicate] = {}
        found = values.get(text)
        if found is None:
            found = values[text] = _Value(value, [])
        found.support.append(_support(*judged, payload))
    return {name: _claim(name, values) for name, values in groups.items()}, unreadable


def _is_name(predicate: Any) -> TypeGuard[str]:
    return type(predicate) is str and (predicate.isascii() or readable(predicate) is not None)


def value_text(value: Any) -> str | None:
    """The canonical text of a value, or None where it is null or has none."""
    if type(value) is str and value.isascii():
        return encode_basestring(value)
    found = None if value is None else readable(value)
    return None if found is None else found.decode()


def _support(
    record: Record, verification: VerificationView, payload: Mapping[str, Any]
) -> SupportView:
    return SupportView(
        record.id,
        record.seq,
        record.author,
        record.recorded_at,
        record.valid_from,
        record.valid_to,
        False,
        verification,
        confidence_of(payload),
        texts_of(payload.get("evidence")),
        payload.get("statement"),
        payload.get("source"),
    )


def confidence_of(payload: Mapping[str, Any]) -> int | None:
    """The confidence, where it is one."""
    value = payload.get("confidence")
    return value if type(value) is int and 0 <= value <= 100 else None


# -- ranking -----------------------------------------------------------------------------------


class _Weight(NamedTuple):
    """What a candidate weighs: the greater comes first."""

    rank: int
    authors: int
    confidence: int
    newest: int


def _claim(predicate: str, values: Mapping[str, _Value]) -> ClaimView:
    # The newest record decides in the end, for it gives one value only. But in sets that no ledger
    # holds two records have one `seq`; there the bytes decide, since sorting is stable. Texts sort
    # by code point, which is the order of their UTF-8 bytes.
    ranked = [(_weight(values[text].support), values[text]) for text in sorted(values)]
    ranked.sort(key=itemgetter(0), reverse=True)
    top = ranked[0][0].rank
    single = is_single(predicate)
    return ClaimView(
        single,
        None if top == REFUTED else ranked[0][1].value,
        single and sum(weight.rank != REFUTED for weight, _ in ranked) > 1,
        tuple([_candidate(*each, best=each[0].rank == top != REFUTED) for each in ranked]),
    )


def _weight(support: list[SupportView]) -> _Weight:
    rank, confidence, newest = REFUTED, -1, -1
    authors = set()
    for each in support:
        worth = RANK[each.verification.state]
        if worth == REFUTED:
            continue
        newest = each.seq  # they come oldest first
        authors.add(each.author)
        rank = max(rank, worth)
        confidence = max(confidence, -1 if each.confidence is None else each.confidence)
    return _Weight(rank, len(authors), confidence, newest if authors else support[-1].seq)


def _candidate(weight: _Weight, found: _Value, *, best: bool) -> CandidateView:
    return CandidateView(
        found.value,
        best,
        weight.rank,
        weight.authors,
        None if weight.confidence < 0 else weight.confidence,
        tuple(found.support),
    )
