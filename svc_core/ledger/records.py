"""Encodes and decodes ledger records: a head, a payload and a seal, in one line of bytes.

Rule 1: one record is one line of RFC 8785 bytes, `{"head":…,"payload":…,"seal":"…"}`; LF ends it.
Rule 2: a head has fourteen fixed members of ASCII and no floats, so its canonical form is a regular
        language; `HEAD` is its grammar and no JSON parser is needed to split or check a line.
Rule 3: instants are texts of 27 characters in UTC, so their byte order is their time order.
Rule 4: the payload alone can be erased; head and seal stay, and with them every proof.
"""

import re
from collections.abc import Iterator, Mapping
from json import JSONDecoder
from math import isfinite
from typing import Any, Final, Literal, NamedTuple, NoReturn

from attrs import frozen

from svc_core.base import canonical
from svc_core.contract.problem import (
    NUMBER_PRECISION,
    RECORD_TOO_LARGE,
    VALIDATION_FAILED,
    Problem,
    ProblemType,
)
from svc_core.wire.faults import escape

Kind = Literal["subject", "designator", "observation", "claim"]
Op = Literal["assert", "amend", "supersede", "retract", "verify", "erase"]
Payload = Mapping[str, Any]

KIND_PREFIX: Final[Mapping[Kind, str]] = {
    "subject": "sbj",
    "designator": "dsg",
    "observation": "obs",
    "claim": "clm",
}
STATEMENTS: Final = frozenset({"assert", "amend", "supersede"})
"""The operations that state something; the others act on a statement."""

LINE_BYTES_MAX: Final = 65_535
"""Bytes of a line without its LF: what a tile entry of the tlog formats can carry (uint16)."""
PAYLOAD_BYTES_MAX: Final = 60_000
PAYLOAD_DEPTH_MAX: Final = 16

_INSTANT = (
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3])"
    r":[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z"
)
_ID = r"(?:sbj|dsg|obs|clm)_[0-9a-f]{24}"

# Why a head is matched by a regular expression and not read by a JSON parser.
#
# The seal of a record is the SHA-256 of its head, so a verifier must know that it hashes the same
# bytes that the writer hashed. With a JSON parser in between, two parsers can disagree: about a
# member that comes twice, about 1.0 and 1, about `\u0041` and `A`, about white space. Each such
# disagreement is two readings of one sealed line. Here every head has the same fourteen members in
# the one order of RFC 8785, 3.2.3 (sorted by UTF-16 units), each value of a form that has only one
# spelling:
#
#   - identifiers, kinds and operations are ASCII words that need no escape; `author` leaves out
#     the quote (0x22) and the backslash (0x5C), so that no value can end its own string;
#   - hashes and seals are lower-case hex of a fixed length;
#   - `seq` is a decimal integer without leading zeros, of at most 16 digits;
#   - instants are 27 characters in UTC, so that comparing bytes compares times;
#   - what may be absent is the literal null. No member is optional, none may be added.
#
# A language of that kind is regular. One `fullmatch` therefore accepts exactly the canonical heads
# and gives the members as groups. Text that matches is canonical JSON,
# so nothing needs to be encoded again to check it.
#
# The price: the form is fixed for good. A new member needs a new version (`"v":2`), which programs
# of today refuse by its number and do not misread. The grammar admits days that no calendar has
# (31 February); appends never write them, and the fold compares instants only as texts.
HEAD: Final = re.compile(
    (
        r'\{"author":"(?P<author>[\x21\x23-\x5b\x5d-\x7e]{1,128})"'
        rf',"id":"(?P<id>{_ID})"'
        r',"kind":"(?P<kind>subject|designator|observation|claim)"'
        r',"ledger":"(?P<ledger>led_[0-9a-f]{24})"'
        r',"op":"(?P<op>assert|amend|supersede|retract|verify|erase)"'
        r',"payloadHash":"(?P<payload_hash>[0-9a-f]{64})"'
        r',"prev":"(?P<prev>[0-9a-f]{64})"'
        rf',"recordedAt":"(?P<recorded_at>{_INSTANT})"'
        r',"seq":(?P<seq>0|[1-9][0-9]{0,15})'
        r',"subject":"(?P<subject>sbj_[0-9a-f]{24})"'
        rf',"target":(?:null|"(?P<target>{_ID})")'
        r',"v":1'
        rf',"validFrom":(?:null|"(?P<valid_from>{_INSTANT})")'
        rf',"validTo":(?:null|"(?P<valid_to>{_INSTANT})")\}}'
    ).encode()
)
"""The grammar of a head; the whole head must match."""
DRAFT_MEMBERS: Final = re.compile(
    rf"sbj_[0-9a-f]{{24}} (?:None|{_ID}) (?:None|{_INSTANT}) (?:None|{_INSTANT})"
    r" (?:subject|designator|observation|claim) (?:assert|amend|supersede|retract|verify|erase)"
    r" [\x21\x23-\x5b\x5d-\x7e]{1,128}"
)
"""The members of a head that a draft provides, one blank between them; checked before sealing."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PAYLOAD_MARK: Final = b',"payload":'
_SEAL_MARK: Final = b',"seal":"'
_LINE_START: Final = b'{"head":'


class SealedRecord(NamedTuple):
    """One sealed record. `payload` is None after an erasure; `seal` is 64 hex digits.

    It is a named tuple because folds and verifications create very many of them.
    """

    seq: int
    id: str
    kind: Kind
    op: Op
    subject: str
    target: str | None
    recorded_at: str
    valid_from: str | None
    valid_to: str | None
    author: str
    payload: Payload | None
    payload_hash: str
    prev: str
    ledger: str
    seal: str


@frozen
class Draft:
    """A record before it is sealed: valid and normalised, with its salt in the payload.

    `subject` is None for the assertion that opens a subject: its identifier is derived from the
    payload.
    """

    kind: Kind
    op: Op
    subject: str | None
    target: str | None
    valid_from: str | None
    valid_to: str | None
    author: str
    payload: Payload


class Parts(NamedTuple):
    """The parts of a line as bytes: the head, the payload, and the 64 digits of the seal."""

    head: bytes
    payload: bytes
    seal: bytes


# -- writing -----------------------------------------------------------------------------------


def head_text(  # noqa: PLR0917 - a record's members in its order; naming them costs a tenth
    seq: int,
    id: str,
    kind: str,
    op: str,
    subject: str,
    target: str | None,
    recorded_at: str,
    valid_from: str | None,
    valid_to: str | None,
    author: str,
    payload_hash: str,
    prev: str,
    ledger: str,
) -> str:
    """Return the canonical text of a head; the arguments come in the order of `Record`.

    The members are not checked: match the text against `HEAD` for that.
    """
    quoted_target = "null" if target is None else f'"{target}"'
    start = "null" if valid_from is None else f'"{valid_from}"'
    end = "null" if valid_to is None else f'"{valid_to}"'
    # The members stand in the order of their UTF-16 units already, as RFC 8785, 3.2.3 demands.
    return (
        f'{{"author":"{author}","id":"{id}","kind":"{kind}","ledger":"{ledger}","op":"{op}"'
        f',"payloadHash":"{payload_hash}","prev":"{prev}","recordedAt":"{recorded_at}"'
        f',"seq":{seq},"subject":"{subject}","target":{quoted_target},"v":1'
        f',"validFrom":{start},"validTo":{end}}}'
    )


def encode_line(head: bytes, payload: bytes | None, seal: str) -> bytes:
    """Return the line of a record without its LF; a payload of None is an erased one."""
    content = b"null" if payload is None else payload
    return b"".join(
        (_LINE_START, head, _PAYLOAD_MARK, content, _SEAL_MARK, seal.encode("ascii"), b'"}')
    )


def payload_bytes(payload: Payload, pointer: str = "") -> bytes:
    """Return the canonical bytes of a payload, if parsing them gives the same payload back.

    `pointer` is the JSON Pointer of the payload in the problem detail.

    Raises:
        Problem: RECORD_TOO_LARGE beyond 60,000 bytes or 16 levels; NUMBER_PRECISION for a number
            that its canonical digits do not bring back; VALIDATION_FAILED for what JSON has no
            form for.
    """
    try:
        content = canonical.plain_bytes(payload, PAYLOAD_DEPTH_MAX) or _checked_bytes(payload)
    except canonical.CanonicalError as error:
        raise Problem(VALIDATION_FAILED, f"{pointer or '(body)'}: {error}") from error
    if len(content) > PAYLOAD_BYTES_MAX:
        reason = f"makes a payload of {len(content)} bytes, beyond {PAYLOAD_BYTES_MAX}"
        raise Problem(RECORD_TOO_LARGE, f"{pointer or '(body)'}: {reason}")
    return content


def _checked_bytes(payload: Payload) -> bytes:
    for type_, pointer, reason in sealing_faults(payload):
        raise Problem(type_, f"{pointer or '(body)'}: {reason}")
    return canonical.dumps(payload)


def sealing_faults(
    value: Any, pointer: str = "", depth: int = 1
) -> Iterator[tuple[ProblemType, str, str]]:
    """Yield each part of a value that would not survive a round trip: type, pointer, reason.

    RFC 8785 writes 2^53 as a float without point or exponent; a reader takes it for an integer that
    it then has to refuse. From 1e21 on it has an exponent and stays a float.
    """
    match value:
        case str() if _SURROGATE.search(value):
            yield VALIDATION_FAILED, pointer, "must not hold half a surrogate pair"
        case float() if not isfinite(value) or canonical.INTEGER_MAX < abs(value) < 1e21:
            yield NUMBER_PRECISION, pointer, "cannot be kept exactly, so send it as a string"
        case int() if abs(value) > canonical.INTEGER_MAX:
            yield NUMBER_PRECISION, pointer, "lies beyond ±(2^53-1), so send it as a string"
        case dict() | list() | tuple() if depth > PAYLOAD_DEPTH_MAX:
            reason = f"nests a payload beyond {PAYLOAD_DEPTH_MAX} levels"
            yield RECORD_TOO_LARGE, pointer, reason
        case dict() | list() | tuple():
            for name, item in value.items() if isinstance(value, dict) else enumerate(value):
                yield from sealing_faults(item, f"{pointer}/{escape(str(name))}", depth + 1)


# -- reading -----------------------------------------------------------------------------------


_HEAD_TEXT = re.compile(HEAD.pattern.decode())
_SEAL_DIGITS = re.compile(rb"[0-9a-f]{64}")
_TAIL_BYTES: Final = len(_SEAL_MARK) + 64 + len(b'"}')


def split_line(line: bytes) -> Parts:
    """Split a line (without its LF) into head, payload and seal, without parsing them.

    Raises:
        ValueError: the line is too long, or one of the marks between the parts is misplaced.
    """
    if len(line) > LINE_BYTES_MAX:
        raise ValueError(f"A line has at most {LINE_BYTES_MAX} bytes.")
    # Inside a JSON text the quotes of the mark would be escaped, so the first one ends the head.
    end = line.find(_PAYLOAD_MARK)
    start = end + len(_PAYLOAD_MARK)
    stop = len(line) - _TAIL_BYTES
    seal = line[-66:-2]
    if (
        not len(_LINE_START) <= end < start < stop
        or not line.startswith(_LINE_START)
        or not line.startswith(_SEAL_MARK, stop)
        or not line.endswith(b'"}')
        or not _SEAL_DIGITS.fullmatch(seal)
    ):
        raise ValueError("A mark of the line is not in its place.")
    return Parts(line[len(_LINE_START) : end], line[start:stop], seal)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"JSON has no number {text}.")


_read_json = JSONDecoder(parse_constant=_refuse_constant).decode


def decode(line: bytes) -> SealedRecord:
    """Parse a line (without its LF) into a record. Hashes are not checked; see `verify`.

    Raises:
        ValueError: the line is cut wrongly, its head breaks the grammar, or its payload is neither
            an object nor null.
    """
    parts = split_line(line)
    match = _HEAD_TEXT.fullmatch(parts.head.decode("ascii"))
    if match is None:
        raise ValueError("The head does not follow its grammar.")
    (author, id_, kind, ledger, op, payload_hash, prev, recorded_at, seq, subject, target, start,
     end) = match.groups()  # fmt: skip
    return SealedRecord._make(
        (int(seq), id_, kind, op, subject, target, recorded_at, start, end, author,
         _payload(parts.payload), payload_hash, prev, ledger, parts.seal.decode("ascii"))
    )  # fmt: skip


def _payload(content: bytes) -> Payload | None:
    try:
        payload = _read_json(content.decode())
    except RecursionError:
        raise ValueError("The payload is nested too deeply.") from None
    if payload is not None and type(payload) is not dict:
        raise ValueError("A payload is an object or null.")
    return payload
