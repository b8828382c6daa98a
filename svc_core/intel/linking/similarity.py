"""How alike two names are, word by word: order, spelling and missing words are forgiven.

Rule 1: words are paired, the likest first; a pair weighs as much as its words are rare in text that
        is about anything, so that "Trading" says little and a surname much.
Rule 2: what is left over on either side counts against both (Dice, weighted); people may leave
        given names out, as long as two words agree.
Rule 3: spelling is compared by edits, and by consonants alone, which survive transliteration.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import product
from types import MappingProxyType

from svc_core import data
from svc_core.formats.model import MissingExtra
from svc_core.intel.linking.names import normal
from svc_core.text.frequencies import background
from svc_core.text.words import cut

_REMEMBERED = 262_144  # words of about a hundred thousand names
_ALIKE_MIN = 0.8  # of two words; below, they are two words
_SOUND, _SOUND_MIN = 0.9, 3  # what equal consonants say, and how many there have to be
_INITIAL = 0.6  # what a first letter says of a word
_LEFT_OUT = 0.9  # a person whose every told word agrees, while the other name has more
_PARTICLES = frozenset(["al", "el", "bin", "bint", "ibn", "de", "la", "von", "van", "der"])
_SOUNDS = (
    ("sch", "s"), ("tch", "s"), ("ch", "s"), ("sh", "s"), ("zh", "s"), ("ph", "f"), ("kh", "h"),
    ("ck", "k"), ("dj", "j"), ("x", "ks"), ("q", "k"), ("c", "k"), ("g", "k"), ("w", "v"),
    ("z", "s"), ("j", "y"),
)  # fmt: skip
_TWICE = re.compile(r"(.)\1+")
_MUTE = re.compile(r"(?<=[^aeiouy])h|h$")
_VOWELS = str.maketrans("", "", "aeiouy")


def compared(name: str) -> tuple[str, ...]:
    """The words of a name, normal and in Latin letters."""
    return tuple(normal(name).translate(_letters()).split())


@lru_cache(maxsize=_REMEMBERED)
def sound(word: str) -> str:
    """The consonants of a word, those that are confused as one; empty where they are too few."""
    told = word
    for letters, one in _SOUNDS:
        told = told.replace(letters, one)
    told = _MUTE.sub("", _TWICE.sub(r"\1", told))
    bare = told[:1] + told[1:].translate(_VOWELS)
    return bare if len(bare) >= _SOUND_MIN and bare.isalpha() else ""


@lru_cache(maxsize=_REMEMBERED)
def rarity(word: str) -> float:
    """How telling a word is, from 0 to 1."""
    table = background()
    return table.idf(cut(word)) / table.idf("")


def likeness(left: Sequence[str], right: Sequence[str], *, is_person: bool = False) -> float:
    """How alike two names are, from 0 to 1; their words as `compared` gives them.

    Raises:
        MissingExtra: rapidfuzz is not installed.
    """
    if sorted(left) == sorted(right) or "".join(left) == "".join(right):
        return 1.0
    if is_person:
        left, right = _told(left), _told(right)
    paired = _paired(left, right, is_person=is_person)
    agreed = sum(alike * (rarity(left[at]) + rarity(right[to])) for at, to, alike in paired)
    score = agreed / (sum(map(rarity, left)) + sum(map(rarity, right)))
    short = min(len(left), len(right))
    if is_person and short > 1 and len(paired) == short:
        score = max(score, _LEFT_OUT * sum(alike for *_, alike in paired) / short)
    return score


def _told(words: Sequence[str]) -> Sequence[str]:
    """The words of a person's name without particles, which are written or left out at will."""
    return [word for word in words if word not in _PARTICLES] or words


def _paired(
    left: Sequence[str], right: Sequence[str], *, is_person: bool
) -> list[tuple[int, int, float]]:
    """The places of words that belong together, each once, with how alike they are."""
    every = [
        (alike, at, to)
        for (at, one), (to, other) in product(enumerate(left), enumerate(right))
        if (alike := _alike(one, other, is_person=is_person)) >= min(_ALIKE_MIN, _INITIAL)
    ]
    pairs: dict[int, tuple[int, float]] = {}
    taken: set[int] = set()
    for alike, at, to in sorted(every, key=lambda one: (-one[0], one[1], one[2])):
        if at not in pairs and to not in taken:
            pairs[at] = (to, alike)
            taken.add(to)
    return [(at, to, alike) for at, (to, alike) in pairs.items()]


def _alike(one: str, other: str, *, is_person: bool) -> float:
    if one == other:
        return 1.0
    if min(len(one), len(other)) == 1:
        return _INITIAL if is_person and one[0] == other[0] else 0.0
    alike = _edits()(one, other, score_cutoff=_ALIKE_MIN)
    return max(alike, _SOUND) if sound(one) and sound(one) == sound(other) else alike


@cache
def _edits() -> Callable[..., float]:
    try:
        from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - no part of the core
    except ModuleNotFoundError as absent:
        raise MissingExtra("rapidfuzz") from absent
    return Levenshtein.normalized_similarity


@cache
def _letters() -> MappingProxyType[int, str]:
    pairs = (pair.split("=") for row in data.rows("scripts.tsv") for pair in row[1].split())
    return MappingProxyType({ord(letter): latin for letter, latin in pairs})
