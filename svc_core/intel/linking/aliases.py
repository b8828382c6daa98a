"""Who a vendor or company was at a date: the alias table."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from operator import attrgetter

from attrs import frozen

from svc_core import data
from svc_core.intel.linking.names import normal
from svc_core.text.words import fold

WORDS_MAX = 4
"""Words of the longest name in the table."""


@frozen
class Alias:
    """A name means the entity with this `key`, from a day up to another, not included."""

    key: str
    valid_from: date
    valid_to: date

    def is_valid_on(self, day: date | None) -> bool:
        """Whether it holds on a day; None is a day after every change."""
        return self.valid_from <= day < self.valid_to if day else self.valid_to == date.max


def owner(name: str, day: date | None) -> str | None:
    """The key of the entity that a normalised name means on a day; None where nobody says."""
    return next((row.key for row in alias_table().get(name, ()) if row.is_valid_on(day)), None)


def mention_owner(spelling: str, day: date | None, *, is_sure: bool) -> str | None:
    """The key of the entity that a name in text means.

    One that is an ordinary word has to be surely a name, or to have its legal form with it.
    """
    name = normal(spelling)
    is_word = name in _kinds("word") or name in _kinds("text")
    if not _has_form(spelling) and (name in _kinds("vendor") or (is_word and not is_sure)):
        return None
    return owner(name, day)


def maker(vendor: str, day: date | None) -> str | None:
    """The key of the entity that the name of a vendor means."""
    name = normal(vendor)
    return None if name in _kinds("text") and not _has_form(vendor) else owner(name, day)


def _has_form(spelling: str) -> bool:
    """Whether a legal form stands with a name."""
    return len(normal(spelling).split()) < len(spelling.split())


@cache
def first_words() -> frozenset[str]:
    """The first words of all names, folded."""
    names = [name for row in data.rows("aliases.tsv") for name in row[0].split("|")]
    return frozenset(fold(name.split()[0]) for name in (*names, *alias_table()))


@cache
def _kinds(kind: str) -> frozenset[str]:
    """The names of a kind, as the head of the table tells them."""
    groups = (row[0].split("|") for row in data.rows("aliases.tsv") if row[4] == kind)
    return frozenset(normal(name) for names in groups for name in names)


@cache
def alias_table() -> Mapping[str, tuple[Alias, ...]]:
    """The aliases by their normalised names, the earliest first."""
    by_name: dict[str, list[Alias]] = {}
    for names, key, start, end, *_ in data.rows("aliases.tsv"):
        days = date.fromisoformat(start or "0001-01-01"), date.fromisoformat(end or "9999-12-31")
        alias = Alias(key, *days)
        for name in names.split("|"):
            by_name.setdefault(normal(name), []).append(alias)
    return {name: tuple(sorted(aliases, key=_START)) for name, aliases in by_name.items()}


_START = attrgetter("valid_from")
