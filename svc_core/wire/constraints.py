"""Constraints and descriptions of values: bounds, patterns, sentences and examples.

They stand in `Annotated[...]` on the fields of models and requests. The reader of requests
checks them, the JSON Schema and the reference pages print them; no bound is written twice.

Rule: as in JSON Schema, a constraint speaks only about values of its own type. A length says
nothing about a number, and a bound says nothing about a boolean.
"""

import re
from collections.abc import Callable, Mapping, Sized
from typing import Any, Final

from annotated_types import BaseMetadata, Ge, GroupedMetadata, Le, MaxLen, MinLen
from attrs import field, frozen

from svc_core.base import ids

__all__ = [
    "DIALECT",
    "Arg",
    "Doc",
    "Example",
    "Ge",
    "IdOf",
    "Label",
    "Le",
    "MaxLen",
    "MinLen",
    "Pattern",
    "UnionName",
    "WriteOnly",
    "check_constraint",
]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of JSON Schema in which the constraints are published."""


@frozen
class Pattern:
    """A text matches `regex` from its first to its last character.

    The expression is written without anchors, in ASCII classes; `text` says in words what it
    describes ("a report id") and goes into the refusal.
    """

    regex: str
    text: str = ""
    _expression: re.Pattern[str] = field(init=False, repr=False, eq=False)

    @_expression.default
    def _compile(self) -> re.Pattern[str]:
        return re.compile(self.regex, re.ASCII)

    @property
    def anchored_regex(self) -> str:
        """The expression for JSON Schema, whose patterns match anywhere unless anchored."""
        return f"^(?:{self.regex})$" if "|" in self.regex else f"^{self.regex}$"

    def matches(self, value: str) -> bool:
        """Whether the whole of `value` matches; a newline at its end is not overlooked."""
        return self._expression.fullmatch(value) is not None


@frozen(init=False)
class IdOf(Pattern):
    """A text is a public identifier of these kinds of resource, each named by its prefix.

    The pattern, the refusal, a description and an example follow from it. `noun` names several
    kinds at once. The legacy form is accepted where the kind had one, and nowhere else.
    """

    prefixes: tuple[str, ...] = ()
    noun: str = ""

    def __init__(self, *prefixes: str, noun: str = "") -> None:
        """Name the kinds; without a `noun` of its own it is that of the first."""
        noun = noun or ids.PREFIXES[prefixes[0]]
        kinds = prefixes[0] if len(prefixes) == 1 else f"(?:{'|'.join(prefixes)})"
        article = "an" if noun[0].lower() in "aeio" else "a"  # a user
        self.__attrs_init__(f"{kinds}_{ids.LEGACY_ID}", f"{article} {noun} id", prefixes, noun)

    @property
    def doc(self) -> str:
        """The description of a member that has none of its own."""
        return f"{self.noun.capitalize()} identifier."

    @property
    def example(self) -> str:
        """An identifier of the first kind."""
        return f"{self.prefixes[0]}_{ids.EXAMPLE_DIGITS}"

    @property
    def takes_legacy(self) -> bool:
        """Whether bare digits are read as an identifier of this kind."""
        return ids.LEGACY_PREFIXES.issuperset(self.prefixes)

    def public(self, text: str) -> str:
        """The public form of a legacy identifier of this kind; any other text as it is."""
        return ids.public_id(self.prefixes[0], text) or text if self.takes_legacy else text


@frozen
class Doc:
    """The sentence that describes a type in the documents; a member has a docstring instead."""

    text: str


@frozen
class Label:
    """What a person reads beside a field, where the words of the member's name say too little."""

    text: str


@frozen
class UnionName:
    """The name of a union of classes in the documents; a class has its own."""

    name: str


@frozen
class Example:
    """A value of the field for the documents. It may be a list or an object."""

    # Unions hash the annotations of their members, so a list as example must not count there.
    value: Any = field(hash=False)


@frozen
class Arg:
    """How a member is given on a command line, where its own name and type do not say it.

    `name` replaces its own. A `positional` one has no name, nor has any that follows it. A `path`
    that is no address names a file on the caller's machine. An instant `ahead` may be written as a
    span of time from now.
    """

    name: str | None = None
    positional: bool = False
    path: bool = False
    ahead: bool = False


@frozen
class Choices:
    """The texts that a member may have, each with its words, where more than its type says it."""

    words: Mapping[str, str] = field(hash=False, repr=False)


@frozen
class WriteOnly:
    """A secret text: a request may set it, no answer shows it.

    `cure` says what to do about a wrong one; `fresh` makes a valid one from `size` random bytes,
    where the caller has to supply one.
    """

    cure: str
    size: int
    fresh: Callable[[bytes], str]


def check_constraint(constraint: object, value: object) -> str | None:
    """Why `value` fails `constraint` ("must be at least 1"), or None where it does not.

    Metadata that restricts nothing (`Doc`, `Example`, the place of an input) passes every value.

    Raises:
        TypeError: the constraint restricts values in a way that nobody would check.
    """
    rule = _RULES.get(type(constraint))
    if rule is not None:
        return rule(constraint, value)
    if isinstance(constraint, BaseMetadata | GroupedMetadata):
        raise TypeError(f"{constraint!r} is not checked; use Ge, Le, MinLen, MaxLen or Pattern.")
    return None


def _pattern(constraint: Pattern, value: object) -> str | None:
    if not isinstance(value, str) or constraint.matches(value):
        return None
    return (
        f"must be {constraint.text}"
        if constraint.text
        else f"must match {constraint.anchored_regex}"
    )


def _at_least(constraint: Ge, value: Any) -> str | None:
    # Written as "not >=", so that NaN, which compares with nothing, fails.
    if not _is_number(value) or value >= constraint.ge:
        return None
    return f"must be at least {constraint.ge}"


def _at_most(constraint: Le, value: Any) -> str | None:
    if not _is_number(value) or value <= constraint.le:
        return None
    return f"must be at most {constraint.le}"


def _long_enough(constraint: MinLen, value: object) -> str | None:
    if not isinstance(value, Sized) or len(value) >= constraint.min_length:
        return None
    return f"must have at least {_count(constraint.min_length, value)}"


def _short_enough(constraint: MaxLen, value: object) -> str | None:
    if not isinstance(value, Sized) or len(value) <= constraint.max_length:
        return None
    return f"must have at most {_count(constraint.max_length, value)}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(number: int, value: object) -> str:
    if isinstance(value, str):
        unit = "character"
    elif isinstance(value, Mapping):
        unit = "member"
    else:
        unit = "item"
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


_RULES: Mapping[type, Callable[[Any, Any], str | None]] = {
    Pattern: _pattern,
    IdOf: _pattern,
    Ge: _at_least,
    Le: _at_most,
    MinLen: _long_enough,
    MaxLen: _short_enough,
}
