"""Builds the keys of entities from their designators, and the records of entities."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from svc_core.formats.designators.schemes import well_formed
from svc_core.formats.model import Members, Record
from svc_core.formats.reading.values import designator
from svc_core.text.words import fold_case

STRENGTH = (
    *("lei", "cik", "isin", "wikidata", "ofac-uid", "un-ref", "attack", "misp-galaxy", "stix"),
    *("ftm", "cpe-vendor", "registered"),
)
"""Schemes that identify one entity, the strongest first."""

EXCLUSIVE: Mapping[str, str] = {
    "lei": "ISO 17442: a legal entity has one, and keeps it",
    "cik": "EDGAR gives one to each filer",
    "wikidata": "an item is one thing; two for the same are merged there",
    "un-ref": "the permanent reference number of one entry, which is one person or entity",
    "attack": "an object of ATT&CK is one thing of its kind",
    "cve": "CVE rules: one vulnerability has one id",
}
"""Schemes of which a thing has one name, and why. Others give one thing several: securities have
each an ISIN, OFAC lists one party twice, and bundles, galaxies and collections name it anew."""

_RANKS = {scheme: rank for rank, scheme in enumerate(STRENGTH)}
_CODES = frozenset({"lei", "cik", "isin", "wikidata", "cve"})
_HOST = r"[^\s/:?#@\[\]]"
_LOOSE_FORMS = {
    "bic": re.compile("([A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)", re.IGNORECASE),
    "domain": re.compile(
        rf"(?:\w{{1,30}}://)?(?:www\.)?(?={_HOST}+?\.{_HOST})({_HOST}++)(?:[:/?#].*)?",
        re.IGNORECASE,
    ),
}

FORM_HINTS: Mapping[str, str] = {
    "lei": "20 letters and digits with right check digits (ISO 17442)",
    "cik": "one to ten digits",
    "isin": "12 letters and digits with a right check digit (ISO 6166)",
    "wikidata": "Q and a number",
    "bic": "8 or 11 letters and digits (ISO 9362)",
    "domain": "a host name",
    "cve": "CVE, a year and a number",
}


def normal_form(scheme: str, value: object) -> str | None:
    """The normal form of a value of a scheme; None where it is ill-formed."""
    if scheme in _CODES:
        return well_formed(scheme, value)
    if scheme not in _LOOSE_FORMS:
        return str(value)
    match = _LOOSE_FORMS[scheme].fullmatch(str(value).strip())
    return match and (match[1].upper() if scheme == "bic" else match[1].lower())


_SHORT = {"incorporated": "inc", "corporation": "corp", "company": "co", "limited": "ltd"}
_TAIL = re.compile(
    r"(?<!\s)\s*[/\\]\s?[a-z]{2,8}[/\\]?\s*$"
)  # by which EDGAR tells equal names apart


def register_key(name: str, jurisdiction: str | None) -> str | None:
    """The key of a company by its legal name in the register of a jurisdiction.

    The name includes the legal form. No register admits a second company of the same name.
    """
    if jurisdiction is None:
        return None
    words = re.sub(r"[\W_]+", " ", _TAIL.sub("", fold_case(name)).replace("&", " and ")).split()
    terms = [_SHORT.get(term, term) for term in (words[1:] if words[:1] == ["the"] else words)]
    return f"registered:{jurisdiction}:{' '.join(terms)}"


def designator_keys(pairs: Iterable[tuple[str, object]]) -> list[str]:
    """Keys `scheme:value` of an entity, each once; ill-formed values are left out."""
    read = [(scheme, normal_form(scheme, value)) for scheme, value in pairs if value]
    return list(dict.fromkeys(f"{scheme}:{form}" for scheme, form in read if form))


def ranked_keys(pairs: Iterable[tuple[str, object]]) -> list[str]:
    """Keys `scheme:value` of an entity, the strongest scheme first."""
    return sorted(designator_keys(pairs), key=_strength)


def _strength(key: str) -> tuple[int, str]:
    return _RANKS.get(key.partition(":")[0], len(_RANKS)), key


def entity(
    own_keys: Iterable[str],
    members: Members,
    other_keys: Iterable[str] = (),
    *,
    provider: str | None = None,
    **record: Any,
) -> Record:
    """The record of the entity that has these `own_keys`, of which the first is that of the row.

    `own_keys` are shown as designators, `other_keys` only join rows. `record` are further members
    of a `Record`.
    """
    key, *weaker_keys = dict.fromkeys(own_keys)
    pairs = [name.split(":", 1) for name in (key, *weaker_keys)]
    row = {**members, "designators": [designator(s, v, provider) for s, v in pairs]}
    other_keys = (*weaker_keys, *other_keys, *filter(None, [members.get("registered")]))
    linkable = (key_ for key_ in dict.fromkeys(other_keys) if key_.partition(":")[0] in _RANKS)
    return Record("entity", key, row, other_keys=tuple(linkable), **record)


def identifier(kind: str, value: str, country_code: str | None = None) -> dict[str, Any]:
    """A number of a paper or a register, with its kind and its country."""
    return {"kind": kind, "value": value, "countryCode": country_code}
