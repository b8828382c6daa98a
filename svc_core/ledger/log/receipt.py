"""Receipts: offline proofs that a record is in a signed tree (C2SP tlog-proof).

A receipt holds an index, an inclusion proof and a signed checkpoint. Whoever keeps one can prove
that the log was later truncated or rewritten.
"""

import re
from typing import Final, Self

from attrs import frozen

from svc_core.ledger.log import note
from svc_core.ledger.log.checkpoint import Checkpoint, decimal, open_checkpoint
from svc_core.ledger.log.note import NoteError, VerifierKey
from svc_core.ledger.log.proofs import ProofError, verify_inclusion
from svc_core.ledger.log.tree import HASH_BYTES, Hash

_HEADER: Final = "c2sp.org/tlog-proof@v1"
_EXTRA: Final = "extra "
_INDEX: Final = "index "
PROOF_HASHES_MAX: Final = 63
"""Levels of the largest tree that a size can name."""
_SEAL = re.compile(r"[0-9a-f]{64}")


@frozen
class LogReceipt:
    """An inclusion proof of record `index`, with the signed checkpoint that it leads to.

    `extra` is not covered by any signature.
    """

    index: int
    proof: tuple[Hash, ...]
    checkpoint: str
    extra: bytes | None = None

    @property
    def text(self) -> str:
        """The receipt as text; `parse` reads it."""
        extra = [] if self.extra is None else [f"{_EXTRA}{note.to_base64(self.extra)}"]
        hashes = [note.to_base64(hash_) for hash_ in self.proof]
        lines = [_HEADER, *extra, f"{_INDEX}{self.index}", *hashes]
        return "".join(f"{line}\n" for line in lines) + f"\n{self.checkpoint}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a receipt without verifying it; `text` of the result is the same text.

        Raises:
            NoteError: the text is not a receipt.
        """
        # No line of the proof is empty, so the first empty line is the one before the checkpoint.
        head, blank, checkpoint = text.partition("\n\n")
        header, *lines = head.split("\n")
        if header != _HEADER or not blank:
            raise NoteError("A receipt starts with its format and holds a checkpoint.")
        Checkpoint.parse(note.parse_note(checkpoint).text)
        extra = None
        if lines and lines[0].startswith(_EXTRA):
            extra = note.from_base64(lines.pop(0)[len(_EXTRA) :])
        if not lines or not lines[0].startswith(_INDEX):
            raise NoteError("A receipt names the index of its record.")
        index = decimal(lines.pop(0)[len(_INDEX) :])
        return cls(index, _hashes(lines), checkpoint, extra)


def _hashes(lines: list[str]) -> tuple[Hash, ...]:
    if len(lines) > PROOF_HASHES_MAX:
        raise NoteError(f"An inclusion proof has at most {PROOF_HASHES_MAX} hashes.")
    hashes = tuple(note.from_base64(line) for line in lines)
    if any(len(hash_) != HASH_BYTES for hash_ in hashes):
        raise NoteError(f"A hash has {HASH_BYTES} bytes.")
    return hashes


def verify_receipt(receipt: LogReceipt, seal: str, vkey: VerifierKey) -> Checkpoint:
    """Check that the log of `vkey` signed a tree with this seal in it; return the checkpoint.

    Raises:
        NoteError: the checkpoint is not signed by the log.
        ProofError: the record is not in its tree at that index, or the seal is not 64 hex digits.
    """
    if not _SEAL.fullmatch(seal):
        raise ProofError("A seal is 64 hex digits.")
    checkpoint = open_checkpoint(receipt.checkpoint, vkey)
    leaf = bytes.fromhex(seal)
    verify_inclusion(receipt.index, checkpoint.size, leaf, receipt.proof, checkpoint.root)
    return checkpoint
