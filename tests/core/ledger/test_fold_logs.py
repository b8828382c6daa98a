"""The laws of a sealed log hold for this library's functions (P19 to P30)."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_core import canonical
from svc_core.ledger.log import proofs, tree
from svc_core.ledger.log.checkpoint import Checkpoint, sign
from svc_core.ledger.log.note import Ed25519Signer, VerifierKey
from svc_core.ledger.log.receipt import Receipt
from svc_core.ledger.records import Record, decode, encode_head, encode_line, payload_bytes
from svc_core.ledger.timestamps import canonical_time
from svc_core.ledger.verify.verify import verify
from svc_core.testing.ledger import edits, folds, histories, logs, questions

FEW = settings(max_examples=40, deadline=None)
_leaves = st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=20, unique=True)


@FEW
@given(histories.histories())
def test_what_was_sealed_verifies(history: histories.History) -> None:
    logs.check_sealed_verifies(verify, history)
    logs.check_continuation(verify, history)
    logs.check_round_trip(decode, _encode, history)


@settings(max_examples=15, deadline=None)
@given(histories.histories(erasures=False))
def test_an_erasure_keeps_seals_roots_and_receipts(history: histories.History) -> None:
    seals = [bytes.fromhex(record.seal) for record in history.records]
    origin = f"ledger.example/{histories.LEDGER}"
    signer = Ed25519Signer.from_seed(bytes(32))
    signed = sign(Checkpoint(origin, len(seals), tree.root(history.head.frontier)), signer)
    receipts = [
        Receipt(index, logs.inclusion(index, len(seals), seals), signed)
        for index in range(len(seals))
    ]

    logs.check_lawful_erasure(verify, history, receipts, VerifierKey(origin, signer.public))


def test_an_empty_ledger_verifies() -> None:
    logs.check_sealed_verifies(verify, histories.History())


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_edit_is_found_and_its_line_named(data: st.DataObject) -> None:
    # An erasure that is cut off leaves a line whose missing content nothing explains any more.
    history = data.draw(histories.histories(erasures=False))
    edit = data.draw(edits.byte_edits(history) | edits.line_edits(history))

    logs.check_edit_is_found(verify, history, edit)


@FEW
@given(_leaves, st.lists(st.integers(0, 20), max_size=3))
def test_trees_keep_their_laws(leaves: list[bytes], cuts: list[int]) -> None:
    logs.check_frontier(tree.extend, tree.root, leaves, cuts)
    logs.check_inclusion(logs.inclusion, proofs.verify_inclusion, leaves)
    logs.check_consistency(logs.consistency, proofs.verify_consistency, leaves)


_values = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5) | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(_values)
def test_canonical_bytes_keep_their_law(value: Any) -> None:
    logs.check_canonical(canonical.dumps, canonical.dumps_exactly, json.loads, value)


_instants = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC))


@given(_instants, _instants, st.integers(-1_439, 1_439))
def test_instants_keep_their_law(one: datetime, other: datetime, offset: int) -> None:
    logs.check_timestamps(canonical_time, one, other, offset)


@FEW
@given(histories.histories())
def test_the_bytes_of_a_fold_depend_on_the_set_and_the_times_alone(
    history: histories.History,
) -> None:
    logs.check_export(lambda *asked: json.dumps(folds.core(*asked)).encode(), history)


def test_a_check_says_where_a_law_is_broken() -> None:
    history = histories.opened(2)

    with pytest.raises(AssertionError, match="Question"):
        folds.check_idempotence(lambda records, _: {"count": len(records)}, history)
    with pytest.raises(AssertionError, match="reached"):
        questions.holds(False, "reached")
    edit = edits.Edit("byte 1", history.lines, 1)
    with pytest.raises(AssertionError, match="byte"):
        logs.check_edit_is_found(verify, history, edit)


def _encode(record: Record) -> bytes:
    content = None if record.payload is None else payload_bytes(record.payload)
    return encode_line(encode_head(record), content, record.seal)
