"""Reads the numbers and dates of a text, in digits or words, as values that can be compared.

Rule 1: a number is compared by its value: separators, words, powers of ten, signs and units of one
        dimension make no difference. It may be rounded at its last place, and where it is said to
        be about so many, at its last digit that is not zero.
Rule 2: a date is compared by the calendar; it may leave out what the other has.
Rule 3: what has letters and digits (`CVE-2024-3400`, `R-91`) is a name and no number.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from itertools import product
from typing import Final

from attrs import field, frozen

from svc_core import data
from svc_core.text.tables import alternation
from svc_core.text.words import fold_case

Unit = tuple[str, float]
"""What is measured, and how many of its smallest unit: `("length", 1000.0)` for kilometres."""
Day = tuple[int | None, int | None, int | None, int | None]
"""A year, month, day and weekday (Monday is 0), each None where it is not said."""

_YEARS: Final = range(1500, 2200)
_DECIMAL_COMMA: Final = frozenset({"de", "fr", "es", "it", "pt", "nl", "pl", "sk", "ru"})
_BLANKS: Final = "’'\u00a0\u202f "
_DIGITS: Final = (
    r"(?<![\w,:/.])(?<!\w-)(?:(?<=[\s$€£¥(\"'“‘«„~≈-])|(?<=^))[-−]?"
    rf"(?:\d{{1,3}}(?P<mark>[.,{_BLANKS}])\d{{3}}(?:(?P=mark)\d{{3}})*(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
    r"(?!\d|[.,:/]\d|-[A-Z\d])"
)
_SIGN: Final = re.compile(r"(?:[A-Z]{1,2}[$]|[$€£¥]|\b[A-Z]{3}\s)\s?$")
_HUNDRED: Final = 100
_BARE: Final = "hundert|tausend|cent|mille|mil|cien|ciento"  # numbers without an article
_HALF: Final = "half|halbe[ns]?|demi|medio"
_HALF_MORE: Final = rf"(?i:\s?(?:and|und|et|y)\s(?:an?\s|eine?\s)?(?:{_HALF}|demie|media))"
_MILLION: Final = re.compile(r"m\b")
_HUNDREDS: Final = re.compile(r"(?<=[a-zäöü])(hundert|tausend)(?=[a-zäöü]|\b)")
_QUARTER: Final = re.compile(r"\b(?:(\d{4})[-\s])?Q([1-4])\b")
_INTERVAL: Final = re.compile(r"(?<=\b\d{4})/(?=\d{4}\b)|(?<=-\d\d)/(?=\d{4}-\d\d)")
_SIGN_CHARS: Final = 5
NUMERAL_CHARS: Final = 64
"""A number in words is no longer."""
SHARE_STEP: Final = 4.0
"""The size of the last place of "a third", in percent."""


@cache
def months() -> Mapping[str, int]:
    """The months by their folded names."""
    rows = (row for row in data.table_rows("calendar.tsv") if row[0] == "month")
    return {fold_case(name): int(number) for _, number, names in rows for name in names.split("|")}


@cache
def claim_words(kind: str) -> Mapping[str, tuple[str, ...]]:
    """The words of one kind in the table of claims, folded, each with its keys."""
    words: dict[str, tuple[str, ...]] = {}
    for key, spellings in _rows(kind):
        for word in map(fold_case, spellings):
            words[word] = (*words.get(word, ()), key)
    return words


def _rows(kind: str) -> list[tuple[str, list[str]]]:
    rows = data.table_rows("claims.tsv")
    return [(key, line.split("|")) for row_kind, key, line in rows if row_kind == kind]


@cache
def _expression(kind: str, name: str = "") -> str:
    """The words of a kind in any case, also without accents; codes (`USD`) in capitals only."""
    words = {word for key, spellings in _rows(kind) if name in key for word in spellings}
    codes = {word for word in words if len(word) == len("USD") and word.isupper()}
    return f"(?i:{alternation(words - codes | set(map(fold_case, words - codes)))})|" + (
        alternation(codes) or "(?!)"
    )


@cache
def claim_cues(kind: str, language: str | None = None) -> frozenset[str]:
    """The words that tell of one thing, such as `denial`, in a language; English where unknown."""
    kinds = {kind, f"{kind} {language or 'en'}"}
    return frozenset(word for word, keys in claim_words("cue").items() if kinds.intersection(keys))


@frozen
class Value:
    """A number or a date in a text, from `start` to `end`.

    A date has `days`, one for each way to read it. Of a number `amount` is its value and `step` the
    size of its last place; `units` are what it may be measured in. A year is both. `bound` is 1
    behind "more than" or "at least", -1 behind "almost", else 0.
    """

    start: int = field(eq=False)
    end: int = field(eq=False)
    days: tuple[Day, ...] = ()
    amount: float | None = None
    step: float = 1.0
    units: frozenset[Unit] = field(default=frozenset(), repr=False)
    bound: int = 0

    @property
    def keys(self) -> frozenset[str]:
        """What words of its unit are found by, or the parts of its date."""
        parts = (part for day in self.days for part in zip("ymd", day, strict=False))
        return unit_keys(self.units).union(f"#{name}{part}" for name, part in parts if part)

    def is_like(self, other: "Value") -> bool:
        """Whether both are dates, or numbers of one dimension."""
        dimensions = [{name for name, _ in quantity.units} for quantity in (self, other)]
        return bool(self.days) == bool(other.days) and dimensions[0] == dimensions[1]

    def follows(self, source: "Value") -> bool:
        """Whether this says no more than another value."""
        if self.days and source.days:
            return any(_is_day(own, day) for own, day in product(self.days, source.days))
        if self.amount is None or source.amount is None:
            return self.amount is not None and any(day[0] == self.amount for day in source.days)
        own, other = abs(self.amount), abs(source.amount)
        return self.bound * source.bound >= 0 and any(
            abs(own * factor - other * ratio + self.bound * factor * self.step / 2)
            <= factor * self.step / 2 + 1e-9 * own
            for factor, ratio in self._factors(source)
        )

    def difference(self, other: "Value") -> "Value | None":
        """The number between two numbers of one unit, or of the days between two dates; never 0."""
        if self.days or other.days:
            gap = _days_between(self.days, other.days)
            return Value(0, 0, (), float(gap), 1.0, unit_of("days")) if gap else None
        is_measured = self.units and other.units and self.units != other.units
        if is_measured or self.amount is None or other.amount in (None, self.amount):
            return None
        units = self.units or other.units
        units = unit_of("percentage points") if units == unit_of("%") else units
        return Value(0, 0, (), abs(self.amount - other.amount), 1.0, units)

    def _factors(self, source: "Value") -> Iterator[tuple[float, float]]:
        if not self.units or self.units == source.units:
            yield 1.0, 1.0
        elif not source.units and ("share", 1.0) in self.units:
            yield 1.0, 100.0
        for (name, own), (other_name, other) in product(self.units, source.units):
            if name == other_name:
                yield own, other


def _days_between(first: Iterable[Day], second: Iterable[Day]) -> int:
    """The days between two dates, of which both or none have a year; 0 where that is open."""
    pairs = [(a, b) for a, b in product(first, second) if all((*a[1:3], *b[1:3]))]
    sides = (map(_day_of, pair) for pair in pairs if bool(pair[0][0]) == bool(pair[1][0]))
    gaps = {abs(one - other).days for one, other in sides}
    return gaps.pop() if len(gaps) == 1 else 0


def _day_of(day: Day) -> date:
    return date(day[0] or 2000, day[1] or 1, day[2] or 1)  # a leap year: each day has a date


def _is_day(own: Day, day: Day) -> bool:
    year, month, number, weekday = day
    if year and month and number and own[3] is not None:
        weekday = date(year, month, number).weekday()
    return all(part in (None, other) for part, other in zip(own, (*day[:3], weekday), strict=True))


def unit_of(word: str) -> frozenset[Unit]:
    """The units that a word or sign may stand for."""
    keys = claim_words("unit").get(fold_case(word).strip(), ())
    return frozenset((name, float(factor)) for name, factor in map(str.split, keys))


def unit_keys(units: Iterable[Unit]) -> frozenset[str]:
    """What a word of some units is found by."""
    return frozenset(f"#{name}" for name, _ in units)


def values_of(text: str, language: str | None) -> tuple[str, list[Value]]:
    """The text with German numbers parted, and its numbers and dates in order."""
    text = _INTERVAL.sub(" / ", _QUARTER.sub(r"\2 quarter \1", _HUNDREDS.sub(r" \1 ", text)))
    values, dates = list[Value](), list(_dates(text))
    dated = frozenset(at for row in dates for at in range(row.start, row.end))
    numbers = (
        _quantity(text, match, language)
        for match in _number(language).finditer(text)
        if match.start(match.lastgroup or 0) not in dated
        and (language != "en" or match[0].lower() != "once")
    )
    parts = (
        Value(*match.span(), (), _word(match[0], "share"), SHARE_STEP, unit_of("%"))
        for match in _share().finditer(text)
    )
    for quantity in sorted([*dates, *parts, *numbers], key=lambda row: (row.start, -row.end)):
        if values and quantity.start < values[-1].end:
            continue
        values.append(quantity)
    return text, values


# -- dates -----------------------------------------------------------------------------------------


@cache
def _date() -> re.Pattern[str]:
    rows = (row for row in data.table_rows("calendar.tsv") if row[0] == "month")
    month = alternation(name for *_, names in rows for name in names.split("|"))
    return re.compile(
        rf"\b(?:(?:(?P<w1>{_expression('weekday')}),?\s(?:the\s|den\s|dem\s)?)?(?:"
        r"(?P<y1>\d{4})-(?P<m1>\d\d)(?:-(?P<d1>\d\d))?(?:[T ]\d\d:\d\d[\d:.Z+-]*)?(?![\w-])"
        rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s(?:of\s|de\s)?(?P<m2>{month})\b"
        r"(?:\.?,?\s(?:de\s|del\s)?(?P<y2>\d{4})\b)?"
        rf"|(?P<m3>{month})\.?\s(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\b(?![.,]\d)"
        r"(?:,?\s(?P<y3>\d{4})\b)?"
        rf"|(?P<m4>{month})\.?,?\s(?:de\s|del\s)?(?P<y4>\d{{4}})\b"
        r"|(?P<d5>\d{1,2})[./](?P<m5>\d{1,2})[./](?P<y5>\d{4})\b)"
        rf"|(?P<w6>{_expression('weekday')})s?\b"
        rf"|(?<=\bin )(?P<m7>may)\b|(?!may\b|mar\b|\w{{1,3}}\b)(?P<m8>{month})\b"
        r"|(?P<m9>(?-i:Mai|mai))\b)",
        re.IGNORECASE,
    )


def _dates(text: str) -> Iterator[Value]:
    for match in _date().finditer(text):
        parts = {name[0]: part for name, part in match.groupdict().items() if part}
        month = parts.get("m", "")
        number = int(month) if month.isdigit() else months().get(fold_case(month))
        year, day = (int(parts[name]) if name in parts else None for name in "yd")
        weekday = int(claim_words("weekday")[fold_case(parts["w"])][0]) if "w" in parts else None
        days: list[Day] = [(year, number, day, weekday)]
        if match["m5"]:  # 3/4 is a day of March or of April
            days.append((year, day, number, None))
        if valid := tuple(filter(_is_valid, days)):
            yield Value(*match.span(), valid)


def _is_valid(row: Day) -> bool:
    try:
        date(row[0] or 2000, row[1] or 1, row[2] or 1)
    except ValueError:
        return False
    return True


# -- numbers ---------------------------------------------------------------------------------------


@cache
def _scales(language: str | None) -> Mapping[str, float]:
    """The powers of ten by their names in a language; those of English where it is unknown."""
    rows = ((key.split(), spellings) for key, spellings in _rows("scale"))
    return {
        spelling: 10.0 ** int(power)
        for (power, *tags), spellings in sorted(rows, key=lambda row: len(row[0]))
        for word in (spellings if tags in ([], [language or "en"]) else ())
        for spelling in (word, fold_case(word))
    }


@cache
def _number(language: str | None) -> re.Pattern[str]:
    more = rf"(?i:{alternation(_scales(language))})\b|{_HALF_MORE}"
    word = (
        rf"(?i:(?P<half>{_HALF})[\s-](?:an?\s)?|(?:an?|one|eine?|une?|una)\s)(?={more})"
        rf"|(?<!\ba\s)(?<!per\s)(?=(?:{_expression('number')})\b)"
        rf"|(?<!\bpor\s)(?<!\bpour\s)(?<!\bmehrere\s)(?<!\beinige\s)(?=(?i:{_BARE})\b)"
    )
    return re.compile(
        rf"(?:\b(?P<about>{_expression('cue', 'about')})\s[$€£¥]?)?"
        rf"(?:(?P<digits>{_DIGITS})|\b(?P<word>{word}))"
    )


@cache
def _numerals(language: str | None) -> re.Pattern[str]:
    """What may follow a number: a power of ten, a smaller number, "and a half"."""
    return re.compile(
        rf"[\s-]{{0,2}}(?:(?P<scale>(?i:{alternation(_scales(language))}))"
        rf"|(?:(?i:and|und)\s)?(?P<number>{_expression('number')})|(?P<half>{_HALF_MORE}))\b"
    )


@cache
def _share() -> re.Pattern[str]:
    noun = rf"\s(?!(?:{_expression('cue', 'share')})\b)\w"  # "a third man" is no part
    ordinal = rf"(?i:a|un|une)\s(?:{_expression('number')}){noun}"
    return re.compile(rf"\b(?!{ordinal})(?:{_expression('share')})\b")


@cache
def _unit() -> re.Pattern[str]:
    return re.compile(rf"(?:st|nd|rd|th)?[\s-]?(?:(?:of|de)\s|d['’])?({_expression('unit')})(?!\w)")


def _quantity(text: str, match: re.Match[str], language: str | None) -> Value:
    digits = match["digits"]
    is_word = digits is None
    first = 0.5 if match["half"] else float(bool(match["word"]))
    amount, step = (first, 1.0) if is_word else _amount(digits, language)
    amount, power, end = _numeral(text, match.end(), amount, language, is_word=is_word)
    start = match.start("word" if is_word else "digits")
    sign = _SIGN.search(text[max(0, start - _SIGN_CHARS) : start])
    if sign and (million := _MILLION.match(text, end)):
        amount, power, end = amount * 1e6, 1e6, million.end()
    step *= 1 if is_word else power
    if step == 1.0 and amount and match["about"]:
        step = max((10.0**at for at in range(16) if amount % 10**at == 0), default=step)
    unit = _unit().match(text, end)
    units = unit_of(unit[1]) if unit else unit_of(sign[0]) if sign else frozenset[Unit]()
    is_year = not is_word and amount in _YEARS and not units and digits.isdigit()
    days = ((int(amount), None, None, None),) if is_year else ()
    cues = claim_words("cue").get(fold_case(match["about"] or ""), ())
    bound = ("above" in cues) - ("below" in cues)
    return Value(match.start(), unit.end() if unit else end, days, amount, step, units, bound)


def _numeral(
    text: str, end: int, part: float, language: str | None, *, is_word: bool
) -> tuple[float, float, int]:
    """A number with the words that follow, the last power of ten among them, and where it ends."""
    whole, power, last = 0.0, 1.0, end + NUMERAL_CHARS
    while end < last and (match := _numerals(language).match(text, end)):
        if match["half"]:
            whole, part = whole + power / 2 * bool(whole), part + 0.5 * (not whole)
        elif match["scale"]:
            power = _scales(language)[match["scale"].casefold()]
            if power == _HUNDRED:
                part = (part or 1.0) * power
            elif part or not whole:
                whole, part = whole + (part or 1.0) * power, 0.0
            else:
                whole *= power
        elif is_word and not part % _HUNDRED:
            part += _word(match["number"])
        else:
            break
        end = match.end()
    return whole + part, power, end


def _word(word: str, kind: str = "number") -> float:
    return float(claim_words(kind)[fold_case(word)][0])


def _amount(digits: str, language: str | None) -> tuple[float, float]:
    """The value of some digits, and the size of the last place."""
    bare = re.sub(f"[{_BLANKS}]", "", digits.replace("−", "-"))
    whole, mark, part = re.fullmatch(r"(.*?)(?:([.,])(\d+))?", bare).groups("")  # type: ignore[union-attr]
    is_grouped = len(part) == len("000") and whole.strip("-") not in ("", "0")
    is_decimal_mark = (mark == ",") == (language in _DECIMAL_COMMA)
    if mark and ((mark in whole) or (is_grouped and not is_decimal_mark)):
        whole, part = whole + part, ""
    whole = re.sub("[.,]", "", whole)
    return float(f"{whole}.{part}"), 10.0 ** -len(part)
