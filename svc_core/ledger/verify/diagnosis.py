"""The diagnosing pass: which lines are at fault, and what was done to them.

A line can be judged by three witnesses: the seal its head has, the seal that stands in it, and the
seal that the next line's head holds. Two that agree convict the third. So each line is settled only
when the next one was read.

Rule 1: it is a whole verification by itself, slower than the fast pass; it never raises for what a
        line holds and needs 8 bytes a line, and the register's.
Rule 2: a line that cannot be trusted says nothing about its place: its neighbours do.
"""

import re
from collections.abc import Iterable
from typing import Final

from attrs import define, evolve

from svc_core.ledger.log.seal import genesis
from svc_core.ledger.verify.form import NO_PAYLOAD, Breach, Head, head_breaches, payload_breach
from svc_core.ledger.verify.lines import Reading, read
from svc_core.ledger.verify.references import Register
from svc_core.ledger.verify.seen import Seen
from svc_core.ledger.verify.terms import End, Terms
from svc_core.ledger.verify.trunk import Trunk
from svc_core.ledger.verify.verdict import FAULTS_MAX, Fault, Verdict, in_order

_HASH: Final = re.compile("[0-9a-f]{64}")
_LOOSE_MAX: Final = 512
"""Lines in a row that cannot be trusted and whose seals are still kept for the tree."""


@define
class _Gap:
    """Numbers from `start` to before `stop` did not stand before `line`; `filled` came later."""

    line: int
    start: int
    stop: int
    filled: int = 0


class Diagnosis:
    """Feed it all lines in order, then ask for the verdict by `finish`."""

    def __init__(self, terms: Terms) -> None:
        start = terms.start
        self._terms = terms
        self._strict = terms.level == "strict"
        self._ledger = terms.ledger
        self._lines = terms.base
        self._held: Reading | None = None
        # What the next line should be: its number, the seal it holds, and no earlier than this.
        self._next = terms.base
        self._tip = start.seal if start else ""
        self._time = (start.recorded_at or "").encode() if start else b""
        # The line of the tip, another seal that claims its number, and whether it was convicted.
        self._tip_line = 0
        self._rival = ""
        self._is_convicted = False
        # Lines since the tip that cannot be trusted, with the seals they should have had.
        self._loose = 0
        self._loose_seals: list[str] = []
        self._gaps: list[_Gap] = []
        self._seen = Seen()
        self._trunk = Trunk(terms)
        self._register = Register(
            is_partial=start is not None or not self._strict, erased_later=terms.erased
        )
        self._faults: list[Fault] = []
        self._count = 0

    def feed(self, lines: Iterable[bytes]) -> None:
        """Take in the next lines, without LF."""
        for raw in lines:
            self._lines += 1
            reading = read(self._lines, raw)
            if self._held is not None:
                self._settle(self._held, reading)
            self._held = reading

    def finish(self) -> Verdict:
        """The verdict over all lines that were fed."""
        if self._held is not None:
            self._settle(self._held, None)
        self._push(self._loose_seals if len(self._loose_seals) == self._loose else None)
        self._close_gaps()
        self._ask_anchors()
        self._ask_register()
        self._ask_receipts()
        trunk, time = self._trunk, self._time.decode()
        end = End(self._ledger, self._lines, self._tip or None, time or None, trunk.frontier)
        faults = in_order(self._faults)[:FAULTS_MAX]
        if trunk.false is None and len({fault.line for fault in faults}) == 1:
            faults[0] = _told_alone(faults[0], trunk.proven)
        erased = self._register.erased
        return self._terms.verdict(end, erased=erased, faults=faults, fault_count=self._count)

    # -- one line --------------------------------------------------------------------------------

    def _settle(self, line: Reading, after: Reading | None) -> None:
        if line.breach is not None:
            self._tell(line, line.breach)
        if self._ledger is None and line.head is not None:
            self._ledger = line.head.ledger.decode()
        if not self._tip and self._ledger is not None:
            self._tip = genesis(self._ledger)
        if line.head is not None and line.is_sealed:
            self._place(line, line.head, after)
        else:
            self._distrust(line, after)

    def _distrust(self, line: Reading, after: Reading | None) -> None:
        """A line whose head is not the one that its seal is of, or that is no record at all."""
        seal: str | None = None
        if line.is_cut and line.computed == line.seal:
            self._tell(line, Breach("MALFORMED", "The head does not follow its grammar."))
            seal = line.seal
        elif line.is_cut:
            breach = self._convict(line, after)
            is_pinned = after is not None and after.prev == breach.expected
            self._tell(line, breach, pinned_by=after.line if after and is_pinned else None)
            seal = breach.expected
            if breach.code == "SEAL_ALTERED" and line.head is not None:
                self._judge(line, line.head, self._next + self._loose)
        if not self._next and not self._loose and line.prev not in ("", self._tip):
            self._tell(line, self._no_genesis(line))
        self._register.lose(line.line, may_erase=line.may_erase)
        self._loose += 1
        if seal is not None and len(self._loose_seals) < _LOOSE_MAX:
            self._loose_seals.append(seal)

    def _convict(self, line: Reading, after: Reading | None) -> Breach:
        """Whether the head or the seal was altered, and which seal the line should have."""
        pinned = after.prev if after is not None else ""
        is_head_sealed = pinned == line.computed or (
            after is None and not self._loose and self._trunk.fits(*self._pending(), line.computed)
        )
        if is_head_sealed or not _HASH.fullmatch(line.seal):
            detail = "The seal is not the one of its head."
            return Breach("SEAL_ALTERED", detail, line.computed, line.seal)
        expected = pinned if after is not None and after.is_sealed else line.seal
        detail = "The head is not the one that was sealed."
        return Breach("HEAD_ALTERED", detail, expected, line.computed)

    def _place(self, line: Reading, head: Head, after: Reading | None) -> None:
        """A line whose head and seal agree: where does it belong?"""
        ledger = head.ledger.decode()
        if ledger != self._ledger:
            detail = "The line is of another ledger."
            self._tell(line, Breach("WRONG_LEDGER", detail, self._ledger, ledger))
        seq, expected = line.seq, self._next
        tip = line.computed
        if seq != expected and self._is_renumbered(line, after):
            tip = self._reseal(line, after.prev if after is not None else None, after)
            seq = expected
        elif seq < expected:
            self._look_back(line, head)
            return
        elif seq == expected:
            tip = self._chain(line, after)
        elif seq > expected + self._loose:
            self._open_gap(line, expected + self._loose)
        self._judge_time(line, head)
        self._accept(line, seq, tip)
        self._judge(line, head, seq)

    def _accept(self, line: Reading, seq: int, tip: str) -> None:
        """The line is record `seq`, and its seal was `tip`; all before it is settled."""
        self._push(self._between(seq - self._next, line.prev))
        self._loose, self._loose_seals = 0, []
        self._next, self._tip, self._tip_line, self._rival = seq + 1, tip, line.line, ""
        self._is_convicted = tip != line.computed
        self._seen.add(seq, line.computed)

    # -- its neighbours --------------------------------------------------------------------------

    def _chain(self, line: Reading, after: Reading | None) -> str:
        """Whether the line holds the seal before it; the seal that it had itself."""
        tip = self._tip
        if line.prev == tip:
            return line.computed
        if self._next == self._terms.base:
            self._tell(line, self._no_genesis(line) if not self._next else self._no_start(line))
        elif line.prev == self._rival:
            self._tip = self._rival
        elif self._is_rechained(line, after):
            return self._reseal(line, line.sealed_after(tip), after)
        else:
            detail = "The head was altered and sealed again."
            breach = Breach("RESEALED", detail, line.prev, tip)
            self._add(self._tip_line, self._next - 1, breach, line.line)
            self._tip, self._is_convicted = line.prev, True
        return line.computed

    def _is_rechained(self, line: Reading, after: Reading | None) -> bool:
        """Whether it was this line that was sealed again, with another seal before it."""
        own = line.sealed_after(self._tip)
        if after is not None:
            return after.is_sealed and after.prev == own
        pending = self._pending()
        return self._trunk.fits(*pending) or self._trunk.fits(*pending, own)

    def _is_renumbered(self, line: Reading, after: Reading | None) -> bool:
        """Whether it holds the seal before it, and nothing after it knows it by its number."""
        if line.prev != self._tip or self._loose:
            return False
        return after is None or not after.is_sealed or after.prev != line.computed

    def _reseal(self, line: Reading, seal: str | None, after: Reading | None) -> str:
        """Convict the line of having been sealed again; the seal that it had."""
        detail = "The head was altered and sealed again."
        breach = Breach("RESEALED", detail, seal, line.computed)
        self._tell(line, breach, pinned_by=after.line if after is not None else None)
        return line.computed if seal is None else seal

    def _look_back(self, line: Reading, head: Head) -> None:
        """A line whose number has passed already."""
        seq = line.seq
        if seq < self._terms.base or self._seen.has(seq, line.computed):
            detail = f"Record {seq} stands in the log already."
            self._tell(line, Breach("DUPLICATE_LINE", detail), seq=seq)
            return
        if seq in self._seen:
            detail = f"There are two records {seq}; both follow the same history."
            self._tell(line, Breach("FORKED", detail, None, line.computed), seq=seq)
            self._rival = line.computed if seq == self._next - 1 else self._rival
        else:
            self._fill_gap(line)
            self._seen.add(seq, line.computed)
        self._judge(line, head, seq)

    def _open_gap(self, line: Reading, start: int) -> None:
        self._register.lose(line.line, may_erase=False)
        if len(self._gaps) < FAULTS_MAX:
            self._gaps.append(_Gap(line.line, start, line.seq))

    def _fill_gap(self, line: Reading) -> None:
        for gap in self._gaps:
            if gap.start <= line.seq < gap.stop:
                gap.filled += 1
                return
        self._tell(line, Breach("REORDERED", "The record stands after later ones."), seq=line.seq)

    def _close_gaps(self) -> None:
        for gap in self._gaps:
            missing = gap.stop - gap.start - gap.filled
            if gap.filled:
                detail = f"Record {gap.stop} stands here, and {gap.filled} before it come later."
                breach = Breach("REORDERED", detail, str(gap.start), str(gap.stop))
                self._add(gap.line, gap.start, breach)
            if missing > 0:
                detail = f"{missing} line(s) are missing before this one."
                breach = Breach("MISSING_LINES", detail, str(gap.start), str(gap.stop))
                self._add(gap.line, gap.start, breach)
                self._register.lose(gap.line, may_erase=True)

    # -- its content -----------------------------------------------------------------------------

    def _judge_time(self, line: Reading, head: Head) -> None:
        if head.recorded_at < self._time and not self._is_convicted:
            before, now = self._time.decode(), head.recorded_at.decode()
            detail = "The record time is before that of an earlier line."
            self._tell(line, Breach("TIME_REGRESSION", detail, before, now))
        self._time = head.recorded_at

    def _judge(self, line: Reading, head: Head, seq: int) -> None:
        """The payload of record `seq`, and at level `strict` what the head says."""
        payload = line.parts.payload
        is_empty = payload == NO_PAYLOAD
        if not line.has_payload:
            expected = head.payload_hash.decode()
            detail = "The payload is not the one that was sealed."
            altered = Breach("PAYLOAD_ALTERED", detail, expected, line.payload_hash)
            self._tell(line, altered, seq=seq)
        if not self._strict:
            if is_empty:
                self._register.define(line.line, head, is_empty=True)
            if head.op == b"erase" and head.target is not None:
                self._register.refer(line.line, head, head.target)
            return
        breaches = [*head_breaches(head)]
        if line.has_payload and (breach := payload_breach(payload)) is not None:
            breaches.append(breach)
        for breach in breaches:
            self._tell(line, breach, seq=seq)
        self._register.record(line.line, head, is_empty=is_empty)

    def _no_genesis(self, line: Reading) -> Breach:
        detail = "The first record does not hold the genesis of the ledger."
        return Breach("GENESIS_MISMATCH", detail, self._tip, line.prev)

    def _no_start(self, line: Reading) -> Breach:
        detail = "The record does not follow the trusted beginning."
        return Breach("HISTORY_REWRITTEN", detail, self._tip, line.prev)

    # -- the tree --------------------------------------------------------------------------------

    def _pending(self) -> list[str]:
        """The seal of the tip, unless the tree has it already."""
        return [self._tip] if self._trunk.size < self._next else []

    def _between(self, count: int, last: str) -> list[str] | None:
        """The seals of `count` records after the tip, if they are known; the last one is."""
        if count < 2:
            return [last] * count
        if len(self._loose_seals) != count:
            return None
        return [*self._loose_seals[:-1], last]

    def _push(self, seals: list[str] | None) -> None:
        for seal in (*self._pending(), *(seals or ())):
            self._trunk.push(seal)
        if seals is None:
            self._trunk.lose()

    # -- the end ---------------------------------------------------------------------------------

    def _ask_register(self) -> None:
        for found in self._register.irregular():
            self._add(found.line, None, Breach(found.code, found.detail, None, found.id))

    def _ask_anchors(self) -> None:
        trunk = self._trunk
        if trunk.false is not None:
            size, root = trunk.false[:2]
            detail = f"Lines {trunk.proven + 1} to {size} are not those that were signed."
            if trunk.proven == size:
                detail = f"Two roots are told for {size} lines, of which one is theirs."
            breach = Breach("HISTORY_REWRITTEN", detail, root.hex(), trunk.false_root.hex())
            self._add(size, size - 1, breach)
        beyond = [anchor.size for anchor in self._terms.anchors if anchor.size > self._lines]
        if beyond:
            detail = f"A signed root covers {beyond[-1]} lines; {self._lines} are here."
            breach = Breach("TRUNCATED", detail, str(beyond[-1]), str(self._lines))
            self._add(self._lines + 1, self._lines, breach)
            # A line that was cut off may have been an erasure.
            self._register.cut(self._lines + 1)

    def _ask_receipts(self) -> None:
        for fault in self._trunk.false_receipts():
            self._count += 1
            self._faults.append(fault)

    def _tell(
        self, line: Reading, breach: Breach, *, seq: int | None = None, pinned_by: int | None = None
    ) -> None:
        place = self._next + self._loose if seq is None else seq
        self._add(line.line, place, breach, pinned_by)

    def _add(
        self, line: int, seq: int | None, breach: Breach, pinned_by: int | None = None
    ) -> None:
        self._count += 1
        self._faults.append(Fault(line, seq, *breach, pinned_by))
        if len(self._faults) > 2 * FAULTS_MAX:
            self._faults = in_order(self._faults)[:FAULTS_MAX]


def _told_alone(fault: Fault, proven: int) -> Fault:
    if fault.line is None or not fault.line <= proven:
        return fault
    detail = f"{fault.detail} All other lines reproduce the root of {proven} lines."
    return evolve(fault, detail=detail)
