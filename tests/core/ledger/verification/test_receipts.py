"""A receipt shows what it says, or is told to be false; a cut log is told to be cut."""

from typing import Any

import pytest
from attrs import evolve

from svc_core.ledger.log.checkpoint import Checkpoint, sign
from svc_core.ledger.log.note import Ed25519Signer
from svc_core.ledger.log.receipt import LogReceipt
from svc_core.ledger.log.record_seals import seal_batch
from svc_core.ledger.records import Draft, decode, split_line
from svc_core.ledger.verify.anchors import gather
from svc_core.ledger.verify.diagnosis import Diagnosis
from svc_core.ledger.verify.outcome import VerificationOutcome
from svc_core.ledger.verify.sweep import Sweep
from svc_core.testing.ledger_kit import logs

LEDGER = "led_0123456789abcdef01234567"
SIGNER = Ed25519Signer.from_seed(b"r" * 32)


def _receipt(log: Any, index: int, size: int) -> LogReceipt:
    leaves = [bytes.fromhex(split_line(line).seal.decode()) for line in log.lines[:size]]
    note_text = sign(Checkpoint(f"log.example/{LEDGER}", size, log.heads[size].root), SIGNER)
    return LogReceipt(index, logs.inclusion(index, size, leaves), note_text)


def _verify(lines: Any, **evidence: Any) -> VerificationOutcome:
    """The outcome of the fast pass, or else that of the diagnosis, which must agree with it."""
    anchors = gather(**evidence)
    sweep, diagnosis = Sweep(anchors), Diagnosis(anchors)
    sweep.feed(lines)
    diagnosis.feed(lines)
    fast, slow = sweep.finish(), diagnosis.finish()
    assert fast == slow if fast is not None else not slow.ok
    return slow


@pytest.mark.parametrize("level", ["integrity", "strict"])
def test_every_true_receipt_passes_and_every_false_one_is_told(
    make_log: Any, faults_of: Any, level: str
) -> None:
    log = make_log(11)
    for size in (1, 5, 8, 11):
        for index in range(size):
            true = _receipt(log, index, size)
            false = [
                evolve(true, index=wrong_index)
                for wrong_index in range(size + 2)
                if wrong_index != index
            ]
            false += [
                evolve(true, proof=(*true.proof[:at], b"\0" * 32, *true.proof[at + 1 :]))
                for at in range(len(true.proof))
            ]
            false += [evolve(true, proof=(*true.proof, b"\0" * 32))]

            outcome = _verify(log.lines, receipts=[true.text], level=level)
            assert (outcome.ok, outcome.checks.tree) == (True, True)
            for item in false:
                answer = _verify(log.lines, receipts=[true.text, item.text], level=level)
                assert faults_of(answer) == [("CHECKPOINT_MALFORMED", None)]
                assert answer.faults[0].detail.startswith("receipt 2: ")


def test_a_receipt_is_not_blamed_for_what_was_done_to_the_log(
    make_log: Any, faults_of: Any
) -> None:
    log = make_log(9)
    receipts = [_receipt(log, 7, 8).text, _receipt(log, 2, 9).text]
    lines = list(log.lines)

    mutant = [lines[0].replace(b'"author":"key', b'"author":"kez'), *lines[1:]]
    assert faults_of(_verify(mutant, receipts=receipts)) == [("HEAD_ALTERED", 1)]
    assert faults_of(_verify(lines[:4], receipts=receipts)) == [("TRUNCATED", 5)]
    assert faults_of(_verify(lines[1:], receipts=receipts))[0] == ("MISSING_LINES", 1)
    stranger = make_log(9, offset=100)
    assert faults_of(_verify(stranger.lines, receipts=receipts)) == [("HISTORY_REWRITTEN", 8)]


def test_a_receipt_for_the_trusted_part_is_passed_over(make_log: Any) -> None:
    log = make_log(9)
    receipt = _receipt(log, 2, 9)

    outcome = _verify(log.lines[5:], receipts=[receipt.text], start=log.heads[5])
    assert outcome.ok
    false = evolve(receipt, index=6)
    assert not _verify(log.lines[5:], receipts=[false.text], start=log.heads[5]).ok


def test_a_cut_that_took_an_erasure_is_told_as_a_cut(
    make_log: Any, make_erased: Any, faults_of: Any
) -> None:
    log = make_erased(make_log(8), 3)
    for level in ("integrity", "strict"):
        cut = _verify(log.lines[:8], anchors=[log.anchor], level=level)
        assert faults_of(cut) == [("TRUNCATED", 9)]
        # Without an anchor nothing tells of the cut, and the content is missing.
        assert faults_of(_verify(log.lines[:8], level=level)) == [("PAYLOAD_MISSING", 4)]


def test_a_cut_excuses_no_target_that_never_was(make_log: Any, faults_of: Any) -> None:
    log = make_log(5)
    records = [decode(line) for line in log.lines]
    act = next(record for record in records if record.target is not None)
    payload = {"reason": "other", "salt": "t" * 22}
    wrong = f"{act.id[:3]}_{'0' * 24}"
    draft = Draft(act.kind, "retract", act.subject, wrong, None, None, "key_a", payload)
    batch = seal_batch(log.heads[-1], [draft], "2027-01-01T00:00:00.000000Z")
    lines = [*log.lines, *batch.lines]

    cut = _verify(lines, anchors=[(9, b"9" * 32)])
    assert faults_of(cut) == [("BAD_TARGET", 6), ("TRUNCATED", 7)]
