"""Writes counts, spans, fractions and signs in words where a voice would stumble."""

import re
import unicodedata

from svc_core.text.tables import alternation, spoken_pairs

NUMBER = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,5}|[0-9]{1,2}(?:,[0-9]{2}){1,5},[0-9]{3}|[0-9]{1,15})"
    r"(?:\.[0-9]{1,9})?(?![0-9])"
)
"""A number with its thousands (or lakhs) and decimals; longer runs of digits are codes."""
START = r"(?<![\w.,])(?<![A-Za-z]-)"
"""Where a number may begin: not inside a word or another number."""
DASH = r"\s?[–-]\s?"
SIGN = r"(?:(?<![\w)–-])(?P<sign>[+-]))?"

SCALES = spoken_pairs("scale")
SCALE = alternation(SCALES)

_ARTICLE = re.compile(r"(?:.*[^\w-])?[Aa]n?\s", re.DOTALL)
_SINGULAR = re.compile(r"1(?:\.0+)?")
_PARTS = spoken_pairs("part")
_VULGAR = re.compile("([0-9])?([¼-¾⅐-⅞])")
_FRACTION = re.compile(
    r"(?<![\w./,-])(?:([0-9]{1,4})(?: and)? )?([1-9])/([2-9]|10)(?:ths?|rds?)?(?![\w/]|[.,][0-9])"
)
_SCALED_NUMBER = re.compile(
    rf"{START}(?:({NUMBER}){DASH})?({NUMBER})-?((?!T\b)(?:{SCALE}))(?![\w/'²³]|-[A-Z])(-(?=[a-z]))?"
)
_APOSTROPHES = re.compile(r"(?<![\w.,'])[0-9]{1,3}(?:'[0-9]{3}){1,4}(?![\w'])")
# A post code or the end of a telephone number is no span.
_SPAN = re.compile(
    rf"(?<![\w.,/–-])(?![0-9]{{5}}-[0-9]{{4}}\b)({NUMBER})(?:\s?–\s?|-(?!0[0-9]))({NUMBER})"
    r"(?![\w–-]|[.,/][0-9])"
)
_AIRLINER = re.compile(r"(?<![\w.,-])(7[0-8]7)-(?=(?:[1-9]00|8|9|10)(?:ER|LR|F)?\b)")
_CHAIN = re.compile(r"(?<=[0-9])-(?=[0-9])")
_TIMES = re.compile(r"(?<=[0-9])(?:\s?[*×]\s?|(?<!\b0)x)(?=[0-9])|(?<=[0-9])[x×](?!\w)")
_SIGNED_NUMBER = re.compile(rf"(?:{SIGN}){NUMBER}")
_NUMBER_SIGN = re.compile(r"(?<![\w&])#\s?(?=[0-9])")
_COMPARISONS = spoken_pairs("comparison")
_COMPARE = re.compile(rf"({alternation(_COMPARISONS)})\s?(?=[+-]?[$€£¥]?[0-9])")


def is_one(number: str) -> bool:
    """Whether a noun after the number stands in the singular."""
    return _SINGULAR.fullmatch(number) is not None


def is_attribute(match: re.Match[str]) -> bool:
    """Whether the quantity describes a noun and so is singular, as in `a $5m deal`."""
    start = match.start()
    return _ARTICLE.fullmatch(match.string[max(start - 4, 0) : start]) is not None


def sign_words(sign: str | None) -> str:
    """The words of a sign before a number."""
    return {"+": "plus ", "-": "minus "}.get(sign or "", "")


def scale_words(scale: str | None) -> str:
    """The words of a scale after a number."""
    return f" {SCALES[scale]}" if scale else ""


def nth(number: int) -> str:
    """The ordinal of a number, in digits: every voice says `21st` in words."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 < number % 100 < 14 else ending}"


def say_comparisons(text: str) -> str:
    """`>5` is `more than 5`, `#1` is `number 1`, `3x5` is `3 times 5`, `12'500` has a comma."""
    text = _APOSTROPHES.sub(lambda match: match[0].replace("'", ","), text)
    text = _COMPARE.sub(lambda match: f" {_COMPARISONS[match[1]]} ", text)
    return _TIMES.sub(" times ", _NUMBER_SIGN.sub("number ", text))


def say_fractions(text: str) -> str:
    """`1/2` is `1 half`, `2½` is `2 and a half`; `24/7` and `9/11` are no fractions."""
    text = _VULGAR.sub(
        lambda match: (
            f"{match[1] or ''} {unicodedata.normalize('NFKC', match[2]).replace('⁄', '/')} "
        ),
        text,
    )
    return _FRACTION.sub(_say_fraction, text)


def say_counts(text: str) -> str:
    """Scales, spans and signs of numbers in words."""
    text = _SPAN.sub(r"\1 to \2", _AIRLINER.sub(r"\1 ", _SCALED_NUMBER.sub(_scale, text)))
    text = _SIGNED_NUMBER.sub(lambda match: sign_words(match["sign"]) + match[0].lstrip("+-"), text)
    return _CHAIN.sub(" ", text)


def _scale(match: re.Match[str]) -> str:
    """A scale in words; a capital behind a whole number may be a name: `gate 12B`, `3M said`."""
    if len(match[3]) == 1 and match[3].isupper() and "." not in match[2]:
        return match[0]
    span, gap = f"{match[1]} to " if match[1] else "", " " if match[4] else ""
    return f"{span}{match[2]}{scale_words(match[3])}{gap}"


def _say_fraction(match: re.Match[str]) -> str:
    whole, numerator, part = match[1], match[2], _PARTS[match[3]]
    if int(numerator) >= int(match[3]):
        return match[0]
    if numerator == "1":
        return f"{whole} and a {part}" if whole else f"1 {part}"
    return f"{f'{whole} and ' if whole else ''}{numerator} {part}s"
