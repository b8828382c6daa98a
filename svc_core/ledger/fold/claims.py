"""Groups claims by predicate and value, ranks the values, and finds contested predicates.

Rule 1: values are equal where their canonical bytes are equal; 1 and 1.0 are, 1 and true are not.
Rule 2: a refuted claim lends its value no weight; where all of them are refuted the value ranks
        last and is never the one shown.
Rule 3: the order of candidates is total: rank, distinct authors, confidence, newest record, bytes.
"""

from collections.abc import Iterable
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any, Final, TypeAlias

from svc_core.ledger.fold.recordset import canonical_form
from svc_core.ledger.fold.verification_states import RANK
from svc_core.ledger.fold.view import CandidateView, ClaimView, SupportView, VerificationView
from svc_core.ledger.fold.view_rows import confidence_of, row_head, texts_of
from svc_core.ledger.predicates import is_single
from svc_core.ledger.records import Payload, SealedRecord

REFUTED_RANK: Final = RANK["refuted"]

Values: TypeAlias = dict[str | tuple[str], tuple[Any, list[SupportView]]]
"""The values claimed under one predicate, each with its claims, oldest first.

An ASCII text is its own key, which saves encoding it; any other value has the tuple of its
canonical text as key.
"""
Groups: TypeAlias = dict[str, Values]
"""The claimed values by predicate."""


def add_claim(groups: Groups, record: SealedRecord, verification: VerificationView) -> bool:
    """Add a claim to its group, oldest first; return False if it cannot be read."""
    payload: Payload = record.payload or {}
    predicate, value = payload.get("predicate"), payload.get("value")
    key = _key(value)
    if key is None or type(predicate) is not str:
        return False
    values = groups.get(predicate)
    if values is None:
        if not predicate.isascii() and canonical_form(predicate) is None:
            return False
        values = groups[predicate] = {}
    candidate = values.get(key)
    if candidate is None:
        candidate = values[key] = (value, [])
    candidate[1].append(_support(record, verification, payload))
    return True


def _key(value: Any) -> str | tuple[str] | None:
    if type(value) is str and value.isascii():
        return value
    text = value_text(value)
    return None if text is None else (text,)


def value_text(value: Any) -> str | None:
    """Return the canonical JSON text of a value; None if it is null or has none."""
    if type(value) is str and value.isascii():
        return encode_basestring(value)
    raw = None if value is None else canonical_form(value)
    return None if raw is None else raw.decode()


def _support(record: SealedRecord, verification: VerificationView, payload: Payload) -> SupportView:
    member = payload.get
    return SupportView(
        *row_head(record),
        verification,
        confidence_of(payload),
        texts_of(member("evidence")),
        member("statement"),
        member("source"),
    )


# -- ranking -----------------------------------------------------------------------------------


Weight: TypeAlias = tuple[int, int, int, int]
"""The sort key of a value: rank, distinct authors, confidence, newest record; greatest first."""


def rank_claims(groups: Groups) -> dict[str, ClaimView]:
    """Return the view of each predicate, with its values ranked."""
    return {predicate: _claim(predicate, values.values()) for predicate, values in groups.items()}


def _claim(predicate: str, values: Iterable[tuple[Any, list[SupportView]]]) -> ClaimView:
    candidates = [(_weight(support), value, tuple(support)) for value, support in values]
    # The newest record decides in the end, for it gives one value only. But in sets that no ledger
    # holds two records have one `seq`; there the bytes decide, since sorting is stable. Texts sort
    # by code point, which is the order of their UTF-8 bytes.
    if len({weight for weight, _, _ in candidates}) < len(candidates):
        candidates.sort(key=lambda candidate: value_text(candidate[1]) or "")
    candidates.sort(key=_weight_of, reverse=True)
    (top, *_), value, _ = candidates[0]
    single = is_single(predicate)
    return ClaimView(
        single,
        None if top == REFUTED_RANK else value,
        single and sum(weight[0] != REFUTED_RANK for weight, _, _ in candidates) > 1,
        tuple(
            [
                CandidateView(
                    value,
                    rank == top != REFUTED_RANK,
                    rank,
                    authors,
                    None if confidence < 0 else confidence,
                    support,
                )
                for (rank, authors, confidence, _), value, support in candidates
            ]
        ),
    )


_weight_of = itemgetter(0)


def _weight(support: list[SupportView]) -> Weight:
    rank, confidence, newest = REFUTED_RANK, -1, -1
    authors = set()
    for claim in support:
        worth = RANK[claim.verification.state]
        if worth == REFUTED_RANK:
            continue
        rank = worth if worth > rank else rank
        if claim.confidence is not None and claim.confidence > confidence:
            confidence = claim.confidence
        newest = claim.seq  # they come oldest first
        authors.add(claim.author)
    return rank, len(authors), confidence, newest if authors else support[-1].seq
