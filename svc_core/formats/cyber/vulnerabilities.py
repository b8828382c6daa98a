"""What the providers of vulnerabilities have in common: CVE ids, scores, weaknesses, versions.

Rule 1: a score is its provider's: the number as published, never recomputed or put right here.
Rule 2: what is published as "n/a" is unknown.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

from svc_core.formats.model import Record, Unusable
from svc_core.formats.reading.text import fold
from svc_core.formats.reading.values import at, designator, moment, number, text, web

T = TypeVar("T")
Told = Mapping[str, Any]

CVE_ID: Final = re.compile(r"CVE-[0-9]{4}-[0-9]{4,19}")
NAME_CHARS: Final = 1_000

_CWE = re.compile(r"CWE-[0-9]+")
_VECTOR = re.compile(r"CVSS:([0-9]\.[0-9])/")
_CVSS = {"2.0", "3.0", "3.1", "4.0"}
_SEVERITIES = {one.upper(): one for one in ("low", "medium", "high", "critical")} | {"NONE": "info"}
# CVSS 3.0 to 4.0, qualitative severity rating scale; of 2.0 the NVD's, which ends with "high".
_SCALE = ((0.1, "info"), (4.0, "low"), (7.0, "medium"), (9.0, "high"), (11.0, "critical"))
_VERSION = ("version", "status", "lessThan", "lessThanOrEqual", "versionType")
_SSVC = ("exploitation", "automatable", "technicalImpact")


def cve_id(value: object) -> str:
    """A CVE id.

    Raises:
        Unusable: it is none.
    """
    found = str(value or "").strip().upper()
    if CVE_ID.fullmatch(found) is None:
        raise Unusable("has no CVE id")
    return found


def record(cve: str, said: Told, **members: Any) -> Record:
    """What a document says of a CVE; `members` are those of `Record`."""
    named = {"cveId": cve, "designators": [designator("cve", cve)]}
    return Record("cve", cve, {**named, **said}, **members)


def entry(cve: str, said: Told, page: str, published: object, changed: object) -> Record:
    """What a list that has an entry, with its times, of each CVE says of one."""
    first, last = moment(published), moment(changed)
    times = {"publishedAt": at(first), "modifiedAt": at(last)}
    url = f"{page}{cve}"
    return record(cve, {**said, **times}, stamp=last, record_id=cve, url=url, published_at=first)


def told(value: object) -> str | None:
    """A name or version; None for one that is not told. A range, `<V2.0`, is no markup."""
    found = "" if value is None else fold(str(value))[:NAME_CHARS]
    return None if found.lower() in {"", "n/a"} else found


def english(descriptions: Iterable[Told] | None) -> str | None:
    """The first description in English."""
    found = (one["value"] for one in descriptions or () if str(one["lang"]).startswith("en"))
    return text(next(found, None))


def listed(lists: Iterable[Any], make: Callable[[Any], T | None]) -> list[T] | None:
    """What lists of a record hold; None where there are none or nothing in them can be meant."""
    offered = [one for one in lists if isinstance(one, list)]
    found = [made for one in offered for item in one if (made := make(item)) is not None]
    return found or ([] if offered and not any(offered) else None)


# -- scores ------------------------------------------------------------------------------------


def score(cvss: Told, provider: str | None, role: str, severity: object = None) -> Told | None:
    """A CVSS score as its provider gives it; None for one without number and vector."""
    vector, base = told(cvss.get("vectorString")), _base(cvss.get("baseScore"))
    stated = _VECTOR.match(vector or "")
    version = stated[1] if stated else str(cvss.get("version") or "2.0")
    if version not in _CVSS or (base is None and vector is None):
        return None
    rated = _SEVERITIES.get(str(severity or cvss.get("baseSeverity") or "").upper())
    severity = rated or _rated(base, version)
    found = {"system": "CVSS", "version": version, "vector": vector, "baseScore": base}
    return found | {"severity": severity, "provider": provider, "role": role}


def _base(value: object) -> int | float | None:
    with suppress(Unusable):  # the rest of the record is as good as it was
        found = number(value)
        return found if found is not None and 0 <= found <= 10 else None
    return None


def _rated(base: int | float | None, version: str) -> str | None:
    if base is None:
        return None
    name = next(name for end, name in _SCALE if base < end)
    return "high" if version == "2.0" and name == "critical" else name


def ssvc(content: Told, provider: str | None) -> Told:
    """A decision by the Stakeholder-Specific Vulnerability Categorization."""
    points = [point for one in content.get("options") or () for point in one.items()]
    told = {name.replace(" ", "").lower(): str(value).lower() for name, value in points}
    decided = {name: told.get(name.lower()) for name in _SSVC}
    return {**decided, "provider": provider, "at": at(moment(content.get("timestamp")))}


# -- weaknesses, references, products ----------------------------------------------------------


def weaknesses(lists: Iterable[Any]) -> list[Told] | None:
    """The weaknesses that descriptions name, each once; `cweId` comes before the words."""
    found = listed(lists, _weakness)
    return found and list({one["id"]: one for one in reversed(found)}.values())[::-1]


def _weakness(one: Told | str) -> Told | None:
    description = {"cweId": one} if isinstance(one, str) else one
    words = text(description.get("description") or description.get("value"), 300) or ""
    named = _CWE.search(str(description.get("cweId") or words))
    return named and {"id": named[0], "name": _CWE.sub("", words, 1).strip(" :-") or None}


def references(lists: Iterable[Any]) -> list[Told] | None:
    """The addresses, each once with all its tags."""
    tags: dict[str, dict[str, None]] = {}
    for one in listed(lists, dict) or ():
        if (url := web(one.get("url"))) is not None:
            tags.setdefault(url, {}).update(dict.fromkeys(one.get("tags") or ()))
    return [{"url": url, "tags": list(more)} for url, more in tags.items()] or None


def affected(one: Told) -> Told:
    """A product with what is known of its versions, from the form that CVE records have."""
    versions = [
        tuple(told(each.get(name)) for name in _VERSION) for each in one.get("versions") or ()
    ]
    return {
        "vendor": told(one.get("vendor")),
        "product": told(one.get("product") or one.get("packageName")),
        "entityId": None,
        "cpes": list(dict.fromkeys(one.get("cpes") or ())),
        "versions": [dict(zip(_VERSION, each, strict=True)) for each in dict.fromkeys(versions)],
        "defaultStatus": one.get("defaultStatus"),
    }


def products(parts: Iterable[tuple[object, object, object, list[Told]]]) -> list[Told] | None:
    """Each vendor's product once, with all CPE names and versions that are told of it."""
    found: dict[tuple[object, object], tuple[list[object], list[Told]]] = {}
    for vendor, product, cpe, versions in parts:
        cpes, of_product = found.setdefault((vendor, product), ([], []))
        cpes += [cpe] if cpe else []
        of_product += versions
    return [
        affected({"vendor": vendor, "product": product, "cpes": cpes, "versions": versions})
        for (vendor, product), (cpes, versions) in found.items()
    ] or None
