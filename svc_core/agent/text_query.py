"""Reads what a question asks of texts: the kind of answer, names, years, months and subject words.

Rule 1: words are compared by their roots. The kinds of answers, and the words that mean the same,
        are data (`asking.tsv`). A word weighs as much as it is rare in the background corpus: no
        passage changes it.
Rule 2: a word is a name of a text that writes it as names are written; capitals of the question
        tell nothing. The name of a country is one in every text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal

from attrs import field, frozen

from svc_core import data
from svc_core.text.country_names import country_synonyms
from svc_core.text.frequencies import background
from svc_core.text.language import guess
from svc_core.text.quantities import months
from svc_core.text.synonyms import DICTIONARIES, WORDS_MAX, english_words, lemmas, related_keys
from svc_core.text.words import fold_case, split_words, stop_words, term_of, terms

AnswerKind = Literal["who", "when", "where", "number", "why", "overview", "compare", "other"]
KINDS: tuple[AnswerKind, ...] = ("compare", "overview", "number", "when", "where", "why", "who")

MEASURES = ("span", "age", "length", "speed", "weight", "share", "heat", "version")

TYPO_MIN = 5  # letters
_PHRASE_MAX = 4
_ITEMS_MAX = 40  # names and terms of one question
_TOKEN = re.compile(r"[^\W_](?:[\w’'.-]*\w)?")
DECIMAL = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.])")
_YEAR = re.compile(r"(?:19|20)\d\d$")
_PLURAL = re.compile(r"(?<=\w\w[sxzh])es$|(?<=\w\w[^sui])s$")
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ed|e)$")
NAME, RARE, COMMON, KIND = 1.5, 4.5, 2.0, 0.7
"""Weights: of a name, of a term that is hardly ever used, of one that is a stop word in some form,
and of one that names the kind of the answer ("which river")."""

Run = tuple[str, ...]


@frozen
class Name:
    """A capitalised word of a question; `spellings` are runs of terms that mean the same."""

    word: str
    spellings: tuple[Run, ...] = field(repr=False)
    run_number: int
    """The number of the run of adjacent names that holds it."""
    weight: float

    def is_in(self, tokens: frozenset[str]) -> bool:
        """Whether a set of words and terms holds one of its spellings."""
        return any(tokens.issuperset(spelling) for spelling in self.spellings)


@frozen
class TextQuery:
    """What a question asks of a text."""

    kind: AnswerKind
    measure: str | None
    """What its number measures: a span of time, an age, a length; None where that is open."""
    names: tuple[Name, ...]
    terms: Mapping[str, float]
    meanings: Mapping[str, frozenset[str]] = field(repr=False)
    """What each term may be put as: synonyms, meanings in English, the lists that hold these."""
    unnamed: frozenset[str]
    """The terms that the dictionary of its language lacks, where there is one: names."""
    years: frozenset[str]
    months: frozenset[int]
    decimals: frozenset[str]
    words: frozenset[str] = field(repr=False)
    language: str | None

    @property
    def is_bare(self) -> bool:
        """Whether it is keywords alone, of which an answer has to hold all."""
        return self.kind == "other" and self.words.isdisjoint(stop_words(self.language))

    @property
    def focus(self) -> tuple[str, ...]:
        """The terms that an answer must hold: first and last of the subject, or that of a sum."""
        money = groups(word_root("cost"))
        sums = (term for term in self.terms if self.asks_sum and money & groups(term))
        first = tuple(sums)[:1] or tuple(self.terms)[:1]
        is_first = self.asks_count or self.asks_sum or self.kind == "who"
        return first if is_first else (*first, *list(self.terms)[-1:])

    @property
    def name_words(self) -> frozenset[str]:
        """The words of its names."""
        return frozenset(word for name in self.names for word in split_words(name.word))

    @property
    def role(self) -> str | None:
        """The office whose holder is asked for ("president"); None for who appointed them."""
        if any(groups(word_root("appointed")) & groups(term) for term in self.terms):
            return None
        offices = {word_root(word) for word in self.words if is_role(word)}
        return next((term for term in self.terms if self.kind == "who" and term in offices), None)

    @property
    def asks_count(self) -> bool:
        """Whether it asks how many there are."""
        return self.kind == "number" and not _words("many").isdisjoint(self.words)

    @property
    def asks_doer(self) -> bool:
        """Whether it asks who did something: then the answer has to say what was done."""
        return self.kind == "who" and self.role is None and _words("whom").isdisjoint(self.words)

    @property
    def asks_sum(self) -> bool:
        """Whether it asks for a sum of money."""
        is_sum = self.kind == "number" and not self.asks_count
        return is_sum and any(groups(word_root("cost")) & groups(term) for term in self.terms)


@lru_cache(64)
def query_of(question: str, named: frozenset[str] = frozenset()) -> TextQuery:
    """Read a question: its kind, names, weighted terms, years and months.

    `named` are the folded words that a text writes as names.
    """
    language = guess(question)
    tokens = _TOKEN.findall(question)
    months = months_in(question)
    names = tuple(_names(tokens, language, months, named))[:_ITEMS_MAX]
    stop_roots = {word_root(word) for name in names for word in split_words(name.word)}
    stop_roots |= {word_root(fold_case(word)) for word in tokens if month_of(word) in months}
    stop_roots |= _titles_before(tokens, names) | _roots("none")
    words = {word_root(word): word for word in terms(question, language, whole=True)}
    stems = {root: term_of(word) for root, word in words.items()}
    years = frozenset(term for term in stems if _YEAR.match(term))
    days = {term for term in stems if months and term.isdigit() and len(term) < 3}
    subject = [term for term in stems if term not in stop_roots | years | days]
    kinds = {word_root(b) for a, b in pairwise(split_words(question)) if a in _words("which")}
    plain = [fold_case(word) for word in tokens]
    kind, phrases = _kind_of(plain, names), frozenset(_phrases(plain))
    measure = next((name for name in MEASURES if not phrases.isdisjoint(_words(name))), None)
    if kind in ("who", "when", "where", "compare"):
        offices = {word_root(word) for word in split_words(question) if is_role(word)}
        subject = [term for term in subject if term not in kinds or term in offices] or subject
    subject = subject[:_ITEMS_MAX]
    worths = {term: KIND if term in kinds else NAME if _is_rare(stems[term]) else 1
              for term in subject}  # fmt: skip
    weights = {term: weight(stems[term]) * worth for term, worth in worths.items()}
    meanings = {term: _other_words(term, words[term], language) for term in subject}
    head = "number" if measure and kind == "other" else kind, measure, names, weights, meanings
    own = subject if language in DICTIONARIES else []
    unnamed = frozenset(term for term in own if not lemmas(words[term], language or ""))
    times = years, months, frozenset(DECIMAL.findall(question))
    return TextQuery(*head, unnamed, *times, frozenset(split_words(question)), language)


def _is_rare(term: str) -> bool:
    """Whether a term is hardly used in any language, as most names are."""
    return background().counts.get(term, 0) < 2


def weight(term: str) -> float:
    """How much a term weighs by its rarity in the background corpus, whatever is stored."""
    return COMMON if term in stop_words("en") else background().idf(term)


def _titles_before(tokens: list[str], names: Iterable[Name]) -> frozenset[str]:
    """Titles that stand before a name: a text may leave them out."""
    name_words = {name.word for name in names}
    pairs = (a for a, b in pairwise(tokens) if b in name_words)
    return frozenset(word_root(fold_case(word)) for word in pairs if fold_case(word) in _titles())


def _kind_of(tokens: list[str], names: tuple[Name, ...]) -> AnswerKind:
    """The first kind of answer whose words stand in the question."""
    phrases = set(_phrases(tokens))
    if len({name.run_number for name in names}) > 1 and not phrases.isdisjoint(_words("or")):
        return "compare"
    kinds = (kind for kind in KINDS if not phrases.isdisjoint(_words(kind)))
    kind: AnswerKind = next(kinds, "other")
    if kind == "other" and any(is_role(b) for a, b in pairwise(tokens) if a in _words("which")):
        return "who"
    return "number" if kind == "other" and not phrases.isdisjoint(_words("sum")) else kind


def _phrases(tokens: list[str]) -> Iterator[str]:
    for size in range(1, _PHRASE_MAX + 1):
        for start in range(len(tokens) - size + 1):
            yield "_".join(tokens[start : start + size])


def _names(
    tokens: list[str], language: str | None, months: frozenset[int], named: frozenset[str]
) -> Iterator[Name]:
    run = 0
    for word in tokens:
        bare = re.sub(r"['’]s?$", "", word)
        form = fold_case(bare)
        spellings = _spellings(bare) if bare else ()
        is_name = form in named or form.removesuffix("s") in named or len(spellings) > 1
        if not (is_name and _is_name(bare, language)) or month_of(bare) in months:
            run += 1
            continue
        parts = split_words(bare)
        weighs = NAME * max(weight(term_of(parts[-1])), RARE)
        yield Name(bare, (tuple(parts), *spellings), run, weighs)


def _is_name(word: str, language: str | None) -> bool:
    form = fold_case(word)
    if not (terms(form, language) and split_words(word)) or _YEAR.match(word):
        return False
    if form in _words("weekday") or form in _titles() or word_root(form) in _roots("none"):
        return False
    return not groups(word_root(form)) and not any(form in _words(kind) for kind in KINDS)


@lru_cache(WORDS_MAX)
def is_strange(word: str) -> bool:
    """Whether a word is hardly used in any language, as most names are."""
    return all(_is_rare(term_of(part)) for part in split_words(word))


def is_close(word: str, name: str) -> bool:
    """Whether two words are the same but for one letter, or two that changed places."""
    sizes = len(word), len(name)
    if min(sizes) < max(TYPO_MIN, max(sizes) - 1) or not (word + name).isalpha():
        return word == name
    pairs = enumerate(zip(word, name, strict=False))
    at = next((index for index, (a, b) in pairs if a != b), min(sizes))
    rest, other = word[at:], name[at:]
    changes = ((rest[1:], other[1:]), (rest, other[1:]), (rest[1:], other))
    return rest[1::-1] + rest[2:] == other or any(a == b for a, b in changes)


def _spellings(word: str) -> tuple[Run, ...]:
    """Other names of a country, and a name without its plural ending."""
    spellings = [way for run, runs in country_synonyms(terms(word)) for way in (run, *runs)]
    is_plural = word[-1] == "s" and word.isalpha()
    return (*spellings, (fold_case(word[:-1]),)) if is_plural else tuple(spellings)


# -- words -------------------------------------------------------------------------------------


@lru_cache(4_096)
def english_terms(word: str, language: str | None) -> frozenset[str]:
    """The English terms and roots that a folded word means; none where unknown."""
    words = english_words(word, language or "en")
    return frozenset(key for word in words for key in (term_of(word), word_root(word)))


def _other_words(term: str, word: str, language: str | None) -> frozenset[str]:
    meanings = english_terms(word, language)
    keys = (key for key in related_keys(word, term_of(word), language) if key[0] == "~")
    return meanings.union(*map(groups, (term, *meanings)), keys)


def asks_for(kind: str, words: Iterable[str]) -> bool:
    """Whether folded words ask for a kind of answer."""
    return not _words(kind).isdisjoint(words)


@lru_cache(WORDS_MAX)
def word_root(word: str) -> str:
    """A folded word without the endings of plurals and tenses, so that "closed" meets "closing"."""
    return term_of(_ENDING.sub("", _PLURAL.sub("", word))) if word.isalpha() else word


def roots(text: str, language: str | None) -> list[str]:
    """The roots of the words of a text without its stop words."""
    return [word_root(word) for word in terms(text, language, whole=True)]


def groups(term: str) -> frozenset[str]:
    """The synonym lists that hold a term, as `#` and a number."""
    return _groups().get(term, frozenset())


def is_role(term: str) -> bool:
    """Whether a term is a title or an office: president, chief ..."""
    return term in _titles() or term in _offices()


@lru_cache(WORDS_MAX)
def month_of(word: str) -> int:
    """The number of the month that a word names; 0 for none."""
    return months().get(fold_case(word), 0) if len(word) > 2 else 0


def months_in(text: str) -> frozenset[int]:
    """The months that a text names beside a number, or behind a word such as "since".

    The words "May" and "Mars" are more than months.
    """
    tokens = ["", *_TOKEN.findall(text), ""]
    return frozenset(
        month_of(word)
        for before, word, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if month_of(word)
        and (
            before[:1].isdigit() or after[:1].isdigit() or fold_case(before) in _words("month_lead")
        )
    )


@cache
def _groups() -> Mapping[str, frozenset[str]]:
    groups: dict[str, frozenset[str]] = {}
    for number, text in enumerate(expressions("same")):
        for word in text.split():
            term = "_".join(map(word_root, word.split("_")))
            groups[term] = groups.get(term, frozenset()) | {f"#{number}"}
    return groups


@cache
def _words(kind: str) -> frozenset[str]:
    if kind == "weekday":
        days = (row[2].split("|") for row in data.table_rows("calendar.tsv") if row[0] == kind)
        return frozenset(fold_case(day) for names in days for day in names)
    return _word_list("asking.tsv", kind)


@cache
def _roots(kind: str) -> frozenset[str]:
    """The roots of the words of a list."""
    return frozenset(map(word_root, _words(kind)))


@cache
def _offices() -> frozenset[str]:
    """The words of the list that has "ceo"."""
    lists = (text.split() for text in expressions("same"))
    return next(frozenset(words_) for words_ in lists if "ceo" in words_)


@cache
def _titles() -> frozenset[str]:
    return _word_list("name_words.tsv", "title")


def _word_list(table: str, kind: str) -> frozenset[str]:
    rows: Iterable[list[str]] = data.table_rows(table)
    return frozenset(word for name, text in rows if name == kind for word in text.split())


def is_number(word: str) -> bool:
    """Whether a folded word is a number."""
    return word[0].isdigit() or word in _words("counted")


def has_expression(kind: str, text: str) -> bool:
    """Whether a text holds an expression of a list, such as "money" or "cause"."""
    return bool(_expression_pattern(kind).search(fold_case(text)))


def has_measure(measure: str, text: str) -> bool:
    """Whether a text holds a number with a unit of a measure, such as "length"."""
    return bool(_measure_pattern(measure).search(fold_case(text)))


@cache
def _measure_pattern(measure: str) -> re.Pattern[str]:
    units = "|".join(expressions(f"in_{measure}"))
    numbers = "|".join(sorted(_words("counted") | {"an?", "one", "half", "aged"}))
    return re.compile(rf"(?:\d|\b(?:{numbers})\b)[ -]?(?:[^\W\d]+[ -])?(?:{units})(?!\w)")


@cache
def _expression_pattern(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(expressions(kind)))


@cache
def expressions(kind: str) -> list[str]:
    """The patterns of a list."""
    return [pattern for name, pattern in data.table_rows("asking.tsv") if name == kind]
