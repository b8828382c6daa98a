"""Checks identifiers of companies and securities; an ill-formed one is None."""

import re

from svc_core.base.checkdigits import has_isin_digit, has_lei_digits

_LEI = re.compile("[A-Z0-9]{18}[0-9]{2}")
_ISIN = re.compile("[A-Z]{2}[A-Z0-9]{9}[0-9]")
_CIK = re.compile("[0-9]{1,10}")


def lei(value: object) -> str | None:
    """A Legal Entity Identifier (ISO 17442) with right check digits; None for anything else."""
    code = str(value or "").strip().upper()
    return code if _LEI.fullmatch(code) and has_lei_digits(code) else None


def isin(value: object) -> str | None:
    """An ISIN (ISO 6166) with a right check digit; None for anything else."""
    code = str(value or "").strip().upper()
    return code if _ISIN.fullmatch(code) and has_isin_digit(code) else None


def cik(value: object) -> str | None:
    """A Central Index Key of the SEC in ten digits; None for anything else."""
    digits = str(value or "").strip()
    return digits.zfill(10) if _CIK.fullmatch(digits) and digits.strip("0") else None
