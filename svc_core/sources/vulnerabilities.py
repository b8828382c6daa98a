"""What the providers of vulnerabilities have in common: CVE ids, scores, weaknesses, versions.

Rule 1: a score is its provider's: the number as published, never recomputed or put right here.
Rule 2: what is published as "n/a" is unknown.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from svc_core.sources.model import Unusable
from svc_core.sources.text import fold
from svc_core.sources.values import at, moment, number, text, web

T = TypeVar("T")

NAME_CHARS: Final = 1_000
NOTHING: Final = frozenset({"", "n/a", "unknown"})
VERSIONS: Final = frozenset({"2.0", "3.0", "3.1", "4.0"})

CVE_ID = re.compile(r"CVE-[0-9]{4}-[0-9]{4,19}")
_CWE = re.compile(r"CWE-[0-9]+")
_VECTOR = re.compile(r"CVSS:([0-9]\.[0-9])/")
_SEVERITIES = {name.upper(): name for name in ("low", "medium", "high", "critical")}
_SEVERITIES |= {"NONE": "info", "MODERATE": "medium", "IMPORTANT": "high"}
# CVSS 3.0 to 4.0, qualitative severity rating scale; of 2.0 the NVD's, which ends with "high".
_SCALE = ((0.1, "info"), (4.0, "low"), (7.0, "medium"), (9.0, "high"), (11.0, "critical"))


def cve_id(value: object) -> str:
    """A CVE id.

    Raises:
        Unusable: it is none.
    """
    told = str(value or "").strip().upper()
    if CVE_ID.fullmatch(told) is None:
        raise Unusable("has no CVE id")
    return told


def told(value: object) -> str | None:
    """A name or version; None for one that is not told. A range, `<V2.0`, is no markup."""
    if value is None:
        return None
    found = fold(str(value))[:NAME_CHARS]
    return None if found.lower() in NOTHING else found


def english(descriptions: Iterable[Mapping[str, Any]] | None) -> str | None:
    """The first description in English."""
    found = (one["value"] for one in descriptions or () if str(one["lang"]).startswith("en"))
    return text(next(found, None))


def listed(lists: Iterable[Any], make: Callable[[Any], T | None]) -> list[T] | None:
    """What lists of a record hold; None where there are none or nothing in them can be meant."""
    offered = [one for one in lists if isinstance(one, list)]
    found = [made for one in offered for item in one if (made := make(item)) is not None]
    return found or ([] if offered and not any(offered) else None)


def score(
    cvss: Mapping[str, Any], provider: str | None, role: str, severity: object = None
) -> dict[str, Any] | None:
    """A CVSS score as its provider gives it; None for one without number and vector."""
    vector = told(cvss.get("vectorString"))
    stated = _VECTOR.match(vector or "")
    version = stated[1] if stated else str(cvss.get("version") or "2.0")
    base = _base(cvss.get("baseScore"))
    if version not in VERSIONS or (base is None and vector is None):
        return None
    name = str(severity or cvss.get("baseSeverity") or "").upper()
    return {
        "system": "CVSS",
        "version": version,
        "vector": vector,
        "baseScore": base,
        "severity": _SEVERITIES.get(name) or _rated(base, version),
        "provider": provider,
        "role": role,
    }


def _base(value: object) -> int | float | None:
    try:
        found = number(value)
    except Unusable:  # the rest of the record is as good as it was
        return None
    return found if found is not None and 0 <= found <= 10 else None


def _rated(base: int | float | None, version: str) -> str | None:
    if base is None:
        return None
    name = next(name for end, name in _SCALE if base < end)
    return "high" if version == "2.0" and name == "critical" else name


def ssvc(content: Mapping[str, Any], provider: str | None) -> dict[str, Any]:
    """A decision by the Stakeholder-Specific Vulnerability Categorization."""
    options = {
        name.lower(): str(value).lower()
        for one in content.get("options") or ()
        for name, value in one.items()
    }
    return {
        "exploitation": options.get("exploitation"),
        "automatable": options.get("automatable"),
        "technicalImpact": options.get("technical impact"),
        "provider": provider,
        "at": at(moment(content.get("timestamp"))),
    }


def weaknesses(lists: Iterable[Any]) -> list[dict[str, Any]] | None:
    """The weaknesses that descriptions name, each once; `cweId` comes before the words."""
    found = listed(lists, _weakness)
    return found and list({one["id"]: one for one in reversed(found)}.values())[::-1]


def _weakness(description: Mapping[str, Any]) -> dict[str, Any] | None:
    words = text(description.get("description") or description.get("value"), 300) or ""
    named = _CWE.search(str(description.get("cweId") or words))
    if named is None:
        return None
    return {"id": named[0], "name": _CWE.sub("", words).strip(" :-()[]") or None}


def references(lists: Iterable[Any]) -> list[dict[str, Any]] | None:
    """The addresses, each once with all its tags."""
    tags: dict[str, dict[str, None]] = {}
    for url, more in listed(lists, _reference) or ():
        tags.setdefault(url, {}).update(dict.fromkeys(more))
    return [{"url": url, "tags": list(more)} for url, more in tags.items()] or None


def _reference(one: Mapping[str, Any]) -> tuple[str, list[str]] | None:
    url = web(one.get("url"))
    return None if url is None else (url, one.get("tags") or [])


def version(
    name: object,
    status: str | None,
    *,
    less_than: object = None,
    less_than_or_equal: object = None,
    version_type: object = None,
) -> dict[str, Any]:
    """A version, or the first of a range of them."""
    return {
        "version": told(name),
        "status": status,
        "lessThan": told(less_than),
        "lessThanOrEqual": told(less_than_or_equal),
        "versionType": told(version_type),
    }


def affected(
    vendor: object,
    product: object,
    cpes: Iterable[str] = (),
    versions: Iterable[dict[str, Any]] = (),
    default_status: str | None = None,
) -> dict[str, Any]:
    """A product with what is known of its versions."""
    return {
        "vendor": told(vendor),
        "product": told(product),
        "entityId": None,
        "cpes": list(dict.fromkeys(cpes)),
        "versions": list(versions),
        "defaultStatus": default_status,
    }
