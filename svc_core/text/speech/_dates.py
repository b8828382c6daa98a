"""Writes days and months as they are said in English: `2026-03-05` is `March 5th, 2026`."""

import re

from svc_core.text.speech._numbers import nth
from svc_core.text.wording import MONTHS

_NUMBER = r"(?:3[01]|[12][0-9]|0?[1-9])"
_NTH = r"(?:st|nd|rd|th)"
_YEAR = r"(?P<year>(?:1[0-9]|20|21)[0-9]{2})"
_MONTH = f"(?P<month>{'|'.join(MONTHS)})"
_DAYS = (  # both days of a span are written alike: `5 to 8`, `5th to 8th`, never `5th and 8 people`
    rf"(?P<first>{_NUMBER})(?P<nth>{_NTH})?"
    rf"(?:\s?(?:–|-|to|and|until)\s?(?P<last>{_NUMBER})(?(nth){_NTH}|{_NTH}?))?"
)

_ISO = re.compile(
    r"(?<![\w.-])([0-9]{4})([-/])(0[1-9]|1[0-2])\2(0[1-9]|[12][0-9]|3[01])"
    r"(?:(T(?=[0-9]{2}:))|(?![\w/-]))"
)
_ISO_SPAN = re.compile(r"(?<=[0-9])/(?=[0-9]{4}-[0-9]{2}-[0-9]{2})")
_MONTH_OF = re.compile(rf"(?<![\w.-]){_YEAR}-(0[1-9]|1[0-2])(?![\w.-])")
_UTC = re.compile(r"(?<=:[0-9]{2})Z\b")
_IN_DOTS = re.compile(rf"(?<![\w.])({_NUMBER})\.(0?[1-9]|1[0-2])\.{_YEAR}(?![\w.]\w)")
_HYPHENATED_MONTH = re.compile(rf"(?<=[0-9])-{_MONTH}-(?=[0-9])")
_SPAN_DASH = re.compile(
    rf"(?<=[0-9])\s?[–-]\s?(?={_MONTH} [0-9])"
    rf"|(?<=[a-z])\s?–\s?(?=[0-9]{{1,2}} (?:{'|'.join(MONTHS)})\b)"
)
_DAY_FIRST = re.compile(
    rf"(?<![\w.,:-])(?:the (?={_NUMBER}{_NTH}? of ))?{_DAYS} (?:of )?"
    rf"{_MONTH}\b(?! {_NUMBER}{_NTH})(?:,? {_YEAR}(?![\w%,-]))?"
)
_MONTH_FIRST = re.compile(
    rf"\b{_MONTH} {_DAYS}(?![\w%]|[.,:–-][0-9])"
    rf"(?:,? {_YEAR}(?![\w%–-]|[.,][0-9]))?(?! (?:people|[a-z]+s)\b)"
)


def say_dates(text: str) -> str:
    """Days, spans of days and months in words."""
    text = _ISO.sub(_iso, _ISO_SPAN.sub(" to ", _UTC.sub(" UTC", text)))
    text = _MONTH_OF.sub(lambda match: f"{MONTHS[int(match[2]) - 1]} {match[1]}", text)
    text = _IN_DOTS.sub(lambda match: spoken_day(int(match[3]), int(match[2]), int(match[1])), text)
    text = _SPAN_DASH.sub(" to ", _HYPHENATED_MONTH.sub(r" \1 ", text))
    text = _DAY_FIRST.sub(_say_date, text)
    return _MONTH_FIRST.sub(_say_date, text)


def spoken_day(year: int, month: int, day_: int) -> str:
    """One day: `March 5th, 2026`."""
    return f"{MONTHS[month - 1]} {nth(day_)}, {year}"


def _say_date(match: re.Match[str]) -> str:
    last, year = match["last"], match["year"]
    span = f" to {nth(int(last))}" if last else ""
    return f"{match['month']} {nth(int(match['first']))}{span}{f', {year}' if year else ''}"


def _iso(match: re.Match[str]) -> str:
    return f"{spoken_day(int(match[1]), int(match[3]), int(match[4]))}{' at ' if match[5] else ''}"
