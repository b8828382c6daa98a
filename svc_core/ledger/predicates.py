"""The registry of predicates: what a claim can say, how often at once, in which type of value.

Rule 1: it is data with a version. An unknown predicate is welcome: it may hold several values at
        once, each of any type but null.
Rule 2: a type is checked where the registry names one, with every fault by its JSON Pointer.
Rule 3: amounts are decimal texts, because no two readers of JSON agree on fractions.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from attrs import frozen

from svc_core.wire import Fault
from svc_core.wire.faults import FAULTS_KEPT_MAX, escape
from svc_core.wire.strict import read_date

VERSION: Final = 1
"""Raised whenever the cardinality or the type of a predicate changes."""

TEXT_MAX: Final = 2_000

_SUBJECT_ID: Final = re.compile("sbj_[0-9a-f]{24}")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,27})(?:\.[0-9]{1,18})?", re.ASCII)
_CURRENCY: Final = re.compile("[A-Z][A-Z0-9]{2,9}")  # ISO 4217 and the tickers of tokens
_UNIT: Final = re.compile(r"\S(?:[^\x00-\x1f\x7f]{0,30}\S)?")


@frozen
class ValueType:
    """A type of value: its name, what it looks like, and what is wrong with a value (or nothing).

    `check` gives pairs of a JSON Pointer inside the value and a reason.
    """

    name: str
    doc: str
    check: Callable[[Any], tuple[tuple[str, str], ...]]


@frozen
class Predicate:
    """What a claim says about its subject. `single`: two values at once contradict each other."""

    name: str
    single: bool
    type: ValueType
    doc: str


def is_single(predicate: str) -> bool:
    """Whether one value holds at a time; an unknown predicate may hold many."""
    known = PREDICATES.get(predicate)
    return known is not None and known.single


def check(predicate: str, value: Any, where: str = "/value") -> tuple[Fault, ...]:
    """What is wrong with `value` as a value of `predicate`, each fault under `where`."""
    type_ = PREDICATES[predicate].type if predicate in PREDICATES else ANY
    return tuple(Fault(where + place, reason) for place, reason in type_.check(value))


def edge(value: Any) -> str | None:
    """The other subject where the value is an edge, `{"subject": "sbj_…"}`; else None."""
    if not isinstance(value, dict) or _subject(value):
        return None
    other: str = value["subject"]
    return other


# -- what is wrong with a value ----------------------------------------------------------------

_Faults = tuple[tuple[str, str], ...]
_FITS: Final[_Faults] = ()


def _any(value: Any) -> _Faults:
    return _FITS if value is not None else (("", "must not be null"),)


def _text(value: Any) -> _Faults:
    if isinstance(value, str) and value.strip() and len(value) <= TEXT_MAX:
        return _FITS
    return (("", f"must be text of 1 to {TEXT_MAX} characters that is not blank"),)


def _date(value: Any) -> _Faults:
    try:
        read_date(value)
    except ValueError as unfit:
        return (("", str(unfit)),)
    return _FITS


def _integer(value: Any) -> _Faults:
    return _FITS if type(value) is int else (("", "must be an integer"),)


def _members(value: Any, words: str, **patterns: tuple[re.Pattern[str], str]) -> _Faults:
    """An object of exactly these members, each a text that matches its pattern."""
    if not isinstance(value, dict):
        return (("", words),)
    missing = [(f"/{name}", "is required") for name in patterns if name not in value]
    unknown = [name for name in sorted(value) if name not in patterns][:FAULTS_KEPT_MAX]
    unfit = [
        (f"/{name}", reason)
        for name, (pattern, reason) in patterns.items()
        if name in value and not _matches(pattern, value[name])
    ]
    return (*missing, *((f"/{escape(name)}", "is not a known member") for name in unknown), *unfit)


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _money(value: Any) -> _Faults:
    return _members(
        value,
        'must be {"amount": "12.50", "currency": "USD"}',
        amount=(_DECIMAL, 'must be a decimal number as text, such as "12.50"'),
        currency=(_CURRENCY, "must be a currency code, such as USD"),
    )


def _quantity(value: Any) -> _Faults:
    return _members(
        value,
        'must be {"quantity": "3.2", "unit": "MW"}',
        quantity=(_DECIMAL, 'must be a decimal number as text, such as "3.2"'),
        unit=(_UNIT, "must be a unit of 1 to 32 characters"),
    )


def _subject(value: Any) -> _Faults:
    return _members(
        value, 'must be {"subject": "sbj_…"}', subject=(_SUBJECT_ID, "must be a subject id")
    )


def _party(value: Any) -> _Faults:
    return _text(value) if isinstance(value, str) else _subject(value)


def _place(value: Any) -> _Faults:
    if isinstance(value, dict) and "subject" not in value:
        return _FITS
    return _party(value)


def _rating(value: Any) -> _Faults:
    return _text(value) if isinstance(value, str) else _integer(value)


ANY: Final = ValueType("any", "Any JSON value but null.", _any)
TEXT: Final = ValueType("text", "Text.", _text)
DATE: Final = ValueType("date", "A day, `YYYY-MM-DD`.", _date)
INTEGER: Final = ValueType("integer", "A whole number.", _integer)
MONEY: Final = ValueType("money", '`{"amount": "12.50", "currency": "USD"}`.', _money)
QUANTITY: Final = ValueType("quantity", '`{"quantity": "3.2", "unit": "MW"}`.', _quantity)
SUBJECT: Final = ValueType("subject", 'Another subject, `{"subject": "sbj_…"}`.', _subject)
PARTY: Final = ValueType("party", "Another subject, or its name as text.", _party)
PLACE: Final = ValueType("place", "A subject, text, or an object such as an address.", _place)
RATING: Final = ValueType("rating", "A whole number or a text.", _rating)

# -- the registry ------------------------------------------------------------------------------

_SINGLE: Final = (
    ("legalName", TEXT, "The registered name."),
    ("legalForm", TEXT, "The legal form, such as AG."),
    ("status", TEXT, "Whether it is active, dissolved, in service and the like."),
    ("jurisdiction", TEXT, "Whose law it is under."),
    ("headquarters", PLACE, "Where it is run from."),
    ("inceptionDate", DATE, "When it was founded or built."),
    ("dissolutionDate", DATE, "When it ceased to be."),
    ("birthDate", DATE, "When the person was born."),
    ("riskRating", RATING, "The workspace's rating of its risk."),
)
_MULTIPLE: Final = (
    ("owner", PARTY, "Who owns it, wholly or in part."),
    ("subsidiary", PARTY, "What it owns, wholly or in part."),
    ("officer", PARTY, "Who acts for it."),
    ("nationality", TEXT, "Whose national it is, or whose flag it flies."),
    ("sanctionedBy", PARTY, "Which authority has put it under sanctions."),
    ("uses", PARTY, "Which tool, malware or infrastructure it uses."),
    ("targets", PARTY, "Whom or what it attacks."),
    ("exploits", PARTY, "Which vulnerability it makes use of."),
    ("attributedTo", PARTY, "Who is behind it."),
    ("locatedIn", PLACE, "Where it is."),
    ("sameAs", SUBJECT, "The other subject that is this one; retract it to part them again."),
    ("revenue", MONEY, "What it earned; the interval of validity is the period."),
    ("employees", INTEGER, "How many people work for it."),
    ("capacity", QUANTITY, "How much it can produce, hold or carry."),
)

PREDICATES: Final[Mapping[str, Predicate]] = MappingProxyType(
    {
        name: Predicate(name, single, type_, doc)
        for single, rows in ((True, _SINGLE), (False, _MULTIPLE))
        for name, type_, doc in rows
    }
)
"""Every known predicate by its name."""
