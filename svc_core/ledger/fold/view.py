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
    state: Annotated[str | None, Doc("The state it gives; null once erased."), Example("verified")]
    method: Annotated[Json, Doc("How it was reached."), Example("source-comparison")]
    evidence: Evidence
    note: Annotated[Json, Doc("A remark of the verifier."), Example(None)]
    counts: Annotated[bool, Doc("False where it was withdrawn."), Example(True)]
    erased: IsErased


@frozen(slots=False)
class VerificationView:
    """The state of a record, and how it came to be."""

    state: StateName
    credibility: Annotated[
        int, Doc("The state on the Admiralty scale of credibility, 1 best, 6 unknown."), Example(2)
    ]
    verdicts: Annotated[tuple[VerdictView, ...], Doc("Every verdict on it, oldest first.")]
    dissent: Annotated[
        tuple[VerdictView, ...],
        Doc("The latest verdict of each verifier that differs from the state."),
    ]


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

    type: Annotated[Json, Doc("The kind of thing it is."), Example("organization")]
    label: Annotated[Json, Doc("What people call it."), Example("Müller Shipping AG")]
    description: Annotated[Json, Doc("A sentence about it; null where none."), Example(None)]


@row
class DesignatorView(StandingView):
    """A name by which the world knows the subject."""

    scheme: Annotated[Json, Doc("Naming scheme."), Example("lei")]
    value: Annotated[Json, Doc("Normalised value."), Example("5493001KJTIIGC8Y1R12")]
    raw: Annotated[Json, Doc("As it was found, where that differs."), Example(None)]
    confidence: Confidence
    source: SourceJson


@row
class ObservationView(StandingView):
    """What a public source said or showed at a time."""

    observed_at: Annotated[Json, Doc("When."), Example("2026-01-04T18:30:00.000000Z")]
    text: Annotated[Json, Doc("What."), Example("The registry lists Zug as its seat.")]
    lang: Annotated[Json, Doc("BCP 47 tag of the text."), Example("en")]
    visibility: Annotated[Json, Doc("Always public."), Example("public")]
    source: SourceJson
    extracted: Annotated[Json, Doc("What was drawn from it.")]


@row
class SupportView(StandingView):
    """One claim in force that gives a value."""

    confidence: Confidence
    evidence: Evidence
    statement: Annotated[Json, Doc("The claim as a sentence."), Example(None)]
    source: SourceJson


@row
class CandidateView:
    """A value that claims in force give, with those claims, oldest first.

    A refuted claim lends no weight: it counts neither for authors nor for confidence.
    """

    value: Annotated[Json, Doc("The value."), Example({"city": "Zug", "country": "CH"})]
    best: Annotated[bool, Doc("Whether no other value ranks higher; never if refuted.")]
    rank: Annotated[
        int,
        Doc(
            "Of its best claim: verified 3, corroborated 2, unverified or under review 1, "
            "disputed 0, refuted -1."
        ),
        Example(2),
    ]
    authors: Annotated[int, Doc("Distinct authors that stand by it."), Example(1)]
    confidence: Confidence
    support: Annotated[tuple[SupportView, ...], Doc("The claims that give it.")]


@row
class ClaimView:
    """What is claimed under one predicate: contradictions stand side by side, ranked."""

    single: Annotated[bool, Doc("Whether it can have one value only."), Example(True)]
    value: Annotated[
        Json,
        Doc("The first of the best values; null where every one was refuted."),
        Example({"city": "Zug", "country": "CH"}),
    ]
    contested: Annotated[
        bool, Doc("Whether one value only is possible and several are claimed."), Example(False)
    ]
    candidates: Annotated[
        tuple[CandidateView, ...],
        Doc("By rank, then distinct authors, confidence, newest record and the value's bytes."),
    ]


@row
class RejectedView(StandingView):
    """A record in force that a verdict refuted."""

    kind: Annotated[str, Doc("Record kind."), Example("claim")]
    content: Content


@row
class UnreadableView(StandingView):
    """A claim in force whose predicate or value is not known, mostly because it was erased."""


@row
class DisplacerView:
    """What displaces a record, over which of its valid time, and why."""

    id: RecordId
    op: Annotated[str, Doc("amend, supersede or retract."), Example("retract")]
    author: Author
    recorded_at: RecordedAt
    valid_from: ValidFrom
    valid_to: ValidTo
    reason: Annotated[Json, Doc("The reason given."), Example("source-withdrawn")]


@row
class HistoryView(RecordView):
    """A record that others displace, at least over part of valid time."""

    kind: Annotated[str, Doc("Record kind."), Example("claim")]
    op: Annotated[str, Doc("Operation."), Example("assert")]
    target: Annotated[str | None, Doc("The record it acts on; null for an assertion.")]
    content: Content
    everywhere: Annotated[bool, Doc("Whether it is displaced at every valid time."), Example(True)]
    displaced_by: Annotated[tuple[DisplacerView, ...], Doc("By what, oldest first.")]


@frozen(slots=False)
class CollisionView:
    """A designator in force that other subjects bear as well: they may be one."""

    scheme: Annotated[str, Doc("Naming scheme."), Example("lei")]
    value: Annotated[str, Doc("Normalised value."), Example("5493001KJTIIGC8Y1R12")]
    subjects: Annotated[
        tuple[SubjectId, ...],
        Doc("The other subjects."),
        Example(["sbj_0123456789abcdef01234567"]),
    ]


@frozen(slots=False)
class Basis:
    """The prefix of the ledger that a fold was taken of; `size` repeats it exactly."""

    size: Annotated[int, Doc("Records in it."), Example(8)]
    root_hash: Annotated[
        str,
        Doc("Its Merkle root, base64."),
        Example("6267Ce8SRLM8d2xbzkcY8YBJMqz8geVSCfxImmA15fE="),
    ]
    head_seal: Annotated[
        str,
        Doc("The seal of its last record."),
        Example("daeb1f3b4b9c80533c41251f34cbf0570f59777d28f0629384277c66818cbafa"),
    ]


@frozen(slots=False)
class SubjectView:
    """A subject as the ledger knew it at a record time, for a valid time."""

    id: SubjectId
    record_time: Annotated[
        Instant | None,
        Doc("What was recorded by then counts; without one, that of the newest record taken in."),
        Example("2026-01-10T00:00:00.000000Z"),
    ]
    valid_time: Annotated[
        Instant, Doc("What holds then is shown."), Example("2026-01-01T00:00:00.000000Z")
    ]
    basis: Annotated[Basis | None, Doc("The prefix of the ledger that was read.")]
    open: Annotated[bool, Doc("Whether a record in force opens the subject."), Example(True)]
    identity: Annotated[IdentityView | None, Doc("What it is; null while it is not open.")]
    other_identities: Annotated[
        tuple[IdentityView, ...], Doc("Further records in force that say what it is, newest first.")
    ]
    designators: Annotated[
        tuple[DesignatorView, ...], Doc("Names in force that were not refuted, oldest first.")
    ]
    observations: Annotated[
        tuple[ObservationView, ...],
        Doc("Observations in force that were not refuted, oldest first."),
    ]
    claims: Annotated[Mapping[str, ClaimView], Doc("What is claimed, by predicate.")]
    rejected: Annotated[
        tuple[RejectedView, ...], Doc("Whatever is in force but refuted, oldest first.")
    ]
    unreadable: Annotated[
        tuple[UnreadableView, ...],
        Doc("Claims in force whose content is erased or cannot be read, oldest first."),
    ]
    history: Annotated[
        Maybe[tuple[HistoryView, ...]], Doc("What others displace, oldest first (`include`).")
    ] = UNSET
    segments: Annotated[
        Maybe[tuple[Segment, ...]],
        Doc("Valid time, cut where a record begins or ends to hold (`include`)."),
    ] = UNSET
    collisions: Annotated[
        Maybe[tuple[CollisionView, ...]], Doc("Designators that other subjects bear as well.")
    ] = UNSET


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
