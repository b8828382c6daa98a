"""Response models of a fold: the view of a subject, and its canonical bytes.

Rule 1: nothing is dropped. Refuted, erased and unreadable records are listed as such.
Rule 2: every order is total, so the same set of records at the same record time and valid time
        has the same bytes (`encode`).
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.base import canonical
from svc_core.base.unset import UNSET, Maybe
from svc_core.ledger.fold.recordset import canonical_form
from svc_core.ledger.fold.segments import Segment
from svc_core.ledger.fold.verification_states import State
from svc_core.wire import Json
from svc_core.wire.constraints import Doc, Example

if TYPE_CHECKING:
    from attrs import frozen as row
else:
    # A fold makes one of them for each record. To make a frozen one takes four times as long as
    # to make one that is frozen for the type checker only, who reads all that is done with them.
    from attrs import define as row

Instant: TypeAlias = str

SubjectId = Annotated[str, Doc("Subject identifier."), Example("sbj_a9b3c182b699604db136482f")]
RecordId = Annotated[str, Doc("Record identifier."), Example("clm_442bced89046c34c77149f59")]
Seq = Annotated[int, Doc("Place in the ledger, from 0."), Example(3)]
Author = Annotated[str, Doc("Principal that recorded it; never a name."), Example("key_analyst1")]
RecordedAt = Annotated[Instant, Doc("Record time."), Example("2026-01-05T09:12:00.000000Z")]
ValidFrom = Annotated[
    Instant | None,
    Doc("From when it holds; null for always before."),
    Example("2019-01-01T00:00:00.000000Z"),
]
ValidTo = Annotated[
    Instant | None, Doc("Until when it holds, exclusive; null for open."), Example(None)
]
IsErased = Annotated[
    bool, Doc("Whether its content was erased; what it said is then unknown."), Example(False)
]
Confidence = Annotated[int | None, Doc("0..100, as the author put it."), Example(70)]
Evidence = Annotated[
    tuple[str, ...],
    Doc("Observations and claims that it rests on."),
    Example(["obs_30b8bebfd75d9bad322112f4"]),
]
SourceJson = Annotated[Json, Doc("The source as it was recorded; null where none was named.")]
Content = Annotated[
    Json, Doc("What it says, as it was recorded, without its salt; null once it was erased.")
]
StateName = Annotated[
    State,
    Doc("What the newest verdict that counts gives it."),
    Example("corroborated"),
]


@row
class VerdictView:
    """One verdict: who came to which state, when, how and on what evidence."""

    id: RecordId
    seq: Seq
    author: Author
    recorded_at: RecordedAt
    state: Annotated[str | None, Example("verified")]
    """The state it gives; null once erased."""
    method: Annotated[Json, Example("source-comparison")]
    """How it was reached."""
    evidence: Evidence
    note: Annotated[Json, Example(None)]
    """A remark of the verifier."""
    counts: Annotated[bool, Example(True)]
    """False where it was withdrawn."""
    erased: IsErased


@frozen(slots=False)
class VerificationView:
    """The state of a record, and how it came to be."""

    state: StateName
    credibility: Annotated[int, Example(2)]
    """The state on the Admiralty scale of credibility, 1 best, 6 unknown."""
    verdicts: tuple[VerdictView, ...]
    """Every verdict on it, oldest first."""
    dissent: tuple[VerdictView, ...]
    """The latest verdict of each verifier that differs from the state."""


@row
class RecordView:
    """What every record shows of its head."""

    id: RecordId
    seq: Seq
    author: Author
    recorded_at: RecordedAt
    valid_from: ValidFrom
    valid_to: ValidTo
    erased: IsErased


@row
class StandingView(RecordView):
    """A record in force, with what was said of it."""

    verification: VerificationView


@row
class IdentityView(StandingView):
    """What the subject is, as its newest record in force says."""

    type: Annotated[Json, Example("organization")]
    """The kind of thing it is."""
    label: Annotated[Json, Example("Müller Shipping AG")]
    """What people call it."""
    description: Annotated[Json, Example(None)]
    """A sentence about it; null where none."""


@row
class DesignatorView(StandingView):
    """A name by which the world knows the subject."""

    scheme: Annotated[Json, Example("lei")]
    """Naming scheme."""
    value: Annotated[Json, Example("5493001KJTIIGC8Y1R12")]
    """Normalised value."""
    raw: Annotated[Json, Example(None)]
    """As it was found, where that differs."""
    confidence: Confidence
    source: SourceJson


@row
class ObservationView(StandingView):
    """What a public source said or showed at a time."""

    observed_at: Annotated[Json, Example("2026-01-04T18:30:00.000000Z")]
    """When."""
    text: Annotated[Json, Example("The registry lists Zug as its seat.")]
    """What."""
    lang: Annotated[Json, Example("en")]
    """BCP 47 tag of the text."""
    visibility: Annotated[Json, Example("public")]
    """Always public."""
    source: SourceJson
    extracted: Json
    """What was drawn from it."""


@row
class SupportView(StandingView):
    """One claim in force that gives a value."""

    confidence: Confidence
    evidence: Evidence
    statement: Annotated[Json, Example(None)]
    """The claim as a sentence."""
    source: SourceJson


@row
class CandidateView:
    """A value that claims in force give, with those claims, oldest first.

    A refuted claim lends no weight: it counts neither for authors nor for confidence.
    """

    value: Annotated[Json, Example({"city": "Zug", "country": "CH"})]
    """The value."""
    best: bool
    """Whether no other value ranks higher; never if refuted."""
    rank: Annotated[int, Example(2)]
    """Of its best claim: verified 3, corroborated 2, unverified or under review 1, disputed 0,
    refuted -1."""
    authors: Annotated[int, Example(1)]
    """Distinct authors that stand by it."""
    confidence: Confidence
    support: tuple[SupportView, ...]
    """The claims that give it."""


@row
class ClaimView:
    """What is claimed under one predicate: contradictions stand side by side, ranked."""

    single: Annotated[bool, Example(True)]
    """Whether it can have one value only."""
    value: Annotated[Json, Example({"city": "Zug", "country": "CH"})]
    """The first of the best values; null where every one was refuted."""
    contested: Annotated[bool, Example(False)]
    """Whether one value only is possible and several are claimed."""
    candidates: tuple[CandidateView, ...]
    """By rank, then distinct authors, confidence, newest record and the value's bytes."""


@row
class RejectedView(StandingView):
    """A record in force that a verdict refuted."""

    kind: Annotated[str, Example("claim")]
    """Record kind."""
    content: Content


@row
class UnreadableView(StandingView):
    """A claim in force whose predicate or value is not known, mostly because it was erased."""


@row
class DisplacerView:
    """What displaces a record, over which of its valid time, and why."""

    id: RecordId
    op: Annotated[str, Example("retract")]
    """amend, supersede or retract."""
    author: Author
    recorded_at: RecordedAt
    valid_from: ValidFrom
    valid_to: ValidTo
    reason: Annotated[Json, Example("source-withdrawn")]
    """The reason given."""


@row
class HistoryView(RecordView):
    """A record that others displace, at least over part of valid time."""

    kind: Annotated[str, Example("claim")]
    """Record kind."""
    op: Annotated[str, Example("assert")]
    """Operation."""
    target: str | None
    """The record it acts on; null for an assertion."""
    content: Content
    everywhere: Annotated[bool, Example(True)]
    """Whether it is displaced at every valid time."""
    displaced_by: tuple[DisplacerView, ...]
    """By what, oldest first."""


@frozen(slots=False)
class CollisionView:
    """A designator in force that other subjects bear as well: they may be one."""

    scheme: Annotated[str, Example("lei")]
    """Naming scheme."""
    value: Annotated[str, Example("5493001KJTIIGC8Y1R12")]
    """Normalised value."""
    subjects: Annotated[tuple[SubjectId, ...], Example(["sbj_0123456789abcdef01234567"])]
    """The other subjects."""


@frozen(slots=False)
class Basis:
    """The prefix of the ledger that a fold was taken of; `size` repeats it exactly."""

    size: Annotated[int, Example(8)]
    """Records in it."""
    root_hash: Annotated[str, Example("6267Ce8SRLM8d2xbzkcY8YBJMqz8geVSCfxImmA15fE=")]
    """Its Merkle root, base64."""
    head_seal: Annotated[
        str, Example("daeb1f3b4b9c80533c41251f34cbf0570f59777d28f0629384277c66818cbafa")
    ]
    """The seal of its last record."""


@frozen(slots=False)
class SubjectView:
    """A subject as the ledger knew it at a record time, for a valid time."""

    id: SubjectId
    record_time: Annotated[Instant | None, Example("2026-01-10T00:00:00.000000Z")]
    """What was recorded by then counts; without one, that of the newest record taken in."""
    valid_time: Annotated[Instant, Example("2026-01-01T00:00:00.000000Z")]
    """What holds then is shown."""
    basis: Basis | None
    """The prefix of the ledger that was read."""
    open: Annotated[bool, Example(True)]
    """Whether a record in force opens the subject."""
    identity: IdentityView | None
    """What it is; null while it is not open."""
    other_identities: tuple[IdentityView, ...]
    """Further records in force that say what it is, newest first."""
    designators: tuple[DesignatorView, ...]
    """Names in force that were not refuted, oldest first."""
    observations: tuple[ObservationView, ...]
    """Observations in force that were not refuted, oldest first."""
    claims: Mapping[str, ClaimView]
    """What is claimed, by predicate."""
    rejected: tuple[RejectedView, ...]
    """Whatever is in force but refuted, oldest first."""
    unreadable: tuple[UnreadableView, ...]
    """Claims in force whose content is erased or cannot be read, oldest first."""
    history: Maybe[tuple[HistoryView, ...]] = UNSET
    """What others displace, oldest first (`include`)."""
    segments: Maybe[tuple[Segment, ...]] = UNSET
    """Valid time, cut where a record begins or ends to hold (`include`)."""
    collisions: Maybe[tuple[CollisionView, ...]] = UNSET
    """Designators that other subjects bear as well."""


# -- bytes -------------------------------------------------------------------------------------


def encode(view: SubjectView) -> bytes:
    """Encode a view as canonical JSON (RFC 8785).

    What has no canonical form, which no ledger that verifies holds, is shown as null.
    """
    try:
        return canonical.dumps(_plain(view, lambda value: value))
    except canonical.CanonicalError:
        return canonical.dumps(_plain(view, _showable))


def _plain(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """Convert a view to plain JSON; `leaf` converts values that contain no view."""
    shape = _SHAPES.get(type(value))
    if shape is not None:
        names, members = shape
        return {
            name: _plain(member, leaf)
            for name, member in zip(names, members(value), strict=True)
            if member is not UNSET
        }
    if type(value) is tuple:
        return [_plain(item, leaf) for item in value]
    if type(value) is dict and value and type(next(iter(value.values()))) is ClaimView:
        return {name: _plain(item, leaf) for name, item in value.items()}
    return leaf(value)


def _showable(value: Any) -> Any:
    """Return the value, or None if it has no canonical form at the depth where it is shown."""
    container = value
    for _ in range(_LEVELS_ABOVE):
        container = [container]
    return None if canonical_form(container) is None else value


_LEVELS_ABOVE: Final = 10
"""Containers around the `method` of a verdict on a claim, the deepest member of a view."""

_SHAPES: Final = {
    class_: (
        tuple([wire.camel(field.name) for field in attrs.fields(class_)]),
        attrgetter(*[field.name for field in attrs.fields(class_)]),
    )
    for class_ in (
        VerdictView, VerificationView, IdentityView, DesignatorView, ObservationView, SupportView,
        CandidateView, ClaimView, RejectedView, UnreadableView, DisplacerView, HistoryView,
        CollisionView, Basis, Segment, SubjectView,
    )
}  # fmt: skip
