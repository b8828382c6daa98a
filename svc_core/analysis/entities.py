"""Names in text: people, organisations, places and vulnerabilities, with how often they stand.

Rule 1: a capital letter proves nothing at the start of a sentence, in a headline in title case or
in German; there a name has to be known, or to stand elsewhere as well.
Rule 2: a surname that follows a full name in the same items counts for the full name.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from attrs import evolve, frozen

from svc_core.analysis.concepts import concepts, countries, is_known
from svc_core.analysis.tokens import fold, tokens
from svc_core.text.evidence import Reading

PERSON, ORGANISATION, PLACE = "person", "organization", "place"
VULNERABILITY, OTHER = "vulnerability", "other"
_COUNTRY_NAMES = frozenset(  # that are neither the English name nor the code
    """
    US|USA|UK|UAE|America|Britain|Czech Republic|Russie|Syrie|Chine|Deutschland|Frankreich|Rusia|
    Siria|España|Allemagne|Россия|Сирия|Russland|Syrien|Türkei|Turquie|Turquía|Espagne|Italie|
    Italien
    """.replace("\n", "")
    .replace("    ", "")
    .split("|")
)
_NAME_WORDS_MAX = 5
_TITLE_CASE_SHARE = 0.75

_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀ-ŽА-Я][\w’'&.-]*[\w]|[A-Z]\.(?=\s[A-Z])"
_LINK = r"(?:\s(?:of|de|del|la|le|van|von|der|den|bin|al|el|da|dos|du|des))?\s"
_RUN = re.compile(rf"(?<![\w@#])(?:{_CAPITAL})(?:{_LINK}(?:{_CAPITAL}))*")
_CVE = re.compile(r"\bCVE-\d{4}-\d{4,}\b", re.IGNORECASE)
_DOTS = re.compile(r"(?<=[A-Z])\.(?=[A-Z]\b)|(?<=\b[A-Z])\.$")
_POSSESSIVE = re.compile(r"['’]s?$")
_INITIAL = re.compile(r"[A-Z]\.?")
_OWNER = re.compile(r"(?<=\w)['’]s\s")
_WORD = re.compile(r"[^\W\d_][\w’'-]*")


@frozen
class Mention:
    """A name, its kind, how often it stands, and its ISO 3166-1 code if it is a country's."""

    key: str
    name: str
    kind: str
    count: int
    country_code: str | None = None


def mentions(readings: Iterable[Reading], language: str | None = None) -> tuple[Mention, ...]:
    """The names in some items, most frequent first, then by key."""
    counts: Counter[str] = Counter()
    names: dict[str, Mention] = {}
    held = list(readings)
    sure = {key for reading in held for key in _sure(reading, language)}
    for reading in held:
        for mention in _of(reading, sure, reading.evidence.language or language):
            counts[mention.key] += 1
            names.setdefault(mention.key, mention)
    folded = _fold_surnames(counts, names)
    found = [evolve(names[key], count=count) for key, count in folded.items()]
    return tuple(sorted(found, key=lambda mention: (-mention.count, mention.key)))


def is_city(name: str) -> bool:
    """Whether a name is a capital's or one of the listed cities'."""
    from svc_core.analysis import _name_words as words  # noqa: PLC0415 - read on first use

    key = fold(name)
    return key in _capitals() or key.replace(" ", "_") in words.CITIES


def _of(reading: Reading, sure: set[str], language: str | None) -> Iterable[Mention]:
    for text in (reading.headline, *reading.sentences):
        for match in _CVE.finditer(text):
            yield Mention(match[0].casefold(), match[0].upper(), VULNERABILITY, 1)
        shouted = text is reading.headline and _is_title_case(text)
        for start, run in _runs(text):
            mention = _mention(run)
            doubtful = start < 2 or language == "de"
            if mention and mention.key in sure:
                yield mention
            elif shouted:
                yield from _parts(run)
            elif mention and (not doubtful or _is_known(mention)):
                yield mention


def _parts(run: str) -> Iterable[Mention]:
    """The known names inside a run of capitals that is no name as a whole."""
    words = run.split()
    at = 0
    while at < len(words):
        for size in (3, 2, 1):
            mention = _mention(" ".join(words[at : at + size])) if at + size <= len(words) else None
            if mention and _is_listed(mention) and len(mention.name.split()) <= size:
                yield mention
                at += size - 1
                break
        at += 1


def _runs(text: str) -> Iterable[tuple[int, str]]:
    """Runs of capitalised words with where they start; "X of Y" is one only for a body or place."""
    from svc_core.analysis import _name_words as words  # noqa: PLC0415 - read on first use

    for match in _RUN.finditer(text):
        start, run = match.start(), match[0]
        *owners, run = _OWNER.split(run)
        for owner in owners:
            yield start, owner
            start += len(owner) + 3
        while " of " in run:
            left, right = run.split(" of ", 1)
            if fold(left.split()[-1]) in words.OF_WORDS:
                break
            yield start, left
            start, run = start + len(left) + 4, right
        yield start, run


def _sure(reading: Reading, language: str | None) -> Iterable[str]:
    """The keys of names that stand inside a sentence, where a capital means something."""
    german = (reading.evidence.language or language) == "de"
    for text in reading.sentences:
        for start, run in _runs(text):
            mention = _mention(run) if start >= 2 and not german else None
            if mention:
                yield mention.key


def _is_known(mention: Mention) -> bool:
    return (mention.kind != OTHER and " " in mention.name) or _is_listed(mention)


def _is_listed(mention: Mention) -> bool:
    from svc_core.analysis._query_words import GIVEN_NAMES  # noqa: PLC0415 - read on first use

    first, *rest = mention.key.split()
    named = len(rest) == 1 and first in GIVEN_NAMES and mention.kind == PERSON
    return named or bool(mention.country_code) or mention.key in _known()


def _is_title_case(text: str) -> bool:
    words = [word for word in _WORD.findall(text) if len(word) > 3]
    capitals = sum(word[0].isupper() for word in words)
    return len(words) > 3 and capitals >= _TITLE_CASE_SHARE * len(words)


def _mention(run: str) -> Mention | None:
    """The name in a run of capitalised words, or `None` where nothing is left of it."""
    from svc_core.analysis import _name_words as words  # noqa: PLC0415 - read on first use

    parts = [_POSSESSIVE.sub("", part) for part in _DOTS.sub("", run).split()]
    parts = [part for part in parts if not _INITIAL.fullmatch(part)] or parts
    titled = False
    while parts and (_is_filler(parts[0]) or fold(parts[0]).strip(".") in words.TITLES):
        titled = titled or fold(parts[0]).strip(".") in words.TITLES
        parts = parts[1:]
    while parts and _is_filler(parts[-1]):
        parts = parts[:-1]
    if not parts or len(parts) > _NAME_WORDS_MAX or all(len(part) < 2 for part in parts):
        return None
    if _CVE.fullmatch(parts[0]):
        return None
    return _typed(" ".join(parts).strip(".,'’"), titled=titled)


def _is_filler(word: str) -> bool:
    from svc_core.analysis import _name_words as words  # noqa: PLC0415 - read on first use

    plain = fold(word).strip(".")
    return plain in words.NOT_NAMES or (not tokens(word) and not word.isupper()) or not plain


def _typed(name: str, *, titled: bool) -> Mention | None:
    from svc_core.analysis import _name_words as words  # noqa: PLC0415 - read on first use
    from svc_core.analysis._query_words import GIVEN_NAMES  # noqa: PLC0415 - read on first use

    key = fold(name)
    parts = key.split()
    if len(key) < 2 or key == "new":
        return None
    codes = [found[3:].upper() for found in concepts(tokens(name)) if found.startswith("qqc")]
    if codes and _is_country(name, codes[0]):
        country = countries()[codes[0]]
        return Mention(fold(country.name), country.name, PLACE, 1, country.code)
    if codes and len(parts) == 1 and key not in _capitals():
        return None
    if is_city(name):
        return Mention(key, name, PLACE, 1, _capitals().get(key))
    kind = OTHER
    if (
        {parts[-1], key.split(" of ")[0].split()[-1]} & words.ORGANISATION_WORDS
        or key in words.ORGANISATIONS
        or _is_acronym(name)
    ):
        kind = ORGANISATION
    elif {parts[0], parts[-1]} & words.PLACE_WORDS:
        kind = PLACE
    elif titled or (len(parts) > 1 and parts[0] in GIVEN_NAMES):
        kind = PERSON
    return Mention(key, name, kind, 1)


def _is_country(name: str, code: str) -> bool:
    """Whether a name is a country's own, in English or by its acronym, not an adjective."""
    if " " in name and is_known(tuple(tokens(name))):
        return True
    own = (tokens(countries()[code].name), tokens(code))
    return tokens(name) in own or name in _COUNTRY_NAMES


def _is_acronym(name: str) -> bool:
    return 2 <= len(name) <= 6 and name.isupper() and name.isalpha()


@cache
def _capitals() -> Mapping[str, str]:
    return {fold(country.capital): country.code for country in countries().values()}


@cache
def _known() -> frozenset[str]:
    from svc_core.analysis import _name_words as words  # noqa: PLC0415 - read on first use

    return (
        words.ORGANISATIONS | {city.replace("_", " ") for city in words.CITIES} | set(_capitals())
    )


def _fold_surnames(counts: Mapping[str, int], names: Mapping[str, Mention]) -> Counter[str]:
    """Counts with those of a lone surname added to the one full name that ends with it."""
    full: dict[str, set[str]] = {}
    for key, mention in names.items():
        if " " in key and mention.kind in (PERSON, OTHER):
            full.setdefault(key.rsplit(" ", 1)[1], set()).add(key)
    folded: Counter[str] = Counter()
    for key, count in counts.items():
        owners = full.get(key, set())
        folded[next(iter(owners)) if len(owners) == 1 else key] += count
    return folded
