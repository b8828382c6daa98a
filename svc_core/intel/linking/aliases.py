"""The alias table: which entity a vendor's or company's name meant on a given day.

Names change owners (an acquired vendor, a renamed company), so each line has a first and last day.
"""

from collections.abc import Mapping
from datetime import date
from functools import cache
from operator import attrgetter

from attrs import frozen

from svc_core import data
from svc_core.intel.linking.name_forms import normal_name
from svc_core.text.words import fold_case

WORDS_MAX = 4
"""The most words that a name of the table has."""


@frozen
class Alias:
    """The span of days, half open, in which a name means the entity with this `key`."""

    key: str
    valid_from: date
    valid_to: date

    def is_valid_on(self, day: date | None) -> bool:
        """Whether it holds on a day; None is a day after every change."""
        return self.valid_from <= day < self.valid_to if day else self.valid_to == date.max


def owner(name: str, day: date | None) -> str | None:
    """The key of the entity that a normalised name means on a day; None for an unlisted name."""
    return next((row.key for row in alias_table().get(name, ()) if row.is_valid_on(day)), None)


def mention_owner(spelling: str, day: date | None, *, is_sure: bool) -> str | None:
    """The key of the entity that a name in running text means; None where it may mean nobody.

    A name that is also an ordinary word counts only with its legal form ("Apple Inc"), or where
    the caller is sure that it is a name.
    """
    name = normal_name(spelling)
    is_word = name in _kinds("word") or name in _kinds("text")
    if not _has_form(spelling) and (name in _kinds("vendor") or (is_word and not is_sure)):
        return None
    return owner(name, day)


def maker(vendor: str, day: date | None) -> str | None:
    """The key of the entity that a vendor's name means, as catalogues of software write it."""
    name = normal_name(vendor)
    return None if name in _kinds("text") and not _has_form(vendor) else owner(name, day)


def _has_form(spelling: str) -> bool:
    """Whether a name is written with its legal form."""
    return len(normal_name(spelling).split()) < len(spelling.split())


@cache
def first_words() -> frozenset[str]:
    """The first words of all names of the table, folded: a quick test before a look-up."""
    names = [name for row in data.table_rows("aliases.tsv") for name in row[0].split("|")]
    return frozenset(fold_case(name.split()[0]) for name in (*names, *alias_table()))


@cache
def _kinds(kind: str) -> frozenset[str]:
    """The normalised names of one kind of line; the head of the table explains the kinds."""
    groups = (row[0].split("|") for row in data.table_rows("aliases.tsv") if row[4] == kind)
    return frozenset(normal_name(name) for names in groups for name in names)


@cache
def alias_table() -> Mapping[str, tuple[Alias, ...]]:
    """The aliases of each normalised name, the earliest first."""
    by_name: dict[str, list[Alias]] = {}
    for names, key, start, end, *_ in data.table_rows("aliases.tsv"):
        days = date.fromisoformat(start or "0001-01-01"), date.fromisoformat(end or "9999-12-31")
        alias = Alias(key, *days)
        for name in names.split("|"):
            by_name.setdefault(normal_name(name), []).append(alias)
    return {name: tuple(sorted(aliases, key=_START)) for name, aliases in by_name.items()}


_START = attrgetter("valid_from")
