"""Writes addresses as people say them: links by their host, and mail addresses."""

import re

from svc_core.text.tables import alternation, spoken

_TLD = alternation(spoken("top_level_domain"))
_LINK = re.compile(r"(?<![\w])(?:[A-Za-z][A-Za-z0-9+]{1,11}://|www\.)([^\s<>\"]++)")
_MAIL = re.compile(
    r"(?<![\w.%+-])(?:mailto:)?([\w.%+-]{1,64})@((?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24})(?!\w)"
)
_HOST = re.compile(
    rf"(?<![\w@.-])((?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}\.){{1,4}}(?:{_TLD}))(?![\w@-]|\.\w)"
    r"(?:/[^\s<>\"]*+)?"
)

_HOST_CHARS_MAX = 60  # a longer one is a code that nobody would write down
_AUTHORITY_END = re.compile(r"[/?#]")
_ENDING = re.compile(r"(?<![.,;:!?'\")\]])[.,;:!?'\")\]]+\Z")


def say_addresses(text: str, dot: str = " dot ", at: str = " at ") -> str:
    """Links as their host and mail addresses, with what the language says for `.` and `@`."""
    if "." in text or ":" in text:
        text = _LINK.sub(lambda match: _host(match[1], dot), text)
    if "@" in text:
        text = _MAIL.sub(lambda mail: _say_dots(mail[1], dot) + at + _say_dots(mail[2], dot), text)
    return _HOST.sub(lambda match: _host(match[0], dot), text) if "." in text else text


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
