"""What a question asks, read by tables: its parts, what it names, its numbers and its time.

Rule 1: a word means what `questions.tsv` says of it; the longest phrase at a place counts.
Rule 2: where a question names nothing itself and has a pronoun, it means what the last question of
        the user named; answers name nothing, for they may be about something else.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from itertools import dropwhile, groupby
from typing import TypeVar

import attrs
from attrs import frozen

from svc_core import data
from svc_core.agent import times
from svc_core.agent.facts import Phrase, phrase
from svc_core.agent.ports import Turn
from svc_core.agent.times import Span
from svc_core.formats.reading.values import country_named
from svc_core.text.words import cut, fold, stop_words

T = TypeVar("T")

_CVE = re.compile(r"\bCVE-\d{4}-\d{4,19}\b", re.IGNORECASE)
_CODE = re.compile(
    r"\b(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{32,64}|[a-z0-9-]{3,}(?:\.[a-z0-9-]{2,})*\.[a-z]{2,})\b"
)
"""Addresses of machines, digests and domains: names whatever their letters are."""
_QUOTED = re.compile(r'"([^"]{2,100})"|“([^”]{2,100})”')
_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’](?:s|re|ll|d|ve|m)?\b|\b([A-Z])\.(?=[A-Z]\b)|(?<=\b[A-Z])\.")
_AMOUNT = (
    r"(?:an?\s)?(?:[a-z]+\s){0,3}?(\d[\d,]*(?:\.\d+)?)\s?(%|percent|thousand|million|billion)?"
)
_LEAST = re.compile(
    r"(?:(above|over|more than|greater than|higher than|stronger than|larger than|exceeding|>(?!=))"
    r"|at least|>=|≥|minimum of)\s*" + _AMOUNT,
    re.IGNORECASE,
)
_MOST = re.compile(
    r"(?:(below|under|less than|lower than|weaker than|smaller than|fewer than|<(?!=))"
    r"|at most|<=|≤|maximum of|up to)\s*" + _AMOUNT,
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    r"()(\d[\d,]*(?:\.\d+)?)\s?(%|percent)?(?:\+|\s?or (?:more|above|higher|greater))"
)
_TIMES = {"%": 0.01, "percent": 0.01, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_JOINS = frozenset({"of", "the", "for", "de", "da", "del", "di", "la", "al", "el", "von", "van"})
_OF_KINDS = frozenset({"filter", "number", "date", "kind"})
_TELLING = frozenset({"kind", "series", "currency", "metric"})
_PLAIN = ("me", "of", "the", "it", "a", "to", "in", "on", "by", "for")
_SHORT_MAX, _NAMES_MAX, _TEXT_MAX, _TURNS_MAX = 3, 3, 2_000, 10
_LINKED = re.compile(r"\s*(?:and|or|what about|how about|also|then)\b", re.IGNORECASE)


@frozen
class Word:
    """A word of a question, as it was written and as it is compared."""

    written: str
    cut: str

    @property
    def is_name(self) -> bool:
        """Whether it is written as names are."""
        return self.written[0].isupper() or any(map(str.isdigit, self.written))

    @property
    def is_number(self) -> bool:
        """Whether it is a number, or a part of one in words."""
        return self.written.isdigit() or self.written.lower() in _TIMES

    @property
    def is_stop(self) -> bool:
        """Whether it is one of the words that stand in every text."""
        return fold(self.written) in stop_words("en")


@frozen
class Part:
    """Some words of a question that the table knows."""

    start: int
    end: int
    role: str
    value: str

    def is_of(self, kind: str) -> bool:
        """Whether its words ask for nothing beside a kind of row."""
        if self.role in ("series", "currency", "region"):
            return kind == "finint"
        return self.role not in _OF_KINDS or self.value.split()[0] == kind


@frozen
class Bound:
    """A least or a greatest value that is asked for."""

    value: float
    is_least: bool
    is_strict: bool

    @property
    def side(self) -> str:
        """In words."""
        strict = "above" if self.is_least else "below"
        return strict if self.is_strict else "at least" if self.is_least else "at most"

    def holds(self, number: float) -> bool:
        """Whether a number lies on its side."""
        if number == self.value:
            return not self.is_strict
        return (number > self.value) == self.is_least


@frozen
class Asked:
    """A question. `names` are written as names are, the longest first, `countries` codes."""

    text: str
    words: tuple[Word, ...]
    parts: tuple[Part, ...]
    cves: tuple[str, ...]
    names: tuple[str, ...]
    countries: tuple[str, ...]
    bounds: tuple[Bound, ...]
    span: Span | None

    @property
    def phrase(self) -> Phrase:
        """Its words, as cues are compared."""
        return tuple(word.cut for word in self.words)

    def has(self, *roles: str) -> bool:
        """Whether a word has one of these roles."""
        return any(part.role in roles for part in self.parts)

    def values(self, role: str, kind: str = "") -> list[list[str]]:
        """What the words of a role mean, for a kind of row where the role has kinds."""
        told = (part.value.split() for part in self.parts if part.role == role)
        return [value[1:] if kind else value for value in told if not kind or value[0] == kind]

    @property
    def asks(self) -> bool:
        """Whether a word tells what is asked for, not only of whom or when."""
        roles = ("count", "number", "date", "uses", "relation", "overview", "pronoun", *_TELLING)
        return self.has(*roles) or bool(self.beyond(frozenset()))

    @property
    def is_empty(self) -> bool:
        """Whether it asks about nothing, such as a pronoun that means nobody."""
        told = self.names or self.countries or self.cves or self.rest()
        return not (told or self.has("kind", "metric") or (self.span and self.has("happened")))

    @property
    def is_void(self) -> bool:
        """Whether it tells neither of whom, nor when, nor which."""
        return self.is_empty and not (self.span or self.has("filter"))

    @property
    def placed(self) -> frozenset[str]:
        """The words that name countries."""
        spans = (self.words[start:end] for start, end, _ in _countries_in(self.words))
        return frozenset(word.written for span in spans for word in span)

    @property
    def kinds(self) -> list[str]:
        """The kinds of rows that it names."""
        return list(dict.fromkeys(value[0] for value in self.values("kind")))

    @property
    def counted(self) -> str | None:
        """The kind of row whose number is asked for: the one named right behind "how many"."""
        ends = [part.end for part in self.parts if part.role == "count"]
        for part in self.parts:
            if part.role == "kind" and ends and ends[0] <= part.start:
                between = set(range(ends[0], part.start)) - _places(self.parts)
                if all(self.words[at].is_stop or self.words[at].is_name for at in between):
                    return part.value
        return None

    def beyond(self, cues: frozenset[str]) -> set[str]:
        """Its words that neither a table, a name, a country nor these cues account for."""
        names = {cut(fold(word)) for name in self.names for word in _WORD.findall(name)}
        known = {self.words[at].cut for at in _places(self.parts)}
        placed = {cut(fold(word)) for word in self.placed}
        return {cut(fold(word)) for word in self.rest()} - cues - names - known - placed

    @property
    def whole(self) -> str:
        """Its text with the names that its pronouns mean."""
        said = set(_WORD.findall(fold(self.text)))
        meant = [name for name in self.names if not said.issuperset(_WORD.findall(fold(name)))]
        return " ".join([self.text.rstrip(" ?"), *meant]) + "?" if meant else self.text

    def rest(self, kind: str = "") -> list[str]:
        """Its words that ask for nothing by themselves: what it is about."""
        taken = _places(part for part in self.parts if part.is_of(kind))
        return [
            word.written
            for at, word in enumerate(self.words)
            if at not in taken
            and (not word.is_stop or word.written.isupper())
            and not (len(word.written) == 1 or word.is_number)
        ]


def asked(turn: Turn) -> Asked:
    """What the last words of a conversation ask."""
    texts = [said.text for said in turn.history if said.role == "user"][-_TURNS_MAX:]
    first, *others = (read(text[:_TEXT_MAX], turn.now) for text in (*texts, turn.question))
    for question in others:
        first = _after(first, question, turn.now)
    return first


def _after(before: Asked, question: Asked, now: datetime) -> Asked:
    """What a question asks behind another, of which it may leave out what both have in common."""
    is_named = any(name != name.lower() for name in question.names)
    is_named = is_named or bool(question.cves or question.countries)
    linked = _LINKED.match(question.text)
    if linked and not (question.asks or question.is_void):
        text = before.text
        for name in [*before.names, *before.cves, *before.placed] if is_named else ():
            text = re.sub(rf"\b{re.escape(name)}\b", " ", text)
        if question.span:
            text = times.without(text)
        return read(f"{text} {question.text[linked.end() :]}", now)
    if is_named or not (question.has("pronoun") or question.is_empty):
        return question
    meant = attrs.evolve(question, names=before.names, cves=before.cves, countries=before.countries)
    is_scoped = question.has("count", "most", "least", "latest", "earliest", "list")
    if meant.has(*_TELLING) or not (is_scoped and before.kinds):
        return meant
    return read(f"{question.text} {before.text}", now)


def read(text: str, now: datetime) -> Asked:
    """What a text asks, by itself."""
    plain = _POSSESSIVE.sub(r"\1", _CODE.sub(" ", _CVE.sub(" ", text)))
    words = tuple(Word(word, cut(fold(word))) for word in _WORD.findall(times.without(plain)))
    parts = tuple(_parts(words))
    money = _places(part for part in parts if part.role == "currency")
    told = _countries_in(words)
    placed = (code for start, end, code in told if money.isdisjoint(range(start, end)))
    countries = tuple(dict.fromkeys(placed))
    names = _names(text, words, parts)
    cves = tuple(dict.fromkeys(found.upper() for found in _CVE.findall(text)))
    named = {cut(fold(word)) for name in names if " " in name for word in name.split()}
    parts = tuple(
        part
        for part in parts
        if part.role != "kind"
        or not all(word.is_name and word.cut in named for word in words[part.start : part.end])
    )
    return Asked(
        text, words, parts, cves, names, countries, tuple(_bounds(plain)), times.span(plain, now)
    )


def _places(parts: Iterable[Part]) -> set[int]:
    """Where words of some parts stand."""
    return {at for part in parts for at in range(part.start, part.end)}


def _longest(
    words: tuple[Word, ...], known: Callable[[tuple[Word, ...]], T | None]
) -> Iterator[tuple[int, int, T]]:
    """The longest runs of words that are known, each with where it stands and what it means."""
    at = 0
    while at < len(words):
        sizes = range(min(4, len(words) - at), 0, -1)
        told = ((size, known(words[at : at + size])) for size in sizes)
        size, meant = next(((size, meant) for size, meant in told if meant), (1, None))
        if meant:
            yield at, at + size, meant
        at += size


def _parts(words: tuple[Word, ...]) -> Iterator[Part]:
    def known(run: tuple[Word, ...]) -> tuple[tuple[str, str], ...]:
        return _table().get(tuple(word.cut for word in run), ())

    for start, end, told in _longest(words, known):
        yield from (Part(start, end, role, value) for role, value in told)


def _bounds(text: str) -> Iterator[Bound]:
    for pattern, is_least in ((_LEAST, True), (_MOST, False), (_OR_MORE, True)):
        for strict, number, unit in pattern.findall(text):
            yield Bound(_amount(number, unit), is_least, bool(strict))


def _amount(number: str, unit: str) -> float:
    return float(number.replace(",", "")) * _TIMES.get(unit.lower(), 1)


# -- names -------------------------------------------------------------------------------------


def _names(text: str, words: tuple[Word, ...], parts: tuple[Part, ...]) -> tuple[str, ...]:
    """What is in quotation marks, runs of words written as names are, else unknown words."""
    quoted = [first or second for first, second in _QUOTED.findall(text)] + _CODE.findall(text)
    places = {at for start, end, _ in _countries_in(words) for at in range(start, end)}
    named = [run for run in _runs(words) if not places.issuperset(run)]
    telling = [_trimmed(words, run, parts) for run in named]
    found = [*quoted, *(_written(words, run) for run in telling if not places.issuperset(run))]
    if not found and not places and not any(part.role in _TELLING for part in parts):
        taken = _places(parts)
        free = (at for at, word in enumerate(words) if at not in taken)
        plain = [at for at in free if not (words[at].is_stop or words[at].is_number)]
        found = [_written(words, run) for run in _beside(plain)]
    return tuple(dict.fromkeys(found))[:_NAMES_MAX]


def _written(words: tuple[Word, ...], run: list[int]) -> str:
    return " ".join(words[at].written for at in run)


def _beside(places: Iterable[int]) -> list[list[int]]:
    """Places in runs of those that stand side by side."""
    told = groupby(enumerate(places), lambda pair: pair[1] - pair[0])
    return [[at for _, at in run] for _, run in told]


def _runs(words: tuple[Word, ...]) -> list[list[int]]:
    """Words that are written as names are, with what joins them."""
    found: list[int] = []
    for at, word in enumerate(words):
        is_join = fold(word.written) in _JOINS and at + 1 < len(words) and words[at + 1].is_name
        is_next = bool(found) and found[-1] == at - 1
        if (word.is_name and not word.is_number) or (is_next and (word.is_number or is_join)):
            found.append(at)
    return _beside(found)


def _trimmed(words: tuple[Word, ...], run: list[int], parts: tuple[Part, ...]) -> list[int]:
    """A run without what begins a sentence, and without members such as "LEI of"."""
    members, taken = _places(part for part in parts if part.role == "member"), _places(parts)
    first = {0} if 0 in taken or words[0].is_stop else set()
    joins = {at for at in run if fold(words[at].written) in _JOINS}
    kept = list(dropwhile((members | joins | first).__contains__, run))
    while kept and kept[-1] in members:
        kept.pop()
    return [] if taken.issuperset(kept) else kept


def _countries_in(words: tuple[Word, ...]) -> Iterator[tuple[int, int, str]]:
    """The countries that are named: where their words begin and end, and their codes."""

    def known(run: tuple[Word, ...]) -> str | None:
        name = " ".join(word.written for word in run)
        is_sure = len(run) > 1 or len(name) > _SHORT_MAX or name.isupper()
        return country_named(name) if is_sure else None

    return _longest(words, known)


@cache
def _table() -> Mapping[Phrase, tuple[tuple[str, str], ...]]:
    found: dict[Phrase, dict[tuple[str, str], None]] = {}
    for role, value, phrases in data.rows("questions.tsv"):
        for told in phrases.split("|"):
            found.setdefault(phrase(told), {})[role, value] = None
    return {run: tuple(roles) for run, roles in found.items() if run}


@cache
def generic() -> frozenset[Phrase]:
    """Words that ask for nothing by themselves."""
    roles = {("generic", ""), ("overview", ""), ("plain", "")}
    runs = (run for run, told in _table().items() if roles & set(told))
    return frozenset((word,) for run in runs for word in run) | {(word,) for word in _PLAIN}
