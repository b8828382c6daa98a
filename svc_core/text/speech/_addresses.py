"""Writes addresses and codes as people say them: hosts, mail, handles, versions, CVEs, tickers."""

import re

_TLD = (
    "com|org|net|gov|edu|int|mil|io|info|biz|eu|uk|de|fr|ru|cn|ua|ch|nl|jp|ca|au|se|fi|dk|pl|es|br|"
    "tv|news|app|dev|ai|onion|example"
)
_LINK = re.compile(r"(?<![\w])(?:[A-Za-z][A-Za-z0-9+]{1,11}://|www\.)([^\s<>\"]++)")
_MAIL = re.compile(
    r"(?<![\w.%+-])(?:mailto:)?([\w.%+-]{1,64})@((?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24})(?!\w)"
)
_HOST = re.compile(
    rf"(?<![\w@.-])((?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}\.){{1,4}}(?:{_TLD}))(?![\w@-]|\.\w)"
    r"(?:/[^\s<>\"]*+)?"
)
_HASHTAG = re.compile(r"(?<![\w&])#([^\W\d]\w{0,99})")
_HANDLE = re.compile(r"(?<![\w.])@(\w{1,30})")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9]{2})")
_CVE = re.compile(r"\b(CVE|CAN)[- ]([0-9]{4})-([0-9]{4,9})\b", re.IGNORECASE)
_GROUPS_IN_DOTS = re.compile(r"(?<![\w.])[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,4}(?![\w.]|,[0-9])")
_VERSION = re.compile(r"(?<![\w.])[vV]\.?([0-9]{1,6}(?:\.[0-9]{1,6}){0,4})(?![\w]|\.\w)")
_DOTTED_NUMBER = re.compile(  # no day
    r"(?<![\w.])(?![0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}(?![\w.]))"
    r"[0-9]{1,6}(?:\.[0-9]{1,6}){2,4}(?![\w]|\.\w)"
)
_EXCHANGE = re.compile(
    r"\b(NASDAQ|Nasdaq|NYSE|LSE|TSX|TSE|ASX|HKEX|SEHK|XETRA|FRA|OTC|AMEX|BSE|NSE)\s?:\s?"
    r"([A-Z][A-Z0-9]{0,5}|[0-9]{3,6})(?:\.[A-Z]{1,2})?\b"
)
_INSTRUMENT = re.compile(r"\(([A-Z]{1,5})\.[A-Z]{1,2}\)")
_CASHTAG = re.compile(r"(?<![\w$])\$([A-Z]{1,5})\b(?![$0-9])")

_HOST_CHARS_MAX = 60  # a longer one is a code that nobody would write down
_AUTHORITY_END = re.compile(r"[/?#]")
_ENDING = re.compile(r"[.,;:!?'\")\]]+\Z")


def say_addresses(text: str, dot: str = " dot ", at: str = " at ") -> str:
    """Links as their host and mail addresses, with what the language says for `.` and `@`."""
    if "." in text or ":" in text:
        text = _LINK.sub(lambda match: _host(match[1], dot), text)
    if "@" in text:
        text = _MAIL.sub(lambda mail: _say_dots(mail[1], dot) + at + _say_dots(mail[2], dot), text)
    return _HOST.sub(lambda match: _host(match[0], dot), text) if "." in text else text


def say_codes(text: str) -> str:
    """Hashtags, handles, CVE ids, versions, network addresses and tickers in English."""
    if "#" in text:
        text = _HASHTAG.sub(lambda match: f"hashtag {_CAMEL.sub(' ', match[1])}", text)
    if "@" in text:
        text = _HANDLE.sub(r"at \1", text)
    text = _CVE.sub(lambda match: f"{match[1].upper()} {match[2]}, {' '.join(match[3])}", text)
    text = _GROUPS_IN_DOTS.sub(lambda match: match[0].replace(".", ","), text)
    text = _DOTTED_NUMBER.sub(_say_dotted_number, _VERSION.sub(r"version \1", text))
    text = _EXCHANGE.sub(lambda match: f"{match[1]}, ticker {'-'.join(match[2])}", text)
    text = _INSTRUMENT.sub(lambda match: f"(ticker {'-'.join(match[1])})", text)
    return _CASHTAG.sub(lambda match: f"ticker {'-'.join(match[1])}", text)


def _host(address: str, dot: str) -> str:
    """The host of an address, with what closes the sentence after it."""
    ending = _ENDING.search(address[-8:])
    authority = _AUTHORITY_END.split(address, maxsplit=1)[0]
    host = authority.rpartition("@")[2].partition(":")[0]
    host = host.removeprefix("www.").rstrip(".,;:!?'\")]")
    name = _say_dots(host, dot) if 0 < len(host) <= _HOST_CHARS_MAX else ""
    return f"{name}{ending[0] if ending else ''}"


def _say_dots(name: str, dot: str) -> str:
    return name.strip(".").replace(".", dot).replace("_", " ")


def _say_dotted_number(match: re.Match[str]) -> str:
    """A network address where there are four small parts, else a version, with words for dots."""
    parts = match[0].split(".")
    is_network = len(parts) == 4 and all(int(part) < 256 for part in parts)
    return (" dot " if is_network else " point ").join(parts)
