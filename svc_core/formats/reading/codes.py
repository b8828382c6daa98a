"""Converts codes of currencies, languages and telephones into those of standards."""

import re
from collections.abc import Iterable
from functools import cache

from svc_core import data


@cache
def _currencies() -> frozenset[str]:
    return frozenset(" ".join(data.table_lines("currencies.txt")).split())


@cache
def _languages() -> dict[str, str]:
    return dict(line.split("\t") for line in data.table_lines("languages.tsv"))


def currency(code: object) -> str | None:
    """An ISO 4217 code, current or historical; None for others, such as GGP or USDC."""
    symbol = str(code or "").strip().upper()
    return symbol if symbol in _currencies() else None


def currencies(codes: Iterable[object]) -> list[str]:
    """The ISO 4217 codes among these codes, each once."""
    return list(dict.fromkeys(filter(None, map(currency, codes))))


def language_code(code: str) -> str:
    """The BCP 47 tag of a language: of several codes the shortest (RFC 5646, 2.2.1)."""
    return _languages().get(code, code)


def calling_codes(codes: str) -> list[str]:
    """Country calling codes in E.164: `1-809 and 1-829` becomes `+1809`, `+1829`."""
    numbers = (re.sub(r"\D", "", code) for code in re.split(r",| and ", codes))
    return list(dict.fromkeys(f"+{digits}" for digits in numbers if digits))
