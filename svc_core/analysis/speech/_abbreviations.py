"""Abbreviations in full; a full stop that ends the sentence as well stays."""

import re

_BEFORE_NAME = {
    "Dr": "Doctor", "Mr": "Mister", "Mrs": "Missus", "Prof": "Professor", "Gen": "General",
    "Lt": "Lieutenant", "Col": "Colonel", "Maj": "Major", "Capt": "Captain", "Sgt": "Sergeant",
    "Adm": "Admiral", "Cmdr": "Commander", "Brig": "Brigadier", "Sen": "Senator",
    "Rep": "Representative", "Gov": "Governor", "Pres": "President", "Rev": "Reverend",
    "Hon": "Honourable", "Amb": "Ambassador", "Supt": "Superintendent", "Insp": "Inspector",
    "St": "Saint", "Mt": "Mount", "Ft": "Fort",
}  # fmt: skip
_ANYWHERE = {
    "e.g.": "for example", "eg.": "for example", "i.e.": "that is", "etc.": "et cetera",
    "et al.": "and others", "vs.": "versus", "vs": "versus", "viz.": "namely", "cf.": "compare",
    "approx.": "approximately", "dept.": "department", "Dept.": "Department",
    "govt.": "government", "Govt.": "Government", "gov't": "government", "intl.": "international",
    "Inc.": "Incorporated", "Ltd.": "Limited", "Corp.": "Corporation", "Co.": "Company",
    "Bros.": "Brothers", "Jr.": "Junior", "Sr.": "Senior", "Ave.": "Avenue", "Blvd.": "Boulevard",
    "Univ.": "University", "a.k.a.": "also known as", "aka": "also known as", "w/o": "without",
    "incl.": "including", "excl.": "excluding",
    "yoy": "year on year", "YoY": "year on year", "y/y": "year on year",
    "qoq": "quarter on quarter", "QoQ": "quarter on quarter", "q/q": "quarter on quarter",
    "MoM": "month on month", "m/m": "month on month", "PhD": "PHD", "Ph.D.": "PHD",
    "etc": "et cetera", "WWI": "World War One", "WWII": "World War Two",
}  # fmt: skip
_ONLY_BEFORE_NUMBER = {
    "No.": "number", "no.": "number", "Nos.": "numbers", "nos.": "numbers", "Nr.": "number",
    "Art.": "article", "art.": "article", "Fig.": "figure", "fig.": "figure", "Vol.": "volume",
    "vol.": "volume", "Ch.": "chapter", "ch.": "chapter", "Sec.": "section", "sec.": "section",
    "p.": "page", "pp.": "pages", "para.": "paragraph", "ca.": "about", "c.": "about",
    "est.": "estimated", "approx.": "approximately", "min.": "minimum", "§": "section",
    "§§": "sections",
}  # fmt: skip
_MONTHS = {
    "Jan": "January", "Feb": "February", "Mar": "March", "Apr": "April", "Jun": "June",
    "Jul": "July", "Aug": "August", "Sep": "September", "Sept": "September", "Oct": "October",
    "Nov": "November", "Dec": "December",
}  # fmt: skip


def _either(names: dict[str, str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_DOTTED = re.compile(r"(?<![\w.])(?:[A-Za-z]\.){2,8}(?![a-z0-9])")
_TITLE = re.compile(rf"\b({_either(_BEFORE_NAME)})\.\s?(?=[^\W\d_])")
_STREET = re.compile(r"(?<=[a-z] )St\.(?!\s?[A-Z])")
_NUMBERED = re.compile(
    rf"(?<![\w.])({_either(_ONLY_BEFORE_NUMBER)})\s?(?=[0-9]|(?<=[. ])[IVXL]{{2,}}\b)"
)
_MONTH = re.compile(
    rf"(?<=[0-9] )({_either(_MONTHS)})\b\.?(?!\w)|(?<=[0-9]-)({_either(_MONTHS)})(?=-[0-9])"
    rf"|\b({_either(_MONTHS)})\b\.?(?=\s[0-9])|(?<=\b[Ii]n )({_either(_MONTHS)})\b(?![\w.'-])"
)
_WORD = re.compile(rf"(?<![\w./])({_either(_ANYWHERE)})(?!\w)")
_COMPASS = {"N": "North", "S": "South", "E": "East", "W": "West"}
_SIDE = re.compile(
    r"(?<![\w.])([NSEW])\. ?(?=(?:Africa|America|Asia|Bank|Carolina|China Sea|Dakota|Ireland|"
    r"Jerusalem|Korea|Macedonia|Sudan|Timor|Virginia)n?s?\b)"
)
_WITH = re.compile(r"(?<!\w)w/(?=\s?\w)")
_STARTERS = (
    "The|A|An|In|On|At|It|He|She|They|We|I|But|And|As|For|If|This|That|These|Those|There|However|"
    "Meanwhile|After|Before|When|While|Its|His|Her|Their|Officials|Analysts"
)
_ENDS = re.compile(rf"\s*\Z|['\")]*\s+(?:{_STARTERS})\b")


def expand(text: str) -> str:
    """The text with every unambiguous abbreviation in full."""
    text = _DOTTED.sub(_undotted, _SIDE.sub(lambda found: f"{_COMPASS[found[1]]} ", text))
    text = _TITLE.sub(lambda found: f"{_BEFORE_NAME[found[1]]} ", _STREET.sub("Street", text))
    text = _NUMBERED.sub(lambda found: f"{_ONLY_BEFORE_NUMBER[found[1]]} ", text)
    text = _MONTH.sub(lambda found: _MONTHS[found[1] or found[2] or found[3] or found[4]], text)
    text = _WORD.sub(lambda found: _ANYWHERE[found[1]] + ending(found), text)
    return _WITH.sub("with ", text)


def ending(found: re.Match[str]) -> str:
    """A full stop, where that of the abbreviation ends the sentence as well."""
    if not found[0].endswith("."):
        return ""
    return "." if _ENDS.match(found.string, found.end()) else ""


def _undotted(found: re.Match[str]) -> str:
    """`U.S.` is `US`; in lower case they are words of their own, as `e.g.` and `p.m.`."""
    if found[0].islower() or found[0] in ("A.M.", "P.M."):
        return found[0]
    return found[0].replace(".", "").upper() + ending(found)
