"""Response models of the ledger's operations, except the view of a subject (`fold.view`)."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.ledger.append.input import SubjectId
from svc_core.ledger.fold.segments import Segment
from svc_core.ledger.fold.view import (
    Author,
    HistoryView,
    RecordedAt,
    RecordId,
    Seq,
    ValidFrom,
    ValidTo,
)
from svc_core.ledger.log.note import to_base64
from svc_core.ledger.records import Kind, Op, SealedRecord
from svc_core.ledger.verify.outcome import Assurance, Checks, Fault, Level, VerificationOutcome
from svc_core.wire.constraints import Doc, Example, Ge

Hex = Annotated[
    str,
    Doc("SHA-256, hexadecimal."),
    Example("c6b43fa696ff2564e2e948b57237be88565acc183792d6507b7a2851a9fc6dbb"),
]
Base64 = Annotated[
    str, Doc("SHA-256, base64."), Example("6267Ce8SRLM8d2xbzkcY8YBJMqz8geVSCfxImmA15fE=")
]
LedgerId = Annotated[str, Doc("Ledger identifier."), Example("led_0123456789abcdef01234567")]
Target = Annotated[
    str | None, Doc("The record that it acts on; null for an assertion."), Example(None)
]
Content = Annotated[
    Mapping[str, Any] | None,
    Doc("What it says, with its salt; null once it was erased."),
    Example({"label": "Pier 7 AG", "salt": "lC-r8la0cO3ZFn0_5F2QqA", "type": "organization"}),
]
SealedAhead = Annotated[
    int,
    Ge(1),
    Doc(
        "In the answer to an append, where the clock was set back: by how much the record time is "
        "ahead of it."
    ),
]
Receipt = Annotated[
    str,
    Doc(
        "Proof that the record is in the signed tree (c2sp.org/tlog-proof@v1). Keep it: it shows "
        "any later cut or rewriting of the ledger."
    ),
]


@frozen
class RecordHead:
    """The sealed part of a record but for the version of its grammar."""

    id: RecordId
    kind: Annotated[Kind, Example("subject")]
    """What it is."""
    op: Annotated[Op, Example("assert")]
    """What it does."""
    subject: SubjectId
    target: Target
    seq: Seq
    recorded_at: RecordedAt
    valid_from: ValidFrom
    valid_to: ValidTo
    author: Author
    payload_hash: Hex
    prev: Hex
    """The seal before it, or the genesis of the ledger."""
    ledger: LedgerId


@frozen
class LedgerRecord(RecordHead):
    """One sealed record."""

    payload: Content
    seal: Hex
    """SHA-256(0x00 || head), the leaf hash of the tree."""
    receipt: Maybe[Receipt] = UNSET
    sealed_ahead_seconds: Maybe[SealedAhead] = UNSET


def public_record(record: SealedRecord, receipt: Maybe[str] = UNSET) -> LedgerRecord:
    """Convert a record to its response model."""
    return LedgerRecord(**record._asdict(), receipt=receipt)


@frozen
class SealedHead(RecordHead):
    """The sealed part of a line."""

    v: Literal[1]
    """Version of the grammar."""


@frozen
class SealedRow:
    """One line of the log, byte for byte as it was sealed."""

    head: SealedHead
    payload: Content
    seal: Hex


@frozen
class SubjectRow:
    """A subject in the list: what it is now, and the record that opened it."""

    id: SubjectId
    type: Annotated[str | None, Example("organization")]
    """What it is; null where nobody says so any more."""
    label: Annotated[str | None, Example("Pier 7 AG")]
    """What people call it."""
    description: Annotated[str | None, Example(None)]
    """What it is, in words."""
    opened_at: RecordedAt
    author: Author
    seq: Seq
    history: Maybe[tuple[HistoryView, ...]] = UNSET
    """What others displace, oldest first (`include`)."""
    segments: Maybe[tuple[Segment, ...]] = UNSET
    """Valid time, cut where a record begins or ends to hold (`include`)."""


@frozen
class Consistency:
    """Whether the ledger continues the tree that the caller has seen."""

    from_size: Annotated[int, Example(5)]
    """The size that was asked about."""
    from_root_hash: Base64 | None
    """The root there: yours, or else that of the lines as they are."""
    proof: tuple[str, ...]
    """RFC 9162 consistency proof, base64; empty if none."""
    ok: Annotated[bool | None, Example(True)]
    """Whether it does; null where you gave no root, or the lines cannot tell."""


@frozen
class Verification:
    """The outcome over a ledger. It is 200 whether the ledger is sound or not: read `ok`."""

    ok: Annotated[bool, Example(True)]
    """Whether nothing is wrong."""
    assurance: Annotated[Assurance, Example("anchored")]
    """What was shown: `self_consistent` excludes neither a cut nor a rewriting as a whole,
    `anchored` reproduces the root that the caller has seen. The checkpoints that the service keeps
    itself must be reproduced as well, and are no outside anchor."""
    anchored_size: Annotated[int | None, Example(5)]
    """Records that the outside anchor covers; null without one, or with a fault."""
    level: Annotated[Level, Example("strict")]
    """How much was checked."""
    ledger: LedgerId
    origin: Annotated[str, Example("api.example.org/led_0123456789abcdef01234567")]
    """The name that checkpoints are signed under."""
    vkey: str
    """The key that verifies them (C2SP signed-note)."""
    from_: Annotated[int, Example(0)]
    """Records that were taken on trust."""
    size: Annotated[int, Example(8)]
    """Records in all."""
    head_seal: Hex | None
    root_hash: Base64 | None
    """The Merkle root; null where it cannot be told."""
    checkpoint: str | None
    """The signed tree head of `size`; null for a ledger that is not sound."""
    consistency: Consistency | None
    """Null unless `fromSize` was sent."""
    erased: Annotated[int, Example(0)]
    """Records whose content was lawfully erased."""
    checks: Checks
    first_fault: Fault | None
    """The fault of the first line that has one."""
    faults: tuple[Fault, ...]
    """At most 100, by line."""
    fault_count: Annotated[int, Example(0)]
    """All of them."""


def verification(
    outcome: VerificationOutcome,
    *,
    ledger: str,
    origin: str,
    vkey: str,
    checkpoint: str | None,
    consistency: Consistency | None,
) -> Verification:
    """Convert the outcome of a verification to its response model."""
    return Verification(
        **{name: getattr(outcome, name) for name in _OUTCOME_MEMBERS},
        ledger=ledger,
        origin=origin,
        vkey=vkey,
        from_=outcome.start,
        root_hash=None if outcome.root is None else to_base64(outcome.root),
        checkpoint=checkpoint,
        consistency=consistency,
    )


_OUTCOME_MEMBERS: Final = (
    *("ok", "assurance", "anchored_size", "level", "size", "head_seal", "erased", "checks"),
    *("first_fault", "faults", "fault_count"),
)
