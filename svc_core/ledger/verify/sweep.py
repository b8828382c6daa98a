"""The fast pass of a verification: decides only whether anything in a log is irregular.

Rule 1: constant memory but for the identifiers (`References`).
Rule 2: lines are cut and hashed by list comprehensions over runs of up to 512, and each check is
        one comparison of joined bytes: a call for each line and check would take most of the time.
Rule 3: it never raises for what a line holds; it stops at the first irregular run.
"""

from binascii import hexlify
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

from svc_core.ledger.log.record_seals import genesis
from svc_core.ledger.records import HEAD, LINE_BYTES_MAX, encode_line, head_text
from svc_core.ledger.verify.anchors import Anchors, LogPass
from svc_core.ledger.verify.lines import (
    ERASES,
    NO_PAYLOAD,
    Head,
    head_breaches,
    payload_breach,
)
from svc_core.ledger.verify.outcome import Findings, VerificationOutcome

RUN_LINES_MAX: Final = 512

# The marks of a line, in order: before the head, after it, before and after the seal.
_START, _MIDDLE, _BEFORE_SEAL, _END = encode_line(b"\0", b"\0", "\0").split(b"\0")
_TAIL_BYTES: Final = len(_BEFORE_SEAL) + 64 + len(_END)

_NO_HASH: Final = "0" * 64
_NO_ID: Final = "sbj_" + "0" * 24
_NO_LEDGER: Final = "led_" + "0" * 24
_SHORTEST: Final = _START + head_text(
    0, _NO_ID, "claim", "amend", _NO_ID, None, "0000-00-00T00:00:00.000000Z", None, None, "a",
    _NO_HASH, _NO_HASH, _NO_LEDGER,
).encode()  # fmt: skip
"""The shortest head there is: where a member cannot begin before, and what must follow it."""
_LEDGER_BYTES: Final = len(b'"led_","op":"supersede"') + 24
"""The ledger and the longest operation, which stand before that mark."""
_HASH_MARK: Final = b',"payloadHash":"'
_HASH_FROM: Final = _SHORTEST.index(_HASH_MARK)
_HEAD_REST: Final = len(_SHORTEST) - _HASH_FROM
"""The head ends no sooner than so many bytes after the mark of the payload's hash."""


def _member(mark: bytes, bytes_: int) -> tuple[int, int]:
    """Return start and end of a member's value, counted from the mark of the payload hash."""
    start = _SHORTEST.index(mark) + len(mark) - _HASH_FROM
    return start, start + bytes_


_HASH, _HASH_END = _member(_HASH_MARK, 64)
_PREV, _PREV_END = _member(b',"prev":"', 64)
_TIME, _TIME_END = _member(b',"recordedAt":"', 27)
_SEQ, _ = _member(b',"seq":', 1)
_NULL_PAYLOAD: Final = _MIDDLE + NO_PAYLOAD + _BEFORE_SEAL

Lines = Sequence[bytes]
Places = Sequence[int]


class Sweep(LogPass):
    """One fast pass: call `feed` with the lines in order, then `finish` for the outcome."""

    def __init__(self, anchors: Anchors) -> None:
        super().__init__(anchors)
        self._seal = anchors.start.seal.encode() if anchors.start else b""
        self._has_empty = False
        self._is_regular = True
        self._ledger_mark = b""

    def feed(self, lines: Lines) -> bool:
        """Check the next lines, without LF; return False if no more are needed."""
        position = 0
        while self._is_regular and position < len(lines):
            stop = position + self._stride()
            self._is_regular = self._take(lines[position:stop])
            position = stop
        return self._is_regular

    def finish(self, erased_later: Iterable[str] = ()) -> VerificationOutcome | None:
        """Return the outcome, or None if something is irregular and needs a diagnosis.

        `erased_later` are more records that were erased by a record after the lines.
        """
        tree = self._tree
        if not self._is_regular or tree.next_anchor:
            return None
        if self._reference_findings(erased_later).count or any(tree.false_receipts()):
            return None
        return self._outcome(Findings(), size=tree.size, seal=self._seal.decode())

    def _stride(self) -> int:
        """Return the length of the next run: up to 512, an anchor, or a number with more digits."""
        size = self._tree.size
        run, digits = size - size % RUN_LINES_MAX + RUN_LINES_MAX, int(10 ** len(str(size)))
        return min(run, digits, self._tree.next_anchor or run) - size

    def _take(self, lines: Lines) -> bool:
        """Check a run of lines; return whether all of it is regular."""
        if not self._ledger_mark and not self._begin(lines[0]):
            return False
        try:
            marks = [line.index(_HASH_MARK, _HASH_FROM) for line in lines]
            ends = [
                line.index(_MIDDLE, at + _HEAD_REST) for line, at in zip(lines, marks, strict=True)
            ]
        except ValueError:
            return False
        start = len(_START)
        seals = [
            sha256(b"\0" + line[start:end]).digest() for line, end in zip(lines, ends, strict=True)
        ]
        return (
            self._has_form(lines, marks, hexlify(b"".join(seals), ".", 32))
            and self._is_in_order(lines, marks)
            and self._follows(lines, marks, hexlify(b"".join(seals)))
            and self._holds_payloads(lines, marks, ends)
            and (not (self._strict or self._has_empty) or self._refers(lines, marks, ends))
            and self._grow(seals, lines[-1], marks[-1])
        )

    def _begin(self, line: bytes) -> bool:
        """Take the ledger from the first line, unless it is known, and prepare fixed texts."""
        if self._ledger is None:
            match = HEAD.match(line, len(_START))
            if match is None:
                return False
            self._ledger = match["ledger"].decode()
        self._seal = self._seal or genesis(self._ledger).encode()
        self._ledger_mark = b'"%b","op":"' % self._ledger.encode()
        return True

    def _has_form(self, lines: Lines, marks: Places, seals: bytes) -> bool:
        tails = _BEFORE_SEAL + seals.replace(b".", _END + _BEFORE_SEAL) + _END
        before = {line[at - _LEDGER_BYTES : at] for line, at in zip(lines, marks, strict=True)}
        return (
            max(map(len, lines)) <= LINE_BYTES_MAX
            and b"".join([line[: len(_START)] for line in lines]) == _START * len(lines)
            and b"".join([line[-_TAIL_BYTES:] for line in lines]) == tails
            and all(self._ledger_mark in ledger for ledger in before)
        )

    def _is_in_order(self, lines: Lines, marks: Places) -> bool:
        size = self._tree.size
        stop = _SEQ + len(str(size)) + 1
        numbers = [line[at + _SEQ : at + stop] for line, at in zip(lines, marks, strict=True)]
        times = [line[at + _TIME : at + _TIME_END] for line, at in zip(lines, marks, strict=True)]
        expected = f"{list(range(size, size + len(lines)))}"[1:-1] + ","
        in_order = b" ".join(numbers) == expected.encode()
        return in_order and self._time <= times[0] and times == sorted(times)

    def _follows(self, lines: Lines, marks: Places, seals: bytes) -> bool:
        prevs = [line[at + _PREV : at + _PREV_END] for line, at in zip(lines, marks, strict=True)]
        return b"".join(prevs) == self._seal + seals[:-64]

    def _holds_payloads(self, lines: Lines, marks: Places, ends: Places) -> bool:
        start = len(_MIDDLE)
        payloads = [line[end + start : -_TAIL_BYTES] for line, end in zip(lines, ends, strict=True)]
        hashes = hexlify(b"".join([sha256(payload).digest() for payload in payloads]))
        claim = b"".join(
            [line[at + _HASH : at + _HASH_END] for line, at in zip(lines, marks, strict=True)]
        )
        if hashes != claim:
            places = zip(payloads, range(0, len(claim), 64), strict=True)
            if any(p != NO_PAYLOAD and hashes[i : i + 64] != claim[i : i + 64] for p, i in places):
                return False
        self._has_empty = self._has_empty or NO_PAYLOAD in payloads
        return True

    def _refers(self, lines: Lines, marks: Places, ends: Places) -> bool:
        """Add identifiers and references; at level `strict` check the rules for heads as well.

        At `integrity` they matter only once a payload is missing, and then for erasures alone.
        """
        cuts = zip(lines, marks, ends, strict=True)
        for number, (line, at, end) in enumerate(cuts, self._tree.size + 1):
            is_empty = line.startswith(_NULL_PAYLOAD, end)
            if not (self._strict or is_empty or line.startswith(ERASES, at - len(ERASES))):
                continue
            match = HEAD.fullmatch(line, len(_START), end)
            if match is None:
                return False
            head = Head._make(match.groups())
            if self._strict:
                payload = line[end + len(_MIDDLE) : -_TAIL_BYTES]
                if any(head_breaches(head)) or payload_breach(payload) is not None:
                    return False
            self._references.record(number, head, is_empty=is_empty)
        return True

    def _grow(self, seals: Sequence[bytes], line: bytes, at: int) -> bool:
        """Add the run to the tree, and compare the anchors that it reaches."""
        self._tree.extend(seals)
        self._seal = seals[-1].hex().encode()
        self._time = line[at + _TIME : at + _TIME_END]
        return self._tree.wrong_anchor is None
