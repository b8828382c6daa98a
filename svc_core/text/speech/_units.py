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
from svc_core.text.tables import alternation, pairs

_COUNT_UNITS = pairs(  # in the plural with an `s`
    """
    km:kilometre cm:centimetre mm:millimetre µm:micrometre kg:kilogram mg:milligram g:gram
    µg:microgram t:tonne kt:kilotonne Mt:megatonne Gt:gigatonne ha:hectare km²:square_kilometre
    km2:square_kilometre sq_km:square_kilometre m²:square_metre m2:square_metre sq_m:square_metre
    sqm:square_metre m³:cubic_metre m3:cubic_metre km³:cubic_kilometre bcm:billion_cubic_metre
    sq_mi:square_mile W:watt kW:kilowatt MW:megawatt GW:gigawatt TW:terawatt Wh:watt_hour
    kWh:kilowatt_hour MWh:megawatt_hour GWh:gigawatt_hour TWh:terawatt_hour kV:kilovolt
    mAh:milliampere_hour kB:kilobyte KB:kilobyte MB:megabyte GB:gigabyte TB:terabyte PB:petabyte
    ml:millilitre mL:millilitre cl:centilitre lb:pound lbs:pound oz:ounce yd:yard mi:mile
    nmi:nautical_mile hr:hour hrs:hour h:hour min:minute mins:minute sec:second secs:second
    ms:millisecond wk:week wks:week yr:year yrs:year bp:basis_point bps:basis_point
    pp:percentage_point ppt:percentage_point pps:percentage_point %-points:percentage_point
    %_points:percentage_point %pts:percentage_point
    """
)
_FIXED_UNITS = pairs("""
    %:percent pc:percent ‰:per_thousand mph:miles_per_hour kph:kilometres_per_hour
    kmh:kilometres_per_hour m/s:metres_per_second Hz:hertz kHz:kilohertz MHz:megahertz
    GHz:gigahertz °C:degrees_Celsius °F:degrees_Fahrenheit °:degrees °N:degrees_north
    °S:degrees_south °E:degrees_east °W:degrees_west bbl:barrels bpd:barrels_per_day
    b/d:barrels_per_day mb/d:million_barrels_per_day mbpd:million_barrels_per_day
    boe:barrels_of_oil_equivalent mmbtu:million_British_thermal_units
    MMBtu:million_British_thermal_units Gbps:gigabits_per_second Mbps:megabits_per_second
    kbps:kilobits_per_second Gbit/s:gigabits_per_second Mbit/s:megabits_per_second
    ppm:parts_per_million ppb:parts_per_billion dB:decibels hPa:hectopascals kPa:kilopascals ft:feet
""")
_PER_UNITS = pairs("""
    bbl:barrel barrel:barrel tonne:tonne ton:ton ounce:ounce s:second hour:hour d:day day:day
    week:week month:month year:year head:head share:share litre:litre liter:litre l:litre L:litre
    gallon:gallon gal:gallon GJ:gigajoule MMBtu:million_British_thermal_units unit:unit
""")
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
