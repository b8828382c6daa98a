"""Scores how alike two names are, word by word: order, spelling and missing words are forgiven.

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
from svc_core.intel.linking.name_forms import normal_name
from svc_core.text.frequencies import background
from svc_core.text.words import term_of

_CACHE_SIZE = 262_144  # words of about a hundred thousand names
_ALIKE_MIN = 0.8  # of two words; below, they are two words
_SOUND, _SOUND_MIN = 0.9, 3  # what equal consonants say, and how many there have to be
_INITIAL = 0.6  # what a first letter says of a word
_LEFT_OUT = 0.9  # all words of a person's shorter name agree, and the longer has more
_PARTICLES = frozenset(["al", "el", "bin", "bint", "ibn", "de", "la", "von", "van", "der"])
_SOUNDS = (
    ("sch", "s"), ("tch", "s"), ("ch", "s"), ("sh", "s"), ("zh", "s"), ("ph", "f"), ("kh", "h"),
    ("ck", "k"), ("dj", "j"), ("x", "ks"), ("q", "k"), ("c", "k"), ("g", "k"), ("w", "v"),
    ("z", "s"), ("j", "y"),
)  # fmt: skip
_TWICE = re.compile(r"(.)\1+")
_MUTE = re.compile(r"(?<=[^aeiouy])h|h$")
_VOWELS = str.maketrans("", "", "aeiouy")


def comparison_words(name: str) -> tuple[str, ...]:
    """The words of a name's normal form, in Latin letters."""
    return tuple(normal_name(name).translate(_letters()).split())


@lru_cache(maxsize=_CACHE_SIZE)
def sound_key(word: str) -> str:
    """The consonants of a word, similar ones made equal; empty where they are too few to tell."""
    text = word
    for letters, replacement in _SOUNDS:
        text = text.replace(letters, replacement)
    text = _MUTE.sub("", _TWICE.sub(r"\1", text))
    bare = text[:1] + text[1:].translate(_VOWELS)
    return bare if len(bare) >= _SOUND_MIN and bare.isalpha() else ""


@lru_cache(maxsize=_CACHE_SIZE)
def rarity(word: str) -> float:
    """How rare a word is in text of any topic, from 0 to 1."""
    table = background()
    return table.idf(term_of(word)) / table.idf("")


def is_same(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two names have the same words in any order, or are the same in one word."""
    return sorted(left) == sorted(right) or "".join(left) == "".join(right)


def likeness(left: Sequence[str], right: Sequence[str], *, is_person: bool = False) -> float:
    """How alike two names are, from 0 to 1; their words as `comparison_words` gives them.

    Raises:
        MissingExtra: rapidfuzz is not installed.
    """
    if is_same(left, right):
        return 1.0
    if is_person:
        left, right = _without_particles(left), _without_particles(right)
    pairs = _pairs(left, right, is_person=is_person)
    agreement = sum(score * (rarity(left[i]) + rarity(right[j])) for i, j, score in pairs)
    score = agreement / (sum(map(rarity, left)) + sum(map(rarity, right)))
    short = min(len(left), len(right))
    if is_person and short > 1 and len(pairs) == short:
        score = max(score, _LEFT_OUT * sum(score for *_, score in pairs) / short)
    return score


def _without_particles(words: Sequence[str]) -> Sequence[str]:
    """A person's name without particles ("de", "bin"), which writers keep or drop at will."""
    return [word for word in words if word not in _PARTICLES] or words


def _pairs(
    left: Sequence[str], right: Sequence[str], *, is_person: bool
) -> list[tuple[int, int, float]]:
    """Pairs the words of two names, the likest first, each word once: two places and a likeness."""
    every = [
        (score, i, j)
        for (i, word), (j, other) in product(enumerate(left), enumerate(right))
        if (score := _word_likeness(word, other, is_person=is_person)) >= min(_ALIKE_MIN, _INITIAL)
    ]
    pairs: dict[int, tuple[int, float]] = {}
    used_right: set[int] = set()
    for score, i, j in sorted(every, key=lambda row: (-row[0], row[1], row[2])):
        if i not in pairs and j not in used_right:
            pairs[i] = (j, score)
            used_right.add(j)
    return [(i, j, score) for i, (j, score) in pairs.items()]


def _word_likeness(word: str, other: str, *, is_person: bool) -> float:
    if word == other:
        return 1.0
    if min(len(word), len(other)) == 1:
        return _INITIAL if is_person and word[0] == other[0] else 0.0
    alike = _edit_similarity()(word, other, score_cutoff=_ALIKE_MIN)
    return max(alike, _SOUND) if sound_key(word) and sound_key(word) == sound_key(other) else alike


@cache
def _edit_similarity() -> Callable[..., float]:
    try:
        from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - no part of the core
    except ModuleNotFoundError as absent:
        raise MissingExtra("rapidfuzz") from absent
    return Levenshtein.normalized_similarity


@cache
def _letters() -> MappingProxyType[int, str]:
    pairs = (pair.split("=") for row in data.table_rows("scripts.tsv") for pair in row[1].split())
    return MappingProxyType({ord(letter): latin for letter, latin in pairs})
