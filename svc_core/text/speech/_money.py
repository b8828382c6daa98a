"""Writes out money: `$1.2bn` is `1.2 billion US dollars`, `NOK 250m` is `250 million kroner`."""

import re

from svc_core.text.speech._numbers import (
    DASH,
    NUMBER,
    SCALE,
    START,
    is_attribute,
    is_one,
    scale_words,
    sign_words,
)
from svc_core.text.tables import alternation, spoken_pairs

_NAMES = {
    mark: (name, plural or f"{name}s")
    for names, marks in spoken_pairs("currency").items()
    for name, _, plural in [names.partition("/")]
    for mark in marks.split(",")
}
_CODE = alternation(mark for mark in _NAMES if len(mark) == 3 and mark.isalpha() and mark.isupper())
_MARK = alternation(_NAMES.keys() - set(_CODE.split("|")))

_SIGN_FIRST = re.compile(
    rf"(?:(?<![\w)])(?P<sign>[+-]))?"
    rf"(?:(?P<mark>(?<![A-Za-z])(?:{_MARK}))|\b(?P<code>{_CODE}))\s?(?P<minus>-)?"
    rf"(?P<first>{NUMBER})(?:[ -]?(?P<scale>{SCALE})\b)?"
    rf"(?:(?:{DASH}(?:(?P=mark)|(?P=code))?\s?|\s(?:to|and)\s(?:(?P=mark)|(?P=code))\s?)"
    rf"(?P<second>{NUMBER})(?:[ -]?(?P<scale2>{SCALE})\b)?)?(?P<hyphen>-(?=[A-Za-z]))?"
)
_SIGN_LAST = re.compile(
    rf"{START}(?:(?<![\w)])(?P<sign>[+-]))?(?P<first>{NUMBER})(?:[ -]?(?P<scale>{SCALE})\b)?"
    rf"(?:{DASH}(?P<second>{NUMBER})(?:[ -]?(?P<scale2>{SCALE})\b)?)?"
    rf"\s?(?:(?P<mark>[€£¥₹₽₩₺₴₪₦฿₫₱₸]|zł\b|\$(?![\w]))|(?P<code>{_CODE})\b)"
)
_CENTS = re.compile(rf"{START}({NUMBER})\s?¢")
_POINT = re.compile(r"(?<=[$€£])\.(?=[0-9])")
_LONE_SIGN = re.compile(r"(?<!\w)[€£¥₹₽₩₺₴₪₦฿₫₱₸$](?=\W|\Z)")


def say_money(text: str) -> str:
    """Sums with their currency after the number, in words."""
    text = _SIGN_LAST.sub(_sum, _SIGN_FIRST.sub(_sum, _POINT.sub("0.", text)))
    return _CENTS.sub(lambda match: f"{match[1]} {'cent' if is_one(match[1]) else 'cents'}", text)


def say_currencies(text: str) -> str:
    """A currency's sign that has no number, as in `the €`, by its name."""
    return _LONE_SIGN.sub(lambda match: f" {_NAMES[match[0]][1]} ", text)


def _sum(match: re.Match[str]) -> str:
    parts = match.groupdict()
    name, plural = _NAMES[match["mark"] or match["code"]]
    amount = match["first"] + scale_words(match["scale"])
    if match["second"]:
        amount += f" to {match['second']}{scale_words(match['scale2'])}"
    is_joined = bool(parts.get("hyphen")) and not match.string.startswith("a-", match.end())
    single = is_joined or is_attribute(match) or (amount == match["first"] and is_one(amount))
    text = f"{sign_words(match['sign'] or parts.get('minus'))}{amount} {name if single else plural}"
    return f"{text} " if parts.get("hyphen") else text
