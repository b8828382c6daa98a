"""What a client sends to the ledger: one flat object per record, each kind with its members.

Rule 1: head and payload members stand side by side; `MEMBERS` says which of them each kind and
        operation needs and which it takes. All others are refused.
Rule 2: instants are texts here, for the ledger refuses what other readers would map or cut.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.constraints import Doc, Example, Ge, IdOf, Le, MaxLen, MinLen, Pattern
from svc_core.ledger.designators import VALUE_MAX, SchemeName
from svc_core.ledger.fold.states import Verdict
from svc_core.ledger.records import KIND_PREFIX, STATEMENTS, Kind, Op
from svc_core.resources.members import LANGUAGE_TAG, NOT_BLANK, ONE_LINE
from svc_core.unset import UNSET, Maybe

LABEL_MAX: Final = 300
TEXT_MAX: Final = 20_000  # ten pages; at three bytes a character they fill a payload
NOTE_MAX: Final = 5_000
EVIDENCE_MAX: Final = 100  # more than one sentence can rest on
URL_MAX: Final = VALUE_MAX
INSTANT_MAX: Final = 64  # room for an offset and the 32 digits of a second that are looked at

SubjectType = Literal[
    "organization", "person", "group", "threat-actor", "intrusion-set", "campaign", "malware",
    "tool", "infrastructure", "vulnerability", "vessel", "wallet", "location", "event", "topic",
    "other",
]  # fmt: skip
REASONS: Final = (
    "incorrect", "clerical", "source-withdrawn", "no-longer-true", "duplicate", "other"
)  # fmt: skip
"""Why a statement was changed or withdrawn. An erasure gives its own words."""

SubjectId = Annotated[str, IdOf("sbj"), Example("sbj_a9b3c182b699604db136482f")]
EvidenceId = Annotated[str, IdOf("obs", "clm", noun="observation or claim")]
Instant = Annotated[
    str,
    MaxLen(INSTANT_MAX),
    Doc("RFC 3339 with an offset, at most six digits of a second, no leap second."),
    Example("2026-01-31T09:30:00Z"),
]
ValidFrom = Annotated[
    Maybe[Instant | None],
    Doc("When it begins to hold, inclusive; null means always."),
    Example("2019-01-01T00:00:00Z"),
]
ValidTo = Annotated[
    Maybe[Instant | None],
    Doc("When it ceases to hold, exclusive; null means for ever."),
    Example(None),
]
Label = Annotated[
    str, MinLen(1), MaxLen(LABEL_MAX), ONE_LINE, Doc("What people call it."), Example("Pier 7 AG")
]
Description = Annotated[
    str, MinLen(1), MaxLen(NOTE_MAX), NOT_BLANK, Doc("What it is."), Example("A shipping company.")
]
Note = Annotated[str, MinLen(1), MaxLen(NOTE_MAX), NOT_BLANK]
_Line = Annotated[str, MinLen(1), MaxLen(LABEL_MAX), ONE_LINE]
_Url = Annotated[str, MaxLen(URL_MAX), Pattern("https?://[!-~]+", "an http or https URL in ASCII")]


@frozen
class CitedSource:
    """Where something was said or shown. An observation also needs what was read, and when."""

    url: Annotated[_Url, Doc("Where it can be fetched."), Example("https://news.example/a/1")]
    publisher: Annotated[Maybe[_Line], Doc("Who published it."), Example("Pier Gazette")] = UNSET
    title: Annotated[Maybe[_Line], Doc("Its title."), Example("Shipping firm moves")] = UNSET
    retrieved_at: Annotated[
        Maybe[Instant],
        Doc("When it was fetched; required for an observation."),
        Example("2026-01-04T19:00:00Z"),
    ] = UNSET
    content_sha256: Annotated[
        Maybe[Annotated[str, Pattern("[0-9a-f]{64}", "64 hexadecimal digits in lower case")]],
        Doc("SHA-256 of the bytes fetched; required for an observation."),
        Example("3660315a9af3df255d8f19ab077e4797822b41488a0e2a04bc6af71213c23274"),
    ] = UNSET
    archive_url: Annotated[
        Maybe[_Url], Doc("Where a copy is kept."), Example("https://archive.example/a/1")
    ] = UNSET


@frozen
class Entry:
    """One record to append; which members belong to it depends on its kind and operation."""

    kind: Annotated[Kind, Doc("What the record is."), Example("claim")]
    op: Annotated[Op, Doc("What the record does; all but assert act on a target.")] = "assert"
    subject: Annotated[
        Maybe[SubjectId | None],
        Doc("The subject it is about; only a new subject has none."),
        Example("sbj_a9b3c182b699604db136482f"),
    ] = UNSET
    target: Annotated[
        Maybe[Annotated[str, IdOf(*KIND_PREFIX.values(), noun="record")] | None],
        Doc("The earlier record, of the same subject and kind, that it acts on."),
        Example("clm_442bced89046c34c77149f59"),
    ] = UNSET
    valid_from: ValidFrom = UNSET
    valid_to: ValidTo = UNSET
    type: Annotated[Maybe[SubjectType], Doc("Subject: what it is.")] = UNSET
    label: Annotated[Maybe[Label], Doc("Subject: what people call it.")] = UNSET
    description: Annotated[Maybe[Description], Doc("Subject: what it is, in words.")] = UNSET
    scheme: Annotated[
        Maybe[SchemeName], Doc("Designator: how the value names the subject."), Example("lei")
    ] = UNSET
    value: Annotated[
        Maybe[wire.Json],
        Doc(
            "Designator: the name in its scheme, normalised and its check digits checked. "
            "Claim: any value but null; the registry of predicates may ask for a type."
        ),
        Example("5493001KJTIIGC8Y1R12"),
    ] = UNSET
    raw: Annotated[
        Maybe[Annotated[str, MinLen(1), MaxLen(VALUE_MAX)]],
        Doc("Designator: how it was written; kept by itself where normalising changes it."),
        Example("5493 001K JTII GC8Y 1R12"),
    ] = UNSET
    confidence: Annotated[
        Maybe[Annotated[int, Ge(0), Le(100)]],
        Doc("Designator or claim: how sure its author is, as STIX counts it."),
        Example(70),
    ] = UNSET
    source: Annotated[
        Maybe[CitedSource], Doc("Where it was said; required for an observation.")
    ] = UNSET
    observed_at: Annotated[
        Maybe[Instant],
        Doc("Observation: when the source said or showed it."),
        Example("2026-01-04T18:30:00Z"),
    ] = UNSET
    text: Annotated[
        Maybe[Annotated[str, MinLen(1), MaxLen(TEXT_MAX), NOT_BLANK]],
        Doc("Observation: what the source said or showed."),
        Example("The registry lists Zug as its seat."),
    ] = UNSET
    lang: Annotated[
        Maybe[Annotated[str, LANGUAGE_TAG]],
        Doc("Observation: BCP 47 tag of the text."),
        Example("en"),
    ] = UNSET
    visibility: Annotated[
        Maybe[Literal["public"]], Doc("Observation: only public sources are kept.")
    ] = UNSET
    extracted: Annotated[
        Maybe[Mapping[str, Any]],
        Doc("Observation: what was read out of the text, in any shape."),
        Example({"seat": "Zug"}),
    ] = UNSET
    predicate: Annotated[
        Maybe[Annotated[str, Pattern("[a-z][A-Za-z0-9]{0,63}", "a name such as legalName")]],
        Doc("Claim: what is said of the subject."),
        Example("headquarters"),
    ] = UNSET
    evidence: Annotated[
        Maybe[Annotated[tuple[EvidenceId, ...], MaxLen(EVIDENCE_MAX)]],
        Doc("Claim or verdict: the observations and claims that it rests on."),
        Example(["obs_30b8bebfd75d9bad322112f4"]),
    ] = UNSET
    statement: Annotated[
        Maybe[Note], Doc("Claim: the sentence that says it."), Example("Its seat is Zug.")
    ] = UNSET
    reason: Annotated[
        Maybe[_Line],
        Doc(
            f"Amendment, replacement, retraction: one of {', '.join(REASONS)}. "
            "Erasure: why, in words that repeat nothing of what is erased."
        ),
        Example("clerical"),
    ] = UNSET
    note: Annotated[
        Maybe[Note], Doc("Retraction or verdict: more about it."), Example("A digit was lost.")
    ] = UNSET
    state: Annotated[
        Maybe[Verdict], Doc("Verdict: the state that it gives its target."), Example("verified")
    ] = UNSET
    method: Annotated[
        Maybe[_Line],
        Doc("Verdict: how it was reached; required for verified."),
        Example("source-comparison"),
    ] = UNSET
    legal_basis: Annotated[
        Maybe[_Line], Doc("Erasure: what demands it."), Example("GDPR, article 17")
    ] = UNSET


@frozen
class SubjectEntry:
    """A subject to open."""

    type: Annotated[SubjectType, Doc("What it is."), Example("organization")]
    label: Label
    description: Maybe[Description] = UNSET
    valid_from: ValidFrom = UNSET
    valid_to: ValidTo = UNSET

    def entry(self) -> Entry:
        """The record that opens the subject."""
        return Entry("subject", **attrs.asdict(self))


# -- which members belong to which record --------------------------------------------------------


@frozen
class Members:
    """The attributes of an `Entry` that a record must have and those that it may have.

    `payload` names those of both that go into the payload.
    """

    required: tuple[str, ...]
    optional: tuple[str, ...]

    @property
    def payload(self) -> tuple[str, ...]:
        """All but those of the head."""
        return tuple(name for name in (*self.required, *self.optional) if name not in _HEAD)


_HEAD: Final = ("kind", "op", "subject", "target", "valid_from", "valid_to")
_INTERVAL: Final = ("valid_from", "valid_to")

_STATED: Final[Mapping[Kind, Members]] = {
    "subject": Members(("type", "label"), ("description",)),
    "designator": Members(("scheme", "value"), ("raw", "confidence", "source")),
    "observation": Members(("observed_at", "text", "source"), ("lang", "visibility", "extracted")),
    "claim": Members(("predicate", "value"), ("confidence", "evidence", "source", "statement")),
}
_ACTING: Final[Mapping[Op, Members]] = {
    "retract": Members(("reason",), ("note", *_INTERVAL)),
    "verify": Members(("state",), ("method", "evidence", "note")),
    "erase": Members(("reason",), ("legal_basis",)),
}


def _members(kind: Kind, op: Op) -> Members:
    own = _ACTING[op] if op not in STATEMENTS else _STATED[kind]
    opens = (kind, op) == ("subject", "assert")
    head = (() if opens else ("subject",)) + (() if op == "assert" else ("target",))
    interval = _INTERVAL if op in STATEMENTS else ()
    why = ("reason",) if op in {"amend", "supersede"} else ()
    return Members((*head, *own.required), (*own.optional, *why, *interval))


MEMBERS: Final[Mapping[tuple[Kind, Op], Members]] = {
    (kind, op): _members(kind, op)
    for kind in KIND_PREFIX
    for op in get_args(Op)
    # A verdict says whether a source or an author is right; a subject is no assertion.
    if (kind, op) != ("subject", "verify")
}
"""The members of each record that exists, by kind and operation."""
