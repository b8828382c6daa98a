"""Which identifiers a log recorded, erased and referred to, in bounded memory.

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
from svc_core.ledger.verify.verdict import FAULTS_MAX, Fault, in_order

# An entry: the rest of the hash 11, line and flags 5, subject 12.
_ENTRY: Final = 28
_KEY: Final = slice(0, 11)
_PLACE: Final = slice(11, 16)
_FLAGS: Final = 15
"""The byte whose last bits are the flags; the line stands in those before them."""
_FLAG_BITS: Final = 3
_SUBJECT: Final = slice(16, 28)
_REFERS, _EMPTY, _ERASES = 1, 2, 4

_PREFIXES: Final = ("sbj", "dsg", "obs", "clm")
_FIRSTS: Final = {ord(prefix[0]): number << 8 for number, prefix in enumerate(_PREFIXES)}
"""The first bucket of each kind, by the first letter of its identifiers."""
_BUCKETS: Final = len(_PREFIXES) << 8
_REFERENCES_MIN: Final = 1 << 16
"""References that wait at least: 2 MB."""


class References:
    """Take in records line by line, then ask for `faults` and `erased`.

    With `is_partial` the log was not taken in from its beginning, or not all of it: a target that
    is unknown may lie outside. With `only_erasures` nothing but missing payloads and what erases
    them is taken in. `erased_later` are records that what follows the log erases.
    """

    def __init__(
        self,
        *,
        is_partial: bool,
        only_erasures: bool = False,
        erased_later: Iterable[str] = (),
    ) -> None:
        self.erased = 0
        self._is_partial = is_partial or only_erasures
        self._only_erasures = only_erasures
        self._erased_later = {_spot(id_.encode()) for id_ in erased_later}
        self._buckets = [bytearray() for _ in range(_BUCKETS)]
        # What was judged, sorted, without the room to grow that an array has.
        self._kept = [b""] * _BUCKETS
        self._lost_line = 0
        self._recorded = 0
        self._referred = 0
        self._faults: list[Fault] = []

    def record(self, line: int, head: Head, *, is_empty: bool) -> None:
        """Take in the record of a line, whose payload is null if `is_empty`, and its reference."""
        erases = head.op == b"erase"
        if is_empty or not self._only_erasures:
            self._recorded += 1
            self._put(head.id, line, _EMPTY * is_empty, head.subject)
        if head.target is None or (self._only_erasures and not erases):
            return
        self._referred += 1
        self._put(head.target, line, _REFERS | _ERASES * erases, head.subject)
        if self._referred >= max(_REFERENCES_MIN, self._recorded // 4):
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

    def faults(self) -> list[Fault]:
        """What is wrong, by line, at most as many as a verdict lists; ends the taking in."""
        self._judge(is_last=True)
        return self._faults

    def _put(self, id_: bytes, line: int, flags: int, subject: bytes) -> None:
        bucket, key = _spot(id_)
        place = (line << _FLAG_BITS | flags).to_bytes(5, "big")
        self._buckets[bucket] += key + place + unhexlify(subject[4:])

    def _judge(self, *, is_last: bool) -> None:
        self._referred = 0
        for number, bucket in enumerate(self._buckets):
            held = self._kept[number] + bucket
            if not held:
                continue
            entries = sorted([held[at : at + _ENTRY] for at in range(0, len(held), _ENTRY)])
            kept = bytearray()
            for found in self._walk(number, entries, kept, is_last=is_last):
                self._faults.append(found)
                if len(self._faults) > 2 * FAULTS_MAX:
                    self._faults = in_order(self._faults)[:FAULTS_MAX]
            self._kept[number], self._buckets[number] = bytes(kept), bytearray()
        self._faults = in_order(self._faults)[:FAULTS_MAX]

    def _walk(
        self, bucket: int, entries: list[bytes], kept: bytearray, *, is_last: bool
    ) -> Iterator[Fault]:
        """Judge one bucket; what later references may need goes to `kept`."""
        owner = b""
        for entry in entries:
            is_owners = entry[_KEY] == owner[_KEY]
            if not entry[_FLAGS] & _REFERS:
                if is_owners:
                    detail = "Another record has this id already."
                    yield _told(bucket, entry, "DUPLICATE_ID", detail)
                    continue
                yield from self._close(bucket, owner, kept, is_last=is_last)
                owner = entry
            elif not is_owners or _line(entry) == _line(owner):
                if is_owners or not self._is_partial:
                    detail = "No earlier record has the target's id."
                    yield _told(bucket, entry, "BAD_TARGET", detail)
            elif entry[_SUBJECT] != owner[_SUBJECT]:
                yield _told(bucket, entry, "BAD_TARGET", "The target is about another subject.")
            elif entry[_FLAGS] & _ERASES and owner[_FLAGS] & _EMPTY:
                self.erased += 1
                owner = _without_flags(owner)
        yield from self._close(bucket, owner, kept, is_last=is_last)

    def _close(
        self, bucket: int, owner: bytes, kept: bytearray, *, is_last: bool
    ) -> Iterator[Fault]:
        if is_last and owner and owner[_FLAGS] & _EMPTY:
            if (bucket, owner[_KEY]) in self._erased_later:
                self.erased += 1
            elif _line(owner) > self._lost_line:
                detail = "The payload is null and no record erases it."
                yield _told(bucket, owner, "PAYLOAD_MISSING", detail)
        kept += owner


def _spot(id_: bytes) -> tuple[int, bytes]:
    """The bucket of an identifier, and what tells it from the others in there."""
    hash_ = unhexlify(id_[4:])
    return _FIRSTS[id_[0]] + hash_[0], hash_[1:]


def _told(bucket: int, entry: bytes, code: str, detail: str) -> Fault:
    id_ = f"{_PREFIXES[bucket >> 8]}_{bucket & 0xFF:02x}{entry[_KEY].hex()}"
    return Fault(_line(entry), None, code, detail, None, id_)


def _line(entry: bytes) -> int:
    return int.from_bytes(entry[_PLACE], "big") >> _FLAG_BITS


def _without_flags(entry: bytes) -> bytes:
    last = entry[_FLAGS] >> _FLAG_BITS << _FLAG_BITS
    return b"%b%c%b" % (entry[:_FLAGS], last, entry[_FLAGS + 1 :])
