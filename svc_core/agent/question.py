"""Parses a question about rows: what its words mean, and the countries, numbers and time in it.

Rule 1: a word means what `questions.tsv` says of it, in English, German, French and Spanish; of the
        phrases at a place the longest counts. Case, accents and a question mark decide nothing.
Rule 2: which words are names, rows say, not the question.
Rule 3: where a question names nothing itself, it means what the user's previous question named;
        answers name nothing, for they may be about something else.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial, reduce
from itertools import accumulate, chain, pairwise
from typing import TypeVar

from attrs import evolve, frozen

from svc_core import data
from svc_core.agent import times
from svc_core.agent.agent_ports import Turn
from svc_core.agent.row_facts import Phrase, compared_members, cue_of, cue_term, cue_words, is_cue
from svc_core.agent.text_query import asks_for, english_terms, expressions, is_close, is_strange
from svc_core.agent.times import TimeSpan
from svc_core.text.country_names import names_by_code
from svc_core.text.frequencies import background
from svc_core.text.language import guess
from svc_core.text.synonyms import compound_parts, english_words
from svc_core.text.words import fold_case, split_words, stop_words, term_of

T = TypeVar("T")

LANGUAGES = ("en", "de", "fr", "es")
_CVE = re.compile(r"\bCVE-\d{4}-\d{4,19}\b", re.IGNORECASE)
_WORD = re.compile(r"\d+\.\d+(?![.\d])|[^\W_]+")
_AMOUNT_WORD = re.compile(r"\d{1,5}(?:\.\d+)?")  # a longer one is an identifier
_POSSESSIVE = re.compile(r"['’](?:s|re|ll|d|ve|m)?\b|\b(?:[dl]|qu)['’](?=\w)", re.IGNORECASE)
_JOINT = re.compile(expressions("joined")[0], re.IGNORECASE)
_INITIALS = re.compile(r"(?<=\b[a-z])\.(?=[a-z]\b)")
_AMOUNT = expressions("amount")[0]
_TIMES = {"%": 0.01, "percent": 0.01, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_OF_KINDS = frozenset({"filter", "number", "date", "kind", "group"})
_NAMED = frozenset({"kind", "series", "group", "filter"})
"""Roles of words that mean something although they are stop words ("país")."""
_MEANT = frozenset({"kind", "group", "relation", "series"})
"""Roles of nouns, as are the types of rows that lists are narrowed by, and of relations."""
_SPECIFIC = frozenset({"kind", "series", "currency", "metric"})
_OWN_KINDS = dict(row[1].split(" ") for row in data.table_rows("questions.tsv") if row[0] == "of")
"""The kinds of rows that the words of a role describe; they leave open what is asked of others."""
_GENERIC = frozenset({("generic", ""), ("overview", ""), ("list", ""), ("plain", "")})
_TABLES = ("questions.tsv", "code_names.tsv")
_EVENT_TAGS = {"security": "conflict", "disaster": "disaster", "conflict": "conflict"}
ORDERED = ("most", "least", "latest", "earliest")
"""Roles of words that ask for one row of many."""
PLACED = ("event", "incident")
"""Kinds of rows that lie in a country by their title and place too, not by their code alone."""
_ASKING = ("what", "which", "who", "when", "where", "why", "how", "many")
_RUN_MAX, TEXT_MAX, _TURNS_MAX, _LIMIT_MAX = 4, 2_000, 10, 10
_SENSES_MAX = 3  # meanings of a word
_PARTS_MAX = 3  # questions in one
_RESPELLED_MAX = 8  # words


@frozen
class QuestionPart:
    """A run of words of a question that the table knows, with its role and meaning."""

    start: int
    end: int
    role: str
    value: str

    def is_of(self, kind: str) -> bool:
        """Whether its words only describe this kind of row."""
        if self.role in _OWN_KINDS:
            return kind in _OWN_KINDS[self.role].split(",")
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
        sides = ("below", "above") if self.is_strict else ("at most", "at least")
        return sides[self.is_least]

    def admits(self, number: float) -> bool:
        """Whether a number lies on the wanted side."""
        if number == self.value:
            return not self.is_strict
        return (number > self.value) == self.is_least


@frozen
class ParsedQuestion:
    """A parsed question; `places` are countries with the start and end of their words."""

    text: str
    language: str
    words: tuple[str, ...]
    parts: tuple[QuestionPart, ...]
    cves: tuple[str, ...]
    places: tuple[tuple[int, int, str], ...]
    thresholds: tuple[Threshold, ...]
    span: TimeSpan | None

    @property
    def phrase(self) -> Phrase:
        """Its words in the form in which cues are compared."""
        return tuple(map(cue_term, self.words))

    @property
    def countries(self) -> tuple[str, ...]:
        """The ISO 3166 codes of the countries that it names."""
        return tuple(dict.fromkeys(code for _, _, code in self.places))

    @property
    def place_words(self) -> frozenset[int]:
        """The indexes of the words that name countries."""
        return frozenset(index for start, end, _ in self.places for index in range(start, end))

    def has(self, *roles: str) -> bool:
        """Whether a word has one of these roles."""
        return any(part.role in roles for part in self.parts)

    def values(self, role: str, kind: str = "") -> list[list[str]]:
        """The meanings of the words of a role, for one kind of row where the role has kinds."""
        rows = (part.value.split() for part in self.parts if part.role == role)
        return [value[1:] if kind else value for value in rows if not kind or value[0] == kind]

    @property
    def kinds(self) -> list[str]:
        """The kinds of rows that it names."""
        return list(dict.fromkeys(meaning[0] for meaning in self.values("kind")))

    @property
    def counted_kind(self) -> str | None:
        """The kind of row that it counts: the first one named behind "how many"."""
        kinds = [part.value for part in self.parts if part.role == "kind"]
        return self.kind_behind("count", kinds) if self.has("count") and kinds else None

    def with_role(self, *roles: str) -> list[QuestionPart]:
        """The parts that have one of these roles."""
        return [part for part in self.parts if part.role in roles]

    def words_of(self, *roles: str) -> frozenset[int]:
        """The indexes of the words that have one of these roles."""
        return word_indexes(self.with_role(*roles))

    def kind_behind(
        self, role: str, kinds: Sequence[str], names: frozenset[int] = frozenset()
    ) -> str | None:
        """The first of these kinds behind words of a role, with at most `names` between.

        Where none is behind them, the first of all.
        """
        start = min(part.end for part in self.with_role(role))
        parts = self.with_role("kind", "group")
        behind = [part for part in parts if start <= part.start and part.value.split()[0] in kinds]
        if not behind:
            return kinds[0]
        kind, between = behind[0].value.split()[0], set(range(start, behind[0].start)) - names
        numbers = word_indexes(p for p in self.with_role("number", "victims") if p.is_of(kind))
        is_other = between & set(self.unread) and between & self.stops
        return None if is_other or (role == "count" and between & numbers) else kind

    @property
    def limit(self) -> int | None:
        """How many rows it asks for: "the top 3 vendors", "the five largest quakes"."""
        parts = self.with_role("kind", "group", *ORDERED)
        beside = sorted({at for part in parts for at in (part.start - 1, part.end)})
        sizes = times.number_words()
        counts = [sizes.get(self.words[at], 0) for at in beside if 0 <= at < len(self.words)]
        return next((count for count in counts if 1 < count <= _LIMIT_MAX), None)

    @property
    def is_negated(self) -> bool:
        """Whether it asks for rows that are not something."""
        return self.has("negation") and self.has("list", "count", "most", "least", "latest")

    @property
    def is_extreme(self) -> bool:
        """Whether it asks for the most or the least, and not for all beyond a bound."""
        return self.has("most", "least") and not self.thresholds

    @property
    def is_asking(self) -> bool:
        """Whether a word of it asks ("which", "how"), and does not only lead on ("what about")."""
        links = self.words_of("link")
        words = [word for at, word in enumerate(self.words) if at not in links]
        return any(asks_for(kind, words) for kind in _ASKING)

    @property
    def subject(self) -> str:
        """The words that may be names, with the stop words between them."""
        places = sorted({*self.unread, *self.place_words})
        gaps = (set(range(first + 1, last)) for first, last in pairwise(places))
        return self.text_of({*places}.union(*(gap for gap in gaps if gap <= self.stops)))

    @property
    def class_nouns(self) -> list[int]:
        """The indexes of words that name what is compared: behind "which", or a superlative."""
        leads = self.words_of("most", "least")
        leads |= {at for at, word in enumerate(self.words) if asks_for("which", [word])}
        return sorted({at + 1 for at in leads} - leads - self.stops - {len(self.words)})

    def as_events(self, places: Collection[int]) -> "ParsedQuestion | None":
        """The question of which words mean a class of events: "attack" all conflicts.

        None where no word at these indexes does.
        """
        categories = filter(None, (_event_words().get(self.words[at], "") for at in places))
        if not (category := next(categories, "")):
            return None
        parts = [part for part in self.parts if part.start not in places]
        plain = [QuestionPart(at, at + 1, "plain", "") for at in places]
        values = (f"{kind} category={category}" for kind in PLACED)
        classes = [QuestionPart(0, 0, "filter", value) for value in values]
        return evolve(self, parts=(*parts, *plain, *classes))

    @property
    def stops(self) -> frozenset[int]:
        """The indexes of its stop words."""
        stops = stop_words(self.language) | stop_words("en")
        return frozenset(at for at, word in enumerate(self.words) if word in stops or len(word) < 2)

    @property
    def content(self) -> frozenset[int]:
        """The indexes of the words that mean something: those of the table, and no stop words."""
        plain = self.words_of("plain", "generic")
        telling = word_indexes(part for part in self.parts if part.role not in ("plain", "generic"))
        return telling | (frozenset(range(len(self.words))) - plain - self.stops)

    @property
    def generic(self) -> frozenset[Phrase]:
        """The words that ask for nothing by themselves, but for those that a fact spells."""
        words = (word for word in self.words if word in _spelled() and word not in _plain_words())
        return generic_words() - {(cue_term(word),) for word in words}

    @property
    def unread(self) -> list[int]:
        """The indexes of the words that the table does not know, which may be names."""
        read = word_indexes(part for part in self.parts if part.role != "victims")
        return sorted(self.content - read - self.stops)

    def free(self, kind: str = "") -> list[int]:
        """The indexes of the words that no part of the question accounts for."""
        skips = word_indexes(part for part in self.parts if part.is_of(kind))
        places = sorted(self.content - skips - self.place_words - self.stops)
        words = {at: self.words[at] for at in places}
        return [
            at for at, word in words.items() if not (_AMOUNT_WORD.fullmatch(word) or word in _TIMES)
        ]

    def terms_of(self, places: Iterable[int]) -> dict[str, frozenset[str]]:
        """The terms of the words at these indexes, each with what it means in English."""
        words = (self.words[index] for index in places)
        return {term_of(w): english_terms(w, self.language) | {term_of(w)} for w in words}

    def text_of(self, places: Iterable[int]) -> str:
        """The words at these indexes, as the question spells them."""
        spelled = {fold_case(word): word for word in _WORD.findall(self.text)}
        return " ".join(spelled.get(self.words[at], self.words[at]) for at in sorted(places))

    @property
    def from_kind(self) -> str:
        """Its text from the first word that names a kind of row."""
        start = min(part.start for part in self.with_role("kind"))
        return "".join(fold_case(self.text).partition(self.words[start])[1:])

    def weight(self, places: Iterable[int]) -> float:
        """How much the words at these indexes weigh, by their rarity."""
        words = (term_of(self.words[index]) for index in places if index not in self.stops)
        return sum(map(background().idf, words))

    @property
    def is_empty(self) -> bool:
        """Whether it asks about nothing, such as a pronoun that means nobody."""
        has_subject = self.unread or self.places or self.cves
        roles = ["kind", "metric", "series", "currency", "language", "form", "filter", "product"]
        roles += ["group"] if self.has("most", "count", "list") else []
        return not (has_subject or self.has(*roles, "happened"))


def word_indexes(parts: Iterable[QuestionPart]) -> frozenset[int]:
    """The indexes of the words of some parts."""
    return frozenset(index for part in parts for index in range(part.start, part.end))


def question_of(turn: Turn) -> ParsedQuestion:
    """Parse the last question of a conversation, with what earlier ones named."""
    texts = [message.text for message in turn.history if message.role == "user"][-_TURNS_MAX:]
    questions = (parse_question(text[:TEXT_MAX], turn.now) for text in (*texts, turn.question))
    return reduce(partial(_follow_up, now=turn.now), questions)


def questions_of(turn: Turn) -> list[tuple[ParsedQuestion, ParsedQuestion]]:
    """Parse the few questions that the last message joins: each alone, and behind those before it.

    Nothing where it is one question, or joins too many to be asked one by one.
    """
    first, *rest = joined_questions(turn.question[:TEXT_MAX])
    if not 0 < len(rest) < _PARTS_MAX:
        return []
    start = question_of(evolve(turn, question=first))
    questions = [parse_question(f"and {part}", turn.now) for part in rest]
    wholes = accumulate(questions, partial(_follow_up, now=turn.now), initial=start)
    return [*zip([start, *questions], wholes, strict=True)]


def _follow_up(before: ParsedQuestion, question: ParsedQuestion, now: datetime) -> ParsedQuestion:
    """The meaning of a question behind another, of which it may leave out what both share."""
    if before.span and before.span.start:
        question = parse_question(times.with_year(question.text, before.span.start.year), now)
    subject = " ".join([fold_case(before.subject), *before.cves])
    is_named = bool(question.cves or question.places or question.free())
    free = {question.phrase[at] for at in question.free()}
    is_asking = question.is_asking or (bool(free) and free <= cue_words())  # "and the capital?"
    is_asking |= question.has("count", "number", "date", "relation", "overview", *_SPECIFIC)
    is_time = question.is_empty and question.span is not None
    if is_time or (question.has("link") and not is_asking and not question.has("pronoun")):
        text = before.text
        names = [word for word in subject.split() if cue_term(word) not in cue_words()]
        for word in names if is_named else ():
            text = re.sub(rf"(?<!\w){re.escape(word)}(?:['’]s)?(?!\w)", " ", fold_case(text))
        if question.span:
            text = times.without_times(text)
        return parse_question(f"{text} {question.text}", now)
    is_whole = not (question.has("pronoun", "link") or question.is_empty)
    if is_whole or question.cves or question.places:
        return question
    is_scoped = question.has("count", *ORDERED, "list")
    is_open = not question.has(*_SPECIFIC) and not question.free(*before.kinds[:1])
    if is_open and is_scoped and before.kinds:
        subject = before.text
        if question.has("number") and not before.has(*ORDERED):
            subject = before.from_kind  # it asks of the same rows, but for another number
    return parse_question(f"{question.text.rstrip(' ?')} {subject.rstrip(' ?')}?", now)


def parse_question(text: str, now: datetime) -> ParsedQuestion:
    """Parse a text as a question by itself."""
    plain = _POSSESSIVE.sub(" ", _CVE.sub(" ", _INITIALS.sub("", fold_case(text))))
    undated = times.without_times(plain)
    words = tuple(_WORD.findall(undated))
    language = guess(text) or "en"
    parts = tuple(_parts(words, language))
    runs, is_spoken = [*_countries_in(words)], any(p.value == "country languages" for p in parts)
    people = [part for part in parts if part.role == "language"]  # "Russian" is of a country
    if is_spoken or {part.value for part in parts if part.role == "kind"} == {"country"}:
        lands = {words[at] for run in runs for at in range(*run[:2])}
        lands -= {*filter(is_cue, lands)} if is_spoken else set()  # "German", but not "Germany"
        people = [part for part in people if not lands.isdisjoint(words[part.start : part.end])]
    parts = tuple(part for part in parts if part not in people)
    others = word_indexes(part for part in parts if part.role in ("currency", "language", "plain"))
    places = tuple(run for run in runs if others.isdisjoint(range(*run[:2])))
    verbs = word_indexes(part for part in parts if part.role == "relation")
    names = tuple(run for run in places if verbs.isdisjoint(range(*run[:2])))
    places = names if any(part.role == "pronoun" for part in parts) else names or places
    cves = tuple(dict.fromkeys(match.upper() for match in _CVE.findall(text)))
    bounds = [*_bounds(undated, "above", "at_least", "below", "at_most")]
    limits = (*(bounds or _bounds(undated, "equal")),)
    about = language, words, parts, cves, places, limits
    return ParsedQuestion(text, *about, times.time_span(plain, now))


def respelled(question: ParsedQuestion, now: datetime) -> ParsedQuestion | None:
    """A question with words of the tables for unknown ones that differ from these by a letter.

    None where it has none. A name may differ so, too: it is for what has no answer as it stands.
    """
    words = {question.words[at] for at in question.unread[:_RESPELLED_MAX]}
    pairs = {word: _table_word(word) for word in words if is_strange(word)}
    if not any(pairs.values()):
        return None
    text = _WORD.sub(lambda match: pairs.get(match[0]) or match[0], fold_case(question.text))
    return parse_question(text, now)


def _table_word(word: str) -> str:
    """The first word of the tables that differs by a letter; empty for none."""
    rows = (_by_letters().get(form, ()) for form in _letters_of(word))
    return min(filter(partial(is_close, word), chain.from_iterable(rows)), default="")


@cache
def _by_letters() -> Mapping[str, list[str]]:
    """The words of the tables by what is left of them without a letter, and whole.

    Two words that differ by a letter, or by two that changed places, share one of these.
    """
    words: dict[str, list[str]] = {}
    for word in filter(str.isalpha, _spelled()):
        for form in _letters_of(word):
            words.setdefault(form, []).append(word)
    return words


def _letters_of(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def joined_questions(text: str) -> list[str]:
    """The questions that a text joins: "how much does it cost, and who pays", "when and where"."""
    parts = [part for part in _JOINT.split(text) if part.strip(" ?¿")] or [text]
    rest = parts[-1].partition(" ")[2]
    return [part if " " in part.strip() else f"{part} {rest}" for part in parts]


def _longest(
    words: tuple[str, ...], lookup: Callable[[tuple[str, ...]], T | None]
) -> Iterator[tuple[int, int, T]]:
    """The longest runs of words that a lookup knows: start, end and meaning of each."""
    start = 0
    while start < len(words):
        sizes = range(min(_RUN_MAX, len(words) - start), 0, -1)
        trials = ((size, lookup(words[start : start + size])) for size in sizes)
        size, meaning = next(((size, meaning) for size, meaning in trials if meaning), (1, None))
        if meaning:
            yield start, start + size, meaning
        start += size


def senses_of(word: str, language: str) -> list[str]:
    """The terms of the cues that a word that is none means in English, the best first.

    A compound is of the kind of its last part; so is the English phrase for it ("national debt").
    """
    senses = english_words(word, language)
    if parts := compound_parts(word, language):
        senses = (*english_words(parts[-1], language)[:_SENSES_MAX], *reversed(senses))
    cues = () if is_cue(word) else filter(is_cue, dict.fromkeys(senses[:_SENSES_MAX]))
    return [*map(term_of, cues)]


def _parts(words: tuple[str, ...], language: str) -> Iterator[QuestionPart]:
    def lookup(run: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        roles = _table().get(tuple(map(cue_term, run)), ())
        if len(run) == 1 and (run[0] in _spelled() or run in _countries()):  # no word like it
            own = _spelled().get(run[0], set())
            return tuple(pair for pair in roles if pair[0] == "number" or pair in own)
        if roles or len(run) > 1:
            return roles
        pairs = _table().get((*senses_of(run[0], language)[:1],), ())
        return tuple(pair for pair in pairs if pair[0] in _MEANT or "type=" in pair[1])

    for start, end, roles in _longest(words, lookup):
        yield from (QuestionPart(start, end, role, value) for role, value in roles)


def _bounds(text: str, *kinds: str) -> Iterator[Threshold]:
    for kind in kinds:
        sides = (True, False) if kind == "equal" else (kind in ("above", "at_least"),)
        patterns = (pattern.replace("N", _AMOUNT) for pattern in expressions(kind))
        for number, unit in (pair for each in patterns for pair in re.findall(each, text)):
            amount = float(number.replace(",", "")) * _TIMES.get(unit, 1)
            yield from (Threshold(amount, side, kind in ("above", "below")) for side in sides)


def _countries_in(words: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    """The countries that are named: start and end of their words, and their codes."""

    def lookup(run: Phrase) -> str | None:  # also with the s of a genitive: "Ecuadors"
        return _countries().get(run) or _countries().get((*run[:-1], run[-1].removesuffix("s")))

    return _longest(words, lookup)


@cache
def _countries() -> Mapping[Phrase, str]:
    """The code of a country by the words of its names and of its people; no stop word is one."""
    stops = frozenset[str]().union(*map(stop_words, LANGUAGES)) - {"us"}
    table: dict[Phrase, str] = {}
    for code, names in names_by_code().items():
        for run in (tuple(split_words(name)) for name in names):
            if run and not (len(run) == 1 and run[0] in stops):
                table.setdefault(run, code)
    return table


@cache
def _table() -> Mapping[Phrase, tuple[tuple[str, str], ...]]:
    table: dict[Phrase, dict[tuple[str, str], None]] = {}
    for role, value, phrases in (row for name in _TABLES for row in data.table_rows(name)):
        for text in phrases.split("|"):
            table.setdefault(cue_of(text), {})[role, value] = None
    generic = {word for run, roles in table.items() if _GENERIC & set(roles) for word in run}
    generic |= {term_of(word) for language in LANGUAGES for word in stop_words(language)}
    for kind, path, cue in compared_members():
        if generic.isdisjoint(cue) and not any(role == "count" for role, _ in table.get(cue, ())):
            table.setdefault(cue, {})["number", f"{kind} {path}"] = None
    return {run: tuple(roles) for run, roles in table.items() if run}


def has_meaning(term: str, role: str) -> bool:
    """Whether a term alone has a role."""
    return any(name == role for name, _ in _table().get((term,), ()))


@cache
def _spelled() -> Mapping[str, set[tuple[str, str]]]:
    """The roles of each word that means something alone, as a table spells it."""
    words: dict[str, set[tuple[str, str]]] = {}
    for row in (row for name in (*_TABLES, "facts.tsv") for row in data.table_rows(name)):
        for text in times.in_english(row[2]).split("|"):
            words.setdefault(text, set()).add((row[0], row[1]))
    return words


@cache
def _event_words() -> Mapping[str, str]:
    """The category of events that each word of the table of events means, of what kills."""
    words: dict[str, str] = {}
    category = ""
    for row in (line.split("\t") for line in data.table_lines("events.tsv")):
        category = _EVENT_TAGS.get(row[3], "") if row[0] == "kind" else category
        for phrase in row[2].split(",") if row[0] == "weak" else ():
            words.setdefault(fold_case(phrase.rstrip("*")), category)
    return words


@cache
def _plain_words() -> frozenset[str]:
    stops = frozenset[str]().union(*map(stop_words, LANGUAGES))
    return stops | {word for word, roles in _spelled().items() if roles & _GENERIC}


@cache
def generic_words() -> frozenset[Phrase]:
    """Words and phrases that ask for nothing by themselves."""
    plain = {run for run, roles in _table().items() if ("plain", "") in roles and len(run) > 1}
    runs = {run for run, meanings in _table().items() if _GENERIC & set(meanings)} - plain
    stops = {(term_of(word),) for language in LANGUAGES for word in stop_words(language)}
    named = {run for run, meanings in _table().items() if any(r in _NAMED for r, _ in meanings)}
    return frozenset((stops - named).union(runs))
