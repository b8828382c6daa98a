"""The registry of claim predicates: name, cardinality and value type of each.

Rule 1: it is data with a version. An unknown predicate is welcome: it may hold several values at
        once, each of any type but null.
Rule 2: a type is checked where the registry names one, with every fault by its JSON Pointer.
Rule 3: amounts are decimal texts, because no two readers of JSON agree on fractions.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Final

from attrs import frozen

from svc_core import wire
from svc_core.operation.members import NOT_BLANK
from svc_core.wire import InputFault
from svc_core.wire.constraints import MaxLen, MinLen, Pattern

VERSION: Final = 1
"""Raised whenever the cardinality or the type of a predicate changes."""

_SUBJECT_ID: Final = re.compile("sbj_[0-9a-f]{24}")
_DECIMAL: Final = r"-?(?:0|[1-9][0-9]{0,27})(?:\.[0-9]{1,18})?"


@frozen
class Predicate:
    """A property that claims can state. If `single`, two values at one time contradict."""

    name: str
    single: bool
    type: Any
    doc: str


def is_single(predicate: str) -> bool:
    """Whether a predicate has at most one value at a time; an unknown predicate may have many."""
    rule = PREDICATES.get(predicate)
    return rule is not None and rule.single


def value_faults(predicate: str, value: Any, pointer: str = "/value") -> tuple[InputFault, ...]:
    """Check a value against the type of its predicate; return the faults, located by `pointer`."""
    if value is None:
        return (InputFault(pointer, "must not be null"),)
    rule = PREDICATES.get(predicate)
    is_address = predicate in _PLACES and isinstance(value, dict) and "subject" not in value
    if rule is None or is_address:
        return ()
    try:
        wire.structure(rule.type, value)
    except wire.WireError as error:
        return tuple(InputFault(pointer + fault.place, fault.reason) for fault in error.faults)
    return ()


def predicate_edge(value: Any) -> str | None:
    """Return the subject that a value refers to, `{"subject": "sbj_…"}`; None for other values."""
    if not isinstance(value, dict) or value.keys() != {"subject"}:
        return None
    subject = value["subject"]
    return subject if isinstance(subject, str) and _SUBJECT_ID.fullmatch(subject) else None


# -- types of values ---------------------------------------------------------------------------


@frozen
class _Edge:
    """Another subject."""

    subject: Annotated[str, Pattern(_SUBJECT_ID.pattern, "a subject id")]


@frozen
class Money:
    """An amount of a currency: of ISO 4217, or a token by its ticker."""

    amount: Annotated[str, Pattern(_DECIMAL, 'a decimal number as text, such as "12.50"')]
    currency: Annotated[str, Pattern("[A-Z][A-Z0-9]{2,9}", "a currency code, such as USD")]


@frozen
class Quantity:
    """An amount of a unit."""

    quantity: Annotated[str, Pattern(_DECIMAL, 'a decimal number as text, such as "3.2"')]
    unit: Annotated[
        str, Pattern(r"\S(?:[^\x00-\x1f\x7f]{0,30}\S)?", "a unit of 1 to 32 characters")
    ]


Text = Annotated[str, MinLen(1), MaxLen(2_000), NOT_BLANK]
Party = Text | _Edge
"""Another subject, or its name."""
_PLACES: Final = frozenset({"headquarters", "locatedIn"})
"""What may also be an object such as an address; one that has a `subject` is another subject."""

# -- the registry ------------------------------------------------------------------------------

_SINGLE: Final = (
    ("legalName", Text, "The registered name."),
    ("legalForm", Text, "The legal form, such as AG."),
    ("status", Text, "Whether it is active, dissolved, in service and the like."),
    ("jurisdiction", Text, "Whose law it is under."),
    ("headquarters", Party, "Where it is run from."),
    ("inceptionDate", date, "When it was founded or built."),
    ("dissolutionDate", date, "When it ceased to be."),
    ("birthDate", date, "When the person was born."),
    ("riskRating", int | Text, "The workspace's rating of its risk."),
)
_MULTIPLE: Final = (
    ("owner", Party, "Who owns it, wholly or in part."),
    ("subsidiary", Party, "What it owns, wholly or in part."),
    ("officer", Party, "Who acts for it."),
    ("nationality", Text, "Whose national it is, or whose flag it flies."),
    ("sanctionedBy", Party, "Which authority has put it under sanctions."),
    ("uses", Party, "Which tool, malware or infrastructure it uses."),
    ("targets", Party, "Whom or what it attacks."),
    ("exploits", Party, "Which vulnerability it makes use of."),
    ("attributedTo", Party, "Who is behind it."),
    ("locatedIn", Party, "Where it is."),
    ("sameAs", _Edge, "The other subject that is this one; retract it to part them again."),
    ("revenue", Money, "What it earned; the interval of validity is the period."),
    ("employees", int, "How many people work for it."),
    ("capacity", Quantity, "How much it can produce, hold or carry."),
)

PREDICATES: Final[Mapping[str, Predicate]] = {
    name: Predicate(name, single, type_, doc)
    for single, rows in ((True, _SINGLE), (False, _MULTIPLE))
    for name, type_, doc in rows
}
"""Every known predicate by its name."""
