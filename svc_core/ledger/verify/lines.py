"""Parses one line of a log, damaged or not, and checks the rules for heads and payloads.

Rule 1: a hash proves that nothing changed since it was sealed. `head_breaches` and `payload_breach`
        find what should not have been sealed; `strict` verification applies them to every line.
Rule 2: a damaged line is read as far as it can be. One that was only written differently (white
        space, order of members, CRLF) is put into its canonical form; if that is what was sealed,
        nothing but the form is wrong.
"""

from collections.abc import Iterator
from hashlib import sha256
from json import JSONDecoder, loads
from typing import Final, NamedTuple

from svc_core.base import canonical
from svc_core.contract.problem import Problem
from svc_core.ledger.log.record_seals import seal_of
from svc_core.ledger.records import (
    HEAD,
    KIND_PREFIX,
    LINE_BYTES_MAX,
    Parts,
    payload_bytes,
    split_line,
)

NO_PAYLOAD: Final = b"null"
ERASES: Final = b'"op":"erase"'
"""What a head says of an erasure."""
_PREFIX: Final = {kind.encode(): prefix.encode() for kind, prefix in KIND_PREFIX.items()}
# `json.loads` guesses the encoding of bytes first, which takes as long as reading them.
_decode = JSONDecoder().decode
_WITHOUT_INTERVAL: Final = frozenset({b"verify", b"erase"})


class Head(NamedTuple):
    """The members of a head as bytes, in the order of its grammar's groups."""

    author: bytes
    id: bytes
    kind: bytes
    ledger: bytes
    op: bytes
    payload_hash: bytes
    prev: bytes
    recorded_at: bytes
    seq: bytes
    subject: bytes
    target: bytes | None
    valid_from: bytes | None
    valid_to: bytes | None


class Breach(NamedTuple):
    """One broken rule of a line: code, explanation, expected and actual text."""

    code: str
    detail: str
    expected: str | None = None
    actual: str | None = None


def head_breaches(head: Head) -> Iterator[Breach]:
    """Yield the rules that a well-formed head breaks."""
    id_ = b"%b_%b" % (_PREFIX[head.kind], head.payload_hash[:24])
    if head.id != id_:
        yield _differ("ID_MISMATCH", "The id is not made of the payload's hash.", id_, head.id)
    target = head.target
    if head.op == b"assert":
        if target is not None:
            yield Breach("BAD_TARGET", "An assertion has no target.", None, target.decode())
        if head.kind == b"subject" and head.subject != head.id:
            detail = "A subject's own assertion is about itself."
            yield _differ("ID_MISMATCH", detail, head.id, head.subject)
    elif target is None:
        yield Breach("BAD_TARGET", f"An operation {head.op.decode()} has a target.")
    elif target[:3] != id_[:3]:
        yield _differ("BAD_TARGET", "The target is of another kind.", id_[:3], target[:3])
    if head.op in _WITHOUT_INTERVAL:
        if head.valid_from is not None or head.valid_to is not None:
            yield Breach("MALFORMED", f"An operation {head.op.decode()} has no valid time.")
    elif None not in (head.valid_from, head.valid_to) and head.valid_from >= head.valid_to:  # type: ignore[operator]
        yield Breach("EMPTY_INTERVAL", "validFrom is not before validTo.")


def payload_breach(content: bytes) -> Breach | None:
    """Return the rule that the bytes of a payload break; None if they break none."""
    if content == NO_PAYLOAD:
        return None
    try:
        value = _decode(content.decode())
        if type(value) is not dict:
            return Breach("MALFORMED", "The payload is neither an object nor null.")
        canonical_line = payload_bytes(value)
    except Problem as error:
        return Breach("MALFORMED", error.detail)
    except (ValueError, RecursionError):
        return Breach("MALFORMED", "The payload is no JSON.")
    if canonical_line != content:
        return Breach("NOT_CANONICAL", "The payload is not in its canonical form (RFC 8785).")
    return None


def _differ(code: str, detail: str, expected: bytes, actual: bytes) -> Breach:
    return Breach(code, detail, expected.decode(), actual.decode())


# -- damaged lines -----------------------------------------------------------------------------


_MEMBERS: Final = {"head", "payload", "seal"}
_ANY_SEAL: Final = b"0" * 64
_NO_PARTS: Final = Parts(b"", b"", b"")


class Line(NamedTuple):
    """A parsed line, with its number counted from 1.

    `parts` are empty unless `is_cut`; `head` is None when it does not follow the grammar.
    `computed` is the seal that its head has. `breach` tells of a form that is wrong.
    """

    number: int
    is_cut: bool
    parts: Parts
    head: Head | None
    computed: str
    breach: Breach | None

    @property
    def seal(self) -> str:
        """The seal that stands in the line, valid or not."""
        return self.parts.seal.decode("ascii", "backslashreplace")

    @property
    def is_sealed(self) -> bool:
        """Whether the head is well formed and the seal is its hash."""
        return self.head is not None and self.computed == self.seal

    @property
    def may_erase(self) -> bool:
        """Whether it may be an erasure; a lost line feed can leave one inside the line before."""
        return self.head is None or self.head.op == b"erase" or ERASES in self.parts.payload

    @property
    def seq(self) -> int:
        """The record number in the head; -1 without a head."""
        return int(self.head.seq) if self.head else -1

    @property
    def prev(self) -> str:
        """The previous seal in the head; empty without a head."""
        return self.head.prev.decode() if self.head else ""

    @property
    def has_payload(self) -> bool:
        """Whether the payload has the hash in the head; an erased payload passes."""
        expected = self.head.payload_hash.decode() if self.head else ""
        return self.parts.payload == NO_PAYLOAD or self.payload_hash == expected

    @property
    def payload_hash(self) -> str:
        """The hash of the payload's bytes."""
        return sha256(self.parts.payload).hexdigest()

    def sealed_after(self, prev: str) -> str:
        """Compute the seal that the head would have with `prev` as the previous seal."""
        return seal_of(self.parts.head.replace(self.prev.encode(), prev.encode()))


def read_line(number: int, raw: bytes) -> Line:
    """Parse a line; damage is reported in the result and never raised."""
    if len(raw) > LINE_BYTES_MAX:
        detail = f"The line is longer than {LINE_BYTES_MAX} bytes."
        return Line(number, False, _NO_PARTS, None, "", Breach("MALFORMED", detail))
    line = _parse_line(number, raw)
    if line.is_sealed and line.has_payload:
        return line
    canonical_bytes = _canonical(raw)
    if canonical_bytes is not None and canonical_bytes != raw:
        canonical_line = _parse_line(number, canonical_bytes)
        if not line.is_cut or (canonical_line.is_sealed and canonical_line.has_payload):
            detail = "The line is not in its canonical form (RFC 8785)."
            return canonical_line._replace(breach=Breach("NOT_CANONICAL", detail))
    return line


def _parse_line(number: int, raw: bytes) -> Line:
    parts = _parts(raw)
    if parts is None:
        detail = "This is no line of a record."
        code = "MALFORMED" if raw.strip() else "NOT_CANONICAL"
        return Line(number, False, _NO_PARTS, None, "", Breach(code, detail))
    match = HEAD.fullmatch(parts.head)
    head = Head._make(match.groups()) if match else None
    return Line(number, True, parts, head, seal_of(parts.head), None)


def _parts(raw: bytes) -> Parts | None:
    # A seal that is no longer hexadecimal is a seal all the same, and says which line it is.
    try:
        return split_line(raw[:-66] + _ANY_SEAL + raw[-2:])._replace(seal=raw[-66:-2])
    except ValueError:
        return None


def _canonical(raw: bytes) -> bytes | None:
    """Return the canonical form of a line written differently; None if it is no line."""
    try:
        value = loads(raw)
        if type(value) is not dict or value.keys() != _MEMBERS:
            return None
        canonical_bytes = canonical.dumps(value)
    except (ValueError, RecursionError):
        return None
    return canonical_bytes if _parts(canonical_bytes) else None
