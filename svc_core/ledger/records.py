"""A ledger record: its head, its payload and its one line, byte for byte.

Rule 1: one record is one line of RFC 8785 bytes, `{"head":…,"payload":…,"seal":"…"}`; LF ends it.
Rule 2: a head has fourteen fixed members of ASCII and no floats, so its canonical form is a regular
        language; `HEAD` is its grammar and no JSON parser is needed to split or check a line.
Rule 3: instants are texts of 27 characters in UTC, so their byte order is their time order.
Rule 4: the payload alone can be erased; head and seal stay, and with them every proof.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from attrs import frozen

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

_PAYLOAD_MARK: Final = b',"payload":'
_SEAL_MARK: Final = b',"seal":"'
_LINE_START: Final = b'{"head":'


class Record(NamedTuple):
    """One sealed record. `payload` is None once it was erased; `seal` is 64 hex digits.

    A named tuple, because folds and checks make many of them.
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
    """What is to be sealed next: valid, normalised, with its salt in the payload.

    `subject` is None for a subject's own assertion, whose identifier follows from its payload.
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
    """A line cut at its marks: the bytes of head and payload, and the seal's 64 digits."""

    head: bytes
    payload: bytes
    seal: bytes
