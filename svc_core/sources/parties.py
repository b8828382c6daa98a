"""Parties as lists of sanctions and registers tell of them: by what they are known, and listed."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from svc_core.sources.identifiers import cik, isin, lei
from svc_core.sources.values import designator

STRENGTH = (
    *("lei", "cik", "isin", "wikidata", "ofac-uid", "un-ref", "attack", "misp-galaxy", "stix"),
    *("ftm", "cpe-vendor"),
)
"""Schemes that name one party alone, the strongest first."""

_BIC = re.compile("[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")
_QID = re.compile("Q[1-9][0-9]*")


def _fits(form: re.Pattern[str]) -> Callable[[object], str | None]:
    return lambda value: told if form.fullmatch(told := str(value).strip().upper()) else None


def _domain(value: object) -> str | None:
    told = str(value).strip().lower()
    try:
        host = urlsplit(told if "://" in told else f"//{told}").hostname or ""
    except ValueError:
        return None
    return host.removeprefix("www.") if "." in host and " " not in host else None


_FORMS: Mapping[str, Callable[[object], str | None]] = {
    "lei": lei,
    "cik": cik,
    "isin": isin,
    "wikidata": _fits(_QID),
    "bic": _fits(_BIC),
    "domain": _domain,
}


def designators(
    named: Iterable[tuple[str, object]], provider: str | None = None
) -> list[dict[str, Any]]:
    """The designators among pairs of scheme and value, each once; ill-formed ones are left out."""
    read = [(scheme, _FORMS.get(scheme, str)(value)) for scheme, value in named if value]
    return [designator(*one, provider) for one in dict.fromkeys(read) if one[1]]


def keys(known: Iterable[Mapping[str, Any]]) -> list[str]:
    """The keys that name a party of these designators, the strongest first."""
    strong = [one for one in known if one["scheme"] in STRENGTH]
    strong.sort(key=lambda one: (STRENGTH.index(one["scheme"]), one["value"]))
    return [f"{one['scheme']}:{one['value']}" for one in strong]


def identifier(kind: str, value: str, country_code: str | None = None) -> dict[str, Any]:
    """A number of a document or a register, which is told by its `kind` and its country."""
    return {"kind": kind, "value": value, "countryCode": country_code}


def sanction(
    program: str | None,
    authority: str | None,
    list_name: str | None,
    *,
    listed: str | None = None,
    reason: str | None = None,
    status: str = "active",
) -> dict[str, Any]:
    """A listing of a party; `status` is `active` or `delisted`."""
    return {
        "programId": program,
        "authority": authority,
        "listName": list_name,
        "listedDate": listed,
        "reason": reason,
        "status": status,
    }
