"""Writes out measures: `5 km` is `5 kilometres`, `3-5%` is `3 to 5 percent`; sums per unit too."""

import re

from svc_core.text.speech._numbers import (
    DASH,
    NUMBER,
    SCALE,
    SIGN,
    START,
    is_attribute,
    is_one,
    scale_words,
    sign_words,
)
from svc_core.text.tables import alternation, spoken_pairs

_COUNT_UNITS = spoken_pairs("count_unit")
_FIXED_UNITS = spoken_pairs("fixed_unit")
_PER_UNITS = spoken_pairs("per_unit")
_RATES = _PER_UNITS | _COUNT_UNITS
_RATE = re.compile(
    rf"(?:(?<=[sen0-9])|(?<=dollar)|(?<=pound))\s?/\s?({alternation(_RATES)})(?![\w²³])"
)
_MEASURE = re.compile(
    rf"(?:{SIGN}{START}|(?<=[a-z] )(?P<about>~|≈)|{START})(?:(?P<first>{NUMBER})%?{DASH})?"
    rf"(?P<number>{NUMBER})(?:[ -]?(?P<scale>{SCALE}) )?(?P<gap>[ -]?)"
    rf"(?P<unit>{alternation(_COUNT_UNITS | _FIXED_UNITS)})(?![\w²³]|-[A-Z])(?P<hyphen>-(?=[a-z]))?"
)
_METRES = re.compile(  # without a gap it is millions, unless a word says what is measured
    rf"{START}(?P<number>{NUMBER})(?:(?P<gap>[ -])m|m(?=[ -](?:tall|high|deep|wide|long|away|above|"
    rf"below|apart|sprint|race|hurdles|freestyle|relay)\b))(?![\w/'²³])"
)
_HOURS = re.compile(r"(?<![\w.,])([0-9]{1,3})h ?([0-5]?[0-9])m(?:in)?(?!\w)")


def say_units(text: str) -> str:
    """Quantities with the unit in words, singular where the number or a hyphen requires it."""
    text = _HOURS.sub(r"\1 h \2 min", text)
    return _METRES.sub(_metres, _MEASURE.sub(_measure, text))


def say_rates(text: str) -> str:
    """The units that a sum or quantity refers to: `/bbl` is `per barrel`."""
    return _RATE.sub(lambda match: f" per {_RATES[match[1]]}", text)


def _measure(match: re.Match[str]) -> str:
    unit, number = match["unit"], match["number"]
    span = f"{match['first']} to " if match["first"] else ""
    scale = scale_words(match["scale"])
    single = (is_one(number) and not span + scale) or match["gap"] == "-" or bool(match["hyphen"])
    single = single or is_attribute(match)
    name = _FIXED_UNITS.get(unit) or _COUNT_UNITS[unit] + ("" if single else "s")
    about, gap = "about " if match["about"] else "", " " if match["hyphen"] else ""
    return f"{about}{sign_words(match['sign'])}{span}{number}{scale} {name}{gap}"


def _metres(match: re.Match[str]) -> str:
    single = is_one(match["number"]) or match["gap"] == "-"
    return f"{match['number']} {'metre' if single else 'metres'}"
