"""Checkpoints, receipts and witnesses: what counts as an anchor, and what is said of the others."""

from typing import Any

import pytest

from svc_core.ledger.log import tree
from svc_core.ledger.log.checkpoint import Checkpoint, sign
from svc_core.ledger.log.note import Ed25519Signer, VerifierKey
from svc_core.ledger.log.policy import Policy
from svc_core.ledger.verify.anchors import Anchor
from svc_core.ledger.verify.log_verification import verify_log


@pytest.fixture
def lines(vectors: Any) -> list[bytes]:
    return [line.encode() for line in vectors["lines"]]


@pytest.fixture
def vkey(vectors: Any) -> str:
    key: str = vectors["logKey"]["vkey"]
    return key


def test_checkpoints_and_receipts_are_anchors(vectors: Any, lines: list[bytes], vkey: str) -> None:
    checkpoint, receipt = vectors["checkpoints"]["8"], vectors["receipt"]["text"]

    assert verify_log(lines, checkpoints=[checkpoint], vkey=vkey).assurance == "anchored"
    assert verify_log(lines, receipts=[receipt], vkey=vkey).assurance == "anchored"
    older = verify_log(lines, checkpoints=[vectors["checkpoints"]["5"].encode()], vkey=vkey)
    assert (older.anchored_size, older.checks.checkpoints) == (5, True)
    for evidence in ({"checkpoints": [checkpoint]}, {"receipts": [receipt.encode()]}):
        first = verify_log(lines[:7], vkey=vkey, **evidence).first_fault
        assert first is not None
        assert (first.code, first.line) == ("TRUNCATED", 8)


def test_what_nobody_is_known_to_have_signed_anchors_nothing(
    vectors: Any, lines: list[bytes]
) -> None:
    root = bytes.fromhex(vectors["roots"][8])
    foreign = Ed25519Signer.from_seed(b"f" * 32)
    forgery = sign(Checkpoint(vectors["origin"], 8, root), foreign)
    cases: list[tuple[dict[str, Any], bool | None]] = [
        ({"checkpoints": [forgery]}, None),
        ({"receipts": [vectors["receipt"]["text"]]}, None),
        (
            {"own_checkpoints": [forgery], "vkey": VerifierKey(vectors["origin"], foreign.public)},
            True,
        ),
    ]
    for evidence, is_signed in cases:
        outcome = verify_log(lines, **evidence)
        assert (outcome.ok, outcome.assurance) == (True, "self_consistent")
        assert (outcome.anchored_size, outcome.checks.checkpoints) == (None, is_signed)
        assert outcome.checks.tree is True
        cut = verify_log(lines[:7], **evidence).first_fault
        assert cut is not None
        assert cut.code == "TRUNCATED"
    own = verify_log(lines, root=Anchor(8, root))
    assert (own.assurance, own.anchored_size, own.checks.tree) == ("self_consistent", None, True)
    assert own.checks.checkpoints is None
    outcome_ = verify_log(lines, anchors=[(8, root)])
    assert (outcome_.assurance, outcome_.anchored_size) == ("anchored", 8)
    assert outcome_.checks.checkpoints is None
    alone = verify_log(lines).checks
    assert (alone.tree, alone.checkpoints, alone.store) == (None, None, None)


def test_the_lines_are_held_to_the_ledger_that_key_or_checkpoints_name(
    vectors: Any, lines: list[bytes], vkey: str, make_log: Any, faults_of: Any
) -> None:
    checkpoint, older = vectors["checkpoints"]["8"], vectors["checkpoints"]["5"]
    foreign = list(make_log(9, "led_" + "e" * 24).lines)

    cases: list[dict[str, Any]] = [{"checkpoints": [checkpoint, older]}, {"vkey": vkey}]
    for evidence in cases:
        assert verify_log(lines, **evidence).ok
        assert faults_of(verify_log(foreign, **evidence))[:2] == [
            ("WRONG_LEDGER", 1),
            ("GENESIS_MISMATCH", 1),
        ]
    # Whatever stands before the ledger in the name.
    signer = Ed25519Signer.from_seed(b"f" * 32)
    far = sign(Checkpoint(f"one.example/a/led_{'a' * 24}", 0, tree.EMPTY_ROOT), signer)
    assert faults_of(verify_log(foreign, checkpoints=[far]))[0] == ("WRONG_LEDGER", 1)
    # Names that differ, or that are of no ledger, say nothing of the lines.
    unlike = [
        sign(Checkpoint(origin, 0, tree.EMPTY_ROOT), signer)
        for origin in (f"one.example/led_{'a' * 24}", f"two.example/led_{'b' * 24}")
    ]
    assert verify_log(foreign, checkpoints=unlike).ok
    empty_note = sign(Checkpoint("log.example/main", 0, tree.EMPTY_ROOT), signer)
    assert verify_log(foreign, checkpoints=[empty_note]).ok


def _bad(vectors: Any) -> list[tuple[str, Any]]:
    note_text = vectors["checkpoints"]["8"]
    text, _, signature = note_text.partition("\n\n")
    foreign = Ed25519Signer.from_seed(b"f" * 32)
    origin = vectors["origin"]
    root = bytes.fromhex(vectors["roots"][8])
    return [
        ("CHECKPOINT_MALFORMED", ""),
        ("CHECKPOINT_MALFORMED", "rubbish\n"),
        ("CHECKPOINT_MALFORMED", b"\xff\xfe"),
        ("CHECKPOINT_MALFORMED", note_text[:-1]),
        ("CHECKPOINT_MALFORMED", note_text.replace("\n8\n", "\n08\n")),
        ("CHECKPOINT_MALFORMED", note_text + "rubbish\n"),
        ("CHECKPOINT_UNSIGNED", text + "\n"),
        ("CHECKPOINT_UNSIGNED", text + "\n\n"),
        ("CHECKPOINT_UNSIGNED", sign(Checkpoint(origin, 8, root), foreign)),
        ("CHECKPOINT_UNSIGNED", sign(Checkpoint("other.example/log", 8, root), foreign)),
        ("CHECKPOINT_SIGNATURE_INVALID", note_text.replace("\n8\n", "\n7\n")),
        ("CHECKPOINT_SIGNATURE_INVALID", f"{text.replace('6267', '6268')}\n\n{signature}"),
    ]


def test_what_does_not_count_is_told_and_anchors_nothing(
    vectors: Any, lines: list[bytes], vkey: str, faults_of: Any
) -> None:
    for code, checkpoint in _bad(vectors):
        outcome = verify_log(lines, checkpoints=[checkpoint], vkey=vkey)

        assert faults_of(outcome) == [(code, None)], checkpoint
        assert outcome.assurance == "failed"
        assert outcome.checks.checkpoints is False
        assert (outcome.checks.seals, outcome.checks.tree) == (True, None)
        assert outcome.root == bytes.fromhex(vectors["roots"][8])


def test_faults_of_lines_come_before_those_of_checkpoints(
    vectors: Any, lines: list[bytes], vkey: str, faults_of: Any
) -> None:
    lines[2] = lines[2].replace(b"Gazette", b"gazette")
    good, bad = vectors["checkpoints"]["8"], "rubbish"

    outcome = verify_log(
        lines, checkpoints=[good, bad], receipts=["c2sp.org/tlog-proof"], vkey=vkey
    )

    assert faults_of(outcome) == [
        ("PAYLOAD_ALTERED", 3),
        ("CHECKPOINT_MALFORMED", None),
        ("CHECKPOINT_MALFORMED", None),
    ]
    assert outcome.faults[1].detail.startswith("checkpoint 2: ")
    assert outcome.faults[2].detail.startswith("receipt 1: ")
    assert outcome.fault_count == 3


def test_a_key_that_is_none_is_refused(lines: list[bytes]) -> None:
    with pytest.raises(ValueError, match="key"):
        verify_log(lines, vkey="not a key")


def _policy(vectors: Any, quorum: str) -> Policy:
    log, witness = vectors["logKey"]["vkey"], vectors["witnessKey"]["vkey"]
    return Policy.parse(f"log {log}\nwitness w1 {witness}\nquorum {quorum}\n".encode())


def test_a_log_is_witnessed_when_the_quorum_has_cosigned(
    vectors: Any, lines: list[bytes], vkey: str
) -> None:
    policy = _policy(vectors, "w1")
    note_text, cosigned_text = vectors["checkpoints"]["8"], vectors["cosigned"]

    def assurance(checkpoint: str, policy: Policy, until: int = 8) -> str:
        evidence = {"checkpoints": [checkpoint], "policy": policy, "vkey": vkey}
        return verify_log(lines[:until], **evidence).assurance

    assert assurance(cosigned_text, policy) == "witnessed"
    assert assurance(note_text, policy) == "anchored"
    assert assurance(cosigned_text, policy, 7) == "failed"
    # Nobody is asked for, and nobody came.
    assert assurance(note_text, _policy(vectors, "none")) == "anchored"


def test_a_key_of_witnesses_signs_checkpoints_by_cosignature(
    vectors: Any, lines: list[bytes], faults_of: Any
) -> None:
    witness = vectors["witnessKey"]["vkey"]

    outcome = verify_log(lines, checkpoints=[vectors["cosigned"]], vkey=witness)

    assert faults_of(outcome) == [("CHECKPOINT_UNSIGNED", None)]
