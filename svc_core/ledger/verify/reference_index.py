"""Checks identifiers, targets and erasures of a log in bounded memory.

Rule 1: 28 bytes are kept for a record, and as many for a reference until it was judged; references
        are judged when they number a quarter of the records. A million records thus take less than
        40 MB, where a set of their identifiers alone takes 80 MB.
Rule 2: entries lie in buckets by their kind and the first byte of the hash in their identifier. A
        bucket is judged by sorting it: equal identifiers then stand together, in the order of
        their lines.
"""

from binascii import unhexlify
from collections.abc import Iterable, Iterator
from typing import Final

from svc_core.ledger.verify.lines import Head
from svc_core.ledger.verify.outcome import Fault, Findings

# An entry: the rest of the hash 11, line and flags 5, subject 12.
_ENTRY: Final = 28
_KEY: Final = slice(0, 11)
_PLACE: Final = slice(11, 16)
_FLAGS: Final = 15
"""The byte whose last bits are the flags; the line stands in those before them."""
_FLAG_BITS: Final = 3
_SUBJECT: Final = slice(16, 28)
# Of a reference, that it erases; of a record, that it was erased.
_REFERS, _EMPTY, _ERASES = 1, 2, 4

_PREFIXES: Final = ("sbj", "dsg", "obs", "clm")
_FIRSTS: Final = {ord(prefix[0]): number << 8 for number, prefix in enumerate(_PREFIXES)}
"""The first bucket of each kind, by the first letter of its identifiers."""
_BUCKETS: Final = len(_PREFIXES) << 8
_REFERENCES_MIN: Final = 1 << 16
"""References that wait at least: 2 MB."""


class References:
    """The check of identifiers: add records line by line, then read `findings`.

    With `is_partial` the log was not taken in from its beginning, or not all of it: a target that
    is unknown may lie outside. With `only_erasures` nothing but missing payloads and what erases
    them is taken in. With `allow_content` a record may have the content that another erases.
    """

    def __init__(
        self, *, is_partial: bool, only_erasures: bool = False, allow_content: bool = False
    ) -> None:
        self.erased_count = 0
        self._is_partial = is_partial or only_erasures
        self._only_erasures = only_erasures
        self._allow_content = allow_content
        self._erased_later: set[tuple[int, bytes]] = set()
        self._buckets = [bytearray() for _ in range(_BUCKETS)]
        # What was judged, sorted, without the room to grow that an array has.
        self._archive = [b""] * _BUCKETS
        self._lost_line = 0
        self._record_count = 0
        self._reference_count = 0
        self._findings = Findings()

    def record(self, line: int, head: Head, *, is_empty: bool) -> None:
        """Add the record of a line and its reference; with `is_empty` its payload is null."""
        erases = head.op == b"erase"
        if is_empty or not self._only_erasures:
            self._record_count += 1
            self._put(head.id, line, _EMPTY * is_empty, head.subject)
        if head.target is None or (self._only_erasures and not erases):
            return
        self._reference_count += 1
        self._put(head.target, line, _REFERS | _ERASES * erases, head.subject)
        if self._reference_count >= max(_REFERENCES_MIN, self._record_count // 4):
            self._judge(is_last=False)

    def lose(self, line: int, *, may_erase: bool) -> None:
        """A record at `line` cannot be read: what others refer to may be it.

        If it may have been an erasure, no payload before it can be called missing.
        """
        self._is_partial = True
        if may_erase:
            self._lost_line = max(self._lost_line, line)

    def cut(self, line: int) -> None:
        """The records from `line` on are gone: no payload can be called missing any more."""
        self._lost_line = max(self._lost_line, line)

    def findings(self, erased_later: Iterable[str] = ()) -> Findings:
        """Return all faults; no record may be added after. Later records erase `erased_later`."""
        self._erased_later = {_bucket_key(id_.encode()) for id_ in erased_later}
        self._judge(is_last=True)
        return self._findings

    def _put(self, id_: bytes, line: int, flags: int, subject: bytes) -> None:
        bucket, key = _bucket_key(id_)
        place = (line << _FLAG_BITS | flags).to_bytes(5, "big")
        self._buckets[bucket] += key + place + unhexlify(subject[4:])

    def _judge(self, *, is_last: bool) -> None:
        self._reference_count = 0
        for number, bucket in enumerate(self._buckets):
            packed = self._archive[number] + bucket
            if not packed:
                continue
            entries = sorted([packed[at : at + _ENTRY] for at in range(0, len(packed), _ENTRY)])
            carry = bytearray()
            self._findings.take(*self._walk(number, entries, carry, is_last=is_last))
            self._archive[number], self._buckets[number] = bytes(carry), bytearray()

    def _walk(
        self, bucket: int, entries: list[bytes], carry: bytearray, *, is_last: bool
    ) -> Iterator[Fault]:
        """Judge one bucket; what later references may need goes to `carry`."""
        owner = b""
        for entry in entries:
            is_owners = entry[_KEY] == owner[_KEY]
            if not entry[_FLAGS] & _REFERS:
                if is_owners:
                    detail = "Another record has this id already."
                    yield _fault(bucket, entry, "DUPLICATE_ID", detail)
                    continue
                yield from self._close(bucket, owner, carry, is_last=is_last)
                owner = entry
            elif not is_owners or _line(entry) == _line(owner):
                if is_owners or not self._is_partial:
                    detail = "No earlier record has the target's id."
                    yield _fault(bucket, entry, "BAD_TARGET", detail)
            elif entry[_SUBJECT] != owner[_SUBJECT]:
                yield _fault(bucket, entry, "BAD_TARGET", "The target is about another subject.")
            elif entry[_FLAGS] & _ERASES and not owner[_FLAGS] & _ERASES:
                if owner[_FLAGS] & _EMPTY:
                    self.erased_count += 1
                elif not self._allow_content:
                    detail = f"Line {_line(entry)} erases this record, and its payload is here."
                    yield _fault(bucket, owner, "PAYLOAD_NOT_ERASED", detail)
                owner = b"%b%c%b" % (owner[:_FLAGS], owner[_FLAGS] | _ERASES, owner[_FLAGS + 1 :])
        yield from self._close(bucket, owner, carry, is_last=is_last)

    def _close(
        self, bucket: int, owner: bytes, carry: bytearray, *, is_last: bool
    ) -> Iterator[Fault]:
        if is_last and owner and owner[_FLAGS] & (_EMPTY | _ERASES) == _EMPTY:
            if (bucket, owner[_KEY]) in self._erased_later:
                self.erased_count += 1
            elif _line(owner) > self._lost_line:
                detail = "The payload is null and no record erases it."
                yield _fault(bucket, owner, "PAYLOAD_MISSING", detail)
        carry += owner


def _bucket_key(id_: bytes) -> tuple[int, bytes]:
    """Return the bucket of an identifier, and its key within the bucket."""
    hash_ = unhexlify(id_[4:])
    return _FIRSTS[id_[0]] + hash_[0], hash_[1:]


def _fault(bucket: int, entry: bytes, code: str, detail: str) -> Fault:
    id_ = f"{_PREFIXES[bucket >> 8]}_{bucket & 0xFF:02x}{entry[_KEY].hex()}"
    return Fault(_line(entry), None, code, detail, None, id_)


def _line(entry: bytes) -> int:
    return int.from_bytes(entry[_PLACE], "big") >> _FLAG_BITS
