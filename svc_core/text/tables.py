"""Reads the tables of words of a kind: each line is a kind, a tab and words, `_` for a space."""

import re
from collections.abc import Iterable
from functools import cache

from svc_core import data


@cache
def words_of(table: str, kind: str) -> tuple[str, ...]:
    """The words of one kind in a table, in order."""
    lines = (words for row_kind, words in data.table_rows(table) if row_kind == kind)
    return tuple(word.replace("_", " ") for line in lines for word in line.split())


def spoken(kind: str) -> tuple[str, ...]:
    """The words of one kind in the table of speech."""
    return words_of("speech.tsv", kind)


def spoken_pairs(kind: str) -> dict[str, str]:
    """The pairs of one kind in the table of speech, written as `short:long`."""
    pairs = (word.partition(":") for word in spoken(kind))
    return {short: long for short, _, long in pairs}


def alternation(names: Iterable[str]) -> str:
    """A regular expression that matches any of the names, the longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
