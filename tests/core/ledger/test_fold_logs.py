"""The laws of a sealed log hold for this library's functions (P19 to P22, P26, P29, P30)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.log import tree
from svc_core.ledger.log.checkpoint import Checkpoint, sign
from svc_core.ledger.log.note import Ed25519Signer, VerifierKey
from svc_core.ledger.log.receipt import LogReceipt
from svc_core.ledger.records import SealedRecord, decode, encode_line, head_text, payload_bytes
from svc_core.ledger.verify.log_verification import verify_log
from svc_core.testing.ledger_kit import edits, folds, logs
from svc_core.testing.ledger_kit import fold_questions as questions
from svc_core.testing.ledger_kit import history_strategies as histories
from tests.sampling import examples

FEW = examples(40)


@FEW
@given(histories.histories())
def test_what_was_sealed_verifies(history: histories.History) -> None:
    logs.check_sealed_verifies(verify_log, history)
    logs.check_continuation(verify_log, history)
    logs.check_round_trip(decode, _encode, history)


@examples(15)
@given(histories.histories(erasures=False))
def test_an_erasure_keeps_seals_roots_and_receipts(history: histories.History) -> None:
    seals = [bytes.fromhex(record.seal) for record in history.records]
    origin = f"ledger.example/{histories.LEDGER}"
    signer = Ed25519Signer.from_seed(bytes(32))
    note_text = sign(Checkpoint(origin, len(seals), tree.root(history.head.frontier)), signer)
    receipts = [
        LogReceipt(index, logs.inclusion(index, len(seals), seals), note_text)
        for index in range(len(seals))
    ]

    logs.check_lawful_erasure(verify_log, history, receipts, VerifierKey(origin, signer.public))


def test_an_empty_ledger_verifies() -> None:
    logs.check_sealed_verifies(verify_log, histories.History())


@examples(60)
@given(st.data())
def test_every_edit_is_found_and_its_line_named(data: st.DataObject) -> None:
    # An erasure that is cut off leaves a line whose missing content nothing explains any more.
    history = data.draw(histories.histories(erasures=False))
    edit = data.draw(edits.byte_edits(history) | edits.line_edits(history))

    logs.check_edit_is_found(verify_log, history, edit)


@FEW
@given(histories.histories())
def test_the_bytes_of_a_fold_depend_on_the_set_and_the_times_alone(
    history: histories.History,
) -> None:
    logs.check_export(lambda *arguments: json.dumps(folds.core(*arguments)).encode(), history)


def test_a_check_says_where_a_law_is_broken() -> None:
    history = histories.new_history(2)

    with pytest.raises(AssertionError, match="Question"):
        folds.check_idempotence(lambda records, _: {"count": len(records)}, history)
    with pytest.raises(AssertionError, match="reached"):
        questions.holds(False, "reached")
    edit = edits.Edit("byte 1", history.lines, 1)
    with pytest.raises(AssertionError, match="byte"):
        logs.check_edit_is_found(verify_log, history, edit)


def _encode(record: SealedRecord) -> bytes:
    head = head_text(*record[:10], record.payload_hash, record.prev, record.ledger)
    content = None if record.payload is None else payload_bytes(record.payload)
    return encode_line(head.encode(), content, record.seal)
