"""What a question asks for: the kind of answer, the names, the years and the words of its subject.

Rule 1: words are compared as the engine reads them; kinds, and words that mean the same, are data
        (`asking.tsv`). How telling a word is, is that of the background: no passage changes it.
Rule 2: a capitalised word is a name where capitals tell names: not in German, nor in a question of
        nothing else.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Literal

from attrs import field, frozen

from svc_core import data
from svc_core.text.demonyms import same
from svc_core.text.facts import months
from svc_core.text.frequencies import background
from svc_core.text.language import guess
from svc_core.text.words import cut, fold, stop_words, terms, words

Kind = Literal["who", "when", "where", "number", "why", "overview", "compare", "other"]
KINDS: tuple[Kind, ...] = ("compare", "overview", "number", "when", "where", "why", "who")

MEASURES = ("span", "age", "length", "speed", "weight", "share", "heat")

_PHRASE_MAX = 4
_ITEMS_MAX = 40  # names and terms of one question
_TOKEN = re.compile(r"[^\W_](?:[\w’'.-]*\w)?")
_YEAR = re.compile(r"(?:19|20)\d\d$")
_CONTENT_MAX = 5  # words of a subject: where more have capitals, all of them, capitals tell nothing
_PLURAL = re.compile(r"(?<=\w\w[sxzh])es$|(?<=\w\w[^sui])s$")
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ed|e)$")
NAME, RARE, COMMON, KIND = 1.5, 4.5, 2.0, 0.7
"""What a name weighs beside another term, one that is hardly ever used, one that is a stop word in
some form, and one that tells of what kind the answer is ("which river")."""

Run = tuple[str, ...]


@frozen
class Name:
    """A capitalised word of a question: `ways` are runs of terms that it may be written as."""

    word: str
    ways: tuple[Run, ...] = field(repr=False)
    part_of: int
    """The number of the run of names that it stands in."""
    weight: float

    def is_in(self, held: frozenset[str]) -> bool:
        """Whether words and terms hold it."""
        return any(held.issuperset(way) for way in self.ways)


@frozen
class Asked:
    """What a question asks."""

    kind: Kind
    measure: str | None
    """Of what its number is: of a span of time, an age, a length; None where that is open."""
    names: tuple[Name, ...]
    terms: Mapping[str, float]
    years: frozenset[str]
    months: frozenset[int]
    words: frozenset[str] = field(repr=False)
    language: str | None

    @property
    def focus(self) -> tuple[str, ...]:
        """The first word of its subject or its last, or that of a sum: what is held or done."""
        sums = (
            term for term in self.terms if self.is_of_money and groups(root("cost")) & groups(term)
        )
        first = tuple(sums)[:1] or tuple(self.terms)[:1]
        is_first = self.is_of_many or self.is_of_money or self.kind == "who"
        return first if is_first else (*first, *list(self.terms)[-1:])

    @property
    def named(self) -> frozenset[str]:
        """The words of its names."""
        return frozenset(word for one in self.names for word in words(one.word))

    @property
    def role(self) -> str | None:
        """The office whose holder is asked for, not how anybody came to it."""
        if any(groups(root("appointed")) & groups(term) for term in self.terms):
            return None
        offices = {root(word) for word in self.words if is_role(word)}
        return next((term for term in self.terms if self.kind == "who" and term in offices), None)

    @property
    def is_of_many(self) -> bool:
        """Whether things are to be counted."""
        return self.kind == "number" and not _words("many").isdisjoint(self.words)

    @property
    def is_of_doer(self) -> bool:
        """Whether it asks who did something: then what was done has to be told."""
        return self.kind == "who" and self.role is None and _words("whom").isdisjoint(self.words)

    @property
    def is_of_money(self) -> bool:
        """Whether a sum is asked for."""
        is_sum = self.kind == "number" and not self.is_of_many
        return is_sum and any(groups(root("cost")) & groups(term) for term in self.terms)


def asked(question: str) -> Asked:
    """What a question asks for."""
    language = guess(question)
    written = _TOKEN.findall(question)
    months = months_in(question)
    names = tuple(_names(written, language, months))[:_ITEMS_MAX]
    aside = {root(word) for one in names for word in words(one.word)}
    aside |= {root(fold(word)) for word in written if month_of(word) in months}
    aside |= _before(written, names) | _roots("none")
    found = {root(word): cut(word) for word in terms(question, language, whole=True)}
    years = frozenset(term for term in found if _YEAR.match(term))
    subject = [t for t in found if t not in aside | years and not _is_day(t, months)]
    kinds = {root(b) for a, b in pairwise(words(question)) if a in _words("which")}
    kind = _kind(_lowered(question), names)
    said = frozenset(_phrases(_lowered(question)))
    measure = next((each for each in MEASURES if not said.isdisjoint(_words(each))), None)
    if kind in ("who", "when", "where", "compare"):
        offices = {root(word) for word in words(question) if is_role(word)}
        subject = [term for term in subject if term not in kinds or term in offices] or subject
    return Asked(
        "number" if measure and kind == "other" else kind,
        measure,
        names,
        {
            term: weight(found[term]) * (KIND if term in kinds else 1)
            for term in subject[:_ITEMS_MAX]
        },
        years,
        months,
        frozenset(words(question)),
        language,
    )


def weight(term: str) -> float:
    """How telling a term is where nothing is known of what is stored."""
    return COMMON if term in stop_words("en") else background().idf(term)


def _before(written: list[str], names: Iterable[Name]) -> frozenset[str]:
    """Titles that stand before a name: a text may leave them out."""
    known = {one.word for one in names}
    pairs = (a for a, b in pairwise(written) if a[0].isupper() and b in known)
    return frozenset(root(fold(word)) for word in pairs if fold(word) in _titles())


def _kind(asked_words: list[str], names: tuple[Name, ...]) -> Kind:
    """The first kind whose words stand there."""
    found = set(_phrases(asked_words))
    if len({one.part_of for one in names}) > 1 and not found.isdisjoint(_words("or")):
        return "compare"
    kind: Kind = next((kind for kind in KINDS if not found.isdisjoint(_words(kind))), "other")
    if kind == "other" and any(
        is_role(b) for a, b in pairwise(asked_words) if a in _words("which")
    ):
        return "who"
    return "number" if kind == "other" and not found.isdisjoint(_words("sum")) else kind


def _lowered(question: str) -> list[str]:
    """The words of a question; acronyms ask nothing."""
    return [fold(word) for word in _TOKEN.findall(question) if len(word) == 1 or not word.isupper()]


def _phrases(found: list[str]) -> Iterator[str]:
    for size in range(1, _PHRASE_MAX + 1):
        for at in range(len(found) - size + 1):
            yield "_".join(found[at : at + size])


def _names(written: list[str], language: str | None, months: frozenset[int]) -> Iterator[Name]:
    capitals = [word[0].isupper() or _is_code(word) for word in written]
    content = [at for at, word in enumerate(written) if terms(word, language)]
    if len(content) > _CONTENT_MAX and all(capitals[at] for at in content):
        capitals = [_is_code(word) or is_strange(word) for word in written]
    run = 0
    for at, word in enumerate(written):
        bare = re.sub(r"['’]s?$", "", word)
        if not capitals[at] or not _is_name(bare, at, language) or month_of(bare) in months:
            run += 1
            continue
        parts = words(bare)
        ways = (tuple(parts), *_ways(bare))
        yield Name(bare, ways, run, NAME * max(weight(cut(parts[-1])), RARE))


def _is_name(word: str, at: int, language: str | None) -> bool:
    folded = fold(word)
    if not terms(word, language) or _YEAR.match(word) or folded in _words("weekday"):
        return False
    if folded in _titles() or root(folded) in _roots("none") or groups(root(folded)):
        return False
    if not _is_code(word) and any(folded in _words(kind) for kind in KINDS):
        return False
    return (at > 0 and language != "de") or _is_code(word) or is_strange(word)


def _is_code(word: str) -> bool:
    """Whether a word has a digit and more, or capitals inside."""
    return (any(map(str.isdigit, word)) and not word.isdigit()) or (
        len(word) > 1 and word.isupper()
    )


def is_strange(word: str) -> bool:
    """Whether a word is hardly used in any language, as most names are."""
    return all(background().counts.get(cut(one), 0) < 2 for one in words(word))


def _ways(word: str) -> tuple[Run, ...]:
    """Other names of a country; that of one where the word may name many."""
    known = [way for run, runs in same(terms(word)) for way in (run, *runs)]
    return (*known, (fold(word[:-1]),)) if word[-1] == "s" and word.isalpha() else tuple(known)


# -- words -------------------------------------------------------------------------------------


def root(word: str) -> str:
    """A folded word without the endings of numbers and tenses, as an answer bends it."""
    return cut(_ENDING.sub("", _PLURAL.sub("", word))) if word.isalpha() else word


def roots(text: str, language: str | None) -> list[str]:
    """The roots of the words of a text, stop words aside."""
    return [root(word) for word in terms(text, language, whole=True)]


def groups(term: str) -> frozenset[int]:
    """The numbers of the lists of words that a term stands in, each of which mean the same."""
    return _groups().get(term, frozenset())


def is_role(term: str) -> bool:
    """Whether a term is an office: president, chief ..."""
    return term in _titles() or term in _offices()


def month_of(word: str) -> int:
    """The number of the month that a word names; 0 for none."""
    return months().get(fold(word), 0) if len(word) > 2 else 0


def months_in(text: str) -> frozenset[int]:
    """The months that a text names: beside a number, or behind a word that leads to one.

    "May" and "Mars" are more than months.
    """
    said = ["", *_TOKEN.findall(text), ""]
    return frozenset(
        month_of(word)
        for before, word, after in zip(said, said[1:], said[2:], strict=False)
        if month_of(word)
        and (before[:1].isdigit() or after[:1].isdigit() or fold(before) in _words("month_lead"))
    )


def _is_day(term: str, months: frozenset[int]) -> bool:
    return bool(months) and term.isdigit() and len(term) < 3


@cache
def _groups() -> Mapping[str, frozenset[int]]:
    found: dict[str, frozenset[int]] = {}
    for at, held in enumerate(held for kind, held in data.rows("asking.tsv") if kind == "same"):
        for word in held.split():
            term = "_".join(map(root, word.split("_")))
            found[term] = found.get(term, frozenset()) | {at}
    return found


@cache
def _words(kind: str) -> frozenset[str]:
    if kind == "weekday":
        days = (row[2].split("|") for row in data.rows("calendar.tsv") if row[0] == kind)
        return frozenset(fold(day) for held in days for day in held)
    return _of("asking.tsv", kind)


@cache
def _roots(kind: str) -> frozenset[str]:
    """The roots of the words of a list."""
    return frozenset(map(root, _words(kind)))


@cache
def _offices() -> frozenset[str]:
    """The words of the list that has "ceo"."""
    held = (held.split() for kind, held in data.rows("asking.tsv") if kind == "same")
    return next(frozenset(words_) for words_ in held if "ceo" in words_)


@cache
def _titles() -> frozenset[str]:
    return _of("name_words.tsv", "title")


def _of(table: str, kind: str) -> frozenset[str]:
    rows: Iterable[list[str]] = data.rows(table)
    return frozenset(word for told, held in rows if told == kind for word in held.split())


def is_counted(word: str) -> bool:
    """Whether a folded word is a number."""
    return word[0].isdigit() or word in _words("counted")


def is_said(kind: str, text: str) -> bool:
    """Whether a text holds an expression of a list."""
    return bool(_expression(kind).search(fold(text)))


def is_measured(measure: str, text: str) -> bool:
    """Whether a text holds a number of a measure."""
    return bool(_measured(measure).search(fold(text)))


@cache
def _measured(measure: str) -> re.Pattern[str]:
    units = "|".join(told for held, told in data.rows("asking.tsv") if held == f"in_{measure}")
    numbers = "|".join(sorted(_words("counted") | {"an?", "one", "half", "aged"}))
    return re.compile(rf"(?:\d|\b(?:{numbers})\b)[ -]?(?:[^\W\d]+[ -])?(?:{units})(?!\w)")


@cache
def _expression(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(told for held, told in data.rows("asking.tsv") if held == kind))
