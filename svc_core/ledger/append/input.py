"""Annotated types of the members of ledger entries: bounds, examples and documentation.

Rule: instants stay texts here, because the ledger refuses what a parser would round or convert.
"""

from typing import Annotated, Final, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.ledger.designator_input import VALUE_MAX
from svc_core.ledger.records import KIND_PREFIX
from svc_core.operation.members import NOT_BLANK, ONE_LINE
from svc_core.wire.constraints import Doc, Example, Ge, IdOf, Le, MaxLen, MinLen, Pattern

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
Why = Literal[
    "incorrect", "clerical", "source-withdrawn", "no-longer-true", "duplicate", "other"
]  # fmt: skip
"""Why a statement was changed or withdrawn. An erasure gives its own words."""

SubjectId = Annotated[str, IdOf("sbj"), Example("sbj_a9b3c182b699604db136482f")]
TargetId = Annotated[
    str,
    IdOf(*KIND_PREFIX.values(), noun="record"),
    Doc("The earlier record, of the same subject and kind, that it acts on."),
    Example("clm_442bced89046c34c77149f59"),
]
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
Confidence = Annotated[
    int, Ge(0), Le(100), Doc("How sure its author is, as STIX counts it."), Example(70)
]
Evidence = Annotated[
    tuple[EvidenceId, ...],
    MaxLen(EVIDENCE_MAX),
    Doc("The observations and claims that it rests on."),
    Example(["obs_30b8bebfd75d9bad322112f4"]),
]
Note = Annotated[
    str,
    MinLen(1),
    MaxLen(NOTE_MAX),
    NOT_BLANK,
    Doc("More about it."),
    Example("A digit was lost."),
]
Line = Annotated[str, MinLen(1), MaxLen(LABEL_MAX), ONE_LINE]
RetrievedAt = Annotated[Instant, Doc("When it was fetched."), Example("2026-01-04T19:00:00Z")]
ContentSha256 = Annotated[
    str,
    Pattern("[0-9a-f]{64}", "64 hexadecimal digits in lower case"),
    Doc("SHA-256 of the bytes fetched."),
    Example("3660315a9af3df255d8f19ab077e4797822b41488a0e2a04bc6af71213c23274"),
]
_Url = Annotated[str, MaxLen(URL_MAX), Pattern("https?://[!-~]+", "an http or https URL in ASCII")]


@frozen
class CitedSource:
    """Where something was said or shown."""

    url: Annotated[_Url, Example("https://news.example/a/1")]
    """Where it can be fetched."""
    publisher: Annotated[Maybe[Line], Example("Pier Gazette")] = UNSET
    """Who published it."""
    title: Annotated[Maybe[Line], Example("Shipping firm moves")] = UNSET
    """Its title."""
    retrieved_at: Maybe[RetrievedAt] = UNSET
    content_sha256: Maybe[ContentSha256] = UNSET
    archive_url: Annotated[Maybe[_Url], Example("https://archive.example/a/1")] = UNSET
    """Where a copy is kept."""


@frozen(kw_only=True)
class SeenSource(CitedSource):
    """Where something was said or shown, when that was fetched, and what was."""

    retrieved_at: RetrievedAt
    content_sha256: ContentSha256
