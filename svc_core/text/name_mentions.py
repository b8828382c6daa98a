"""Finds names in text (people, organisations, places, vulnerabilities) and counts them.

Rule 1: a capital letter is evidence only where lower case was possible: inside a sentence that is
        neither in title case nor in capitals, and not in German, which writes all nouns so. A word
        that the same items also write in lower case is no name (Mikheev 2002, "Periods,
        Capitalized Words, etc.").
Rule 2: elsewhere a name has to be known, from a gazetteer or by evidence in another sentence.
Rule 3: a surname that follows a full name in the same items counts for the full name.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain

from attrs import evolve, frozen

from svc_core import data
from svc_core.text.evidence import Reading
from svc_core.text.stories import Story
from svc_core.text.tables import words_of
from svc_core.text.words import fold_case, stop_words

PERSON, ORGANISATION, PLACE = "person", "organization", "place"
VULNERABILITY, OTHER = "vulnerability", "other"

_MEMBERS_MAX = 12  # items that are read of one story, so that a large one costs no more
_SENTENCES_MAX = 6  # of an item: its first paragraphs say whom it is about
_CACHE_SIZE = 65_536  # words and runs of about ten thousand items
_NAME_WORDS_MAX = 5
_NAME_SHARE = 0.8  # of informative mentions with a capital; below it, a word is a common one
_TITLE_CASE_SHARE = 0.75  # of the long words of a line; above it, its capitals prove nothing
_LONG_WORD = 4  # letters of a word that title case gives a capital
_STEM_LETTERS_MIN = 4  # that an adjective shares with its country: "Syrian", "British"
_ADJECTIVE = re.compile(r"(?:n|ns|i|is|ish|ese)$")

_UPPER = "".join(letter for letter in map(chr, range(0x530)) if letter.isupper())
_CAPITAL = rf"[{_UPPER}](?:[\w’'&.-]*\w)?"
_LINK = r"(?:\s(?:of|de|del|la|le|van|von|der|den|bin|al|el|da|dos|du|des))?\s"
_RUN = re.compile(rf"(?<![\w@#])(?:{_CAPITAL})(?:(?:(?<=\s[{_UPPER}])\.)?{_LINK}(?:{_CAPITAL}))*")
_CVE = re.compile(r"\bCVE-\d{4}-\d{4,}\b", re.IGNORECASE)
_DOTS = re.compile(rf"(?<=\b[{_UPPER}])\.(?=[{_UPPER}]\b)|(?<=\.[{_UPPER}])\.")
_POSSESSIVE = re.compile(r"['’]s?$")
_OWNER = re.compile(r"(?<=\w)['’]s\s")
_TAIL = re.compile(rf"(?<=\w)-(?![{_UPPER}\d])\w+$")  # "Mexico-built"
_WORD = re.compile(r"[^\W\d_][\w’'-]*")


@frozen
class Mention:
    """A name, its kind, how many items hold it, and the ISO 3166-1 code of its country."""

    key: str
    name: str
    kind: str
    count: int
    country_code: str | None = None


@frozen
class Case:
    """How often each word stands with a capital, and in lower case, where both were possible."""

    capital: Mapping[str, int]
    lower: Mapping[str, int]

    @classmethod
    def of(cls, readings: Iterable[Reading]) -> "Case":
        """The statistics of the words in some items."""
        capital: Counter[str] = Counter()
        lower: Counter[str] = Counter()
        for reading in readings:
            for text in _lines(reading):
                is_informative = reading.language != "de" and not _is_shouted(text)
                for match in _WORD.finditer(text):
                    word = match[0]
                    if word[0].islower():
                        lower[_plain(word)] += 1
                    elif is_informative and not _is_start(text, match.start()):
                        capital[_plain(word)] += 1
        return cls(capital, lower)

    def is_name(self, word: str) -> bool:
        """Whether a word stands with a capital, and hardly ever without."""
        capitals = self.capital.get(_plain(word), 0)
        return capitals > 0 and not self.is_common(word)

    def is_common(self, word: str) -> bool:
        """Whether a word stands in lower case too often to be a name."""
        capitals, lowers = self.capital.get(_plain(word), 0), self.lower.get(_plain(word), 0)
        return lowers > (1 - _NAME_SHARE) * (capitals + lowers)


def names_of(stories: Sequence[Story]) -> dict[str, tuple[Mention, ...]]:
    """The names in the first items of each story, by its key; case is counted over all stories."""
    readings = {
        story.key: [member.reading for member in story.members[:_MEMBERS_MAX]] for story in stories
    }
    case = Case.of(chain.from_iterable(readings.values()))
    return {key: mentions_in(items, case) for key, items in readings.items()}


def mentions_in(readings: Iterable[Reading], case: Case | None = None) -> tuple[Mention, ...]:
    """The names in some items, most frequent first, then by key.

    `case` holds the statistics of a larger set of items, such as all stories of a report.
    """
    items = list(readings)
    case = case or Case.of(items)
    counts: Counter[str] = Counter()
    names: dict[str, Mention] = {}
    for reading in items:
        for mention in _mentions_of(reading, case):
            counts[mention.key] += 1
            names.setdefault(mention.key, mention)
    totals = _fold_surnames(counts, names)
    mentions = [evolve(names[key], count=count) for key, count in totals.items()]
    return tuple(sorted(mentions, key=lambda mention: (-mention.count, mention.key)))


def is_place(name: str) -> bool:
    """Whether a name is that of a place."""
    return fold_case(name) in _places()


def _mentions_of(reading: Reading, case: Case) -> Iterator[Mention]:
    for text in _lines(reading):
        for match in _CVE.finditer(text):
            yield Mention(match[0].casefold(), match[0].upper(), VULNERABILITY, 1)
        is_informative = reading.language != "de" and not _is_shouted(text)
        for start, run in _runs(text):
            mention = None if run.isupper() and " " in run else _mention(run, reading.language)
            name_start = start + max(run.find(mention.name.split()[0]), 0) if mention else start
            is_clear = is_informative and not _is_start(text, name_start)
            if mention and _is_sure(mention, case, is_clear):
                yield mention
            elif not is_informative:
                yield from _parts(run, case, reading.language)


def _lines(reading: Reading) -> tuple[str, ...]:
    return reading.headline, *reading.sentences[:_SENTENCES_MAX]


def _is_sure(mention: Mention, case: Case, is_informative: bool) -> bool:
    """Whether a run is surely a name: by its capitals, here or elsewhere, or by a list."""
    words = [word for word in _WORD.findall(mention.name) if word[0].isupper()]
    if any(map(case.is_common, words)):
        return False
    return is_informative or all(map(case.is_name, words)) or _is_listed(mention)


def _parts(run: str, case: Case, language: str | None) -> Iterator[Mention]:
    """The known names inside a run of capitals that is no name as a whole."""
    words = run.split()
    index = 0
    while index < len(words):
        for size in (3, 2, 1):
            part = " ".join(words[index : index + size])
            mention = _mention(part, language) if index + size <= len(words) else None
            fits = mention and mention.kind != PERSON and len(mention.name.split()) >= size
            if mention and fits and _is_sure(mention, case, is_informative=False):
                yield mention
                index += size - 1
                break
        index += 1


def _runs(text: str) -> Iterator[tuple[int, str]]:
    """Runs of capitalised words and their starts; "X of Y" is one run only for a body or place."""
    for match in _RUN.finditer(text):
        start = match.start()
        *owners, run = _OWNER.split(match[0])
        for owner in owners:
            yield start, owner
            start += len(owner) + 3
        while " of " in run:
            head, tail = run.split(" of ", 1)
            if fold_case(head.split()[-1]) in _words("of"):
                break
            yield start, head
            start, run = start + len(head) + 4, tail
        yield start, run


@lru_cache(maxsize=_CACHE_SIZE)
def _mention(run: str, language: str | None) -> Mention | None:
    """The name in a run of capitalised words, or `None` where nothing is left of it."""
    parts = [_POSSESSIVE.sub("", part) for part in _DOTS.sub("", run).split()]
    parts = [_TAIL.sub("", part) for part in parts if len(part.strip(".")) > 1] or parts
    if fold_case(" ".join(parts)) in _places():
        return _classify(" ".join(parts), has_title=False)
    has_title = False
    while parts and (_is_filler(parts, language) or _plain(parts[0]) in _words("title")):
        has_title = has_title or _plain(parts[0]) in _words("title")
        parts = parts[1:]
    while parts and _is_filler(parts[-1:], language):
        parts = parts[:-1]
    name = " ".join(parts).strip(".,'’-")
    if parts and _plain(parts[-1]) in _words("title"):
        return None
    if len(name) < 2 or len(parts) > _NAME_WORDS_MAX or _CVE.fullmatch(name):
        return None
    return _classify(name, has_title=has_title)


def _is_filler(parts: Sequence[str], language: str | None) -> bool:
    """Whether the first word is no part of a name: a label, a stop word, "French" in a title."""
    plain = _plain(parts[0])
    before_title = len(parts) > 1 and _plain(parts[1]) in _words("title")
    is_label = (plain in _labels() or plain in stop_words(language)) and not (
        parts[0].isupper() and plain in _places()
    )
    return parts[0].islower() or is_label or (before_title and _is_adjective(plain))


def _classify(name: str, *, has_title: bool) -> Mention | None:
    key = fold_case(name)
    if key in _words("organisation"):
        return Mention(key, name, ORGANISATION, 1)
    if key in _places():
        full, code = _places()[key]
        return Mention(fold_case(full), full, PLACE, 1, code)
    kind = _kind(key, has_title=has_title)
    return Mention(key, name, kind, 1) if kind else None


def _kind(key: str, *, has_title: bool) -> str | None:
    """The kind that the words of an unlisted name suggest; None where it is no name."""
    first, *rest = key.split()
    last = rest[-1] if rest else first
    if rest and {last, key.partition(" of ")[0].rsplit(maxsplit=1)[-1]} & _words("body"):
        return ORGANISATION
    if rest and (last in _words("area") or first in _words("area_first")):
        return PLACE
    if has_title or (rest and first.split("-")[0] in _given_names()):
        return PERSON
    is_part = not rest and first in _words("body") | _words("area") | _words("part")
    return None if is_part or _is_adjective(last) else OTHER


def _is_listed(mention: Mention) -> bool:
    first, *rest = mention.key.split()
    is_person = len(rest) == 1 and first.split("-")[0] in _given_names() and mention.kind == PERSON
    return is_person or mention.key in _places() or mention.key in _words("organisation")


def _is_adjective(key: str) -> bool:
    """Whether a word is of a country or a language: "Syrian", "French"."""
    if key in _words("adjective") or key in _names("language"):
        return True
    has_stem = any(key[:size] in _stems() for size in range(_STEM_LETTERS_MIN, len(key)))
    return has_stem and bool(_ADJECTIVE.search(key)) and key not in _given_names()


def _is_start(text: str, start: int) -> bool:
    """Whether a word there has a capital anyhow: it begins the text or follows a mark."""
    before = text[:start].rstrip()
    return not before or not (before[-1].isalnum() or before[-1] in ",%)’'")


def _is_shouted(text: str) -> bool:
    """Whether a line is in capitals or title case; a line with a full stop hardly ever is."""
    words = [word for word in _WORD.findall(text) if len(word) >= _LONG_WORD]
    capitals = sum(word[0].isupper() for word in words)
    share = 1.0 if text.endswith((".", "!", "?", "…")) else _TITLE_CASE_SHARE
    return len(words) > 2 and capitals >= share * len(words)


@lru_cache(maxsize=_CACHE_SIZE)
def _plain(word: str) -> str:
    return _POSSESSIVE.sub("", fold_case(word)).strip(".")


def _fold_surnames(counts: Mapping[str, int], names: Mapping[str, Mention]) -> Counter[str]:
    """The counts, with a lone surname added to the only full name that ends with it."""
    full: dict[str, set[str]] = {}
    for key, mention in names.items():
        if " " in key and mention.kind in (PERSON, OTHER):
            full.setdefault(key.rsplit(" ", 1)[1], set()).add(key)
    totals: Counter[str] = Counter()
    for key, count in counts.items():
        owners = full.get(key, set())
        totals[next(iter(owners)) if len(owners) == 1 else key] += count
    return totals


@cache
def _words(role: str) -> frozenset[str]:
    return frozenset(words_of("name_words.tsv", role))


@cache
def _given_names() -> frozenset[str]:
    return frozenset(data.table_lines("given_names.txt"))


@cache
def _names(kind: str) -> frozenset[str]:
    """The names of one kind in the calendar, in every language."""
    rows = (row for row in data.table_rows("calendar.tsv") if row[0] == kind)
    return frozenset(fold_case(name) for *_, names in rows for name in names.split("|"))


@cache
def _labels() -> frozenset[str]:
    """Words that are no names: labels of pages, months and week days."""
    return _words("label") | _names("month") | _names("weekday")


@cache
def _places() -> Mapping[str, tuple[str, str | None]]:
    """The name and country of each place by each of its names; a country wins, then a region."""
    words_ = _words("place")
    places: dict[str, tuple[str, str | None]] = {key: (key.title(), None) for key in words_}
    for _, code, names in reversed(data.table_rows("places.tsv")):
        first, *_ = spellings = names.split("|")
        places |= {fold_case(name): (first, code or None) for name in spellings}
    return places


@cache
def _stems() -> frozenset[str]:
    """Beginnings of English names of countries and continents, which their adjectives share."""
    rows = (row for row in data.table_rows("places.tsv") if row[0] != "city")
    firsts = (fold_case(row[2].split("|")[0]) for row in rows)
    stems = {name for name in firsts if name.isalpha() and len(name) >= _STEM_LETTERS_MIN}
    return frozenset(name[: max(_STEM_LETTERS_MIN, len(name) - 3)] for name in stems)
