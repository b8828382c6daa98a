"""Checkpoints and receipts: the vectors, and all that must be refused."""

import json
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.log import checkpoint, note, receipt
from svc_core.ledger.log.checkpoint import Checkpoint, open_checkpoint
from svc_core.ledger.log.note import Ed25519Signer, NoteError, VerifierKey
from svc_core.ledger.log.proofs import ProofError
from svc_core.ledger.log.receipt import LogReceipt
from svc_core.ledger.log.tree import extend, root
from svc_core.testing.ledger_kit.logs import inclusion

VECTORS = json.loads(Path("tests/data/ledger/vectors.json").read_text("utf-8"))
SIGNER = Ed25519Signer.from_seed(bytes.fromhex(VECTORS["logKey"]["seed"]))
KEY = VerifierKey.parse(VECTORS["logKey"]["vkey"])
SEALS = [bytes.fromhex(seal) for seal in VECTORS["seals"]]
NEW = open_checkpoint(VECTORS["checkpoints"]["8"], KEY)
RECEIPT = VECTORS["receipt"]["text"]


# -- checkpoints -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["5", "8"])
def test_a_checkpoint_is_that_of_the_vectors(size):
    checkpoint_ = Checkpoint(VECTORS["origin"], int(size), root(extend((), 0, SEALS[: int(size)])))
    assert checkpoint.sign(checkpoint_, SIGNER) == VECTORS["checkpoints"][size]
    assert open_checkpoint(VECTORS["checkpoints"][size], KEY) == checkpoint_


def test_extension_lines_are_read_and_kept():
    text = NEW.text + "extension\n"
    read = Checkpoint.parse(text)
    assert read == evolve(NEW, extensions=("extension",))
    assert read.text == text


def test_the_largest_size_is_2_63_less_one():
    largest = evolve(NEW, size=2**63 - 1)
    assert Checkpoint.parse(largest.text) == largest


ORIGIN, SIZE, ROOT, _ = NEW.text.split("\n")
NO_CHECKPOINTS = {
    "nothing": "",
    "two lines": f"{ORIGIN}\n{SIZE}\n",
    "no origin": f"\n{SIZE}\n{ROOT}\n",
    "no last line feed": f"{ORIGIN}\n{SIZE}\n{ROOT}",
    "an empty line": f"{ORIGIN}\n{SIZE}\n{ROOT}\n\n",
    "an empty line among extensions": f"{ORIGIN}\n{SIZE}\n{ROOT}\n\nx\n",
    "a zero in front": f"{ORIGIN}\n0{SIZE}\n{ROOT}\n",
    "a sign": f"{ORIGIN}\n+{SIZE}\n{ROOT}\n",
    "a negative size": f"{ORIGIN}\n-1\n{ROOT}\n",
    "hex digits": f"{ORIGIN}\n0x8\n{ROOT}\n",
    "other digits": f"{ORIGIN}\n٨\n{ROOT}\n",
    "a space": f"{ORIGIN}\n{SIZE} \n{ROOT}\n",
    "a size of 2^63": f"{ORIGIN}\n{2**63}\n{ROOT}\n",
    "a long size": f"{ORIGIN}\n{'9' * 5000}\n{ROOT}\n",
    "a short root": f"{ORIGIN}\n{SIZE}\n{note.to_base64(NEW.root[:-1])}\n",
    "a root in hex": f"{ORIGIN}\n{SIZE}\n{NEW.root.hex()}\n",
    "a root without padding": f"{ORIGIN}\n{SIZE}\n{ROOT[:-1]}\n",
}


@pytest.mark.parametrize("text", NO_CHECKPOINTS.values(), ids=NO_CHECKPOINTS)
def test_what_is_no_checkpoint_is_refused(text):
    with pytest.raises(NoteError):
        Checkpoint.parse(text)


def test_a_log_does_not_sign_for_another():
    foreign = note.sign_note(evolve(NEW, origin="other.example/log").text, KEY.name, SIGNER)
    with pytest.raises(NoteError, match="another log"):
        open_checkpoint(foreign, KEY)


def test_an_edited_checkpoint_is_refused():
    with pytest.raises(NoteError):
        open_checkpoint(VECTORS["checkpoints"]["8"].replace("\n8\n", "\n9\n"), KEY)


@given(st.integers(0, 2**63 - 1), st.binary(min_size=32, max_size=32))
def test_a_checkpoint_and_its_text_are_one(size, root):
    checkpoint_ = Checkpoint("log.example/a", size, root)
    assert Checkpoint.parse(checkpoint_.text) == checkpoint_


# -- receipts ----------------------------------------------------------------------------------


def test_a_receipt_is_that_of_the_vectors():
    index = VECTORS["receipt"]["index"]
    ours = LogReceipt(index, inclusion(index, 8, SEALS), VECTORS["checkpoints"]["8"])
    assert ours.text == RECEIPT
    assert LogReceipt.parse(RECEIPT) == ours
    assert receipt.verify_receipt(ours, VECTORS["seals"][index], KEY) == NEW


@pytest.mark.parametrize("extra", [None, b"", b"context"])
def test_a_receipt_may_carry_more(extra):
    ours = evolve(LogReceipt.parse(RECEIPT), extra=extra)
    assert LogReceipt.parse(ours.text) == ours
    assert receipt.verify_receipt(ours, VECTORS["seals"][3], KEY) == NEW


def test_a_log_of_one_record_gives_a_receipt_without_hashes():
    note_text = checkpoint.sign(Checkpoint(KEY.name, 1, SEALS[0]), SIGNER)
    ours = LogReceipt.parse(LogReceipt(0, (), note_text).text)
    assert receipt.verify_receipt(ours, VECTORS["seals"][0], KEY).size == 1


def test_a_receipt_is_of_one_record_only():
    ours = LogReceipt.parse(RECEIPT)
    for seal in (*VECTORS["seals"][:3], *VECTORS["seals"][4:], "", "x" * 64, SEALS[3].hex()[:-1]):
        with pytest.raises(ProofError):
            receipt.verify_receipt(ours, seal, KEY)
    for index in (0, 2, 4, 8):
        with pytest.raises(ProofError):
            receipt.verify_receipt(evolve(ours, index=index), VECTORS["seals"][3], KEY)


def test_a_receipt_of_another_log_is_refused():
    stranger = VerifierKey(KEY.name, Ed25519Signer.from_seed(bytes(32)).public)
    with pytest.raises(NoteError):
        receipt.verify_receipt(LogReceipt.parse(RECEIPT), VECTORS["seals"][3], stranger)


HASH = "7bEEGmvNWieRFdek1VsqExJC2TTGbEyEPDY+ImSz3Ys="
NO_RECEIPTS = {
    "nothing": "",
    "another version": RECEIPT.replace("@v1", "@v2"),
    "no header": RECEIPT.partition("\n")[2],
    "no checkpoint": RECEIPT.partition("\n\n")[0] + "\n",
    "no index": RECEIPT.replace("index 3\n", ""),
    "no lines": "c2sp.org/tlog-proof@v1\n\n" + RECEIPT.partition("\n\n")[2],
    "a zero in front": RECEIPT.replace("index 3", "index 03"),
    "a negative index": RECEIPT.replace("index 3", "index -3"),
    "a space behind": RECEIPT.replace("index 3", "index 3 "),
    "index and extra swapped": RECEIPT.replace("index 3", "index 3\nextra YQ=="),
    "two extras": RECEIPT.replace("index 3", "extra YQ==\nextra YQ==\nindex 3"),
    "an extra that is no Base 64": RECEIPT.replace("index 3", "extra Y\nindex 3"),
    "a short hash": RECEIPT.replace(HASH, "7bEE"),
    "a hash without padding": RECEIPT.replace(HASH, HASH[:-1]),
    "a carriage return": RECEIPT.replace("\n", "\r\n"),
    "too many hashes": RECEIPT.replace(HASH, "\n".join([HASH] * 62)),
    "a checkpoint that is no note": RECEIPT.replace("—", "-"),
    "a note that is no checkpoint": RECEIPT.replace("\n8\n", "\neight\n"),
}


@pytest.mark.parametrize("text", NO_RECEIPTS.values(), ids=NO_RECEIPTS)
def test_what_is_no_receipt_is_refused(text):
    assert text != RECEIPT
    with pytest.raises(NoteError):
        LogReceipt.parse(text)


@given(st.integers(0, len(RECEIPT.encode()) - 1), st.integers(1, 255))
def test_a_receipt_proves_nothing_when_any_byte_is_altered(at, flip):
    data = RECEIPT.encode()
    mutant = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
    with pytest.raises(ValueError, match=r"."):
        receipt.verify_receipt(LogReceipt.parse(mutant.decode()), VECTORS["seals"][3], KEY)
