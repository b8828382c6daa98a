"""Turns names of the wire into words that people read: `scheduleDay` into "Schedule day"."""

import re
from functools import cache
from typing import Final

_PROPER: Final = """
API BBC BCP CISA CPE CSV CVE CVEs CVSS CWE ECB EONET EPSS EU FRED GDACS GDELT GDP GeoJSON GLEIF HTML
HTTP ICAO ID IDs IMF IMO IP ISIN ISO JSON KEV LEI MISP MMSI NASA NDJSON NVD OECD OFAC OSINT
ReliefWeb SEC SHA SQL STIX SVG TLP TTL UCDP UI UN URL USD USDC USGS UTC XML
"""
_WORDS: Final = {word.lower(): word for word in _PROPER.split()} | {
    "attack": "ATT&CK",
    "bbox": "area",
    "finint": "economic indicators",
    "q": "search",
}
"""Words that are not written as they stand: acronyms and proper names, and a few short forms."""

_PARTS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[._\-\s]+")


@cache  # Bounded: names of the models and operations, and words of their literals.
def caption_of(name: str) -> str:
    """The words of a name of the wire, the first with a capital: `baseScore` is "Base score"."""
    parts = [part.lower() for part in _PARTS.split(name.removesuffix("ISO")) if part]
    text = " ".join(_WORDS.get(part, part) for part in parts)
    return text[:1].upper() + text[1:]


_WORD: Final = re.compile("[a-z]+(?:[A-Z-][A-Za-z]*)*", re.ASCII)


def word_caption(value: str) -> str:
    """A value of a short list in words; one that is written otherwise (`dev.svc.x`) as it is."""
    return caption_of(value) if _WORD.fullmatch(value) else value
