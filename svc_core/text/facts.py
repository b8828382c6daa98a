"""What a text says, as far as it can be compared: whether it says all that a sentence says.

Rule 1: every number, date, name and identifier of the sentence stands there, a number beside a word
        that it stands beside there, a name before or behind a word that is said of it there.
Rule 2: hardly another word is new, and what is denied or only supposed there is so here.
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
from svc_core.text.sentences import breaks
from svc_core.text.words import fold, stop_words, terms, words, written

WORDS_PER_NEW_ONE: Final = 8
"""Of fewer words one tells too much to be new (`svc_core.text.marks`)."""
REACH: Final = 3
"""How many terms behind a name a word may stand that is said of it."""
_LABEL_TERMS: Final = 4  # of a line that names what all is about: "cve id: CVE-2024-3400"
_COMMON_STEP: Final = 15  # of the table of frequencies: the 170 commonest words of a language
_DENIED: Final = re.compile(r"n['’]t\b", re.IGNORECASE)
_SCALES: Final = {"thousand": 3, "million": 6, "m": 6, "billion": 9, "bn": 9, "trillion": 12}
_NUMERIC: Final = re.compile(r"\d+(?:\.\d+)*")
_NOISE: Final = re.compile(r"(?:https?://|www\.)\S+|\b[a-z]{3}_[0-9a-f]{24}\b")
SPACES: Final = re.compile(r"[^\S\n]{2,}")


@cache
def _kept(kind: str) -> Mapping[str, int]:
    """The words of a kind in the table of sentences, and the place of each."""
    rows = (row for row in data.rows("sentences.tsv") if row[0] == kind)
    return {word: place for _, _, line in rows for place, word in enumerate(line.split())}


@cache
def months() -> Mapping[str, int]:
    """The months by their folded names."""
    rows = (row for row in data.rows("calendar.tsv") if row[0] == "month")
    return {fold(name): int(number) for _, number, names in rows for name in names.split("|")}


def _names_of(date: str) -> set[str]:
    """The names of the month of a date that has one and no year."""
    month, _, day = date.partition("-")
    return {name for name, number in months().items() if day and month == str(number)}


@cache
def _date() -> re.Pattern[str]:
    month = "|".join(
        re.escape(name)
        for kind, _, names in data.rows("calendar.tsv")
        if kind == "month"
        for name in sorted(names.split("|"), key=len, reverse=True)
    )
    return re.compile(
        r"\b(?:(?P<y1>\d{4})-(?P<m1>\d\d)-(?P<d1>\d\d)(?:[T ]\d\d:\d\d[\d:.Z+-]*)?"
        rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?(?P<m2>{month})\b"
        r"(?:\.?,?\s(?:de\s)?(?P<y2>\d{4})\b)?"
        rf"|(?P<m3>{month})\.?\s(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<y3>\d{{4}})\b)?"
        rf"|(?P<m4>{month})\.?,?\s(?P<y4>\d{{4}})\b)",
        re.IGNORECASE,
    )


def _dates(found: re.Match[str]) -> list[str]:
    """A date in all forms that it implies, the most exact first."""
    told = {name[0]: part for name, part in found.groupdict().items() if part}
    month = int(told["m"]) if told["m"].isdigit() else months()[fold(told["m"])]
    day, year = f"{month}-{int(told.get('d', 0))}", told.get("y")
    if "d" not in told:
        return [f"{year}-{month}"]
    return [day] if year is None else [f"{year}-{day}", day, f"{year}-{month}", year]


@frozen
class _Passage:
    """A sentence: its terms in order, whether it denies, is unsure, or is a name and no more."""

    order: tuple[str, ...]
    terms: frozenset[str]
    denies: bool
    hedges: bool
    is_label: bool

    @classmethod
    def of(cls, text: str, tongue: str | None) -> "_Passage":
        held = set(words(text))
        order = tuple(next(_numbers([term]), term) for term in terms(text, tongue))
        return cls(
            order,
            frozenset(order),
            bool(_DENIED.search(text)) or not held.isdisjoint(_kept("denial")),
            not held.isdisjoint(_kept("hedge")),
            len(order) <= _LABEL_TERMS and not text.rstrip().endswith((".", "!", "?")),
        )

    def near(self) -> Iterator[tuple[str, str, int]]:
        """Which terms stand behind each other; those of a label also stand for themselves."""
        for at, term in enumerate(self.order):
            if self.is_label:
                yield term, term, 0
            for steps, other in enumerate(self.order[at + 1 : at + 1 + REACH], 1):
                yield term, other, steps


@frozen
class Facts:
    """What of a text is compared; `numbers` are also those of dates, `passages` its sentences.

    `near` are terms behind each other, with how many steps lie between them; a term of a passage of
    a few is near to itself: it is what all is about.
    """

    words: frozenset[str] = field(repr=False)
    terms: frozenset[str] = field(repr=False)
    numbers: frozenset[str] = field(repr=False)
    passages: frozenset["_Passage"] = field(repr=False)
    near: frozenset[tuple[str, str, int]] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> "Facts":
        """The facts of a text, each line of which is a paragraph."""
        text = SPACES.sub(" ", _NOISE.sub(" ", text))
        tongue = guess(text)
        dates = {form for found in _date().finditer(text) for form in _dates(found)}
        bare = _date().sub(" ", text)
        folded = words(bare)
        passages = frozenset(_Passage.of(run, tongue) for run in runs(bare))
        return cls(
            frozenset(folded).union(*map(_names_of, dates)),
            frozenset().union(*(one.terms for one in passages)),
            frozenset(dates.union(_numbers(folded))),
            passages,
            frozenset(pair for one in passages for pair in one.near()),
        )

    @classmethod
    def all(cls, some: Iterable["Facts"]) -> "Facts":
        """The facts of several texts, of one at least."""
        held = [attrs.astuple(one, recurse=False) for one in some]
        return cls(*(part.union(*parts) for part, *parts in zip(*held, strict=True)))

    def say(self, sentence: str) -> bool:
        """Whether they say all that a sentence says. Linear in its length."""
        tongue = guess(sentence)
        bare = _date().sub(" ", sentence)
        said = _Passage.of(bare, tongue)
        capitals = (t for w in written(bare) if w[0].isupper() for t in terms(w, tongue))
        names = _telling(capitals, tongue)
        telling = {term for term in _telling(said.terms, tongue) if not _is_number(term)}
        return (
            not said.terms.isdisjoint(self.terms)
            and _kept("binding").keys() & words(bare) <= self.words
            and all(_dates(found)[0] in self.numbers for found in _date().finditer(sentence))
            and self._has_exactly(bare, tongue)
            and len(telling - self.terms - self.words) <= len(telling) // WORDS_PER_NEW_ONE
            and self._agrees(said)
            and all(self._ties(said.order, at, names) for at in range(len(said.order)))
        )

    def _has_exactly(self, bare: str, tongue: str | None) -> bool:
        """Whether every number, name and identifier is theirs, and the first word if it may be."""
        held = written(bare)
        if not set(_numbers(map(fold, held))) <= self.numbers:
            return False
        for place, word in enumerate(held):
            folded = fold(word)
            is_exact = word[0].isupper() or any(letter.isdigit() for letter in word)
            if not is_exact or folded in self.words or _is_number(folded):
                continue
            loose = _telling(terms(word, tongue), tongue)
            if (place > 0 and tongue != "de") or not loose <= self.terms:
                return False
        return True

    def _ties(self, order: tuple[str, ...], at: int, names: set[str]) -> bool:
        """Whether a number or name of a sentence stands beside the same words there.

        A number has a neighbour in common; a name a word before it or behind it.
        """
        term, before, after = order[at], order[max(at - 2, 0) : at], order[at + 1 : at + 3]
        if term not in self.terms:  # it stands in a date there, or in another form
            return True
        if _NUMERIC.fullmatch(term):
            beside = (*before[-1:], *after[:1])
            return not beside or any({(one, term, 1), (term, one, 1)} & self.near for one in beside)
        if term not in names or (term, term, 0) in self.near:
            return True
        pairs = [(one, term) for one in before if one not in names]
        pairs += [(term, one) for one in after if one not in names]
        return not pairs or any(
            (*pair, d) in self.near for pair in pairs for d in range(1, REACH + 1)
        )

    def _agrees(self, said: "_Passage") -> bool:
        """Whether a passage as near as any to what is said denies it as well, or neither does.

        What is told as likely must not be said as sure.
        """
        shared = {one: len(said.terms & one.terms) for one in self.passages}
        most = max(shared.values(), default=0)
        return any(
            count == most and one.denies == said.denies and one.hedges <= said.hedges
            for one, count in shared.items()
        )


@cache
def _common(language: str) -> frozenset[str]:
    """The terms of a language's commonest words, which tell nothing of their own."""
    found: set[str] = set()
    for known, step, held in shares():
        if known == language and step <= _COMMON_STEP:
            found.update(held)
    return frozenset(found | stop_words(language))


def _telling(some: Iterable[str], tongue: str | None) -> set[str]:
    """Those of some terms that tell something of their own."""
    return set(some) - _common(tongue or "en") - _kept("telling").keys()


def _is_number(folded: str) -> bool:
    return bool(_NUMERIC.fullmatch(folded)) or folded in _kept("count")


def _numbers(folded: Iterable[str]) -> Iterator[str]:
    """The numbers among some words, with `1.2 million` as one and `two` as 2."""
    counts = _kept("count")
    for word, after in pairwise([*folded, ""]):
        number = str(counts[word] + 2) if word in counts else word
        if _NUMERIC.fullmatch(number):
            yield _plain(number, _SCALES.get(after, 0))


def _plain(number: str, scale: int) -> str:
    """A number without what does not count: `007` is `7`, `9.80` is `9.8`."""
    whole, _, rest = number.partition(".")
    if "." in rest:  # an address or a version
        return number
    if scale:
        whole, rest = whole + rest[:scale].ljust(scale, "0"), rest[scale:]
    rest = rest.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{rest}" if rest else "")


def runs(text: str) -> Iterator[str]:
    """The sentences of a text and what stands between them, line by line."""
    for line in text.splitlines():
        start = 0
        for end, after in breaks(line):
            yield line[start:end]
            start = after
        yield line[start:]
