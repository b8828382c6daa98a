"""Names who holds an office that a subject describes: "the French president" has a name in news.

Rule 1: who it is, the items at hand say: a name stands beside the office, and what tells it from
        other offices ("French", "of defence") beside both, or at least in the same items.
Rule 2: of two names that as many items say, none is the holder's; nobody held an office before.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, pairwise, takewhile

from svc_core.text.country_names import names_by_code
from svc_core.text.tables import words_of
from svc_core.text.words import fold_case, raw_words, stop_words, term_of, terms

Holder = tuple[tuple[str, ...], str]
"""The terms of the description of an office, and the term of the name of who holds it."""

_LEAD = 2  # times as many items as any other name has
_LOOSE_MIN, _LOOSE_SHARE = 3, 0.6  # items that hold the description, and their share of the name's
_COMPOUND_MIN = 12  # letters of an office that says by itself which it is ("Gesundheitsminister")
_CUT = 6  # letters by which words are compared
_WORDS_MAX = 4  # of an office, and of its description
_REACH, _BESIDE = 40, 3  # characters before an office that are looked at, and words of them
_LINK = r"(?:['’]s?)?[\s-]+(?:(?:of|the|for|der|die|des|den|de|du|del|la)\s)?"
_NAME = (
    r"((?:(?:[A-ZÀ-Þ][\w’-]{0,30}[a-zß-ÿ]|[A-Z]\.)\s){0,2}"
    r"(?:(?:von|van|der?|di|da|al|el|bin|ben|le)\s){0,2}[A-ZÀ-Þ][\w’-]{0,30}[a-zß-ÿ])(?!\w)"
)
_AHEAD = re.compile(rf"(?<!\w){_NAME},\s(?:[\w’'-]+\s){{0,4}}$")
_AHEAD_MAX = 200  # characters: four words, and a name of as many
_MENTIONS_MAX = 20  # of an office that are looked at in one text
_BEHIND = re.compile(rf"\s{_NAME}|,\s{_NAME},")
_WORD = re.compile(r"[\w’'.-]+")
_CLAUSE = re.compile(r"[,;:()!?–—]")
_SHORT = {"US": ("US", "U.S"), "GB": ("UK",)}  # other codes are words: "in", "no", "is"


def holder_of(subject: str, language: str | None, texts: Sequence[str]) -> Holder | None:
    """Who holds the office that a subject describes, as texts of items say; None where unclear."""
    office, description = _office_in(subject, language)
    if not description:
        return None
    lands, kinds = _patterns(description)
    whole, near, loose, items = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    place = re.compile(rf"(?<!\w)(?i:{_LINK.join(map(_pattern, office))})(?!\w)")
    skip = frozenset(map(fold_case, (*office, *description)))
    for text in (text for text in texts if office[0][:_CUT].lower() in text.lower()):
        rows = [row for row in _named(text, place, lands) if row[0] not in skip]
        items.update({name for name, _ in rows})
        near.update({name for name, words in rows if _holds(words, kinds)})
        whole.update({name for name, words in rows if _holds(words, lands + kinds)})
        loose.update({name for name, _ in rows} if _holds(text, lands + kinds) else ())
    firm = whole or (near if kinds else Counter())
    best = _foremost(firm or loose)
    is_firm = firm[best] > 1 or _count(texts, best.capitalize()) > 1
    is_loose = loose[best] >= max(_LOOSE_MIN, _LOOSE_SHARE * items[best])
    if not (best and (is_firm if firm else is_loose)) or _count(texts, best):
        return None  # what stands without its capital, too, is no name
    run = (term for word in (*description, *office) for term in terms(word, language))
    return tuple(dict.fromkeys(run)), best


def _named(
    text: str, place: re.Pattern[str], lands: Sequence[re.Pattern[str]]
) -> Iterator[tuple[str, str]]:
    """The terms of the last names beside an office, each with the words around both.

    Not those who held it, nor who holds that of another country.
    """
    end = 0
    for office in islice(place.finditer(text), _MENTIONS_MAX):
        ahead = _AHEAD.search(text, max(end, office.start() - _AHEAD_MAX), office.start())
        if not (match := ahead or _BEHIND.match(text, office.end())):
            continue
        start, end = min(match.start(), office.start()), max(match.end(), office.end())
        words = _WORD.findall(_CLAUSE.split(text[max(0, start - _REACH) : start])[-1])[-_BESIDE:]
        countries = [word for word in words if fold_case(word) in _countries()]
        is_other = bool(lands and countries and not lands[0].search(countries[-1]))
        name = fold_case(re.sub(r"[’']s?$", "", next(filter(None, match.groups())).split()[-1]))
        is_past = any(fold_case(word) in _words("past") for word in words)
        if not (is_other or is_past or name in _words("office")):
            yield term_of(name), " ".join([*words, text[start:end]])


def _count(texts: Iterable[str], term: str) -> int:
    """How many texts hold a word of a term, in its case."""
    word = re.compile(rf"(?<!\w){re.escape(term)}" + (r"\b" if len(term) < _CUT else ""))
    return sum(word.search(text) is not None for text in texts)


def _holds(text: str, patterns: Iterable[re.Pattern[str]]) -> bool:
    return all(pattern.search(text) for pattern in patterns)


def _foremost(counts: Counter[str]) -> str:
    """The name with the most items, where it has twice as many as any other; else none."""
    (name, first), (_, second) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    return name if first >= _LEAD * second else ""


def _office_in(subject: str, language: str | None) -> tuple[list[str], list[str]]:
    """The words of the first office that a subject names, and those that say which it is."""
    words = raw_words(subject)
    stops = stop_words(language) | stop_words("en")
    tells = [w[1:].isupper() or fold_case(w) not in stops | _words("past") for w in words]
    first = next((at for at, word in enumerate(words) if _is_office(word)), len(words))
    end = next((at for at in range(first, len(words)) if not _is_office(words[at])), len(words))
    start = next((at + 1 for at in range(first - 1, -1, -1) if not tells[at]), 0)
    if first == len(words) or (start and fold_case(words[start - 1]) in _words("past")):
        return [], []
    behind = [*zip(words[end:], tells[end:], strict=True)]
    is_of = bool(behind) and fold_case(behind[0][0]) in _words("of_office")
    rest = takewhile(lambda pair: pair[1] or fold_case(pair[0]) in _words("of_office"), behind)
    description = [*words[start:first], *(word for word, is_told in rest if is_of and is_told)]
    office = words[first:end][:_WORDS_MAX]
    return office, description[:_WORDS_MAX] or [
        word for word in office if len(word) >= _COMPOUND_MIN
    ]


def _is_office(word: str) -> bool:
    """Whether a word is an office, or a compound that ends in one."""
    folded = fold_case(word)
    ends = {folded[at:] for at in range(len(folded) - 3)} if word[:1].isupper() else {folded}
    return not ends.isdisjoint(_words("office"))


@cache
def _words(role: str) -> frozenset[str]:
    return frozenset(words_of("name_words.tsv", role))


def _patterns(words: Sequence[str]) -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
    """What meets the countries of a description, and what meets its other words."""
    pairs = (f"{a} {b}" for a, b in pairwise(words))
    lands = [run for run in (*pairs, *words) if fold_case(run) in _countries()]
    kinds = [word for word in words if not any(word in run.split() for run in lands)]
    lands = [run for run in lands if not any(run != pair and run in pair.split() for pair in lands)]
    rows = (
        [re.compile(rf"(?<!\w)(?i:{_pattern(run)})") for run in runs] for runs in (lands, kinds)
    )
    return next(rows), next(rows)


def _pattern(word: str) -> str:
    """What a word of a description is met by: its beginning, or any name of its country."""
    if names := _countries().get(fold_case(word)):
        return rf"(?:{'|'.join(map(re.escape, names))})\w{{0,2}}(?!\w)"
    size = len(word) - 2 if len(word) >= _COMPOUND_MIN else _CUT
    return re.escape(word[:size]) + (r"\w*" if len(word) >= _CUT else "s?")


@cache
def _countries() -> Mapping[str, tuple[str, ...]]:
    """The names of a country and of its people by each of them."""
    rows = ((*names, *_SHORT.get(code, ())) for code, names in names_by_code().items())
    return {fold_case(name): names for names in rows for name in names}
