"""Designator schemes of companies and securities: LEI, ISIN, CIK, ticker, FIGI."""

from typing import Final

from svc_core.base.checkdigits import has_figi_digit, has_isin_digit, has_lei_digits
from svc_core.ledger.designators.scheme import Scheme, matcher

_lei_text = matcher("[A-Z0-9]{18}[0-9]{2}", "must be 18 letters or digits and two check digits")
_isin_text = matcher(
    "[A-Z]{2}[A-Z0-9]{9}[0-9]",
    "must be a country code, nine letters or digits and a check digit",
)
_cik_text = matcher("[0-9]{1,10}", "must have one to ten digits")
_ticker_text = matcher(
    "[A-Z0-9]{4}:[A-Z0-9](?:[A-Z0-9.+=/^-]{0,18}[A-Z0-9+^])?",
    "must be an ISO 10383 market code and a symbol, such as XNAS:AAPL",
    str.upper,
)
_figi_text = matcher(
    "[B-DF-HJ-NP-TV-Z]{2}G[B-DF-HJ-NP-TV-Z0-9]{8}[0-9]",
    "must be two consonants, G, eight consonants or digits and a check digit",
)
# They would read as the start of an ISIN of Bermuda, Britain, Ghana and others.
_FIGI_PREFIXES_NOT_USED: Final = frozenset({"BS", "BM", "GG", "GB", "GH", "KY", "VG"})


def _lei(text: str) -> str:
    lei = _lei_text(text.replace(" ", "").upper())
    if not has_lei_digits(lei):
        raise ValueError("has wrong check digits (ISO 7064 MOD 97-10)")
    return lei


def _isin(text: str) -> str:
    isin = _isin_text(text.replace(" ", "").upper())
    if not has_isin_digit(isin):
        raise ValueError("has a wrong check digit (ISO 6166)")
    return isin


def _cik(text: str) -> str:
    cik = _cik_text(text.upper().removeprefix("CIK").strip()).zfill(10)
    if not cik.strip("0"):
        raise ValueError("must not be zero")
    return cik


def _figi(text: str) -> str:
    figi = _figi_text(text.upper())
    if figi[:2] in _FIGI_PREFIXES_NOT_USED:
        raise ValueError("must not begin like the ISIN of a country")
    if not has_figi_digit(figi):
        raise ValueError("has a wrong check digit")
    return figi


SCHEMES: Final = (
    Scheme("lei", "Legal entity identifier (ISO 17442).", "5493001KJTIIGC8Y1R12", _lei),
    Scheme("isin", "Security (ISO 6166).", "US0378331005", _isin),
    Scheme("cik", "Filer at the SEC, ten digits.", "0000320193", _cik),
    Scheme("ticker", "Market code (ISO 10383) and symbol.", "XNAS:AAPL", _ticker_text),
    Scheme("figi", "Financial instrument (OMG FIGI).", "BBG000B9XRY4", _figi),
)
