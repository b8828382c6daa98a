"""What is kept beside lines is compared with them, and only where they say something of it."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from svc_core.ledger.append.batches import stored_line
from svc_core.ledger.fsck import Fsck, LineRun, StoredLedger
from svc_core.ledger.log.record_seals import seal_of
from svc_core.ledger.records import decode, encode_line, split_line
from svc_core.operation.ports import LedgerEnd, LedgerHead, SealedLine


def _rows(lines: Sequence[bytes]) -> list[SealedLine]:
    return [stored_line(decode(line), bytes.fromhex(decode(line).seal), line) for line in lines]


def _faults(log: Any, rows: Sequence[SealedLine], step: int = 99) -> list[tuple[str, int | None]]:
    """The codes and lines of what is found over these rows, read by runs of `step`."""
    fsck = Fsck()
    for at in range(0, len(rows), step):
        run = rows[at : at + step]
        by_id = {row.id: row.seq for row in run}
        fsck.feed(LineRun(at, at + len(run), tuple(run), by_id, ()))
    head, end = log.heads[-1], LedgerEnd(len(rows), rows[-1].recorded_at)
    fsck.compare(StoredLedger(LedgerHead(head.size, head.encode()), end, (), ()), len(rows))
    return [(fault.code, fault.line) for fault in fsck.findings.first]


NO_CHECKPOINT = [("INDEX_DIFFERS", None)]


def test_what_agrees_is_found_to_by_runs_of_any_length(make_log: Any) -> None:
    log = make_log(9)
    for step in (1, 2, 5, 9):
        assert _faults(log, _rows(log.lines), step) == NO_CHECKPOINT


def test_nothing_is_accused_after_a_line_that_does_not_follow(make_log: Any) -> None:
    log, rows = make_log(9), _rows(make_log(9).lines)
    head = split_line(log.lines[4]).head
    prev = head.partition(b'"prev":"')[2][:64]
    forgery = head.replace(prev, b"0" * 64)
    line = encode_line(forgery, split_line(log.lines[4]).payload, seal_of(forgery))
    rows[4] = rows[4]._replace(seal=bytes.fromhex(seal_of(forgery)), line=line)
    assert _faults(log, rows) == []
    rows[4] = rows[4]._replace(subject="sbj_" + "0" * 24)
    assert _faults(log, rows) == [("INDEX_DIFFERS", 5)]


def test_what_was_sealed_and_is_no_record_is_passed_over(make_log: Any) -> None:
    log, rows = make_log(9), _rows(make_log(9).lines)
    parts = split_line(log.lines[4])
    head = parts.head.replace(
        sha256(parts.payload).hexdigest().encode(), sha256(b"[]").hexdigest().encode()
    )
    rows[4] = rows[4]._replace(line=encode_line(head, b"[]", seal_of(head)))
    assert _faults(log, rows) == []
