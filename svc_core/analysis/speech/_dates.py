"""Days, times and years as they are said in English: `2026-03-05` is `March fifth, 2026`."""

import re

from svc_core.analysis._wording import MONTHS
from svc_core.analysis.speech._numerals import ordinal

_MONTH = "|".join(MONTHS)
_ANY_DAY = r"(?:3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?"
_DAY = r"(3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"((?:1[0-9]|20|21)[0-9]{2})"
_SAID = "|".join(ordinal(number) for number in range(1, 32))
_TO = r"\s?(?:–|-|to|and|until)\s?"

_ISO = re.compile(
    r"(?<![\w.-])([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(?:T(?=[0-9]{2}:))?"
    r"(?![\w-])|(?<![\w.-])([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T(?=[0-9]{2}:)"
)
_ISO_SPAN = re.compile(r"(?<=[0-9])/(?=[0-9]{4}-[0-9]{2}-[0-9]{2})")
_SLASHED = re.compile(r"(?<![\w./-])([0-9]{4})/(0[1-9]|1[0-2])/(0[1-9]|[12][0-9]|3[01])(?![\w/-])")
_IN_DOTS = re.compile(rf"(?<![\w.]){_DAY}\.(0?[1-9]|1[0-2])\.{_YEAR}(?![\w.]\w)")
_HYPHENED = re.compile(rf"(?<![\w-]){_DAY}-({_MONTH})-{_YEAR}(?![\w-])")
_ACROSS = re.compile(
    rf"(?<=[0-9])\s?[–-]\s?(?=(?:{_MONTH}) [0-9])"
    rf"|(?<=[a-z])\s?–\s?(?=[0-9]{{1,2}} (?:{_MONTH})\b)"
)
_DAY_FIRST = re.compile(
    rf"(?<![\w.,:-])(?:the (?={_ANY_DAY} of ))?{_DAY}(?:{_TO}{_DAY})? (?:of )?({_MONTH})\b"
    rf"(?! (?:{_SAID})\b)"
    rf"(?:,? {_YEAR}(?![\w%,-]))?"
)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH}) {_DAY}(?:{_TO}{_DAY})?(?![\w%]|[.,:–-][0-9])"
    rf"(?:,? {_YEAR}(?![\w%–-]|[.,][0-9]))?(?! (?:people|[a-z]+s)\b)"
)
_MONTH_OF = re.compile(rf"(?<![\w.-]){_YEAR}-(0[1-9]|1[0-2])(?![\w.-])")
_YEAR_SPAN = re.compile(
    r"(?<![\w.,/-])((?:1[6-9]|20)[0-9]{2})(?:[–-]|/)([0-9]{2})(?![\w/-]|[.,]\d)"
)
_DECADE = re.compile(r"(?<![\w.])(?:(1[0-9]|20)([0-9])0|['‘]([0-9])0)s\b")
_QUARTER = re.compile(r"\bQ([1-4])\b(?:[- ](?=[12][0-9]{3}\b|FY)|'([0-9]{2})\b)?")
_HALF = re.compile(r"\bH([12])[- ](?=[12][0-9]{3}\b|FY\s?'?[0-9]{2})")
_FISCAL = re.compile(r"\bFY\s?(?='?[0-9]{2})'?((?:20)?)([0-9]{2})\b")

_OFFSET = re.compile(r"(?<=[0-9]) ?(?:Z\b|([+-])0?([0-9]{1,2}):([0-9]{2})(?![0-9]))")
_CLOCK_12 = re.compile(
    r"(?<![\w:.,])(0?[1-9]|1[0-2])(?:[:.]([0-5][0-9]))?\s?([AaPp])\.?[Mm]\b\.?(?![\w])"
)
_HALF_DAY = re.compile(r"(?<![\w.])([AaPp])\.[Mm]\.?(?!\w)")
_HOURS_OPEN = re.compile(r"(?<=[0-9] [AP]-M)\s?[–-]\s?(?=[0-9])")
_CLOCK_24 = re.compile(
    r"(?<![\w:.,])([01][0-9]|2[0-4]):([0-5][0-9])(?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?!\w|:\w)"
)
_CLOCK_BARE = re.compile(r"(?<![\w:.,])([1-9]):([0-5][0-9])(?!\w|:\w)")
_TENS = [
    "hundreds",
    "tens",
    "twenties",
    "thirties",
    "forties",
    "fifties",
    "sixties",
    "seventies",
    "eighties",
    "nineties",
]
_CENTURIES = {"10": "ten", "11": "eleven", "12": "twelve", "13": "thirteen", "14": "fourteen",
              "15": "fifteen", "16": "sixteen", "17": "seventeen", "18": "eighteen",
              "19": "nineteen", "20": "twenty"}  # fmt: skip
_QUARTERS = ("first", "second", "third", "fourth")
_SENTENCE_END = re.compile(r"\s*\Z|['\")]*\s+[A-Z]")


def say_dates(text: str) -> str:
    """Days, spans of days, months, decades, quarters and times of day in words."""
    text = _OFFSET.sub(_offset, _ISO_SPAN.sub(" to ", text)) if ":" in text else text
    text = _ISO.sub(_iso, _SLASHED.sub(r"\1-\2-\3", _ISO_SPAN.sub(" to ", text)))
    text = _IN_DOTS.sub(lambda at: _said(MONTHS[int(at[2]) - 1], at[1], None, at[3]), text)
    text = _HYPHENED.sub(lambda at: _said(at[2], at[1], None, at[3]), text)
    text = _ACROSS.sub(" to ", text)
    text = _DAY_FIRST.sub(lambda at: _said(at[3], at[1], at[2], at[4]), text)
    text = _MONTH_FIRST.sub(lambda at: _said(at[1], at[2], at[3], at[4]), text)
    return _clock(_years(text))


def day(year: int, month: int, day_: int) -> str:
    """One day: `March fifth, 2026`."""
    return _said(MONTHS[month - 1], str(day_), None, str(year))


def _said(month: str, first: str, last: str | None, year: str | None) -> str:
    span = f" to {ordinal(int(last))}" if last else ""
    return f"{month} {ordinal(int(first))}{span}{f', {year}' if year else ''}"


def _iso(at: re.Match[str]) -> str:
    year, month, day_ = at.groups()[:3] if at[1] else at.groups()[3:]
    time = " at " if at[0].endswith("T") else ""
    return f"{day(int(year), int(month), int(day_))}{time}"


def _years(text: str) -> str:
    text = _YEAR_SPAN.sub(_year_span, text)
    text = _MONTH_OF.sub(lambda at: f"{MONTHS[int(at[2]) - 1]} {at[1]}", text)
    text = _DECADE.sub(_decade, text)
    text = _QUARTER.sub(lambda at: f"{_QUARTERS[int(at[1]) - 1]} quarter{_of(at)}", text)
    text = _HALF.sub(lambda at: f"{_QUARTERS[int(at[1]) - 1]} half of ", text)
    return _FISCAL.sub(lambda at: f"fiscal year 20{at[2]}", text)


def _of(at: re.Match[str]) -> str:
    if at[2]:
        return f" of 20{at[2]}"
    return " of " if at[0][-1] in " -" else ""


def _year_span(at: re.Match[str]) -> str:
    """`2019-20` and `2024/25` are two years; `2026-03` is a month."""
    if int(at[2]) <= int(at[1][2:]) and at[1][2:] != "99":
        return at[0]
    century = int(at[1][:2]) + (at[1][2:] == "99")
    return f"{at[1]} to {century}{at[2]}"


def _decade(at: re.Match[str]) -> str:
    if at[3]:
        return _TENS[int(at[3])]
    if at[1] == "20" and at[2] == "0":
        return "two thousands"
    return f"{_CENTURIES[at[1]]} {_TENS[int(at[2])]}"


def _offset(at: re.Match[str]) -> str:
    if not at[1]:
        return " UTC"
    minutes = f" {at[3]}" if at[3] != "00" else ""
    return f" UTC {'plus' if at[1] == '+' else 'minus'} {at[2]}{minutes}"


def _clock(text: str) -> str:
    text = _CLOCK_12.sub(_clock_12, text)
    text = _HALF_DAY.sub(lambda at: f"{at[1].upper()}-M{_stop(at)}", text)
    text = _HOURS_OPEN.sub(" to ", text)
    if ":" not in text:
        return text
    text = _CLOCK_24.sub(lambda at: _clock_24(int(at[1]), at[2]), text)
    return _CLOCK_BARE.sub(
        lambda at: f"{at[1]} o'clock" if at[2] == "00" else f"{at[1]} {_minutes(at[2])}", text
    )


def _clock_12(at: re.Match[str]) -> str:
    minutes = f" {_minutes(at[2])}" if at[2] and at[2] != "00" else ""
    return f"{int(at[1])}{minutes} {at[3].upper()}-M{_stop(at)}"


def _stop(at: re.Match[str]) -> str:
    """A full stop, where the stop of `p.m.` ended the sentence as well."""
    return "." if at[0].endswith(".") and _SENTENCE_END.match(at.string, at.end()) else ""


def _clock_24(hour: int, minute: str) -> str:
    if minute == "00" and hour in (0, 12, 24):
        return "noon" if hour == 12 else "midnight"
    said = f" {_minutes(minute)}" if minute != "00" else ""
    return f"{hour % 12 or 12}{said} {'P' if 12 <= hour < 24 else 'A'}-M"


def _minutes(minutes: str) -> str:
    return f"oh {minutes[1]}" if minutes[0] == "0" else minutes
