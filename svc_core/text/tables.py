"""Reads word lists that stand in the source code, separated by white space."""

import re
from collections.abc import Iterable


def word_set(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


def pairs(table: str) -> dict[str, str]:
    """The pairs written as `short:long`; an underscore stands for a space."""
    parts = (pair.replace("_", " ").partition(":") for pair in table.split())
    return {short: long for short, _, long in parts}


def alternation(names: Iterable[str]) -> str:
    """A regular expression that matches any of the names, the longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
