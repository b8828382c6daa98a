"""Request models of ledger entries: one flat class for each pair of `kind` and `op`.

Rule 1: each class says which members an entry needs and takes. Parsing, the OpenAPI schema and the
        documentation are all derived from these classes; there is no second table.
Rule 2: head and payload members stand side by side. A member of the head that has no meaning in a
        record is null in its line, and may be sent as null.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe
from svc_core.ledger.append.input import (
    TEXT_MAX,
    CitedSource,
    Confidence,
    Description,
    Evidence,
    Instant,
    Label,
    Line,
    Note,
    SeenSource,
    SubjectId,
    SubjectType,
    TargetId,
    ValidFrom,
    ValidTo,
    Why,
)
from svc_core.ledger.designators.schemes import VALUE_MAX, SchemeName
from svc_core.ledger.fold.verification_states import Verdict
from svc_core.ledger.records import Kind, Op
from svc_core.operation.members import LANGUAGE_TAG, NOT_BLANK
from svc_core.wire import shapes
from svc_core.wire.constraints import Doc, Example, MaxLen, MinLen, Pattern, UnionName

KIND: Final = Doc("What the record is.")
OP: Final = Doc("What the record does.")

_Subject = Annotated[Literal["subject"], KIND]
_Designator = Annotated[Literal["designator"], KIND]
_Observation = Annotated[Literal["observation"], KIND]
_Claim = Annotated[Literal["claim"], KIND]


# -- the head ----------------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class _ValidTime:
    valid_from: ValidFrom = UNSET
    valid_to: ValidTo = UNSET


@frozen(kw_only=True, slots=False)
class _NoValidTime:
    valid_from: Maybe[None] = UNSET
    valid_to: Maybe[None] = UNSET


@frozen(kw_only=True, slots=False)
class _OfSubject:
    subject: Annotated[SubjectId, Doc("The subject it is about.")]


@frozen(kw_only=True, slots=False)
class _WithTarget(_OfSubject):
    target: TargetId


@frozen(kw_only=True, slots=False)
class _AssertOp:
    op: Annotated[Literal["assert"], OP] = "assert"
    target: Maybe[None] = UNSET


@frozen(kw_only=True, slots=False)
class _RevisionOp(_WithTarget, _ValidTime):
    op: Annotated[
        Literal["amend", "supersede"],
        Doc("`amend` puts it in the place of its target for its interval, `supersede` wholly."),
        Example("amend"),
    ]
    reason: Annotated[Maybe[Why], Doc("Why it is changed."), Example("clerical")] = UNSET


@frozen(kw_only=True, slots=False)
class _RetractOp(_WithTarget, _ValidTime):
    op: Annotated[Literal["retract"], OP]
    reason: Annotated[Why, Doc("Why it is withdrawn."), Example("clerical")]
    note: Maybe[Note] = UNSET


@frozen(kw_only=True, slots=False)
class _VerifyOp(_WithTarget, _NoValidTime):
    op: Annotated[Literal["verify"], OP]
    state: Annotated[Verdict, Doc("The state that it gives its target."), Example("verified")]
    method: Annotated[
        Maybe[Line],
        Doc("How it was reached; required for verified."),
        Example("source-comparison"),
    ] = UNSET
    evidence: Evidence = ()
    note: Maybe[Note] = UNSET


@frozen(kw_only=True, slots=False)
class _EraseOp(_WithTarget, _NoValidTime):
    op: Annotated[Literal["erase"], OP]
    reason: Annotated[
        Line,
        Doc("Why, in words that repeat nothing of what is erased."),
        Example("request of 3 March"),
    ]
    legal_basis: Annotated[Maybe[Line], Doc("What demands it."), Example("GDPR, article 17")] = (
        UNSET
    )


# -- what is stated ----------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class _SubjectPayload:
    type: Annotated[SubjectType, Doc("What it is."), Example("organization")]
    label: Label
    description: Maybe[Description] = UNSET


@frozen(kw_only=True, slots=False)
class _DesignatorPayload:
    scheme: Annotated[SchemeName, Doc("How the value names the subject."), Example("lei")]
    value: Annotated[
        str,
        Doc("The name in its scheme, normalised and its check digits checked."),
        Example("5493001KJTIIGC8Y1R12"),
    ]
    raw: Annotated[
        Maybe[Annotated[str, MinLen(1), MaxLen(VALUE_MAX)]],
        Doc("How it was written; kept by itself where normalising changes it."),
        Example("5493 001K JTII GC8Y 1R12"),
    ] = UNSET
    confidence: Maybe[Confidence] = UNSET
    source: Annotated[Maybe[CitedSource], Doc("Where it was said.")] = UNSET


@frozen(kw_only=True, slots=False)
class _ObservationPayload:
    observed_at: Annotated[
        Instant, Doc("When the source said or showed it."), Example("2026-01-04T18:30:00Z")
    ]
    text: Annotated[
        str,
        MinLen(1),
        MaxLen(TEXT_MAX),
        NOT_BLANK,
        Doc("What the source said or showed."),
        Example("The registry lists Zug as its seat."),
    ]
    source: Annotated[SeenSource, Doc("Where it was said or shown.")]
    lang: Annotated[
        Maybe[Annotated[str, LANGUAGE_TAG]], Doc("BCP 47 tag of the text."), Example("en")
    ] = UNSET
    visibility: Annotated[Literal["public"], Doc("Only public sources are kept.")] = "public"
    extracted: Annotated[
        Maybe[Mapping[str, Any]],
        Doc("What was read out of the text, in any shape."),
        Example({"seat": "Zug"}),
    ] = UNSET


@frozen(kw_only=True, slots=False)
class _ClaimPayload:
    predicate: Annotated[
        str,
        Pattern("[a-z][A-Za-z0-9]{0,63}", "a name such as legalName"),
        Doc("What is said of the subject."),
        Example("headquarters"),
    ]
    value: Annotated[
        wire.Json,
        Doc("Any value but null; the registry of predicates may ask for a type."),
        Example({"city": "Zug", "country": "CH"}),
    ]
    confidence: Maybe[Confidence] = UNSET
    evidence: Evidence = ()
    source: Annotated[Maybe[CitedSource], Doc("Where it was said.")] = UNSET
    statement: Annotated[
        Maybe[Note], Doc("The sentence that says it."), Example("Its seat is Zug.")
    ] = UNSET


# -- subjects ----------------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class SubjectAssertion(_SubjectPayload, _AssertOp, _ValidTime):
    """A subject to open."""

    kind: _Subject
    subject: Maybe[None] = UNSET


@frozen(kw_only=True, slots=False)
class SubjectRevision(_SubjectPayload, _RevisionOp):
    """A subject to describe anew."""

    kind: _Subject


@frozen(kw_only=True, slots=False)
class SubjectRetraction(_RetractOp):
    """A subject to withdraw."""

    kind: _Subject


@frozen(kw_only=True, slots=False)
class SubjectErasure(_EraseOp):
    """A subject whose description is to be erased."""

    kind: _Subject


# -- designators -------------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class DesignatorAssertion(_DesignatorPayload, _AssertOp, _OfSubject, _ValidTime):
    """A name of a subject in a scheme."""

    kind: _Designator


@frozen(kw_only=True, slots=False)
class DesignatorRevision(_DesignatorPayload, _RevisionOp):
    """A designator to change."""

    kind: _Designator


@frozen(kw_only=True, slots=False)
class DesignatorRetraction(_RetractOp):
    """A designator to withdraw."""

    kind: _Designator


@frozen(kw_only=True, slots=False)
class DesignatorVerdict(_VerifyOp):
    """Whether a designator is right."""

    kind: _Designator


@frozen(kw_only=True, slots=False)
class DesignatorErasure(_EraseOp):
    """A designator whose content is to be erased."""

    kind: _Designator


# -- observations ------------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class ObservationAssertion(_ObservationPayload, _AssertOp, _OfSubject, _ValidTime):
    """What a source said or showed of a subject."""

    kind: _Observation


@frozen(kw_only=True, slots=False)
class ObservationRevision(_ObservationPayload, _RevisionOp):
    """An observation to change."""

    kind: _Observation


@frozen(kw_only=True, slots=False)
class ObservationRetraction(_RetractOp):
    """An observation to withdraw."""

    kind: _Observation


@frozen(kw_only=True, slots=False)
class ObservationVerdict(_VerifyOp):
    """Whether an observation is right."""

    kind: _Observation


@frozen(kw_only=True, slots=False)
class ObservationErasure(_EraseOp):
    """An observation whose content is to be erased."""

    kind: _Observation


# -- claims ------------------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class ClaimAssertion(_ClaimPayload, _AssertOp, _OfSubject, _ValidTime):
    """What somebody says of a subject."""

    kind: _Claim


@frozen(kw_only=True, slots=False)
class ClaimRevision(_ClaimPayload, _RevisionOp):
    """A claim to change."""

    kind: _Claim


@frozen(kw_only=True, slots=False)
class ClaimRetraction(_RetractOp):
    """A claim to withdraw."""

    kind: _Claim


@frozen(kw_only=True, slots=False)
class ClaimVerdict(_VerifyOp):
    """Whether a claim is right."""

    kind: _Claim


@frozen(kw_only=True, slots=False)
class ClaimErasure(_EraseOp):
    """A claim whose content is to be erased."""

    kind: _Claim


# -- all of them -------------------------------------------------------------------------------


SubjectEntry: TypeAlias = Annotated[
    SubjectAssertion | SubjectRevision | SubjectRetraction | SubjectErasure,
    UnionName("SubjectEntry"),
    Doc("A record of a subject itself, told apart by `op`."),
]
DesignatorEntry: TypeAlias = Annotated[
    DesignatorAssertion
    | DesignatorRevision
    | DesignatorRetraction
    | DesignatorVerdict
    | DesignatorErasure,
    UnionName("DesignatorEntry"),
    Doc("A record of a designator, told apart by `op`."),
]
ObservationEntry: TypeAlias = Annotated[
    ObservationAssertion
    | ObservationRevision
    | ObservationRetraction
    | ObservationVerdict
    | ObservationErasure,
    UnionName("ObservationEntry"),
    Doc("A record of an observation, told apart by `op`."),
]
ClaimEntry: TypeAlias = Annotated[
    ClaimAssertion | ClaimRevision | ClaimRetraction | ClaimVerdict | ClaimErasure,
    UnionName("ClaimEntry"),
    Doc("A record of a claim, told apart by `op`."),
]
Entry: TypeAlias = Annotated[
    SubjectEntry | DesignatorEntry | ObservationEntry | ClaimEntry,
    UnionName("Entry"),
    Doc("One record to append, told apart by `kind`."),
]


def _classes() -> Mapping[tuple[Kind, Op], type[Any]]:
    return {
        (kind, op): class_
        for union in get_args(shapes.split_annotation(Entry)[0])
        for class_ in get_args(shapes.split_annotation(union)[0])
        for kind in shapes.literals(class_)["kind"]
        for op in shapes.literals(class_)["op"]
    }


ENTRIES: Final = _classes()
"""The class of each kind and operation. There is no verdict on a subject: it asserts nothing."""


@frozen
class NewSubject:
    """A subject to open."""

    type: Annotated[SubjectType, Doc("What it is."), Example("organization")]
    label: Label
    description: Maybe[Description] = UNSET
    valid_from: ValidFrom = UNSET
    valid_to: ValidTo = UNSET

    def entry(self) -> SubjectAssertion:
        """Return the entry that opens the subject."""
        return SubjectAssertion(kind="subject", **attrs.asdict(self))
