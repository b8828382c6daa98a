"""What a question asks, read by tables: its parts, what it names, its numbers and its time.

Rule 1: a word means what `questions.tsv` says of it; the longest phrase at a place counts.
Rule 2: where a question names nothing itself and has a pronoun, it means what the last question of
        the user named; answers name nothing, for they may be about something else.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from itertools import pairwise

import attrs
from attrs import frozen

from svc_core import data
from svc_core.agent import times
from svc_core.agent.facts import Phrase, phrase
from svc_core.agent.ports import Turn
from svc_core.agent.times import Span
from svc_core.sources.values import country_named
from svc_core.text.words import cut, fold, stop_words

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
    r"(\d[\d,]*(?:\.\d+)?)\s?(%|percent)?(?:\+|\s?or (?:more|above|higher|greater))"
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
        spans = (range(start, end) for _, start, end in _countries_in(self.words))
        return frozenset(self.words[at].written for span in spans for at in span)

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
                between = range(ends[0], part.start)
                if all(self._is_known(at) or self.words[at].is_name for at in between):
                    return part.value
        return None

    def _is_known(self, at: int) -> bool:
        word = self.words[at]
        known = any(part.start <= at < part.end for part in self.parts)
        return known or fold(word.written) in stop_words("en")

    def beyond(self, cues: frozenset[str]) -> set[str]:
        """Its words that neither a table, a name, a country nor these cues account for."""
        names = {cut(fold(word)) for name in self.names for word in _WORD.findall(name)}
        known = {self.words[at].cut for part in self.parts for at in range(part.start, part.end)}
        placed = {cut(fold(word)) for word in self.placed}
        return {cut(fold(word)) for word in self.rest()} - cues - names - known - placed

    @property
    def whole(self) -> str:
        """Its text with the names that its pronouns mean."""
        meant = [name for name in self.names if fold(name) not in fold(self.text)]
        return " ".join([self.text.rstrip(" ?"), *meant]) + "?" if meant else self.text

    def rest(self, kind: str = "") -> list[str]:
        """Its words that ask for nothing by themselves: what it is about."""
        taken = {
            at for part in self.parts if part.is_of(kind) for at in range(part.start, part.end)
        }
        return [
            word.written
            for at, word in enumerate(self.words)
            if at not in taken
            and (fold(word.written) not in stop_words("en") or word.written.isupper())
            and not (len(word.written) == 1 or _is_number(word.written))
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
    if _LINKED.match(question.text) and not (question.asks or question.is_void):
        text = before.text
        for name in [*before.names, *before.cves, *before.placed] if is_named else ():
            text = re.sub(rf"\b{re.escape(name)}\b", " ", text)
        if question.span:
            text = times.without(text)
        return read(f"{text} {_LINKED.sub('', question.text)}", now)
    if is_named or not (question.has("pronoun") or question.is_empty):
        return question
    meant = attrs.evolve(
        question, names=before.names, cves=before.cves, countries=before.countries
    )
    is_scoped = question.has("count", "most", "least", "latest", "earliest", "list")
    if meant.has(*_TELLING) or not (is_scoped and before.kinds):
        return meant
    return read(f"{question.text} {before.text}", now)


def read(text: str, now: datetime) -> Asked:
    """What a text asks, by itself."""
    plain = _POSSESSIVE.sub(r"\1", _CODE.sub(" ", _CVE.sub(" ", text)))
    words = tuple(Word(word, cut(fold(word))) for word in _WORD.findall(times.without(plain)))
    parts = tuple(_parts(words))
    money = {at for part in parts if part.role == "currency" for at in range(part.start, part.end)}
    spans = _countries_in(words)
    placed = (code for code, at, end in spans if money.isdisjoint(range(at, end)))
    countries = tuple(dict.fromkeys(placed))
    names = _names(text, words, parts)
    cves = tuple(dict.fromkeys(found.upper() for found in _CVE.findall(text)))
    named = {cut(fold(word)) for name in names if " " in name for word in name.split()}
    parts = tuple(
        part
        for part in parts
        if part.role != "kind"
        or not all(_is_in(word, named) for word in words[part.start : part.end])
    )
    return Asked(
        text, words, parts, cves, names, countries, tuple(_bounds(plain)), times.span(plain, now)
    )


def _is_in(word: Word, named: set[str]) -> bool:
    """Whether a word belongs to a name."""
    return word.is_name and word.cut in named


def _parts(words: tuple[Word, ...]) -> Iterator[Part]:
    table, at = _table(), 0
    while at < len(words):
        sizes = range(min(4, len(words) - at), 0, -1)
        tried = (tuple(word.cut for word in words[at : at + size]) for size in sizes)
        known = next((run for run in tried if run in table), ())
        for role, value in table.get(known, ()):
            yield Part(at, at + len(known), role, value)
        at += len(known) or 1


def _bounds(text: str) -> Iterator[Bound]:
    for pattern, is_least in ((_LEAST, True), (_MOST, False)):
        for strict, number, unit in pattern.findall(text):
            yield Bound(_amount(number, unit), is_least, bool(strict))
    for number, unit in _OR_MORE.findall(text):
        yield Bound(_amount(number, unit), True, is_strict=False)


def _amount(number: str, unit: str) -> float:
    return float(number.replace(",", "")) * _TIMES.get(unit.lower(), 1)


def _is_number(word: str) -> bool:
    return word.isdigit() or word.lower() in _TIMES


# -- names -------------------------------------------------------------------------------------


def _names(text: str, words: tuple[Word, ...], parts: tuple[Part, ...]) -> tuple[str, ...]:
    """What is in quotation marks, runs of words written as names are, else unknown words."""
    quoted = [first or second for first, second in _QUOTED.findall(text)] + _CODE.findall(text)
    places = {at for _, start, end in _countries_in(words) for at in range(start, end)}
    taken = {at for part in parts for at in range(part.start, part.end)}
    named = [run for run in _runs(words) if not set(run) <= places]
    telling = [_trimmed(words, run, parts) for run in named]
    telling = [run for run in telling if not set(run) <= places]
    found = [*quoted, *(" ".join(words[at].written for at in run) for run in telling)]
    if not found and not places and not any(part.role in _TELLING for part in parts):
        found = list(_unknown(words, taken))
    return tuple(dict.fromkeys(found))[:_NAMES_MAX]


def _runs(words: tuple[Word, ...]) -> Iterator[list[int]]:
    run: list[int] = []
    for at, word in enumerate(words):
        is_number = _is_number(word.written)
        is_join = fold(word.written) in _JOINS and at + 1 < len(words) and words[at + 1].is_name
        if (word.is_name and not is_number) or (run and (is_number or is_join)):
            run.append(at)
        else:
            if run:
                yield run
            run = []
    if run:
        yield run


def _trimmed(words: tuple[Word, ...], run: list[int], parts: tuple[Part, ...]) -> list[int]:
    """A run without what begins a sentence, and without members such as "LEI of"."""
    members = {at for part in parts if part.role == "member" for at in range(part.start, part.end)}
    taken = {at for part in parts for at in range(part.start, part.end)}
    while run and (
        run[0] in members
        or fold(words[run[0]].written) in _JOINS
        or (run[0] == 0 and (0 in taken or fold(words[0].written) in stop_words("en")))
    ):
        run = run[1:]
    while run and run[-1] in members:
        run = run[:-1]
    return [] if all(at in taken for at in run) else run


def _unknown(words: tuple[Word, ...], taken: set[int]) -> Iterator[str]:
    """Runs of words that neither the table nor a list of plain words knows."""
    free = [
        at
        for at, word in enumerate(words)
        if at not in taken
        and fold(word.written) not in stop_words("en")
        and not _is_number(word.written)
    ]
    run: list[int] = []
    for at, after in pairwise([*free, -1]):
        run.append(at)
        if after != at + 1:
            yield " ".join(words[each].written for each in run)
            run = []


def _countries_in(words: tuple[Word, ...]) -> Iterator[tuple[str, int, int]]:
    """The countries that are named, with the places of their words."""
    at = 0
    while at < len(words):
        sizes = range(min(4, len(words) - at), 0, -1)
        runs = (" ".join(word.written for word in words[at : at + size]) for size in sizes)
        told = zip(sizes, map(country_named, runs), strict=True)
        size, code = next(((size, code) for size, code in told if code), (1, None))
        written = words[at].written
        if code and (size > 1 or len(written) > _SHORT_MAX or written.isupper()):
            yield code, at, at + size
        at += size


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
