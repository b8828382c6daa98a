"""Reads a row as passages: the sentences of its texts, and its members as `name: value`.

Rule 1: a passage is parted into clauses of words and values (`quantities`). A word has the keys by
        which another writing of it is found (`synonyms`), and the weight of what it states.
Rule 2: members of one object are said about each other, so each has the others' words as context.
Rule 3: words that state nothing of their own weigh nothing: stop words, and the cues of denial,
        supposition, bounds and reports, which have rules of their own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from itertools import chain, takewhile
from typing import Any, Final, TypeAlias

import attrs
from attrs import field, frozen

from svc_core.text.frequencies import background
from svc_core.text.language import guess, is_common
from svc_core.text.quantities import Value, claim_cues, claim_words, unit_keys, unit_of, values_of
from svc_core.text.sentences import is_whole, line_parts
from svc_core.text.synonyms import country_of, related_keys
from svc_core.text.words import (
    UNSPACED,
    fold_case,
    raw_words,
    split_words,
    stop_words,
    term_of,
    terms,
)

TEXT_WORDS: Final = 6
"""A string of so many words is a text of its own, no word about its neighbours."""
LABELS_MAX: Final = 2_048  # labels of the rows of all kinds, with the ways to them
VALUE_WEIGHT: Final = 4.0
"""What a number or date weighs: as much as a middling word."""
NEAR: Final = 5
"""So many words on each side stand beside a value."""

_ACTED_ON: Final = ("target", "victim", "affected")
_SILENT: Final = ("frame", "hedge", "denial", "lack", "about", "preposition")
_BREAKS: Final = re.compile(
    r"[;:,()–—]|[.!?](?=\s)|(?<=\s)(?:and|but|while|und|aber|während|et|mais|y|pero)(?=\s)",
    re.IGNORECASE,
)
_NOISE: Final = re.compile(r"(?:https?://|www\.)\S+|\b[a-z]{3}_[0-9a-f]{24}\b")
_CONTRACTION: Final = re.compile(r"n['’]t\b", re.IGNORECASE)
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONG_NAME: Final = re.compile(
    r"\b[A-Z][a-z]+(?:(?:\s(?:of|for|the|and|de|la|des|du|der|für|del|y))*\s[A-Z][a-z]+)+"
)
SPACES: Final = re.compile(r"[^\S\n]{2,}|[^\S\n ]")


@frozen
class RowWord:
    """A word of a sentence, folded, with what it may be found by and what it weighs."""

    folded: str
    keys: frozenset[str] = field(repr=False)
    is_name: bool
    weight: float


Token: TypeAlias = RowWord | Value
Clause: TypeAlias = tuple[Token, ...]


@frozen
class RowPassage:
    """A sentence or member of a row. `context` are the keys of what it is about.

    `roles` are the names of who acts and who is acted upon, where it is about an event.
    """

    text: str
    clauses: tuple[Clause, ...] = field(repr=False)
    language: str | None = None
    is_member: bool = False
    context: frozenset[str] = field(default=frozenset(), repr=False)
    roles: tuple[frozenset[str], ...] = ()
    siblings: frozenset[str] = field(default=frozenset(), repr=False)

    @cached_property
    def words(self) -> tuple[RowWord, ...]:
        """Its words in order."""
        return tuple(row_words(token for clause in self.clauses for token in clause))

    @cached_property
    def keys(self) -> frozenset[str]:
        """What is found in it or in what it is about."""
        return word_keys(token for clause in self.clauses for token in clause) | self.context

    @cached_property
    def values(self) -> tuple["PlacedValue", ...]:
        """Its values in order."""
        place = self.is_member, self.siblings
        return tuple(
            PlacedValue(token, _beside(clause[at + 1 :]), _beside(clause[:at][::-1]), *place)
            for clause in self.clauses
            for at, token in enumerate(clause)
            if isinstance(token, Value)
        )


@frozen
class PlacedValue:
    """A value with what stands beside it, the nearest first, and what is found by its object."""

    quantity: Value
    behind: Clause
    before: Clause
    is_member: bool
    siblings: frozenset[str] = field(repr=False)

    @cached_property
    def names(self) -> frozenset[str]:
        """What the names beside it are found by."""
        beside = row_words(chain(self.behind, self.before))
        return word_keys(word for word in beside if word.is_name)

    def overlap(self, other: "PlacedValue") -> float:
        """The weight of the words that stand beside both, the nearest most."""
        around = word_keys(other.behind + other.before) | other.siblings
        return sum(
            (token.weight if isinstance(token, RowWord) else VALUE_WEIGHT) / place
            for side in (self.behind, self.before)
            for place, token in enumerate(side, 1)
            if not token.keys.isdisjoint(around)
        )


def row_words(tokens: Iterable[Token]) -> Iterator[RowWord]:
    """The words among some tokens."""
    return (token for token in tokens if isinstance(token, RowWord))


def word_keys(tokens: Iterable[Token]) -> frozenset[str]:
    """All that some words are found by, and the units of values."""
    return frozenset(key for token in tokens for key in token.keys)


def overlap(words: Iterable[RowWord], vocabulary: frozenset[str]) -> float:
    """The weight of those words that have a key in a vocabulary."""
    return sum(word.weight for word in words if not word.keys.isdisjoint(vocabulary))


def _beside(side: Clause) -> Clause:
    """What is nearest on one side of a value and states something, up to the next number."""
    near = takewhile(lambda token: isinstance(token, RowWord) or token.days, side[:NEAR])
    return tuple(token for token in near if isinstance(token, Value) or token.weight)


# -- reading texts ---------------------------------------------------------------------------------


def token_runs(text: str) -> Iterator[str]:
    """The sentences of a text and what stands between them, line by line."""
    for line in text.splitlines():
        yield from line_parts(line)


def passage_of(text: str, language: str | None) -> RowPassage:
    """A sentence as a passage. Linear in its length."""
    parted, values = values_of(_CONTRACTION.sub(" not", text), language)
    clauses: list[list[Token]] = [[]]
    start = 0
    for item in (*values, None):
        parts = _BREAKS.split(parted[start : item.start if item else None])
        first, *others = (
            _words(part, language, is_first=not start and not at) for at, part in enumerate(parts)
        )
        clauses[-1] += first
        clauses += map(list[Token], others)
        if item:
            clauses[-1].append(item)
            start = item.end
    return RowPassage(text, tuple(map(tuple, filter(None, clauses))), language)


def text_passages(text: str) -> Iterator[RowPassage]:
    """The passages of a text, each line of which is a paragraph."""
    text = SPACES.sub(" ", _NOISE.sub(" ", text))
    language = guess(text)
    for run in filter(None, map(str.strip, token_runs(text))):
        yield attrs.evolve(passage_of(run, language), context=_initials(run))


def _initials(text: str) -> frozenset[str]:
    """What the names of several words in a text are called for short, such as "WHO"."""
    names = ("".join(filter(str.isupper, name)).casefold() for name in _LONG_NAME.findall(text))
    return frozenset(f"^{short}" for name in names for short in (name, name[1:]))


def _words(text: str, language: str | None, *, is_first: bool) -> list[RowWord]:
    stops, silent = stop_words(language), _silent_words(language)
    words, run = list[RowWord](), tuple[str, ...]()
    for spelling in raw_words(text):
        if UNSPACED.match(spelling):
            pairs = terms(spelling, stops=frozenset())
            words += (
                RowWord(pair, frozenset({pair}), False, background().idf(pair)) for pair in pairs
            )
            continue
        folded = fold_case(spelling)
        term, is_inner = term_of(folded), language != "de" and bool(run or not is_first)
        run = (*run[-2:], term)
        is_code = len(folded) == len("GB") and not spelling.isupper()
        sizes = range(1 + is_code, len(run) + 1)
        countries = {key: size for size in sizes if (key := country_of(run[-size:]))}
        is_capital = spelling[0].isupper() and (
            is_inner or bool(countries) or not is_common(term, language or "en")
        )
        is_name = is_capital or any(letter.isdigit() for letter in spelling)
        is_silent = not is_name and not {term, folded}.isdisjoint(stops | silent)
        keys = related_keys(folded, term, language).union(countries, unit_keys(unit_of(spelling)))
        keys = keys.union({f"^{folded}"} if spelling.isupper() else ())
        words.append(RowWord(folded, keys, is_name, 0.0 if is_silent else background().idf(term)))
        for at in range(2, max(countries.values(), default=0) + 1):  # "United" of "United States"
            words[-at] = attrs.evolve(words[-at], keys=words[-at].keys.union(countries))
    return words


@cache
def _silent_words(language: str | None) -> frozenset[str]:
    return frozenset(claim_words("bound")).union(*(claim_cues(kind, language) for kind in _SILENT))


# -- reading rows ----------------------------------------------------------------------------------


def passages_of(
    row: Mapping[str, Any], path: str = "", above: frozenset[str] = frozenset()
) -> Iterator[RowPassage]:
    """The passages of a row, or of an object in it: `path` are the labels on the way to it."""
    items = [
        (_HUMP.sub(" ", name).lower(), item)
        for name, part in row.items()
        for item in (part if isinstance(part, list) else [part])
        if item is not None
    ]
    texts = [(label, _NOISE.sub(" ", item)) for label, item in items if isinstance(item, str)]
    short = (text for _, text in texts if not _is_text(text))
    context = above.union(*(_short(_HUMP.sub(" ", text.strip())).keys for text in short))
    # What a row says of all that is in it tells none of its values from another, but its period.
    siblings = context if path else frozenset(key for key in context if key.startswith("#"))
    unit = next((text for label, text in texts if label in ("unit", "currency")), "1")
    yield from _role_passages(item for _, item in items if isinstance(item, Mapping))
    for label, item in items:
        names = f"{path} {label}"
        if isinstance(item, Mapping):
            yield from passages_of(item, names, context if path else frozenset())
        elif isinstance(item, str) and _is_text(item):
            yield from text_passages(item)
        elif isinstance(item, str | int | float) and (text := _NOISE.sub(" ", f"{item}").strip()):
            part = _short(_HUMP.sub(" ", text))
            called = path if path and label == "value" else label
            tokens: Iterable[Token] = chain(_short(called).words, *part.clauses)
            if not isinstance(item, str) and unit != "1":
                tokens = (_measured(token, unit) for token in tokens)
            about = context | _short(f"{names} {_other_words(names)}").keys
            yield RowPassage(f"{label}: {text}", (tuple(tokens),), None, True, about, (), siblings)


def _is_text(text: str) -> bool:
    """Whether a string speaks for itself: a short one ends as a sentence and is no name."""
    words = text.split()
    return len(words) >= TEXT_WORDS or (is_whole(text) and sum(map(str.islower, words)) > 1)


@lru_cache(LABELS_MAX)
def _short(names: str) -> RowPassage:
    """Labels and short values of members, which are the same in many rows, as a passage."""
    return passage_of(names, "en")


@lru_cache(LABELS_MAX)
def _other_words(names: str) -> str:
    """Other words for the labels that stand in some names."""
    rows = claim_words("member").items()
    return " ".join(word for word, labels in rows if any(label in names for label in labels))


def _measured(token: Token, unit: str) -> Token:
    """A number of a member in the unit that another member names; one of no table is its own."""
    units = unit_of(unit) or frozenset({(unit, 1.0)})
    return attrs.evolve(token, units=units) if isinstance(token, Value) else token


def _role_passages(objects: Iterable[Mapping[str, Any]]) -> Iterator[RowPassage]:
    """Who acts on whom, where objects of a row say it."""
    names = [(item.get("role"), set(split_words(f"{item.get('name')}"))) for item in objects]
    actors = {word for role, words in names if role == "actor" for word in words}
    targets = {word for role, words in names if role in _ACTED_ON for word in words}
    if actors and targets:
        roles = frozenset(actors - targets), frozenset(targets - actors)
        yield RowPassage("", (), is_member=True, roles=roles)
