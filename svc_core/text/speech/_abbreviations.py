"""Writes abbreviations in full; a full stop that also ends the sentence stays."""

import re

from svc_core.text.tables import alternation, spoken, spoken_pairs
from svc_core.text.wording import MONTHS

_BEFORE_NAME = spoken_pairs("before_name")
_ANYWHERE = spoken_pairs("abbreviation")
_ONLY_BEFORE_NUMBER = spoken_pairs("before_number")
_MONTHS = {month[:3]: month for month in MONTHS} | {"Sept": "September"}
_MONTH_NAME = f"({alternation(_MONTHS)})"

_INITIALISM = re.compile(r"(?<![\w.])(?:[A-Za-z]\.){2,8}(?![a-z0-9])")
_TITLE = re.compile(rf"\b({alternation(_BEFORE_NAME)})\.\s?(?=[^\W\d_])")
_STREET = re.compile(r"(?<=[a-z] )St\.(?!\s?[A-Z])")
_NUMBER_LABEL = re.compile(
    rf"(?<![\w.])({alternation(_ONLY_BEFORE_NUMBER)})\s?(?=[0-9]|(?<=[. ])[IVXL]{{2,}}\b)"
)
_MONTH = re.compile(
    rf"(?<=[0-9] ){_MONTH_NAME}\b\.?(?!\w)|(?<=[0-9]-){_MONTH_NAME}(?=-[0-9])"
    rf"|\b{_MONTH_NAME}\b\.?(?=\s[0-9])|(?<=\b[Ii]n ){_MONTH_NAME}\b(?![\w.'-])"
)
_WORD = re.compile(rf"(?<![\w./])({alternation(_ANYWHERE)})(?!\w)")
_COMPASS = {"N": "North", "S": "South", "E": "East", "W": "West"}
_POINT = re.compile(
    r"(?<![\w.])([NSEW])\. ?(?=(?:Africa|America|Asia|Bank|Carolina|China Sea|Dakota|Ireland|"
    r"Jerusalem|Korea|Macedonia|Sudan|Timor|Virginia)n?s?\b)"
)
_WITH = re.compile(r"(?<!\w)w/(?=\s?\w)")
_STARTERS = alternation(spoken("starter"))
_ENDS = re.compile(rf"\s*\Z|['\")]*\s+(?:{_STARTERS})\b")


def expand_abbreviations(text: str) -> str:
    """The text with every unambiguous abbreviation in full."""
    text = _INITIALISM.sub(_initialism, _POINT.sub(lambda match: f"{_COMPASS[match[1]]} ", text))
    text = _TITLE.sub(lambda match: f"{_BEFORE_NAME[match[1]]} ", _STREET.sub("Street", text))
    text = _NUMBER_LABEL.sub(lambda match: f"{_ONLY_BEFORE_NUMBER[match[1]]} ", text)
    text = _MONTH.sub(lambda match: _MONTHS[str(match[match.lastindex or 0])], text)
    text = _WORD.sub(lambda match: _ANYWHERE[match[1]] + _ending(match), text)
    return _WITH.sub("with ", text)


def _ending(match: re.Match[str]) -> str:
    """A full stop, where that of the abbreviation ends the sentence as well."""
    ends = match[0].endswith(".") and _ENDS.match(match.string, match.end())
    return "." if ends else ""


def _initialism(match: re.Match[str]) -> str:
    """`U.S.` is `US`, `p.m.` is `P-M`; others in lower case are words of their own, as `e.g.`."""
    letters = match[0].replace(".", "").upper()
    if letters in ("AM", "PM"):
        return "-".join(letters) + _ending(match)
    return match[0] if match[0].islower() else letters + _ending(match)
