"""Parses a question about rows: its words, the names, numbers and time in it, and what they mean.

Rule 1: a word means what `questions.tsv` says of it; of the phrases at a place the longest counts.
Rule 2: where a question names nothing itself and has a pronoun, it means what the user's previous
        question named; answers name nothing, for they may be about something else.
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
from svc_core.agent.agent_ports import Turn
from svc_core.agent.row_facts import Phrase, phrase
from svc_core.agent.times import TimeSpan
from svc_core.formats.reading.values import country_named
from svc_core.text.words import fold_case, stop_words, term_of

T = TypeVar("T")

_CVE = re.compile(r"\bCVE-\d{4}-\d{4,19}\b", re.IGNORECASE)
_CODE = re.compile(
    r"\b(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{32,64}|[a-z0-9-]{3,63}(?:\.[a-z0-9-]{2,63}){0,8}"
    r"\.[a-z]{2,63})\b"
)
"""Addresses of machines, digests and domains: names whatever their letters are."""
_QUOTE = re.compile(r'"([^"]{2,100})"|“([^”]{2,100})”')
_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’](?:s|re|ll|d|ve|m)?\b|\b([A-Z])\.(?=[A-Z]\b)|(?<=\b[A-Z])\.")
_AMOUNT = (
    r"(?:an?\s)?(?:[a-z]{1,30}\s){0,3}?(\d[\d,]{0,30}(?:\.\d{1,20})?)"
    r"\s?(%|percent|thousand|million|billion)?"
)
_AT_LEAST = re.compile(
    r"(?:(above|over|more than|greater than|higher than|stronger than|larger than|exceeding|>(?!=))"
    r"|at least|>=|≥|minimum of)\s*" + _AMOUNT,
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?:(below|under|less than|lower than|weaker than|smaller than|fewer than|<(?!=))"
    r"|at most|<=|≤|maximum of|up to)\s*" + _AMOUNT,
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    r"()(\d[\d,]{0,30}(?:\.\d{1,20})?)\s?(%|percent)?(?:\+|\s?or (?:more|above|higher|greater))"
)
_TIMES = {"%": 0.01, "percent": 0.01, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_JOINS = frozenset({"of", "the", "for", "de", "da", "del", "di", "la", "al", "el", "von", "van"})
_OF_KINDS = frozenset({"filter", "number", "date", "kind"})
_SPECIFIC = frozenset({"kind", "series", "currency", "metric"})
_PLAIN = ("me", "of", "the", "it", "a", "to", "in", "on", "by", "for")
_SHORT_MAX, _NAMES_MAX, _TEXT_MAX, _TURNS_MAX = 3, 3, 2_000, 10
_LINK_WORD = re.compile(r"\s*(?:and|or|what about|how about|also|then)\b", re.IGNORECASE)


@frozen
class Word:
    """A word of a question as it was written, and as it is compared."""

    text: str
    cut: str

    @property
    def is_name(self) -> bool:
        """Whether it is written as names are: with a capital or a digit."""
        return self.text[0].isupper() or any(map(str.isdigit, self.text))

    @property
    def is_number(self) -> bool:
        """Whether it is a number, or a unit such as "million"."""
        return self.text.isdigit() or self.text.lower() in _TIMES

    @property
    def is_stop(self) -> bool:
        """Whether it is a stop word, one of those that stand in every text."""
        return fold_case(self.text) in stop_words("en")


@frozen
class QuestionPart:
    """A run of words of a question that the table knows, with its role and meaning."""

    start: int
    end: int
    role: str
    value: str

    def is_of(self, kind: str) -> bool:
        """Whether its words only describe this kind of row."""
        if self.role in ("series", "currency", "region"):
            return kind == "finint"
        return self.role not in _OF_KINDS or self.value.split()[0] == kind


@frozen
class Threshold:
    """A least or greatest value that a question asks for."""

    value: float
    is_least: bool
    is_strict: bool

    @property
    def side(self) -> str:
        """The comparison in words: "above", "at most" ..."""
        strict = "above" if self.is_least else "below"
        return strict if self.is_strict else "at least" if self.is_least else "at most"

    def admits(self, number: float) -> bool:
        """Whether a number lies on the wanted side."""
        if number == self.value:
            return not self.is_strict
        return (number > self.value) == self.is_least


@frozen
class ParsedQuestion:
    """A parsed question; `names` come longest first, `countries` are ISO 3166 codes."""

    text: str
    words: tuple[Word, ...]
    parts: tuple[QuestionPart, ...]
    cves: tuple[str, ...]
    names: tuple[str, ...]
    countries: tuple[str, ...]
    thresholds: tuple[Threshold, ...]
    span: TimeSpan | None

    @property
    def phrase(self) -> Phrase:
        """Its words in the form in which cues are compared."""
        return tuple(word.cut for word in self.words)

    def has(self, *roles: str) -> bool:
        """Whether a word has one of these roles."""
        return any(part.role in roles for part in self.parts)

    def values(self, role: str, kind: str = "") -> list[list[str]]:
        """The meanings of the words of a role, for one kind of row where the role has kinds."""
        rows = (part.value.split() for part in self.parts if part.role == role)
        return [value[1:] if kind else value for value in rows if not kind or value[0] == kind]

    @property
    def has_target(self) -> bool:
        """Whether a word says what is asked for, not only of whom or when."""
        roles = ("count", "number", "date", "uses", "relation", "overview", "pronoun", *_SPECIFIC)
        return self.has(*roles) or bool(self.unknown_words(frozenset()))

    @property
    def is_empty(self) -> bool:
        """Whether it asks about nothing, such as a pronoun that means nobody."""
        names = self.names or self.countries or self.cves or self.subject_words()
        return not (names or self.has("kind", "metric") or (self.span and self.has("happened")))

    @property
    def is_void(self) -> bool:
        """Whether it names no subject, no time and no filter."""
        return self.is_empty and not (self.span or self.has("filter"))

    @property
    def country_words(self) -> frozenset[str]:
        """The words that name countries."""
        spans = (self.words[start:end] for start, end, _ in _countries_in(self.words))
        return frozenset(word.text for span in spans for word in span)

    @property
    def kinds(self) -> list[str]:
        """The kinds of rows that it names."""
        return list(dict.fromkeys(value[0] for value in self.values("kind")))

    @property
    def counted_kind(self) -> str | None:
        """The kind of row that it counts: the one named right behind "how many"."""
        ends = [part.end for part in self.parts if part.role == "count"]
        for part in self.parts:
            if part.role == "kind" and ends and ends[0] <= part.start:
                between = set(range(ends[0], part.start)) - _indexes(self.parts)
                if all(self.words[index].is_stop or self.words[index].is_name for index in between):
                    return part.value
        return None

    def unknown_words(self, cues: frozenset[str]) -> set[str]:
        """Its words that no table, name, country or cue accounts for."""
        names = {term_of(fold_case(word)) for name in self.names for word in _WORD.findall(name)}
        stems = {self.words[index].cut for index in _indexes(self.parts)}
        countries = {term_of(fold_case(word)) for word in self.country_words}
        return (
            {term_of(fold_case(word)) for word in self.subject_words()}
            - cues
            - names
            - stems
            - countries
        )

    @property
    def full_text(self) -> str:
        """Its text with the names that its pronouns mean."""
        words = set(_WORD.findall(fold_case(self.text)))
        missing = [
            name for name in self.names if not words.issuperset(_WORD.findall(fold_case(name)))
        ]
        return " ".join([self.text.rstrip(" ?"), *missing]) + "?" if missing else self.text

    def subject_words(self, kind: str = "") -> list[str]:
        """The words of its subject: those that no part of the question accounts for."""
        skips = _indexes(part for part in self.parts if part.is_of(kind))
        return [
            word.text
            for index, word in enumerate(self.words)
            if index not in skips
            and (not word.is_stop or word.text.isupper())
            and not (len(word.text) == 1 or word.is_number)
        ]


def question_of(turn: Turn) -> ParsedQuestion:
    """Parse the last question of a conversation, with what earlier ones named."""
    texts = [message.text for message in turn.history if message.role == "user"][-_TURNS_MAX:]
    first, *rest = (parse_question(text[:_TEXT_MAX], turn.now) for text in (*texts, turn.question))
    for question in rest:
        first = _follow_up(first, question, turn.now)
    return first


def _follow_up(before: ParsedQuestion, question: ParsedQuestion, now: datetime) -> ParsedQuestion:
    """The meaning of a question behind another, of which it may leave out what both share."""
    is_named = any(name != name.lower() for name in question.names)
    is_named = is_named or bool(question.cves or question.countries)
    match = _LINK_WORD.match(question.text)
    if match and not (question.has_target or question.is_void):
        text = before.text
        for name in [*before.names, *before.cves, *before.country_words] if is_named else ():
            text = re.sub(rf"\b{re.escape(name)}\b", " ", text)
        if question.span:
            text = times.without_times(text)
        return parse_question(f"{text} {question.text[match.end() :]}", now)
    if is_named or not (question.has("pronoun") or question.is_empty):
        return question
    query = attrs.evolve(question, names=before.names, cves=before.cves, countries=before.countries)
    is_scoped = question.has("count", "most", "least", "latest", "earliest", "list")
    if query.has(*_SPECIFIC) or not (is_scoped and before.kinds):
        return query
    return parse_question(f"{question.text} {before.text}", now)


def parse_question(text: str, now: datetime) -> ParsedQuestion:
    """Parse a text as a question by itself."""
    plain = _POSSESSIVE.sub(r"\1", _CODE.sub(" ", _CVE.sub(" ", text)))
    words = tuple(
        Word(word, term_of(fold_case(word))) for word in _WORD.findall(times.without_times(plain))
    )
    parts = tuple(_parts(words))
    money = _indexes(part for part in parts if part.role == "currency")
    spans = _countries_in(words)
    codes = (code for start, end, code in spans if money.isdisjoint(range(start, end)))
    countries = tuple(dict.fromkeys(codes))
    names = _names(text, words, parts)
    cves = tuple(dict.fromkeys(match.upper() for match in _CVE.findall(text)))
    stems = {term_of(fold_case(word)) for name in names if " " in name for word in name.split()}
    parts = tuple(
        part
        for part in parts
        if part.role != "kind"
        or not all(word.is_name and word.cut in stems for word in words[part.start : part.end])
    )
    bounds, span = tuple(_bounds(plain)), times.time_span(plain, now)
    return ParsedQuestion(text, words, parts, cves, names, countries, bounds, span)


def _indexes(parts: Iterable[QuestionPart]) -> set[int]:
    """The indexes of the words of some parts."""
    return {index for part in parts for index in range(part.start, part.end)}


def _longest(
    words: tuple[Word, ...], lookup: Callable[[tuple[Word, ...]], T | None]
) -> Iterator[tuple[int, int, T]]:
    """The longest runs of words that a lookup knows: start, end and meaning of each."""
    start = 0
    while start < len(words):
        sizes = range(min(4, len(words) - start), 0, -1)
        trials = ((size, lookup(words[start : start + size])) for size in sizes)
        size, meaning = next(((size, meaning) for size, meaning in trials if meaning), (1, None))
        if meaning:
            yield start, start + size, meaning
        start += size


def _parts(words: tuple[Word, ...]) -> Iterator[QuestionPart]:
    def lookup(run: tuple[Word, ...]) -> tuple[tuple[str, str], ...]:
        return _table().get(tuple(word.cut for word in run), ())

    for start, end, meanings in _longest(words, lookup):
        yield from (QuestionPart(start, end, role, value) for role, value in meanings)


def _bounds(text: str) -> Iterator[Threshold]:
    for pattern, is_least in ((_AT_LEAST, True), (_AT_MOST, False), (_OR_MORE, True)):
        for strict, number, unit in pattern.findall(text):
            yield Threshold(_amount(number, unit), is_least, bool(strict))


def _amount(number: str, unit: str) -> float:
    return float(number.replace(",", "")) * _TIMES.get(unit.lower(), 1)


# -- names -------------------------------------------------------------------------------------


def _names(text: str, words: tuple[Word, ...], parts: tuple[QuestionPart, ...]) -> tuple[str, ...]:
    """Quoted phrases and runs of capitalised words; where there are none, unknown words."""
    quotes = [first or second for first, second in _QUOTE.findall(text)] + _CODE.findall(text)
    places = {index for start, end, _ in _countries_in(words) for index in range(start, end)}
    runs = [run for run in _runs(words) if not places.issuperset(run)]
    trims = [_trim(words, run, parts) for run in runs]
    names = [*quotes, *(_text_of(words, run) for run in trims if not places.issuperset(run))]
    if not names and not places and not any(part.role in _SPECIFIC for part in parts):
        skips = _indexes(parts)
        free = (index for index, word in enumerate(words) if index not in skips)
        plain = [index for index in free if not (words[index].is_stop or words[index].is_number)]
        names = [_text_of(words, run) for run in _adjacent(plain)]
    return tuple(dict.fromkeys(names))[:_NAMES_MAX]


def _text_of(words: tuple[Word, ...], run: list[int]) -> str:
    return " ".join(words[index].text for index in run)


def _adjacent(places: Iterable[int]) -> list[list[int]]:
    """Indexes grouped into runs of adjacent ones."""
    groups = groupby(enumerate(places), lambda pair: pair[1] - pair[0])
    return [[index for _, index in run] for _, run in groups]


def _runs(words: tuple[Word, ...]) -> list[list[int]]:
    """Runs of words that are written as names are, with what joins them ("of", "de")."""
    indexes: list[int] = []
    for index, word in enumerate(words):
        is_join = (
            fold_case(word.text) in _JOINS and index + 1 < len(words) and words[index + 1].is_name
        )
        is_next = bool(indexes) and indexes[-1] == index - 1
        if (word.is_name and not word.is_number) or (is_next and (word.is_number or is_join)):
            indexes.append(index)
    return _adjacent(indexes)


def _trim(words: tuple[Word, ...], run: list[int], parts: tuple[QuestionPart, ...]) -> list[int]:
    """A run without a sentence's first word, and without members such as "LEI of"."""
    members, skips = _indexes(part for part in parts if part.role == "member"), _indexes(parts)
    first = {0} if 0 in skips or words[0].is_stop else set()
    joins = {index for index in run if fold_case(words[index].text) in _JOINS}
    core = list(dropwhile((members | joins | first).__contains__, run))
    while core and core[-1] in members:
        core.pop()
    return [] if skips.issuperset(core) else core


def _countries_in(words: tuple[Word, ...]) -> Iterator[tuple[int, int, str]]:
    """The countries that are named: start and end of their words, and their codes."""

    def lookup(run: tuple[Word, ...]) -> str | None:
        name = " ".join(word.text for word in run)
        is_sure = len(run) > 1 or len(name) > _SHORT_MAX or name.isupper()
        return country_named(name) if is_sure else None

    return _longest(words, lookup)


@cache
def _table() -> Mapping[Phrase, tuple[tuple[str, str], ...]]:
    table: dict[Phrase, dict[tuple[str, str], None]] = {}
    for role, value, phrases in data.table_rows("questions.tsv"):
        for text in phrases.split("|"):
            table.setdefault(phrase(text), {})[role, value] = None
    return {run: tuple(roles) for run, roles in table.items() if run}


@cache
def generic_words() -> frozenset[Phrase]:
    """Words that ask for nothing by themselves."""
    roles = {("generic", ""), ("overview", ""), ("plain", "")}
    runs = (run for run, meanings in _table().items() if roles & set(meanings))
    return frozenset((word,) for run in runs for word in run) | {(word,) for word in _PLAIN}
