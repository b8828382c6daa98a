"""Sums of money: `$1.2bn` is `1.2 billion US dollars`, `NOK 250m` is `250 million kroner`."""

import re

from svc_core.analysis.speech._numerals import (
    DASH,
    NUMBER,
    SCALE,
    SCALES,
    START,
    is_attribute,
    is_one,
    signed,
)

_BY_SIGN = {
    "US$": ("US dollar", "US dollars"), "$US": ("US dollar", "US dollars"),
    "A$": ("Australian dollar", "Australian dollars"),
    "AU$": ("Australian dollar", "Australian dollars"),
    "C$": ("Canadian dollar", "Canadian dollars"), "CA$": ("Canadian dollar", "Canadian dollars"),
    "NZ$": ("New Zealand dollar", "New Zealand dollars"),
    "HK$": ("Hong Kong dollar", "Hong Kong dollars"), "S$": ("Singapore dollar",
    "Singapore dollars"), "NT$": ("Taiwan dollar", "Taiwan dollars"), "R$": ("real", "reais"),
    "$": ("US dollar", "US dollars"), "€": ("euro", "euros"), "£": ("pound", "pounds"),
    "CN¥": ("yuan", "yuan"), "¥": ("yen", "yen"), "￥": ("yen", "yen"), "元": ("yuan", "yuan"),
    "₹": ("rupee", "rupees"), "Rs.": ("rupee", "rupees"), "Rs": ("rupee", "rupees"),
    "₽": ("rouble", "roubles"),
    "₩": ("won", "won"), "₺": ("lira", "lira"), "₴": ("hryvnia", "hryvnias"),
    "₪": ("shekel", "shekels"), "₦": ("naira", "naira"), "฿": ("baht", "baht"),
    "₫": ("dong", "dong"), "₱": ("peso", "pesos"), "₸": ("tenge", "tenge"),
    "₿": ("bitcoin", "bitcoins"), "zł": ("zloty", "zlotys"),
}  # fmt: skip
_BY_CODE = {
    "USD": ("US dollar", "US dollars"), "EUR": ("euro", "euros"),
    "GBP": ("pound sterling", "pounds sterling"), "JPY": ("yen", "yen"), "CNY": ("yuan", "yuan"),
    "RMB": ("yuan", "yuan"), "CHF": ("Swiss franc", "Swiss francs"),
    "NOK": ("Norwegian krone", "Norwegian kroner"), "SEK": ("Swedish krona", "Swedish kronor"),
    "DKK": ("Danish krone", "Danish kroner"), "ISK": ("Icelandic krona", "Icelandic kronur"),
    "AUD": ("Australian dollar", "Australian dollars"),
    "CAD": ("Canadian dollar", "Canadian dollars"),
    "NZD": ("New Zealand dollar", "New Zealand dollars"),
    "HKD": ("Hong Kong dollar", "Hong Kong dollars"),
    "SGD": ("Singapore dollar", "Singapore dollars"), "TWD": ("Taiwan dollar", "Taiwan dollars"),
    "INR": ("Indian rupee", "Indian rupees"), "PKR": ("Pakistani rupee", "Pakistani rupees"),
    "RUB": ("Russian rouble", "Russian roubles"), "UAH": ("hryvnia", "hryvnias"),
    "KRW": ("won", "won"), "TRY": ("Turkish lira", "Turkish lira"),
    "BRL": ("Brazilian real", "Brazilian reais"), "MXN": ("Mexican peso", "Mexican pesos"),
    "ARS": ("Argentine peso", "Argentine pesos"), "CLP": ("Chilean peso", "Chilean pesos"),
    "COP": ("Colombian peso", "Colombian pesos"), "ZAR": ("rand", "rand"),
    "PLN": ("zloty", "zlotys"), "CZK": ("Czech koruna", "Czech korunas"),
    "HUF": ("forint", "forints"), "RON": ("Romanian leu", "Romanian lei"),
    "ILS": ("shekel", "shekels"), "SAR": ("Saudi riyal", "Saudi riyals"),
    "AED": ("UAE dirham", "UAE dirhams"), "QAR": ("Qatari riyal", "Qatari riyals"),
    "EGP": ("Egyptian pound", "Egyptian pounds"), "NGN": ("naira", "naira"),
    "KES": ("Kenyan shilling", "Kenyan shillings"), "THB": ("baht", "baht"),
    "IDR": ("rupiah", "rupiah"), "MYR": ("ringgit", "ringgit"), "PHP": ("Philippine peso",
    "Philippine pesos"), "VND": ("dong", "dong"), "IRR": ("Iranian rial", "Iranian rials"),
    "BTC": ("bitcoin", "bitcoins"),
}  # fmt: skip
_NAMES = _BY_SIGN | _BY_CODE
_SIGNS = "|".join(re.escape(sign) for sign in sorted(_BY_SIGN, key=len, reverse=True))
_CODES = "|".join(_BY_CODE)

_BEFORE = re.compile(
    rf"(?:(?<![\w)])(?P<sign>[+-]))?"
    rf"(?:(?P<mark>(?<![A-Za-z])(?:{_SIGNS}))|\b(?P<code>{_CODES}))\s?(?P<minus>-)?"
    rf"(?P<first>{NUMBER})(?:[ -]?(?P<scale>{SCALE})\b)?"
    rf"(?:(?:{DASH}(?:(?P=mark)|(?P=code))?\s?|\s(?:to|and)\s(?:(?P=mark)|(?P=code))\s?)"
    rf"(?P<second>{NUMBER})(?:[ -]?(?P<scale2>{SCALE})\b)?)?(?P<hyphen>-(?=[A-Za-z]))?"
)
_AFTER = re.compile(
    rf"{START}(?:(?<![\w)])(?P<sign>[+-]))?(?P<first>{NUMBER})(?:[ -]?(?P<scale>{SCALE})\b)?"
    rf"(?:{DASH}(?P<second>{NUMBER})(?:[ -]?(?P<scale2>{SCALE})\b)?)?"
    rf"\s?(?:(?P<mark>[€£¥₹₽₩₺₴₪₦฿₫₱₸]|zł\b|\$(?![\w]))|(?P<code>{_CODES})\b)"
)
_CENTS = re.compile(rf"{START}({NUMBER})\s?¢")
_POINT = re.compile(r"(?<=[$€£])\.(?=[0-9])")
_LONE = re.compile(r"(?<!\w)[€£¥₹₽₩₺₴₪₦฿₫₱₸$](?=\W|\Z)")
_PER = re.compile(
    r"(?:(?<=[sn0-9])|(?<=dollar)|(?<=euro)|(?<=pound))\s?/\s?(bbl|barrel|tonne|ton|t|kg|oz|ounce|MWh|kWh|GJ|MMBtu|day|week|month|year|yr|"
    r"hour|hr|h|head|share|litre|liter|l|L|gallon|gal|lb|sq ?m|m2|m3|m³|unit)\b"
)
_PER_NAMES = {
    "bbl": "barrel", "t": "tonne", "kg": "kilogram", "oz": "ounce", "yr": "year", "hr": "hour",
    "h": "hour", "gal": "gallon", "MWh": "megawatt hour", "kWh": "kilowatt hour",
    "GJ": "gigajoule", "MMBtu": "million British thermal units", "m2": "square metre",
    "sqm": "square metre", "sq m": "square metre", "m3": "cubic metre", "m³": "cubic metre",
    "l": "litre", "L": "litre", "lb": "pound",
}  # fmt: skip


def say_money(text: str) -> str:
    """Sums with their currency after the number, in words."""
    text = _BEFORE.sub(_sum, _POINT.sub("0.", text))
    text = _AFTER.sub(_sum, text)
    return _CENTS.sub(lambda at: f"{at[1]} {'cent' if is_one(at[1]) else 'cents'}", text)


def say_currencies(text: str) -> str:
    """A currency's sign that has no number, as in `the €`, by its name."""
    return _LONE.sub(lambda at: f" {_NAMES[at[0]][1]} ", text)


def _sum(at: re.Match[str]) -> str:
    parts = at.groupdict()
    one, many = _NAMES[at["mark"] or at["code"]]
    amount = at["first"] + _scale(at["scale"])
    if at["second"]:
        amount += f" to {at['second']}{_scale(at['scale2'])}"
    is_joined = bool(parts.get("hyphen")) and not at.string.startswith("a-", at.end())
    single = is_joined or is_attribute(at) or (amount == at["first"] and is_one(amount))
    said = f"{signed(at['sign'] or parts.get('minus'))}{amount} {one if single else many}"
    return f"{said} " if parts.get("hyphen") else said


def _scale(scale: str | None) -> str:
    return f" {SCALES[scale]}" if scale else ""


def say_rates(text: str) -> str:
    """What a sum or a quantity is for: `/bbl` is `per barrel`."""
    return _PER.sub(lambda at: f" per {_PER_NAMES.get(at[1], at[1])}", text)
