"""Identifiers of companies and securities: one that is not well formed names nobody."""

import re

from svc_core.base.checkdigits import has_isin_digit, has_lei_digits

_LEI = re.compile("[A-Z0-9]{18}[0-9]{2}")
_ISIN = re.compile("[A-Z]{2}[A-Z0-9]{9}[0-9]")
_CIK = re.compile("[0-9]{1,10}")


def lei(value: object) -> str | None:
    """A Legal Entity Identifier (ISO 17442) with right check digits."""
    told = str(value or "").strip().upper()
    return told if _LEI.fullmatch(told) and has_lei_digits(told) else None


def isin(value: object) -> str | None:
    """An International Securities Identification Number (ISO 6166) with a right check digit."""
    told = str(value or "").strip().upper()
    return told if _ISIN.fullmatch(told) and has_isin_digit(told) else None


def cik(value: object) -> str | None:
    """A Central Index Key of the SEC, in ten digits."""
    told = str(value or "").strip()
    return told.zfill(10) if _CIK.fullmatch(told) and told.strip("0") else None
