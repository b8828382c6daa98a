"""How numbers are written and said: patterns, ordinals, scales."""

import re

NUMBER = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,5}|[0-9]{1,2}(?:,[0-9]{2}){1,5},[0-9]{3}|[0-9]{1,15})"
    r"(?:\.[0-9]{1,9})?(?![0-9])"
)
"""A number with its thousands (or lakhs) and decimals; longer runs of digits are codes."""
START = r"(?<![\w.,])(?<![A-Za-z]-)"
"""Where a number may begin: not inside a word or another number."""
DASH = r"\s?[–-]\s?"
SIGN = r"(?:(?<![\w)–-])(?P<sign>[+-]))?"

SCALES = {
    "k": "thousand", "K": "thousand", "thousand": "thousand",
    "m": "million", "M": "million", "mn": "million", "mln": "million", "mm": "million",
    "Mn": "million", "MM": "million", "mio": "million", "million": "million",
    "b": "billion", "B": "billion", "bn": "billion", "Bn": "billion", "BN": "billion",
    "bln": "billion", "billion": "billion", "trn": "trillion", "T": "trillion",
    "t": "trillion", "tn": "trillion", "tln": "trillion", "trillion": "trillion",
    "lakh": "lakh", "crore": "crore", "cr": "crore", "lakh crore": "lakh crore",
}  # fmt: skip
SCALE = "|".join(sorted(SCALES, key=len, reverse=True))

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = [
    "zero",
    "ten",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
]
_IRREGULAR = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
_ARTICLE = re.compile(r"(?:.*[^\w-])?[Aa]n?\s", re.DOTALL)
_ONE = re.compile(r"1(?:\.0+)?")


def is_one(number: str) -> bool:
    """Whether a noun after the number stands in the singular."""
    return _ONE.fullmatch(number) is not None


def is_attribute(found: re.Match[str]) -> bool:
    """Whether the quantity describes a noun and so is singular, as in `a $5m deal`."""
    at = found.start()
    return _ARTICLE.fullmatch(found.string[max(at - 4, 0) : at]) is not None


def cardinal(number: int) -> str:
    """A number below 1,000 in words."""
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return f"{_TENS[tens]}-{_SMALL[ones]}" if ones else _TENS[tens]
    hundreds, rest = divmod(number, 100)
    head = f"{_SMALL[hundreds]} hundred"
    return f"{head} and {cardinal(rest)}" if rest else head


def ordinal(number: int) -> str:
    """The ordinal of a number below 1,000 in words: 21 is `twenty-first`."""
    words = cardinal(number)
    at = max(words.rfind("-"), words.rfind(" ")) + 1
    head, last = words[:at], words[at:]
    if last in _IRREGULAR:
        return head + _IRREGULAR[last]
    return f"{head}{last[:-1]}ieth" if last.endswith("y") else f"{head}{last}th"


def signed(sign: str | None) -> str:
    """The words of a sign before a number."""
    return {"+": "plus ", "-": "minus "}.get(sign or "", "")
