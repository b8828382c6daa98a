"""One line of a damaged log, read as far as it can be.

A line that was only written differently (white space, order of members, CRLF) is put into its
canonical form; if that is what was sealed, nothing but the form is wrong.
"""

from hashlib import sha256
from json import loads
from typing import NamedTuple

from svc_core import canonical
from svc_core.ledger.log.seal import seal_of
from svc_core.ledger.records import HEAD, LINE_BYTES_MAX, Parts, split
from svc_core.ledger.verify.form import ERASES, NO_PAYLOAD, Breach, Head

_MEMBERS = {"head", "payload", "seal"}
_ANY_SEAL = b"0" * 64
_NO_PARTS = Parts(b"", b"", b"")


class Reading(NamedTuple):
    """What a line holds.

    `parts` are empty unless `is_cut`; `head` is None when it does not follow the grammar.
    `computed` is the seal that its head has. `breach` tells of a form that is wrong.
    """

    line: int
    is_cut: bool
    parts: Parts
    head: Head | None
    computed: str
    breach: Breach | None

    @property
    def seal(self) -> str:
        """The seal that stands in the line, whatever it is."""
        return self.parts.seal.decode("ascii", "backslashreplace")

    @property
    def is_sealed(self) -> bool:
        """Whether the line can be read and its head is the one that its seal is of."""
        return self.head is not None and self.computed == self.seal

    @property
    def may_erase(self) -> bool:
        """Whether it may have been an erasure; a lost line feed leaves one in the line before."""
        return self.head is None or self.head.op == b"erase" or ERASES in self.parts.payload

    @property
    def seq(self) -> int:
        """The number that the head tells; -1 without one."""
        return int(self.head.seq) if self.head else -1

    @property
    def prev(self) -> str:
        """The seal before this one that the head tells; empty without one."""
        return self.head.prev.decode() if self.head else ""

    @property
    def has_payload(self) -> bool:
        """Whether the payload is the one that the head has the hash of; an erased one passes."""
        expected = self.head.payload_hash.decode() if self.head else ""
        return self.parts.payload == NO_PAYLOAD or self.payload_hash == expected

    @property
    def payload_hash(self) -> str:
        """The hash that the payload has."""
        return sha256(self.parts.payload).hexdigest()

    def sealed_after(self, prev: str) -> str:
        """The seal that the head would have if it told `prev` as the seal before."""
        return seal_of(self.parts.head.replace(self.prev.encode(), prev.encode()))


def read(line: int, raw: bytes) -> Reading:
    """The line with this number. It never raises."""
    if len(raw) > LINE_BYTES_MAX:
        detail = f"The line is longer than {LINE_BYTES_MAX} bytes."
        return Reading(line, False, _NO_PARTS, None, "", Breach("MALFORMED", detail))
    plain = _reading(line, raw)
    if plain.is_sealed and plain.has_payload:
        return plain
    form = _canonical(raw)
    if form is not None and form != raw:
        again = _reading(line, form)
        if not plain.is_cut or (again.is_sealed and again.has_payload):
            detail = "The line is not in its canonical form (RFC 8785)."
            return again._replace(breach=Breach("NOT_CANONICAL", detail))
    return plain


def _reading(line: int, raw: bytes) -> Reading:
    parts = _parts(raw)
    if parts is None:
        detail = "This is no line of a record."
        code = "MALFORMED" if raw.strip() else "NOT_CANONICAL"
        return Reading(line, False, _NO_PARTS, None, "", Breach(code, detail))
    found = HEAD.fullmatch(parts.head)
    head = Head._make(found.groups()) if found else None
    return Reading(line, True, parts, head, seal_of(parts.head), None)


def _parts(raw: bytes) -> Parts | None:
    # A seal that is no longer hexadecimal is a seal all the same, and says which line it is.
    try:
        return split(raw[:-66] + _ANY_SEAL + raw[-2:])._replace(seal=raw[-66:-2])
    except ValueError:
        return None


def _canonical(raw: bytes) -> bytes | None:
    """The line in its canonical form, if it is a line in another."""
    try:
        value = loads(raw)
        if type(value) is not dict or value.keys() != _MEMBERS:
            return None
        form = canonical.dumps(value)
    except (ValueError, RecursionError):
        return None
    return form if _parts(form) else None
