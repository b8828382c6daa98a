"""Writes Roman numerals in digits where the word before proves them: wars, rulers, parts."""

import re

from svc_core.text.speech._numbers import nth
from svc_core.text.tables import alternation, spoken

_SERIES = alternation(spoken("series"))
_RULERS = alternation(spoken("ruler"))
_ROMAN = r"((?:XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?<=[IVXL])\b(?!-|['’.](?!s\b)\w)"
_PART = re.compile(rf"\b({_SERIES}) {_ROMAN}")
_RULER = re.compile(rf"\b({_RULERS}) {_ROMAN}(?<=[IVXL]{{2}})")  # one letter may be an initial
_CENTURY = re.compile(rf"(?<!\w){_ROMAN}(?= [Cc]entury\b)")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}


def say_romans(text: str) -> str:
    """`World War II` is `World War 2`, `Charles III` is `Charles the 3rd`."""
    text = _CENTURY.sub(lambda match: nth(_value(match[1])), _PART.sub(_part, text))
    return _RULER.sub(lambda match: f"{match[1]} the {nth(_value(match[2]))}", text)


def _part(match: re.Match[str]) -> str:
    """A part's number; after small letters a single one may be a word: `section I saw`."""
    is_numeral = len(match[2]) > 1 or match[1][0].isupper()
    return f"{match[1]} {_value(match[2])}" if is_numeral else match[0]


def _value(roman: str) -> int:
    values = [_VALUES[letter] for letter in roman]
    larger = [*values[1:], 0]
    return sum(-n if n < after else n for n, after in zip(values, larger, strict=True))
