"""Measures: `5 km` is `5 kilometres`, `3-5%` is `3 to 5 percent`, `-4°C` is below zero in words."""

import re

from svc_core.analysis.speech._numerals import (
    DASH,
    NUMBER,
    SCALE,
    SCALES,
    SIGN,
    START,
    is_attribute,
    is_one,
    signed,
)

_ONE_AND_MANY = {
    "km": "kilometre", "cm": "centimetre", "mm": "millimetre", "µm": "micrometre",
    "kg": "kilogram", "mg": "milligram", "g": "gram", "µg": "microgram", "t": "tonne",
    "Mt": "megatonne", "Gt": "gigatonne", "kt": "kilotonne", "ha": "hectare",
    "wk": "week", "wks": "week", "km²": "square kilometre",
    "km2": "square kilometre", "sq km": "square kilometre",
    "m²": "square metre", "m2": "square metre", "sq m": "square metre", "sqm": "square metre",
    "m³": "cubic metre", "m3": "cubic metre", "km³": "cubic kilometre",
    "bcm": "billion cubic metre",
    "sq mi": "square mile", "W": "watt", "kW": "kilowatt", "MW": "megawatt", "GW": "gigawatt",
    "TW": "terawatt", "Wh": "watt hour", "kWh": "kilowatt hour", "MWh": "megawatt hour",
    "GWh": "gigawatt hour", "TWh": "terawatt hour", "kV": "kilovolt", "mAh": "milliampere hour",
    "kB": "kilobyte", "KB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte",
    "PB": "petabyte", "ml": "millilitre", "mL": "millilitre", "cl": "centilitre",
    "lb": "pound", "lbs": "pound", "oz": "ounce", "yd": "yard", "mi": "mile",
    "hr": "hour", "hrs": "hour", "h": "hour", "min": "minute", "mins": "minute", "sec": "second",
    "secs": "second", "ms": "millisecond", "yr": "year", "yrs": "year", "bp": "basis point",
    "bps": "basis point", "pp": "percentage point", "ppt": "percentage point",
    "pps": "percentage point", "%-points": "percentage point", "% points": "percentage point",
    "%pts": "percentage point", "nmi": "nautical mile",
}  # fmt: skip
_ALWAYS = {
    "%": "percent", "‰": "per thousand", "mph": "miles per hour", "km/h": "kilometres per hour",
    "kph": "kilometres per hour", "kmh": "kilometres per hour", "m/s": "metres per second",
    "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
    "°C": "degrees Celsius", "°F": "degrees Fahrenheit", "°": "degrees", "°N": "degrees north",
    "°S": "degrees south", "°E": "degrees east", "°W": "degrees west",
    "bpd": "barrels per day", "b/d": "barrels per day", "bbl/d": "barrels per day",
    "mb/d": "million barrels per day", "mmbtu": "million British thermal units",
    "MMBtu": "million British thermal units", "pc": "percent",
    "bbl": "barrels", "boe": "barrels of oil equivalent", "mbpd": "million barrels per day",
    "Gbps": "gigabits per second", "Mbps": "megabits per second", "kbps": "kilobits per second",
    "Gbit/s": "gigabits per second", "Mbit/s": "megabits per second",
    "kB/s": "kilobytes per second", "MB/s": "megabytes per second",
    "GB/s": "gigabytes per second", "TB/s": "terabytes per second",
    "ppm": "parts per million", "ppb": "parts per billion", "dB": "decibels",
    "hPa": "hectopascals", "kPa": "kilopascals", "ft": "feet",
}  # fmt: skip
_UNITS = "|".join(
    re.escape(unit) for unit in sorted([*_ONE_AND_MANY, *_ALWAYS], key=len, reverse=True)
)
_MEASURE = re.compile(
    rf"(?:{SIGN}{START}|(?<=[a-z] )(?P<about>~|≈)|{START})(?:(?P<first>{NUMBER})%?{DASH})?"
    rf"(?P<number>{NUMBER})(?:[ -]?(?P<scale>{SCALE}) )?(?P<gap>[ -]?)"
    rf"(?P<unit>{_UNITS})(?![\w²³]|-[A-Z])(?P<hyphen>-(?=[a-z]))?"
)
_HEAT = re.compile(
    r"(?<![\w.,-])(-?[0-9]{1,3}(?:\.[0-9])?)([CF]) \((-?[0-9]{1,3}(?:\.[0-9])?)([CF])\)"
)
_CALIBRE = re.compile(
    r"(?<![\w.,])([0-9]{1,3}) ?mm (?=(?:shells?|rounds?|artillery|guns?|howitzers?|ammunition|"
    r"mortars?|cannons?|munitions?)\b)"
)
_HOURS = re.compile(r"(?<![\w.,])([0-9]{1,3})h ?([0-5]?[0-9])m(?:in)?(?!\w)")
_FEET = re.compile(
    r"(?<![\w.,])([0-9]{1,3}) ?(?:ft|feet) (1[01]|[0-9]) ?in(?=[.,;:!?)]|\Z| (?:tall|high|long)\b)"
)
_METRES = re.compile(
    rf"{START}(?P<number>{NUMBER})(?:(?P<gap>[ -])m|m(?=[ -](?:tall|high|deep|wide|long|away|above|"
    rf"below|apart|sprint|race|hurdles|freestyle|relay)\b))(?![\w/'²³])"
)


def say_units(text: str) -> str:
    """Quantities with the unit in words, in the singular where the number or a hyphen asks it."""
    text = _FEET.sub(lambda at: f"{at[1]} feet {_counted(at[2], 'inch', 'inches')}", text)
    text = _CALIBRE.sub(r"\1 millimetre ", _HEAT.sub(r"\1°\2 (\3°\4)", text))
    text = _HOURS.sub(_hours, text)
    return _METRES.sub(_metres, _MEASURE.sub(_measure, text))


def _hours(at: re.Match[str]) -> str:
    hours, minutes = str(int(at[1])), str(int(at[2]))
    return f"{_counted(hours, 'hour', 'hours')} {_counted(minutes, 'minute', 'minutes')}"


def _counted(number: str, one: str, many: str) -> str:
    return f"{number} {one if is_one(number) else many}"


def _measure(at: re.Match[str]) -> str:
    unit, number = at["unit"], at["number"]
    span = f"{at['first']} to " if at["first"] else ""
    scale = f" {SCALES[at['scale']]}" if at["scale"] else ""
    single = (is_one(number) and not span + scale) or at["gap"] == "-" or bool(at["hyphen"])
    single = single or is_attribute(at)
    name = _ALWAYS.get(unit) or _ONE_AND_MANY[unit] + ("" if single else "s")
    about = "about " if at["about"] else ""
    return f"{about}{signed(at['sign'])}{span}{number}{scale} {name}{' ' if at['hyphen'] else ''}"


def _metres(at: re.Match[str]) -> str:
    single = is_one(at["number"]) or at["gap"] == "-"
    return f"{at['number']} {'metre' if single else 'metres'}"
