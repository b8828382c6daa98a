"""Designator schemes of ships and aircraft: IMO, MMSI, ICAO 24-bit address."""

from typing import Final

from svc_core.base.checkdigits import has_imo_digit
from svc_core.ledger.designators.scheme import Scheme, matcher

_imo_text = matcher("[0-9]{7}", "must have seven digits")
# ITU-R M.585: the country digits begin with 2 to 7, behind what kind of station it is.
_mmsi_text = matcher(
    "[2-7][0-9]{8}|[08][2-7][0-9]{7}|00[2-7][0-9]{6}|111[2-7][0-9]{5}|9[89][2-7][0-9]{6}"
    "|97[024][0-9]{6}",
    "must have nine digits with a country in the place of its kind of station",
)
_icao24_text = matcher(
    "(?!000000|ffffff)[0-9a-f]{6}",
    "must have six hexadecimal digits, neither all 0 nor all f",
    str.lower,
)


def _imo(text: str) -> str:
    imo = _imo_text(text.upper().removeprefix("IMO").strip())
    if not has_imo_digit(imo):
        raise ValueError("has a wrong check digit")
    return imo


SCHEMES: Final = (
    Scheme("imo", "Ship, by its IMO number.", "9074729", _imo),
    Scheme("mmsi", "Radio station of a ship (ITU-R M.585).", "211331640", _mmsi_text),
    Scheme("icao24", "Aircraft, by its transponder address.", "3c6444", _icao24_text),
)
