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
from svc_core.text.tables import alternation

# `one/many:signs and codes`; the plural only where it is not the singular and an `s`.
_CURRENCIES = """
    US_dollar:USD,US$,$US,$ euro:EUR,€ pound:GBP,£ yen/yen:JPY,¥,￥ yuan/yuan:CNY,RMB,CN¥,元
    Swiss_franc:CHF Norwegian_krone/Norwegian_kroner:NOK Swedish_krona/Swedish_kronor:SEK
    Danish_krone/Danish_kroner:DKK Icelandic_krona/Icelandic_kronur:ISK
    Australian_dollar:AUD,A$,AU$ Canadian_dollar:CAD,C$,CA$ New_Zealand_dollar:NZD,NZ$
    Hong_Kong_dollar:HKD,HK$ Singapore_dollar:SGD,S$ Taiwan_dollar:TWD,NT$ rupee:Rs,Rs.,₹
    Indian_rupee:INR Pakistani_rupee:PKR rouble:₽ Russian_rouble:RUB hryvnia:UAH,₴ won/won:KRW,₩
    lira/lira:₺ Turkish_lira/Turkish_lira:TRY real/reais:R$ Brazilian_real/Brazilian_reais:BRL
    peso:₱ Mexican_peso:MXN Argentine_peso:ARS Chilean_peso:CLP Colombian_peso:COP
    Philippine_peso:PHP rand/rand:ZAR zloty:PLN,zł Czech_koruna:CZK forint:HUF
    Romanian_leu/Romanian_lei:RON shekel:ILS,₪ Saudi_riyal:SAR UAE_dirham:AED Qatari_riyal:QAR
    Iranian_rial:IRR Egyptian_pound:EGP Kenyan_shilling:KES naira/naira:NGN,₦ baht/baht:THB,฿
    rupiah/rupiah:IDR ringgit/ringgit:MYR dong/dong:VND,₫ tenge/tenge:₸ bitcoin:BTC,₿
"""

_NAMES = {
    mark: (name, plural or f"{name}s")
    for names, _, marks in (entry.replace("_", " ").partition(":") for entry in _CURRENCIES.split())
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
