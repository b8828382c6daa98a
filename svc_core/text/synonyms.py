"""Finds what words of four languages have in common: synonym, opposite, meaning or country."""

import re
import zlib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Final

from svc_core import data
from svc_core.text.country_names import names_by_code
from svc_core.text.language import compound_parts
from svc_core.text.words import fold_case, terms

_ENDINGS: Final = {
    "en": re.compile(r"(?:i?ng|ings|i?ed|i?es|s|ly|ers?|e|y)$"),
    "de": re.compile(r"(?:ungen|ung|ten|te|en|em|er|es|e|n|s|t)$"),
    "fr": re.compile(r"(?:ations?|aient|ait|ees?|es|ent|er|e|s)$"),
    "es": re.compile(
        r"(?:ciones|cion|ando|iendo|ad[oa]s?|id[oa]s?|aron|ieron|aba|[aei]r(?:an|a)?|[aeo]s|an|en|[aeo])$"
    ),
}
_STEM_MIN: Final = 3


@cache
def _table() -> Mapping[str, Mapping[str, frozenset[str]]]:
    """For each language its terms, each with what it shares with others."""
    table: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    lines = zlib.decompress(data.table_bytes("synonyms.tsv.z")).decode().splitlines()
    for number, line in enumerate(lines):
        language, words = line.split("\t")
        head, *rest = words.split()
        if language == "not":
            for side, mark in zip(words.split("|"), "+-", strict=True):
                for word in side.split():
                    table["en"][word].add(f"{mark}{number}")
        elif language == "en":
            for word in (head, *rest):
                table["en"][word].add(f"{number}")
        else:
            table[language][head].update(rest)
    return {
        name: {word: frozenset(row) for word, row in part.items()} for name, part in table.items()
    }


def related_keys(folded: str, term: str, language: str | None) -> frozenset[str]:
    """What a word may be found by: its term, its synonyms, its English meanings, its parts."""
    language = language or "en"
    stem = stem_of(folded, language)
    table = _table().get(language, {})
    forms = (term, stem[:6], f"{stem}e"[:6])
    related = frozenset[str]().union(*(table.get(form, frozenset()) for form in forms))
    sides = {key for word in related for key in _table()["en"].get(word, ()) if key[0] in "+-"}
    return related | sides | {term, f"~{stem}", *compound_parts(folded, language)}


def opposite_keys(keys: frozenset[str]) -> frozenset[str]:
    """What the opposites of a word with some keys are found by."""
    sides = {"+": "-", "-": "+"}
    return frozenset(sides[key[0]] + key[1:] for key in keys if key[0] in sides)


def stem_of(folded: str, language: str) -> str:
    """A folded word without its ending, where at least `_STEM_MIN` letters stay."""
    endings = _ENDINGS.get(language)
    stem = endings.sub("", folded) if endings else folded
    return stem if len(stem) >= _STEM_MIN else folded


@cache
def _countries() -> Mapping[tuple[str, ...], str]:
    """The codes of countries by the terms of their names."""
    codes: dict[tuple[str, ...], str] = {}
    for code, names in names_by_code().items():
        for name in names:
            codes.setdefault(tuple(terms(name)), f"@{code}")
        codes[(fold_case(code),)] = f"@{code}"
    return codes


def country_of(run: tuple[str, ...]) -> str | None:
    """The key of the country that some terms name, or a code of two letters does."""
    return _countries().get(run)
