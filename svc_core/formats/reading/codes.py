"""Codes of money, languages and telephones as documents write them, into those of standards."""

import re
from collections.abc import Iterable
from functools import cache

from svc_core import data


@cache
def _currencies() -> frozenset[str]:
    return frozenset(" ".join(data.lines("currencies.txt")).split())


@cache
def _languages() -> dict[str, str]:
    return dict(line.split("\t") for line in data.lines("languages.tsv"))


def currency(code: object) -> str | None:
    """A code of ISO 4217, of today or of once; None for one that is none, such as GGP or USDC."""
    symbol = str(code or "").strip().upper()
    return symbol if symbol in _currencies() else None


def currencies(codes: Iterable[object]) -> list[str]:
    """The codes of ISO 4217 among these, each once."""
    return list(dict.fromkeys(filter(None, map(currency, codes))))


def language(code: str) -> str:
    """The BCP 47 tag of a language: of several codes the shortest (RFC 5646, 2.2.1)."""
    return _languages().get(code, code)


def calling_codes(codes: str) -> list[str]:
    """Telephone codes of countries as E.164 writes them: `1-809 and 1-829` is `+1809`, `+1829`."""
    numbers = (re.sub(r"\D", "", code) for code in re.split(r",| and ", codes))
    return list(dict.fromkeys(f"+{digits}" for digits in numbers if digits))
