"""What a sealed line must be besides unaltered: the rules of its head and payload.

A hash proves that nothing changed since it was sealed. These rules find what should not have been
sealed; `strict` verification applies them to every line.
"""

from collections.abc import Iterator
from json import JSONDecoder
from typing import Final, NamedTuple

from svc_core.ledger.records import KIND_PREFIX, payload_bytes
from svc_core.problem import Problem

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
    """A rule that a line breaks."""

    code: str
    detail: str
    expected: str | None = None
    actual: str | None = None


def head_breaches(head: Head) -> Iterator[Breach]:
    """What is wrong with a head that follows its grammar."""
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
    """What is wrong with the bytes of a payload, if anything."""
    if content == NO_PAYLOAD:
        return None
    try:
        value = _decode(content.decode())
        if type(value) is not dict:
            return Breach("MALFORMED", "The payload is neither an object nor null.")
        again = payload_bytes(value)
    except Problem as refused:
        return Breach("MALFORMED", refused.detail.removeprefix("#: "))
    except (ValueError, RecursionError):
        return Breach("MALFORMED", "The payload is no JSON.")
    if again != content:
        return Breach("NOT_CANONICAL", "The payload is not in its canonical form (RFC 8785).")
    return None


def _differ(code: str, detail: str, expected: bytes, actual: bytes) -> Breach:
    return Breach(code, detail, expected.decode(), actual.decode())
