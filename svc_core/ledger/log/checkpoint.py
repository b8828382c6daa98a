"""Checkpoints: the signed size and root hash of a log's tree (C2SP tlog-checkpoint).

Rule 1: the text is origin, size and root, one a line; we write no extension line, but read them,
        because what others signed must be read as they signed it.
Rule 2: a checkpoint counts if the log's own key signed it; that key's name is the origin.
"""

import re
from typing import Final, Self

from attrs import field, frozen

from svc_core.ledger.log import note
from svc_core.ledger.log.note import NoteError, VerifierKey
from svc_core.ledger.log.proofs import SIZE_MAX
from svc_core.ledger.log.tree import HASH_BYTES, Hash
from svc_core.operation.host import Signer

_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}")
_LINES_MIN: Final = 3


@frozen
class Checkpoint:
    """The root hash (32 bytes) of a log's tree at one size; `origin` names the log."""

    origin: str
    size: int
    root: Hash
    extensions: tuple[str, ...] = field(default=(), repr=False)

    @property
    def text(self) -> str:
        """The text that is signed."""
        lines = (self.origin, str(self.size), note.to_base64(self.root), *self.extensions)
        return "".join(f"{line}\n" for line in lines)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text of a note; `text` of the result is the same text.

        Raises:
            NoteError: it is not the text of a checkpoint.
        """
        lines = text.split("\n")
        if lines.pop() or len(lines) < _LINES_MIN or "" in lines:
            raise NoteError("A checkpoint has three lines that are not empty, each ended by LF.")
        origin, size, root, *extensions = lines
        hash_ = note.from_base64(root)
        if len(hash_) != HASH_BYTES:
            raise NoteError(f"A root has {HASH_BYTES} bytes.")
        return cls(origin, decimal(size), hash_, tuple(extensions))


def decimal(text: str) -> int:
    """Parse a size or an index of the tlog formats: ASCII digits without leading zeros.

    Raises:
        NoteError: it is written otherwise, or exceeds 2^63-1.
    """
    if not _DECIMAL.fullmatch(text) or int(text) > SIZE_MAX:
        raise NoteError("A size is written in decimal digits, without zeros in front.")
    return int(text)


def sign(checkpoint: Checkpoint, signer: Signer) -> str:
    """Sign a checkpoint and return the note; the name of the key is the origin.

    Raises:
        NoteError: the origin cannot be a key's name.
    """
    return note.sign_note(checkpoint.text, checkpoint.origin, signer)


def open_checkpoint(note_text: str, vkey: VerifierKey) -> Checkpoint:
    """Return the checkpoint in a signed note, after checking the signature by `vkey`.

    Raises:
        NoteError: it is no such note, or its origin is not the name of the key.
    """
    checkpoint = Checkpoint.parse(note.open_note(note_text, [vkey]).text)
    if checkpoint.origin != vkey.name:
        raise NoteError("The checkpoint is another log's.")
    return checkpoint
