"""Sets of records with a union, from which folds are computed.

Rule 1: joining two sets is their union: commutative, associative, idempotent, with the empty set as
        its neutral element. Order of arrival, repetition and partition of records leave no trace.
Rule 2: cutting a set back commutes with joining: what was recorded by a record time, or
        before a size, is the same whether it is cut before or after.
Rule 3: an erasure is not undone by a copy that still holds the content. Once a set knows of it,
        it holds the content no longer, and cutting it back does not forget that.
"""

from bisect import bisect_left
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from attrs import frozen

from svc_core.base import canonical
from svc_core.ledger.records import SealedRecord

_seq = attrgetter("seq")
_recorded_at = attrgetter("recorded_at")


@frozen
class RecordSet:
    """A set of records in order of their `seq`; create one with `RecordSet.of`.

    `erased_ids` holds the ids of the records whose content is known to be erased.
    """

    records: tuple[SealedRecord, ...] = ()
    erased_ids: frozenset[str] = frozenset()

    @staticmethod
    def of(records: "Iterable[SealedRecord] | RecordSet") -> "RecordSet":
        """Create the set of these records, in any order and with any repetitions."""
        return records if isinstance(records, RecordSet) else _set(records, frozenset())

    def __or__(self, other: "RecordSet") -> "RecordSet":
        """Return the union of two sets."""
        if not other.records and other.erased_ids <= self.erased_ids:
            return self
        return _set((*self.records, *other.records), self.erased_ids | other.erased_ids)

    def restrict(self, *, record_time: str | None = None, size: int | None = None) -> "RecordSet":
        """Return the records up to `record_time` that are among the first `size`."""
        records = self.records
        if size is not None:
            records = records[: bisect_left(records, size, key=_seq)]
        if record_time is not None:
            records = _recorded_by(records, record_time)
        return self if len(records) == len(self.records) else RecordSet(records, self.erased_ids)


# -- making sets -------------------------------------------------------------------------------


def _set(records: Iterable[SealedRecord], erased_ids: frozenset[str]) -> RecordSet:
    sequence = tuple(sorted(records, key=_seq))
    if _has_copies(sequence):
        sequence = _distinct(sequence)
    ids = erased_ids.union(
        [record.target for record in sequence if record.op == "erase" and record.target],
        [record.id for record in sequence if record.payload is None],
    )
    return RecordSet(_without_content(sequence, ids) if ids else sequence, ids)


def _recorded_by(records: tuple[SealedRecord, ...], record_time: str) -> tuple[SealedRecord, ...]:
    # Record times rise with `seq` in a ledger that verifies; a set need not come from one.
    if not records or max(map(_recorded_at, records)) <= record_time:
        return records
    return tuple([record for record in records if record.recorded_at <= record_time])


def _has_copies(records: tuple[SealedRecord, ...]) -> bool:
    """Whether two have one `seq`: only then can a record be there twice."""
    return len(set(map(_seq, records))) < len(records)


def _distinct(records: Iterable[SealedRecord]) -> tuple[SealedRecord, ...]:
    """Remove repetitions; sort by all members except the content, which is a total order.

    Copies that differ in content alone are one record: the copy whose content was erased is the
    one that counts, and of two contents under one seal, which no ledger holds, the lesser text.
    """
    copies: dict[Any, SealedRecord] = {}
    for record in records:
        head = _head(record)
        copies[head] = min(record, copies.get(head, record), key=_content)
    return tuple([copies[head] for head in sorted(copies)])


def _head(record: SealedRecord) -> tuple[Any, ...]:
    """Return a sort key of all members except the content; null sorts before every text."""
    members = record._replace(payload=None)
    return tuple([(member is not None, member) for member in members])


def _content(record: SealedRecord) -> bytes:
    """Return a sort key of the content; an erased one is empty and sorts first.

    What has no canonical form comes last, told apart by how it is written in the code.
    """
    if record.payload is None:
        return b""
    text = f"~{record.payload!r}"
    return canonical_form(record.payload) or text.encode(errors="backslashreplace")


def canonical_form(value: object) -> bytes | None:
    """Return the canonical bytes of a JSON value; None if it has no canonical form."""
    try:
        return canonical.dumps(value)
    except canonical.CanonicalError:
        return None


def _without_content(
    records: tuple[SealedRecord, ...], erased_ids: frozenset[str]
) -> tuple[SealedRecord, ...]:
    return tuple(
        [record._replace(payload=None) if record.id in erased_ids else record for record in records]
    )
