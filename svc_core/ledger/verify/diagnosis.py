"""The slow pass of a verification: finds which lines are at fault, and what was done to them.

Three hashes speak for a line: the hash of its head, the seal that stands in it, and the seal that
the next line's head holds as `prev`. Two that agree convict the third. So each line is settled only
when the next one has been read.

Rule 1: it is a whole verification by itself, slower than the fast pass; it never raises for what a
        line holds, and keeps the seal of every line (a million take some 200 MB).
Rule 2: a line that cannot be trusted says nothing about its place: its neighbours do. One of
        another ledger that does not follow the line before it says nothing about that line.
"""

import re
from collections.abc import Iterable
from functools import partial
from typing import Final

from attrs import define, evolve

from svc_core.ledger.log.record_seals import genesis
from svc_core.ledger.verify.anchors import Anchors, LogPass
from svc_core.ledger.verify.lines import (
    NO_PAYLOAD,
    Breach,
    Head,
    Line,
    head_breaches,
    payload_breach,
    read_line,
)
from svc_core.ledger.verify.outcome import FAULTS_MAX, Fault, Findings, VerificationOutcome

_HASH: Final = re.compile("[0-9a-f]{64}")
_VERSION: Final = re.compile(rb'"v":([2-9]|[1-9][0-9]{1,5}),')
_RESEAL: Final = "The head was altered and sealed again."


@define
class _Gap:
    """Records `start` to before `stop` are not before `line`; `late_count` of them came later."""

    line: int
    start: int
    stop: int
    late_count: int = 0


class Diagnosis(LogPass):
    """One diagnosis: call `feed` with all lines in order, then `finish` for the outcome."""

    def __init__(self, anchors: Anchors) -> None:
        # The tree grows from the seals that the log itself vouches for. The seal that stands in a
        # line may be false; the next line's head holds the one that was sealed. As long as every
        # leaf is known in this way, the tree still shows whether all else is what was signed.
        super().__init__(anchors)
        self._lines = anchors.base
        self._previous: Line | None = None
        # What the next line should be: its number and the seal it holds, no earlier than the time.
        self._next = anchors.base
        self._tip = anchors.start.seal if anchors.start else ""
        # The line of the tip, another seal that claims its number, and whether it was convicted.
        self._tip_line = 0
        self._rival = ""
        self._is_convicted = False
        # Lines since the tip that cannot be trusted, with the seals they should have had.
        self._loose = 0
        self._loose_seals: list[str] = []
        self._gaps: list[_Gap] = []
        self._shown_seals: dict[int, str] = {}
        self._faults = Findings()
        # Whether every line could be judged in all that it says.
        self._is_whole = True

    def feed(self, lines: Iterable[bytes]) -> bool:
        """Process the next lines, without LF; return True, because all are needed."""
        for raw in lines:
            self._lines += 1
            line = read_line(self._lines, raw)
            if self._previous is not None:
                self._settle(self._previous, line)
            self._previous = line
        return True

    def finish(self, erased_later: Iterable[str] = ()) -> VerificationOutcome:
        """Return the outcome over all lines; `erased_later` is as in `Sweep.finish`."""
        if self._previous is not None:
            self._settle(self._previous, None)
        self._push(self._loose_seals if len(self._loose_seals) == self._loose else None)
        self._close_gaps()
        self._ask_anchors()
        findings = self._faults
        findings.join(self._reference_findings(erased_later))
        findings.take(*self._tree.false_receipts())
        if self._tree.wrong_anchor is None and findings.is_of_one_line:
            findings.reword_first(partial(_with_proven_root, proven=self._tree.proven))
        return self._outcome(findings, size=self._lines, seal=self._tip, whole=self._is_whole)

    # -- one line --------------------------------------------------------------------------------

    def _settle(self, line: Line, after: Line | None) -> None:
        if line.breach is not None:
            self._tell(line, *line.breach)
        if self._ledger is None and line.head is not None:
            self._ledger = line.head.ledger.decode()
        if not self._tip and self._ledger is not None:
            self._tip = genesis(self._ledger)
        if line.head is not None and line.is_sealed:
            self._place(line, line.head, after)
        else:
            self._distrust(line, after)

    def _distrust(self, line: Line, after: Line | None) -> None:
        """Handle a line whose head does not match its seal, or that is no record at all."""
        self._is_whole = False
        seal: str | None = None
        if line.is_cut and line.computed == line.seal:
            self._tell(line, "MALFORMED", _unread(line.parts.head))
            seal = line.seal
        elif line.is_cut:
            breach = self._convict(line, after)
            is_pinned = after is not None and after.prev == breach.expected
            self._tell(line, *breach, pinned_by=after if is_pinned else None)
            seal = breach.expected
            if breach.code == "SEAL_ALTERED" and line.head is not None:
                self._judge(line, line.head, self._next + self._loose)
        if not self._next and not self._loose and line.prev not in ("", self._tip):
            self._tell(line, *self._no_genesis(line))
        self._pass_over(line)
        if seal is not None:
            self._loose_seals.append(seal)

    def _convict(self, line: Line, after: Line | None) -> Breach:
        """Decide whether head or seal was altered, and which seal the line should have."""
        pinned_seal = after.prev if after is not None else ""
        is_head_sealed = pinned_seal == line.computed or (
            after is None and not self._loose and self._tree.fits(*self._pending(), line.computed)
        )
        if is_head_sealed or not _HASH.fullmatch(line.seal):
            detail = "The seal is not the one of its head."
            return Breach("SEAL_ALTERED", detail, line.computed, line.seal)
        expected = pinned_seal if after is not None and after.is_sealed else line.seal
        detail = "The head is not the one that was sealed."
        return Breach("HEAD_ALTERED", detail, expected, line.computed)

    def _place(self, line: Line, head: Head, after: Line | None) -> None:
        """Handle a line whose head and seal agree: find the place where it belongs."""
        ledger = head.ledger.decode()
        if ledger != self._ledger:
            detail = "The line is of another ledger."
            self._tell(line, "WRONG_LEDGER", detail, self._ledger, ledger)
            # Where one line alone has named the ledger, either of the two may be the stranger.
            vouchers = self._next - self._anchors.base + (self._anchors.ledger is not None)
            if line.prev != self._tip and vouchers > 1:
                self._pass_over(line)
                return
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

    def _pass_over(self, line: Line) -> None:
        self._references.lose(line.number, may_erase=line.may_erase)
        self._loose += 1

    def _accept(self, line: Line, seq: int, tip: str) -> None:
        """Accept the line as record `seq` with the seal `tip`; all before it is settled."""
        self._push(self._between(seq - self._next, line.prev))
        self._loose, self._loose_seals = 0, []
        self._next, self._tip, self._tip_line, self._rival = seq + 1, tip, line.number, ""
        self._is_convicted = tip != line.computed
        self._shown_seals[seq] = line.computed

    # -- its neighbours --------------------------------------------------------------------------

    def _chain(self, line: Line, after: Line | None) -> str:
        """Check that the line holds the seal before it; return its own original seal."""
        tip = self._tip
        if line.prev == tip:
            return line.computed
        if self._next == self._anchors.base:
            self._tell(line, *(self._no_start(line) if self._next else self._no_genesis(line)))
        elif line.prev == self._rival:
            self._tip = self._rival
        elif self._is_rechained(line, after):
            return self._reseal(line, line.sealed_after(tip), after)
        else:
            place = self._tip_line, self._next - 1
            self._faults.take(Fault(*place, "RESEALED", _RESEAL, line.prev, tip, line.number))
            self._tip, self._is_convicted = line.prev, True
        return line.computed

    def _is_rechained(self, line: Line, after: Line | None) -> bool:
        """Whether this line was sealed again, with another `prev`."""
        rechained_seal = line.sealed_after(self._tip)
        if after is not None:
            return after.is_sealed and after.prev == rechained_seal
        pending = self._pending()
        return self._tree.fits(*pending) or self._tree.fits(*pending, rechained_seal)

    def _is_renumbered(self, line: Line, after: Line | None) -> bool:
        """Whether only the number of the line is wrong: it continues the chain, none follows it."""
        if line.prev != self._tip or self._loose:
            return False
        return after is None or not after.is_sealed or after.prev != line.computed

    def _reseal(self, line: Line, seal: str | None, after: Line | None) -> str:
        """Report that the line was sealed again; return its original seal."""
        self._tell(line, "RESEALED", _RESEAL, seal, line.computed, pinned_by=after)
        return line.computed if seal is None else seal

    def _look_back(self, line: Line, head: Head) -> None:
        """Handle a line whose number has passed: a duplicate, a fork, or one that comes late."""
        seq = line.seq
        if seq < self._anchors.base or self._shown_seals.get(seq) == line.computed:
            detail = f"Record {seq} stands in the log already."
            self._tell(line, "DUPLICATE_LINE", detail, seq=seq)
            return
        if seq in self._shown_seals:
            detail = f"There are two records {seq}; both follow the same history."
            self._tell(line, "FORKED", detail, None, line.computed, seq=seq)
            self._rival = line.computed if seq == self._next - 1 else self._rival
        else:
            self._fill_gap(line)
            self._shown_seals[seq] = line.computed
        self._judge(line, head, seq)

    def _open_gap(self, line: Line, start: int) -> None:
        self._references.lose(line.number, may_erase=False)
        if len(self._gaps) < FAULTS_MAX:
            self._gaps.append(_Gap(line.number, start, line.seq))

    def _fill_gap(self, line: Line) -> None:
        for gap in self._gaps:
            if gap.start <= line.seq < gap.stop:
                gap.late_count += 1
                return
        self._tell(line, "REORDERED", "The record stands after later ones.", seq=line.seq)

    def _close_gaps(self) -> None:
        for gap in self._gaps:
            missing = gap.stop - gap.start - gap.late_count
            bounds = str(gap.start), str(gap.stop)
            if gap.late_count:
                detail = (
                    f"Record {gap.stop} stands here, and {gap.late_count} before it come later."
                )
                self._faults.take(Fault(gap.line, gap.start, "REORDERED", detail, *bounds))
            if missing > 0:
                detail = f"{missing} line(s) are missing before this one."
                self._faults.take(Fault(gap.line, gap.start, "MISSING_LINES", detail, *bounds))
                self._references.lose(gap.line, may_erase=True)

    # -- its content -----------------------------------------------------------------------------

    def _judge_time(self, line: Line, head: Head) -> None:
        if head.recorded_at < self._time and not self._is_convicted:
            before, now = self._time.decode(), head.recorded_at.decode()
            detail = "The record time is before that of an earlier line."
            self._tell(line, "TIME_REGRESSION", detail, before, now)
        self._time = head.recorded_at

    def _judge(self, line: Line, head: Head, seq: int) -> None:
        """Check the payload of record `seq`, and at level `strict` the rules for its head."""
        if not line.has_payload:
            expected = head.payload_hash.decode()
            detail = "The payload is not the one that was sealed."
            self._tell(line, "PAYLOAD_ALTERED", detail, expected, line.payload_hash, seq=seq)
        if self._strict:
            for breach in head_breaches(head):
                self._tell(line, *breach, seq=seq)
            if line.has_payload and (rule := payload_breach(line.parts.payload)) is not None:
                self._tell(line, *rule, seq=seq)
        self._references.record(line.number, head, is_empty=line.parts.payload == NO_PAYLOAD)

    def _no_genesis(self, line: Line) -> Breach:
        detail = "The first record does not hold the genesis of the ledger."
        return Breach("GENESIS_MISMATCH", detail, self._tip, line.prev)

    def _no_start(self, line: Line) -> Breach:
        detail = "The record does not follow the trusted beginning."
        return Breach("HISTORY_REWRITTEN", detail, self._tip, line.prev)

    # -- the tree --------------------------------------------------------------------------------

    def _pending(self) -> list[str]:
        """Return the seal of the tip, unless the tree has it already."""
        return [self._tip] if self._tree.size < self._next else []

    def _between(self, count: int, last: str) -> list[str] | None:
        """Return the seals of `count` records after the tip if known; the last is given."""
        if count < 2:
            return [last] * count
        if len(self._loose_seals) != count:
            return None
        return [*self._loose_seals[:-1], last]

    def _push(self, seals: list[str] | None) -> None:
        for seal in (*self._pending(), *(seals or ())):
            self._tree.extend([bytes.fromhex(seal)])
        if seals is None:
            self._tree.lose()

    # -- the end ---------------------------------------------------------------------------------

    def _ask_anchors(self) -> None:
        tree, size = self._tree, self._lines
        if tree.wrong_anchor is not None:
            end, root = tree.wrong_anchor[:2]
            detail = (
                f"Lines {tree.proven + 1} to {end} do not lead to the root that is given for them."
            )
            if tree.proven == end:
                detail = f"Two roots are told for {end} lines, of which one is theirs."
            roots = root.hex(), tree.wrong_root.hex()
            self._faults.take(Fault(end, end - 1, "HISTORY_REWRITTEN", detail, *roots))
        beyond = [anchor.size for anchor in self._anchors.roots if anchor.size > size]
        if beyond:
            detail = f"A root is given for {beyond[-1]} lines; {size} are here."
            self._faults.take(
                Fault(size + 1, size, "TRUNCATED", detail, str(beyond[-1]), str(size))
            )
            # A line that was cut off may have been an erasure.
            self._references.cut(size + 1)

    def _tell(
        self,
        line: Line,
        code: str,
        detail: str,
        expected: str | None = None,
        actual: str | None = None,
        *,
        seq: int | None = None,
        pinned_by: Line | None = None,
    ) -> None:
        place = self._next + self._loose if seq is None else seq
        pin = None if pinned_by is None else pinned_by.number
        self._faults.take(Fault(line.number, place, code, detail, expected, actual, pin))


def _with_proven_root(fault: Fault, *, proven: int) -> Fault:
    if fault.line is None or not fault.line <= proven:
        return fault
    detail = f"{fault.detail} All other lines reproduce the root of {proven} lines."
    return evolve(fault, detail=detail)


def _unread(head: bytes) -> str:
    """Explain why a head cannot be read: a newer program may have written it."""
    version = _VERSION.search(head)
    if version is None:
        return "The head does not follow its grammar."
    digits = version[1].decode()
    return f"The record is of version {digits}, and this program reads version 1; use a newer one."
