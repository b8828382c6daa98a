"""What a scheme of designators is, and the one way in which its readers refuse."""

import re
from collections.abc import Callable
from typing import Literal

from attrs import frozen

SchemeName = Literal[
    "lei",
    "isin",
    "cik",
    "ticker",
    "figi",
    "cve",
    "cwe",
    "cpe",
    "attack",
    "purl",
    "sha256",
    "x509",
    "domain",
    "url",
    "ipv4",
    "ipv6",
    "asn",
    "email",
    "imo",
    "mmsi",
    "icao24",
    "wallet",
    "wikidata",
    "opensanctions",
    "phone",
    "handle",
    "name",
]


@frozen
class Scheme:
    """A way in which the world names things: its name, what it names, an example, its reader.

    `read` gives the normalised value of a text without outer white space and control characters.
    It raises `ValueError` with the reason in words, and nothing else.
    """

    name: SchemeName
    doc: str
    example: str
    read: Callable[[str], str]


def matching(pattern: str, reason: str) -> Callable[[str], str]:
    """A reader that passes the texts which match as a whole."""
    compiled = re.compile(pattern, re.ASCII)

    def read(text: str) -> str:
        if compiled.fullmatch(text) is None:
            raise ValueError(reason)
        return text

    return read
