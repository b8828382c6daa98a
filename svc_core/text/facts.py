"""Decides whether a text states everything that a sentence claims.

Rule 1: every number, date, name and identifier of the sentence occurs in the text: a number next
        to a word that it stands next to there, a name near a word that is said of it there.
Rule 2: hardly any other word is new, and the sentence denies what the text denies, and supposes
        what the text only supposes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Final

import attrs
from attrs import field, frozen

from svc_core import data
from svc_core.text.frequencies import shares
from svc_core.text.language import guess
from svc_core.text.sentences import line_parts
from svc_core.text.tables import alternation
from svc_core.text.words import fold_case, raw_words, split_words, stop_words, terms

WORDS_PER_NEW_WORD: Final = 8
"""One word in so many may be new; of fewer none may, since one changes too much."""
REACH: Final = 3
"""How many terms behind a name a word may stand that is said about it."""
_LABEL_TERMS: Final = 4  # of a line that names what all is about: "cve id: CVE-2024-3400"
_COMMON_STEP: Final = 15  # of the table of frequencies: the 170 commonest words of a language
_NEGATION: Final = re.compile(r"n['’]t\b", re.IGNORECASE)
_SCALES: Final = {"thousand": 3, "million": 6, "m": 6, "billion": 9, "bn": 9, "trillion": 12}
_NUMERIC: Final = re.compile(r"\d+(?:\.\d+)*")
_NOISE: Final = re.compile(r"(?:https?://|www\.)\S+|\b[a-z]{3}_[0-9a-f]{24}\b")
SPACES: Final = re.compile(r"[^\S\n]{2,}")


@cache
def _word_places(kind: str) -> Mapping[str, int]:
    """The words of one kind in the table of sentences, each with its place in the list."""
    rows = (row for row in data.table_rows("sentences.tsv") if row[0] == kind)
    return {word: place for _, _, line in rows for place, word in enumerate(line.split())}


@cache
def months() -> Mapping[str, int]:
    """The months by their folded names."""
    rows = (row for row in data.table_rows("calendar.tsv") if row[0] == "month")
    return {fold_case(name): int(number) for _, number, names in rows for name in names.split("|")}


def _month_names(date: str) -> set[str]:
    """The names of the month of a date that has one and no year."""
    month, _, day = date.partition("-")
    return {name for name, number in months().items() if day and month == str(number)}


@cache
def _date() -> re.Pattern[str]:
    rows = (row for row in data.table_rows("calendar.tsv") if row[0] == "month")
    month = alternation(name for *_, names in rows for name in names.split("|"))
    return re.compile(
        r"\b(?:(?P<y1>\d{4})-(?P<m1>\d\d)-(?P<d1>\d\d)(?:[T ]\d\d:\d\d[\d:.Z+-]*)?"
        rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?(?P<m2>{month})\b"
        r"(?:\.?,?\s(?:de\s)?(?P<y2>\d{4})\b)?"
        rf"|(?P<m3>{month})\.?\s(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<y3>\d{{4}})\b)?"
        rf"|(?P<m4>{month})\.?,?\s(?P<y4>\d{{4}})\b)",
        re.IGNORECASE,
    )


def _date_forms(match: re.Match[str]) -> list[str]:
    """A date in all forms that it implies, the most exact first."""
    parts = {name[0]: part for name, part in match.groupdict().items() if part}
    month = int(parts["m"]) if parts["m"].isdigit() else months()[fold_case(parts["m"])]
    day, year = f"{month}-{int(parts.get('d', 0))}", parts.get("y")
    if "d" not in parts:
        return [f"{year}-{month}"]
    return [day] if year is None else [f"{year}-{day}", day, f"{year}-{month}", year]


@frozen
class _Passage:
    """A sentence: its terms in order, and whether it denies, hedges, or is only a label."""

    order: tuple[str, ...]
    terms: frozenset[str]
    denies: bool
    hedges: bool
    is_label: bool

    @classmethod
    def of(cls, text: str, language: str | None) -> "_Passage":
        vocabulary = set(split_words(text))
        order = tuple(next(_numbers([term]), term) for term in terms(text, language))
        return cls(
            order,
            frozenset(order),
            bool(_NEGATION.search(text)) or not vocabulary.isdisjoint(_word_places("denial")),
            not vocabulary.isdisjoint(_word_places("hedge")),
            len(order) <= _LABEL_TERMS and not text.rstrip().endswith((".", "!", "?")),
        )

    def pairs(self) -> Iterator[tuple[str, str, int]]:
        """Terms that follow each other, with their distance; a label's pair with themselves."""
        for index, term in enumerate(self.order):
            if self.is_label:
                yield term, term, 0
            for steps, neighbour in enumerate(self.order[index + 1 : index + 1 + REACH], 1):
                yield term, neighbour, steps


@frozen
class TextFacts:
    """The parts of a text that are compared with a sentence; see the rules of this module.

    `numbers` holds plain numbers and dates in every form that they imply. `pairs` holds two terms
    of one passage and how many terms the second stands behind the first, 1 to `REACH`. The terms
    of a label (a passage of a few terms) are also paired with themselves, at distance 0.
    """

    words: frozenset[str] = field(repr=False)
    terms: frozenset[str] = field(repr=False)
    numbers: frozenset[str] = field(repr=False)
    passages: frozenset["_Passage"] = field(repr=False)
    pairs: frozenset[tuple[str, str, int]] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> "TextFacts":
        """The facts of a text, each line of which is a paragraph."""
        text = SPACES.sub(" ", _NOISE.sub(" ", text))
        language = guess(text)
        dates = {form for match in _date().finditer(text) for form in _date_forms(match)}
        bare = _date().sub(" ", text)
        folded_words = split_words(bare)
        passages = frozenset(_Passage.of(run, language) for run in token_runs(bare))
        return cls(
            frozenset(folded_words).union(*map(_month_names, dates)),
            frozenset().union(*(passage.terms for passage in passages)),
            frozenset(dates.union(_numbers(folded_words))),
            passages,
            frozenset(pair for passage in passages for pair in passage.pairs()),
        )

    @classmethod
    def union(cls, facts: Iterable["TextFacts"]) -> "TextFacts":
        """The facts of several texts together; at least one is needed."""
        rows = [attrs.astuple(item, recurse=False) for item in facts]
        return cls(*(part.union(*parts) for part, *parts in zip(*rows, strict=True)))

    def entail(self, sentence: str) -> bool:
        """Whether the text states all that a sentence says. Linear in the sentence's length."""
        language = guess(sentence)
        bare = _date().sub(" ", sentence)
        claim = _Passage.of(bare, language)
        capitals = (t for w in raw_words(bare) if w[0].isupper() for t in terms(w, language))
        names = _content_terms(capitals, language)
        content = {term for term in _content_terms(claim.terms, language) if not _is_number(term)}
        return (
            not claim.terms.isdisjoint(self.terms)
            and _word_places("binding").keys() & split_words(bare) <= self.words
            and all(_date_forms(match)[0] in self.numbers for match in _date().finditer(sentence))
            and self._has_exactly(bare, language)
            and len(content - self.terms - self.words) <= len(content) // WORDS_PER_NEW_WORD
            and self._agrees(claim)
            and all(self._is_tied(claim.order, index, names) for index in range(len(claim.order)))
        )

    def _has_exactly(self, bare: str, language: str | None) -> bool:
        """Whether the text has every number, name and identifier of a sentence.

        A first word has a capital anyhow, as every noun has in German, so its terms suffice.
        """
        tokens = raw_words(bare)
        if not set(_numbers(map(fold_case, tokens))) <= self.numbers:
            return False
        for place, word in enumerate(tokens):
            folded_word = fold_case(word)
            is_exact = word[0].isupper() or any(letter.isdigit() for letter in word)
            if not is_exact or folded_word in self.words or _is_number(folded_word):
                continue
            content = _content_terms(terms(word, language), language)
            if (place > 0 and language != "de") or not content <= self.terms:
                return False
        return True

    def _is_tied(self, order: tuple[str, ...], index: int, names: set[str]) -> bool:
        """Whether a number or name stands beside the same words in the text as in the sentence.

        A number has a neighbour in common; a name a word before it or behind it.
        """
        term = order[index]
        before, after = order[max(index - 2, 0) : index], order[index + 1 : index + 3]
        if term not in self.terms:  # it stands in a date there, or in another form
            return True
        if _NUMERIC.fullmatch(term):
            neighbours = (*before[-1:], *after[:1])
            links = ({(word, term, 1), (term, word, 1)} for word in neighbours)
            return not neighbours or any(link & self.pairs for link in links)
        if term not in names or (term, term, 0) in self.pairs:
            return True
        couples = [(word, term) for word in before if word not in names]
        couples += [(term, word) for word in after if word not in names]
        return not couples or any(
            (*pair, d) in self.pairs for pair in couples for d in range(1, REACH + 1)
        )

    def _agrees(self, claim: "_Passage") -> bool:
        """Whether a passage that shares most terms with the claim denies exactly if the claim does.

        Where the passage hedges, the claim has to hedge: what is likely is not said as certain.
        """
        shared = {passage: len(claim.terms & passage.terms) for passage in self.passages}
        largest = max(shared.values(), default=0)
        return any(
            count == largest and passage.denies == claim.denies and passage.hedges <= claim.hedges
            for passage, count in shared.items()
        )


@cache
def _common_terms(language: str) -> frozenset[str]:
    """The commonest terms of a language, which state nothing of their own."""
    vocabulary: set[str] = set()
    for tag, step, frequent in shares():
        if tag == language and step <= _COMMON_STEP:
            vocabulary.update(frequent)
    return frozenset(vocabulary | stop_words(language))


def _content_terms(candidates: Iterable[str], language: str | None) -> set[str]:
    """The terms that state something of their own: neither common words nor words of reporting."""
    return set(candidates) - _common_terms(language or "en") - _word_places("telling").keys()


def _is_number(word: str) -> bool:
    return bool(_NUMERIC.fullmatch(word)) or word in _word_places("count")


def _numbers(words: Iterable[str]) -> Iterator[str]:
    """The numbers among some words, with `1.2 million` as one and `two` as 2."""
    counts = _word_places("count")
    for word, after in pairwise([*words, ""]):
        number = str(counts[word] + 2) if word in counts else word
        if _NUMERIC.fullmatch(number):
            yield _plain(number, _SCALES.get(after, 0))


def _plain(number: str, scale: int) -> str:
    """A number in one spelling, times ten to the `scale`: `007` is `7`, `9.80` is `9.8`."""
    whole, _, rest = number.partition(".")
    if "." in rest:  # an address or a version
        return number
    if scale:
        whole, rest = whole + rest[:scale].ljust(scale, "0"), rest[scale:]
    rest = rest.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{rest}" if rest else "")


def token_runs(text: str) -> Iterator[str]:
    """The sentences of a text and what stands between them, line by line."""
    for line in text.splitlines():
        yield from line_parts(line)
