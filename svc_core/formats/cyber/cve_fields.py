"""Builds the members that all vulnerability parsers share: CVE ids, scores, weaknesses, products.

Rule 1: a score stays as its provider published it; it is never recomputed or corrected here.
Rule 2: a value that is published as "n/a" is unknown.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final, TypeVar

from svc_core.formats.cyber.cve_members import (
    CveMembers,
    LinkMembers,
    ProductMembers,
    ScoreMembers,
    WeaknessMembers,
)
from svc_core.formats.model import Members, Record, RecordRefused
from svc_core.formats.reading.markup_text import fold_space
from svc_core.formats.reading.values import (
    designator,
    moment,
    number,
    rfc3339,
    text_member,
    web_url,
)

T = TypeVar("T")

CVE_ID: Final = re.compile(r"CVE-[0-9]{4}-[0-9]{4,19}")
NAME_CHARS: Final = 1_000

_CWE = re.compile(r"CWE-[0-9]+")
_VECTOR = re.compile(r"CVSS:([0-9]\.[0-9])/")
_CVSS = {"2.0", "3.0", "3.1", "4.0"}
_SEVERITIES = {key.upper(): key for key in ("low", "medium", "high", "critical")} | {"NONE": "info"}
# CVSS 3.0 to 4.0, qualitative severity rating scale; of 2.0 the NVD's, which ends with "high".
_SCALE = ((0.1, "info"), (4.0, "low"), (7.0, "medium"), (9.0, "high"), (11.0, "critical"))
_VERSION = ("version", "status", "lessThan", "lessThanOrEqual", "versionType")
_SSVC = ("exploitation", "automatable", "technicalImpact")


def cve_id(value: object) -> str:
    """The CVE id in a value.

    Raises:
        RecordRefused: there is none.
    """
    id_ = str(value or "").strip().upper()
    if CVE_ID.fullmatch(id_) is None:
        raise RecordRefused("has no CVE id")
    return id_


def cve_record(
    cve: str, members: CveMembers, *, other_keys: tuple[str, ...] = (), **record: Any
) -> Record:
    """The record of one vulnerability; `record` are further members of a `Record`."""
    row: CveMembers = {"cveId": cve, "designators": [designator("cve", cve)], **members}
    return Record("cve", cve, row, other_keys=other_keys, **record)


def cve_entry(
    cve: str, members: CveMembers, page: str, publication: object, change: object
) -> Record:
    """The record of one vulnerability by a list that has a page and dates for each."""
    first, last = moment(publication), moment(change)
    row: CveMembers = {
        **members,
        "publishedAt": rfc3339(first),
        "modifiedAt": rfc3339(last),
    }
    url = f"{page}{cve}"
    return cve_record(cve, row, stamp=last, record_id=cve, url=url, published_at=first)


def stated_name(value: object) -> str | None:
    """A name or version; None where it is not stated. `<V2.0` is a range, not markup."""
    name = "" if value is None else fold_space(str(value))[:NAME_CHARS]
    return None if name.lower() in {"", "n/a"} else name


def english(descriptions: Iterable[Members] | None) -> str | None:
    """The text of the first description in English."""
    texts = (item["value"] for item in descriptions or () if str(item["lang"]).startswith("en"))
    return text_member(next(texts, None))


def collect(lists: Iterable[Any], make: Callable[[Any], T | None]) -> list[T] | None:
    """Makes an output of each item of several lists.

    None means that no list is present or that no item gave an output; an empty list means that
    every list is empty.
    """
    present_lists = [items for items in lists if isinstance(items, list)]
    rows = [row for items in present_lists for item in items if (row := make(item)) is not None]
    return rows or ([] if present_lists and not any(present_lists) else None)


# -- scores ------------------------------------------------------------------------------------


def score(
    cvss: Members, provider: str | None, role: str, level: object = None
) -> ScoreMembers | None:
    """A CVSS score as its provider gives it; None where it has neither number nor vector."""
    vector, base = stated_name(cvss.get("vectorString")), _base(cvss.get("baseScore"))
    prefix = _VECTOR.match(vector or "")
    version = prefix[1] if prefix else str(cvss.get("version") or "2.0")
    if version not in _CVSS or (base is None and vector is None):
        return None
    own_rating = _SEVERITIES.get(str(level or cvss.get("baseSeverity") or "").upper())
    return {
        "system": "CVSS",
        "version": version,
        "vector": vector,
        "baseScore": base,
        "severity": own_rating or _severity_of(base, version),
        "provider": provider,
        "role": role,
    }


def _base(value: object) -> int | float | None:
    with suppress(RecordRefused):  # the rest of the record is as good as it was
        base = number(value)
        return base if base is not None and 0 <= base <= 10 else None
    return None


def _severity_of(base: int | float | None, version: str) -> str | None:
    if base is None:
        return None
    name = next(name for end, name in _SCALE if base < end)
    return "high" if version == "2.0" and name == "critical" else name


def ssvc(content: Members, provider: str | None) -> Members:
    """A decision by the Stakeholder-Specific Vulnerability Categorization (SSVC) of CISA."""
    points = [point for option in content.get("options") or () for point in option.items()]
    answers = {name.replace(" ", "").lower(): str(value).lower() for name, value in points}
    decision = {name: answers.get(name.lower()) for name in _SSVC}
    return {**decision, "provider": provider, "at": rfc3339(moment(content.get("timestamp")))}


# -- weaknesses, references, products ----------------------------------------------------------


def weaknesses(lists: Iterable[Any]) -> list[WeaknessMembers] | None:
    """The CWE ids in lists of descriptions, each once; `cweId` has precedence over the text."""
    rows = collect(lists, _weakness)
    return rows and list({row["id"]: row for row in reversed(rows)}.values())[::-1]


def _weakness(item: Members | str) -> WeaknessMembers | None:
    description = {"cweId": item} if isinstance(item, str) else item
    words = text_member(description.get("description") or description.get("value"), 300) or ""
    match = _CWE.search(str(description.get("cweId") or words))
    name = _CWE.sub("", words, 1).strip(" :-") or None
    return {"id": match[0], "name": name} if match else None


def reference_links(lists: Iterable[Any]) -> list[LinkMembers] | None:
    """The reference URLs in several lists, each once with all its tags."""
    tags: dict[str, dict[str, None]] = {}
    for link in collect(lists, dict) or ():
        if (url := web_url(link.get("url"))) is not None:
            tags.setdefault(url, {}).update(dict.fromkeys(link.get("tags") or ()))
    return [{"url": url, "tags": list(names)} for url, names in tags.items()] or None


def affected_product(item: Members) -> ProductMembers:
    """A product with its affected versions, from the form of CVE records."""
    versions = [
        tuple(stated_name(version.get(name)) for name in _VERSION)
        for version in item.get("versions") or ()
    ]
    return {
        "vendor": stated_name(item.get("vendor")),
        "product": stated_name(item.get("product") or item.get("packageName")),
        "entityId": None,
        "cpes": list(dict.fromkeys(item.get("cpes") or ())),
        "versions": [dict(zip(_VERSION, row, strict=True)) for row in dict.fromkeys(versions)],
        "defaultStatus": item.get("defaultStatus"),
    }


def products(
    parts: Iterable[tuple[object, object, object, list[Members]]],
) -> list[ProductMembers] | None:
    """The affected products, each once per vendor with all its CPE names and versions.

    Each part is a vendor, a product, a CPE name and versions.
    """
    groups: dict[tuple[object, object], tuple[list[object], list[Members]]] = {}
    for vendor, product, cpe, versions in parts:
        cpes, of_product = groups.setdefault((vendor, product), ([], []))
        cpes += [cpe] if cpe else []
        of_product += versions
    return [
        affected_product({"vendor": vendor, "product": product, "cpes": cpes, "versions": versions})
        for (vendor, product), (cpes, versions) in groups.items()
    ] or None
