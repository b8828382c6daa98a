"""Request models of ledger entries: one flat class for each pair of `kind` and `op`.

Rule 1: a class is made of what its kind states and what its operation says of a target. It says
        which members an entry needs and takes: parsing, the OpenAPI schema and the documentation
        are all derived from it.
Rule 2: head and payload members stand side by side. A member of the head that has no meaning in a
        record is null in its line, and may be sent as null.
"""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol, TypeAlias

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
from svc_core.ledger.designator_input import VALUE_MAX, SchemeName
from svc_core.ledger.fold.verification_states import Verdict
from svc_core.ledger.records import Kind, Op
from svc_core.operation.members import LANGUAGE_TAG, NOT_BLANK
from svc_core.wire import shapes
from svc_core.wire.constraints import Doc, Example, MaxLen, MinLen, Pattern, UnionName

KIND: Final = Doc("What the record is.")
OP: Final = Doc("What the record does.")

_Absent: TypeAlias = Maybe[None]


# -- the head ----------------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class _ValidTime:
    valid_from: ValidFrom = UNSET
    valid_to: ValidTo = UNSET


@frozen(kw_only=True, slots=False)
class _NoValidTime:
    valid_from: _Absent = UNSET
    valid_to: _Absent = UNSET


@frozen(kw_only=True, slots=False)
class _OfSubject:
    subject: SubjectId
    """The subject it is about."""


@frozen(kw_only=True, slots=False)
class _WithTarget(_OfSubject):
    target: TargetId


@frozen(kw_only=True, slots=False)
class _AssertOp:
    op: Annotated[Literal["assert"], OP] = "assert"
    target: _Absent = UNSET


@frozen(kw_only=True, slots=False)
class _RevisionOp(_WithTarget, _ValidTime):
    op: Annotated[Literal["amend", "supersede"], Example("amend")]
    """`amend` puts it in the place of its target for its interval, `supersede` wholly."""
    reason: Annotated[Maybe[Why], Example("clerical")] = UNSET
    """Why it is changed."""


@frozen(kw_only=True, slots=False)
class _RetractOp(_WithTarget, _ValidTime):
    op: Annotated[Literal["retract"], OP]
    reason: Annotated[Why, Example("clerical")]
    """Why it is withdrawn."""
    note: Maybe[Note] = UNSET


@frozen(kw_only=True, slots=False)
class _VerifyOp(_WithTarget, _NoValidTime):
    op: Annotated[Literal["verify"], OP]
    state: Annotated[Verdict, Example("verified")]
    """The state that it gives its target."""
    method: Annotated[Maybe[Line], Example("source-comparison")] = UNSET
    """How it was reached; required for verified."""
    evidence: Evidence = ()
    note: Maybe[Note] = UNSET


@frozen(kw_only=True, slots=False)
class _EraseOp(_WithTarget, _NoValidTime):
    op: Annotated[Literal["erase"], OP]
    reason: Annotated[Line, Example("request of 3 March")]
    """Why, in words that repeat nothing of what is erased."""
    legal_basis: Annotated[Maybe[Line], Example("GDPR, article 17")] = UNSET
    """What demands it."""


# -- what is stated ----------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class _SubjectPayload:
    type: Annotated[SubjectType, Example("organization")]
    """What it is."""
    label: Label
    description: Maybe[Description] = UNSET


@frozen(kw_only=True, slots=False)
class _DesignatorPayload:
    scheme: Annotated[SchemeName, Example("lei")]
    """How the value names the subject."""
    value: Annotated[str, Example("5493001KJTIIGC8Y1R12")]
    """The name in its scheme, normalised and its check digits checked."""
    raw: Annotated[
        Maybe[Annotated[str, MinLen(1), MaxLen(VALUE_MAX)]], Example("5493 001K JTII GC8Y 1R12")
    ] = UNSET
    """How it was written; kept by itself where normalising changes it."""
    confidence: Maybe[Confidence] = UNSET
    source: Maybe[CitedSource] = UNSET
    """Where it was said."""


@frozen(kw_only=True, slots=False)
class _ObservationPayload:
    observed_at: Annotated[Instant, Example("2026-01-04T18:30:00Z")]
    """When the source said or showed it."""
    text: Annotated[
        str, MinLen(1), MaxLen(TEXT_MAX), NOT_BLANK, Example("The registry lists Zug as its seat.")
    ]
    """What the source said or showed."""
    source: SeenSource
    """Where it was said or shown."""
    lang: Annotated[Maybe[Annotated[str, LANGUAGE_TAG]], Example("en")] = UNSET
    """BCP 47 tag of the text."""
    visibility: Literal["public"] = "public"
    """Only public sources are kept."""
    extracted: Annotated[Maybe[Mapping[str, Any]], Example({"seat": "Zug"})] = UNSET
    """What was read out of the text, in any shape."""


@frozen(kw_only=True, slots=False)
class _ClaimPayload:
    predicate: Annotated[
        str, Pattern("[a-z][A-Za-z0-9]{0,63}", "a name such as legalName"), Example("headquarters")
    ]
    """What is said of the subject."""
    value: Annotated[wire.Json, Example({"city": "Zug", "country": "CH"})]
    """Any value but null; the registry of predicates may ask for a type."""
    confidence: Maybe[Confidence] = UNSET
    evidence: Evidence = ()
    source: Maybe[CitedSource] = UNSET
    """Where it was said."""
    statement: Annotated[Maybe[Note], Example("Its seat is Zug.")] = UNSET
    """The sentence that says it."""


# -- all of them -------------------------------------------------------------------------------

_KINDS: Final[Mapping[Kind, tuple[type[Any], str, Mapping[str, str]]]] = {
    "subject": (
        _SubjectPayload,
        "a subject itself",
        {
            "Assertion": "A subject to open.",
            "Revision": "A subject to describe anew.",
            "Retraction": "A subject to withdraw.",
            "Erasure": "A subject whose description is to be erased.",
        },
    ),
    "designator": (
        _DesignatorPayload,
        "a designator",
        {"Assertion": "A name of a subject in a scheme."},
    ),
    "observation": (
        _ObservationPayload,
        "an observation",
        {"Assertion": "What a source said or showed of a subject."},
    ),
    "claim": (_ClaimPayload, "a claim", {"Assertion": "What somebody says of a subject."}),
}
"""For each kind what its records state, what they are of, and the docstrings of entries for which
those of `_ENTRIES` do not do."""

_ENTRIES: Final[Mapping[str, tuple[tuple[type[Any], ...], str]]] = {
    "Assertion": ((_AssertOp, _OfSubject, _ValidTime), ""),
    "Revision": ((_RevisionOp,), "{} to change."),
    "Retraction": ((_RetractOp,), "{} to withdraw."),
    "Verdict": ((_VerifyOp,), "Whether {} is right."),
    "Erasure": ((_EraseOp,), "{} whose content is to be erased."),
}
"""The operations of entries by the last word of their class names, and what such an entry is."""


def _classes(kind: Kind) -> tuple[type[Any], ...]:
    """Create the classes of a kind; none is of a verdict on a subject, which asserts nothing."""
    nouns = [noun for noun in _ENTRIES if (kind, noun) != ("subject", "Verdict")]
    return tuple(_entry_class(kind, noun) for noun in nouns)


def _entry_class(kind: Kind, noun: str) -> type[Any]:
    (payload, phrase, docs), (bases, doc) = _KINDS[kind], _ENTRIES[noun]
    annotations: dict[str, Any] = {"kind": Annotated[Literal[kind], KIND]}
    members: dict[str, Any] = {"__annotations__": annotations, "__module__": __name__}
    if kind == "subject" and noun == "Assertion":  # its identifier follows from what it states
        bases = (_AssertOp, _ValidTime)
        annotations["subject"], members["subject"] = _Absent, UNSET
    if noun in {"Assertion", "Revision"}:
        bases = (payload, *bases)
    words = docs.get(noun) or doc.format(phrase)
    members["__doc__"] = words[0].upper() + words[1:]
    return frozen(kw_only=True, slots=False)(type(f"{kind.capitalize()}{noun}", bases, members))


_CLASSES: Final = {kind: _classes(kind) for kind in _KINDS}

ENTRIES: Final[Mapping[tuple[Kind, Op], type[Any]]] = {
    (kind, op): class_
    for kind, classes in _CLASSES.items()
    for class_ in classes
    for op in shapes.literals(class_)["op"]
}
"""The class of each kind and operation."""

if TYPE_CHECKING:

    class Entry(attrs.AttrsInstance, Protocol):
        """One record to append."""

        kind: Kind
        op: Op
        subject: Maybe[str | None]
        target: Maybe[str | None]

else:
    # A union for each kind, told apart by `op`, and the union of them, told apart by `kind`.
    _of_kinds = [
        Annotated[
            reduce(or_, classes),
            UnionName(f"{kind.capitalize()}Entry"),
            Doc(f"A record of {_KINDS[kind][1]}, told apart by `op`."),
        ]
        for kind, classes in _CLASSES.items()
    ]
    Entry = Annotated[
        reduce(or_, _of_kinds),
        UnionName("Entry"),
        Doc("One record to append, told apart by `kind`."),
    ]


def entry(kind: Kind, op: Op, **members: Any) -> Entry:
    """Create an entry of a kind and operation; members are named as in its class."""
    record: Entry = ENTRIES[kind, op](kind=kind, op=op, **members)
    return record


@frozen
class NewSubject:
    """A subject to open."""

    type: Annotated[SubjectType, Example("organization")]
    """What it is."""
    label: Label
    description: Maybe[Description] = UNSET
    valid_from: ValidFrom = UNSET
    valid_to: ValidTo = UNSET

    def entry(self) -> Entry:
        """Return the entry that opens the subject."""
        return entry("subject", "assert", **attrs.asdict(self))
