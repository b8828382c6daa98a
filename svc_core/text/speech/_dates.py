"""Writes days in figures as they are said in English: `2026-03-05` is `March 5th, 2026`.

Days with the name of their month stay as they are written: every voice reads `5 March 2026`.
"""

import re

from svc_core.text.speech._numbers import nth
from svc_core.text.wording import MONTHS

_MONTH = "|".join(MONTHS)
_ISO = re.compile(
    r"(?<![\w.-])([0-9]{4})([-/])(0[1-9]|1[0-2])\2(0[1-9]|[12][0-9]|3[01])"
    r"(?:(T(?=[0-9]{2}:))|(?![\w/-]))"
)
_ISO_SPAN = re.compile(r"(?<=[0-9])/(?=[0-9]{4}-[0-9]{2}-[0-9]{2})")
_MONTH_OF = re.compile(r"(?<![\w.-])((?:1[0-9]|20|21)[0-9]{2})-(0[1-9]|1[0-2])(?![\w.-])")
_UTC = re.compile(r"(?<=:[0-9]{2})Z\b")
_IN_DOTS = re.compile(
    r"(?<![\w.])(3[01]|[12][0-9]|0?[1-9])\.(1[0-2]|0?[1-9])\.((?:1[0-9]|20|21)[0-9]{2})(?![\w.]\w)"
)
_HYPHENATED_MONTH = re.compile(rf"(?<=[0-9])-({_MONTH})-(?=[0-9])")
_SPAN_DASH = re.compile(
    rf"(?<=[0-9])\s?[–-]\s?(?=(?:{_MONTH}) [0-9])|(?<=[a-z])\s?–\s?(?=[0-9]{{1,2}} (?:{_MONTH})\b)"
)


def say_dates(text: str) -> str:
    """Days in figures and spans between days in words."""
    text = _ISO.sub(_iso, _ISO_SPAN.sub(" to ", _UTC.sub(" UTC", text)))
    text = _MONTH_OF.sub(lambda match: f"{MONTHS[int(match[2]) - 1]} {match[1]}", text)
    text = _IN_DOTS.sub(lambda match: spoken_day(int(match[3]), int(match[2]), int(match[1])), text)
    return _SPAN_DASH.sub(" to ", _HYPHENATED_MONTH.sub(r" \1 ", text))


def spoken_day(year: int, month: int, day_: int) -> str:
    """One day: `March 5th, 2026`."""
    return f"{MONTHS[month - 1]} {nth(day_)}, {year}"


def _iso(match: re.Match[str]) -> str:
    return f"{spoken_day(int(match[1]), int(match[3]), int(match[4]))}{' at ' if match[5] else ''}"
