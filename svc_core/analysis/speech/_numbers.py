"""Counts, ranges, fractions and ordinals in words where a voice would stumble."""

import re

from svc_core.analysis.speech._numerals import (
    DASH,
    NUMBER,
    SCALE,
    SCALES,
    SIGN,
    START,
    cardinal,
    ordinal,
    signed,
)

_ORDINAL = re.compile(r"(?<![\w.,])([0-9]{1,3})(?:st|nd|rd|th)\b")
_VULGAR = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5",
    "⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8",
    "⅞": "7/8", "⅐": "1/7", "⅑": "1/9", "⅒": "1/10",
}  # fmt: skip
_VULGAR_SIGN = re.compile(f"([0-9])?([{''.join(_VULGAR)}])")
_FRACTION = re.compile(
    r"(?<![\w./,-])(?:([0-9]{1,4})(?: and)? )?([1-9])/([2-9]|10)(?:ths?|rds?)?(?![\w/]|[.,][0-9])"
)
_SCALED = re.compile(
    rf"{START}(?:({NUMBER}){DASH})?({NUMBER})(-?)((?!T\b)(?:{SCALE}))(?![\w/'²³]|-[A-Z])(-(?=[a-z]))?"
)
_APOSTROPHES = re.compile(r"(?<![\w.,'])[0-9]{1,3}(?:'[0-9]{3}){1,4}(?![\w'])")
_PLACE = re.compile(
    r"\b(?:apartment|apt|block|building|bus|exit|flat|flight|form|gate|grade|highway|house|line|"
    r"lot|number|platform|route|room|row|rule|schedule|seat|section|suite|title|unit) \Z",
    re.IGNORECASE,
)
_DIGITS_SCALED_MAX = 3  # thousands of thousands are written as millions
_PLACE_CHARS = 12  # the longest of them and its space
_COMPANY = re.compile(
    r" (?:said|says|will|would|has|had|is|was|and|to|also|plans|agreed|shares|Co|Corp|Company)\b"
)
_HUGE = re.compile(r"(?<![\w.,-])([1-9][0-9]{0,2}(?:,[0-9]{3}){2,4})(?![\w.,-]*[0-9])")
_BIG = {2: "million", 3: "billion", 4: "trillion"}
_DECIMALS_MAX = 2  # decimals of `1.25 million`; a number with more is said as it stands

_SPAN = re.compile(rf"(?<![\w.,/–-])({NUMBER})\s?–\s?({NUMBER})(?![\w–-]|[.,/][0-9])")
# A post code or the end of a telephone number is no span.
_HYPHEN_SPAN = re.compile(
    rf"(?<![\w.,/–-])(?![0-9]{{5}}-[0-9]{{4}}\b)({NUMBER})-(?!0[0-9])({NUMBER})"
    r"(?![\w–-]|[.,/][0-9])"
)
_AIRLINER = re.compile(r"(?<![\w.,-])(7[0-8]7)-(?=(?:[1-9]00|8|9|10)(?:ER|LR|F)?\b)")
_RATIO = re.compile(r"(?<![\w.,:])([0-9]{1,3}):([0-9]{1,3})(?!\w|:\w)")
_CHAIN = re.compile(r"(?<=[0-9])-(?=[0-9])")
_TIMES = re.compile(r"(?<=[0-9])(?:\s?[*×]\s?|(?<!\b0)x)(?=[0-9])|(?<=[0-9])[x×](?!\w)")
_SIGNED = re.compile(rf"(?:{SIGN}){NUMBER}")
_NUMBERED = re.compile(r"(?<![\w&])#\s?(?=[0-9])")
_COMPARED = {
    "~": "about", "≈": "about", "±": "plus or minus", "<": "less than", ">": "more than",
    "≤": "at most", "≥": "at least", "<=": "at most", ">=": "at least", "+/-": "plus or minus",
}  # fmt: skip
_COMPARE = re.compile(r"(<=|>=|\+/-|[~≈±<>≤≥])\s?(?=[+-]?[$€£¥]?[0-9])")


def say_comparisons(text: str) -> str:
    """`>5` is `more than 5`, `#1` is `number 1`, `3x5` is `3 times 5`."""
    text = _COMPARE.sub(lambda at: f" {_COMPARED[at[1]]} ", text)
    return _TIMES.sub(" times ", _NUMBERED.sub("number ", text))


def say_thousands(text: str) -> str:
    """`12'500` as it is written in English."""
    return _APOSTROPHES.sub(lambda at: at[0].replace("'", ","), text)


def say_fractions(text: str) -> str:
    """`1/2` is `one half`, `2½` is `2 and a half`; `24/7` and `9/11` are no fractions."""
    text = _VULGAR_SIGN.sub(lambda at: f"{at[1] or ''} {_VULGAR[at[2]]} ", text)
    return _FRACTION.sub(_fraction, text)


def say_counts(text: str) -> str:
    """Scales, ordinals, spans and signs."""
    text = _SCALED.sub(_scaled, text)
    text = _HUGE.sub(_round, text)
    text = _ORDINAL.sub(lambda at: ordinal(int(at[1])), text)
    text = _SPAN.sub(r"\1 to \2", _AIRLINER.sub(r"\1 ", text))
    text = _HYPHEN_SPAN.sub(r"\1 to \2", text)
    text = _RATIO.sub(r"\1 to \2", text)
    text = _SIGNED.sub(lambda at: signed(at["sign"]) + at[0].lstrip("+-"), text)
    return _CHAIN.sub(" ", text)


def _scaled(at: re.Match[str]) -> str:
    if _is_name(at):
        return at[0]
    span = f"{at[1]} to " if at[1] else ""
    return f"{span}{at[2]} {SCALES[at[4]]}{' ' if at[5] else ''}"


def _is_name(at: re.Match[str]) -> bool:
    """Whether the letter is part of a name, as in `room 12B`, `3M said` and `i9-14900K`."""
    before = at.string[max(at.start() - _PLACE_CHARS, 0) : at.start()]
    if at[4].isupper() and len(at[4]) == 1 and _PLACE.search(before):
        return True
    if at[4] == "K" and at[2].isdigit() and len(at[2]) > _DIGITS_SCALED_MAX:
        return True
    return at[0] == "3M" and _COMPANY.match(at.string, at.end()) is not None


def _round(at: re.Match[str]) -> str:
    """A number of millions and more in its scale, where nothing of it is lost."""
    whole, *groups = at[1].split(",")
    decimals = "".join(groups).rstrip("0")
    if len(decimals) > _DECIMALS_MAX:
        return at[0]
    return f"{whole}{'.' if decimals else ''}{decimals} {_BIG[len(groups)]}"


def _fraction(at: re.Match[str]) -> str:
    whole, over, under = at[1], int(at[2]), int(at[3])
    if over >= under:
        return at[0]
    parts = {2: "half", 4: "quarter"}.get(under) or ordinal(under)
    if whole:
        name = f"a {parts}" if over == 1 else f"{cardinal(over)} {parts}s"
        return f"{whole} and {name}"
    return f"{cardinal(over)} {parts}{'s' if over > 1 else ''}"
