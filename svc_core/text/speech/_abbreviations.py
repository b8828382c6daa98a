"""Writes abbreviations in full; a full stop that also ends the sentence stays."""

import re

from svc_core.text.tables import alternation, pairs
from svc_core.text.wording import MONTHS

_BEFORE_NAME = pairs("""
    Dr:Doctor Mr:Mister Mrs:Missus Prof:Professor Gen:General Lt:Lieutenant Col:Colonel Maj:Major
    Capt:Captain Sgt:Sergeant Adm:Admiral Cmdr:Commander Brig:Brigadier Sen:Senator
    Rep:Representative Gov:Governor Pres:President Rev:Reverend Hon:Honourable Amb:Ambassador
    Supt:Superintendent Insp:Inspector St:Saint Mt:Mount Ft:Fort
""")
_ANYWHERE = pairs("""
    e.g.:for_example eg.:for_example i.e.:that_is etc.:et_cetera etc:et_cetera et_al.:and_others
    vs.:versus vs:versus viz.:namely cf.:compare approx.:approximately dept.:department
    Dept.:Department govt.:government Govt.:Government gov't:government intl.:international
    Inc.:Incorporated Ltd.:Limited Corp.:Corporation Co.:Company Bros.:Brothers Jr.:Junior
    Sr.:Senior Ave.:Avenue Blvd.:Boulevard Univ.:University a.k.a.:also_known_as aka:also_known_as
    w/o:without incl.:including excl.:excluding yoy:year_on_year YoY:year_on_year y/y:year_on_year
    qoq:quarter_on_quarter QoQ:quarter_on_quarter q/q:quarter_on_quarter MoM:month_on_month
    m/m:month_on_month PhD:PHD Ph.D.:PHD WWI:World_War_One WWII:World_War_Two
""")
_ONLY_BEFORE_NUMBER = pairs("""
    No.:number no.:number Nos.:numbers nos.:numbers Nr.:number Art.:article art.:article
    Fig.:figure fig.:figure Vol.:volume vol.:volume Ch.:chapter ch.:chapter Sec.:section
    sec.:section p.:page pp.:pages para.:paragraph ca.:about c.:about est.:estimated
    approx.:approximately min.:minimum §:section §§:sections
""")
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
_STARTERS = (
    "The|A|An|In|On|At|It|He|She|They|We|I|But|And|As|For|If|This|That|These|Those|There|However|"
    "Meanwhile|After|Before|When|While|Its|His|Her|Their|Officials|Analysts"
)
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
