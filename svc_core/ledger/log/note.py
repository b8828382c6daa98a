"""Reads, signs and verifies notes: a text, a blank line, signature lines (C2SP signed-note).

Rule 1: a note is read strictly: one form, one meaning. What does not parse whole is no note.
Rule 2: a signature belongs to a key when name and key id are both its own; others are ignored.
Rule 3: a note is as good as its keys: one signature of a known key that fails refuses it, and so
        does having none that verifies.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as BinasciiError
from collections.abc import Iterable
from hashlib import sha256
from typing import Final, Self

from attrs import field, frozen
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from svc_core.operation.host import Signer

NOTE_BYTES_MAX: Final = 262_144
"""Twice what 16 signatures after quantum computers take, which every reader must accept."""
SIGNATURES_MAX: Final = 64

ED25519: Final = 0x01
ED25519_COSIGNATURE: Final = 0x04
ML_DSA_44_COSIGNATURE: Final = 0x06
KEY_BYTES: Final = {ED25519: 32, ED25519_COSIGNATURE: 32, ML_DSA_44_COSIGNATURE: 1312}
"""The algorithms of keys that are understood, and how long their public keys are."""

KEY_ID_BYTES: Final = 4
_DASH: Final = "— "
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_NO_NAME = re.compile(r"[\x00-\x20+\ud800-\udfff]")
_KEY_ID = re.compile(r"[0-9a-f]{8}")


class NoteError(ValueError):
    """A text is not a valid note or key, or a note lacks the required signatures."""


@frozen
class Ed25519Signer:
    """A `Signer` that holds its private key."""

    _private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def from_seed(cls, seed: bytes) -> Self:
        """Create the signer of a 32-byte seed.

        Raises:
            ValueError: the seed has another length.
        """
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        return self._private.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """Sign `message`; the signature has 64 bytes."""
        return self._private.sign(message)


@frozen
class VerifierKey:
    """A public key with its name and its algorithm; its text form is called a vkey.

    Raises:
        NoteError: the name is none, or the key does not fit its algorithm.
    """

    name: str
    public: bytes = field(repr=False)
    algorithm: int = ED25519

    def __attrs_post_init__(self) -> None:
        if not is_key_name(self.name):
            raise NoteError("A key name is not empty and holds neither white space nor a plus.")
        if len(self.public) != KEY_BYTES.get(self.algorithm):
            raise NoteError("The key is of an unknown algorithm, or of another length than its.")

    @classmethod
    def parse(cls, vkey: str) -> Self:
        """Parse a key from its text `name+keyid+base64`.

        Raises:
            NoteError: it is not one, its key id is another key's, or its algorithm is unknown.
        """
        name, _, rest = vkey.partition("+")
        digits, _, base64 = rest.partition("+")
        data = from_base64(base64)
        if not data or not _KEY_ID.fullmatch(digits):
            raise NoteError("A verifier key has the form name+keyid+base64.")
        key = cls(name, data[1:], data[0])
        if key.id.hex() != digits:
            raise NoteError("The key id does not follow from the key.")
        return key

    @property
    def id(self) -> bytes:
        """The first 4 bytes of SHA-256(name || LF || algorithm || public key)."""
        return sha256(self.name.encode() + b"\n" + self._key_bytes()).digest()[:KEY_ID_BYTES]

    @property
    def vkey(self) -> str:
        """The text `name+keyid+base64` of the key."""
        return f"{self.name}+{self.id.hex()}+{to_base64(self._key_bytes())}"

    def _key_bytes(self) -> bytes:
        return bytes([self.algorithm]) + self.public


@frozen
class Signature:
    """One signature line of a note; the form of `blob` depends on the key's algorithm."""

    name: str
    key_id: bytes
    blob: bytes = field(repr=False)

    @property
    def line(self) -> str:
        """The line, with its LF."""
        return f"{_DASH}{self.name} {to_base64(self.key_id + self.blob)}\n"


@frozen
class SignedNote:
    """A parsed note: a text that ends with LF, and its signatures, none of them verified."""

    text: str
    signatures: tuple[Signature, ...]

    def __str__(self) -> str:
        """The note as it is written."""
        return f"{self.text}\n{''.join(signature.line for signature in self.signatures)}"

    def signatures_of(self, key: VerifierKey) -> tuple[Signature, ...]:
        """Return the signatures with the name and id of `key`, not verified."""
        identity = key.name, key.id
        return tuple(line for line in self.signatures if (line.name, line.key_id) == identity)


# -- reading -----------------------------------------------------------------------------------


def parse_note(text: str) -> SignedNote:
    """Parse a note; `str` of the result gives the same text.

    Raises:
        NoteError: the text is not a note.
    """
    _check_text(text, "A note")
    if len(text.encode()) > NOTE_BYTES_MAX:
        raise NoteError(f"A note has at most {NOTE_BYTES_MAX} bytes.")
    # The text may hold empty lines: "separated from the signatures by the last empty line".
    gap = text.rfind("\n\n")
    if gap < 0:
        raise NoteError("A blank line divides a note's text from its signatures.")
    return SignedNote(text[: gap + 1], _signatures(text[gap + 2 :]))


def _signatures(lines: str) -> tuple[Signature, ...]:
    if not lines.endswith("\n"):
        raise NoteError("A signature line ends with a line feed, and a note has one at least.")
    rows = lines[:-1].split("\n")
    if len(rows) > SIGNATURES_MAX:
        raise NoteError(f"A note has at most {SIGNATURES_MAX} signatures.")
    return tuple(_signature(row) for row in rows)


def _signature(row: str) -> Signature:
    name, _, base64 = row.removeprefix(_DASH).partition(" ")
    if not row.startswith(_DASH) or not is_key_name(name):
        raise NoteError("A signature line is an em dash, a key name and a signature.")
    data = from_base64(base64)
    if len(data) <= KEY_ID_BYTES:
        raise NoteError("A signature has more than the four bytes of its key id.")
    return Signature(name, data[:KEY_ID_BYTES], data[KEY_ID_BYTES:])


def is_key_name(name: str) -> bool:
    """Whether a name is valid for a key: not empty, without Unicode spaces, plus and controls."""
    return bool(name) and not _NO_NAME.search(name) and not any(c.isspace() for c in name)


def to_base64(data: bytes) -> str:
    """Encode as standard Base64 with padding (RFC 4648, 4)."""
    return b64encode(data).decode()


def from_base64(text: str) -> bytes:
    """Decode Base64; only the one text that `to_base64` would give is accepted.

    Raises:
        NoteError: the text is not in that form.
    """
    try:
        data = b64decode(text.encode("ascii"), validate=True)
    except (BinasciiError, UnicodeEncodeError):
        raise NoteError("Not standard Base 64 with padding.") from None
    # The decoder overlooks bits behind the last byte; the same signature would have many texts.
    if to_base64(data) != text:
        raise NoteError("Not the one Base 64 text of its bytes.")
    return data


def _check_text(text: str, label: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NoteError(f"{label} is valid UTF-8.") from None
    if _CONTROL.search(text):
        raise NoteError(f"{label} holds no control character but the line feed.")


# -- signing and verifying ---------------------------------------------------------------------


def sign_note(text: str, name: str, signer: Signer) -> str:
    """Sign a text and return the note, with one signature under the key name `name`.

    Raises:
        NoteError: the text is not valid for a note, or the name for a key.
    """
    _check_text(text, "The text of a note")
    if not text.endswith("\n"):
        raise NoteError("The text of a note ends with a line feed.")
    key = VerifierKey(name, signer.public)
    return str(SignedNote(text, (Signature(name, key.id, signer.sign(text.encode())),)))


def open_note(text: str, keys: Iterable[VerifierKey]) -> SignedNote:
    """Parse a note and check that at least one of `keys` (Ed25519) signed it.

    Raises:
        NoteError: it is no note, a signature by one of `keys` is false, or there is none.
    """
    note = parse_note(text)
    if not signers(note, keys):
        raise NoteError("The note has no signature by a known key.")
    return note


def signers(note: SignedNote, keys: Iterable[VerifierKey]) -> tuple[VerifierKey, ...]:
    """Return those of `keys` (Ed25519) whose signatures on the note verify.

    Raises:
        NoteError: a signature by one of `keys` is false.
    """
    matches = []
    message = note.text.encode()
    for key in keys:
        if key.algorithm != ED25519:
            continue
        signatures = note.signatures_of(key)
        for signature in signatures:
            verify_ed25519(key.public, signature.blob, message)
        if signatures:
            matches.append(key)
    return tuple(matches)


def verify_ed25519(public: bytes, signature: bytes, message: bytes) -> None:
    """Check an Ed25519 signature (RFC 8032).

    Raises:
        NoteError: it is false, or the public key is none.
    """
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        raise NoteError("A signature by a known key is false.") from None
