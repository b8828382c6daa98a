"""Pages of the NVD's CVE API 2.0, and its yearly files of the same form.

Times have no zone and are UTC. What the NVD repeats of CISA's catalogue (`cisaExploitAdd`, ...) is
left to the catalogue itself, which also takes entries back. The NVD asks for no more than one poll
in two hours.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from svc_core.formats.cyber.vulnerabilities import (
    cve_id,
    english,
    entry,
    listed,
    products,
    references,
    score,
    ssvc,
    weaknesses,
)
from svc_core.formats.model import About, Given, Record, Told
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import MEBI, declared
from svc_core.formats.reading.values import moment, records

PAGE = "https://nvd.nist.gov/vuln/detail/"
OWN = "nvd@nist.gov"

_PARTS = re.compile(r"(?<!\\):")
_ESCAPED = re.compile(r"\\(.)")


def _parse(body: Body, _: Given) -> Told:
    page = body.whole_json()
    yield About(stamp=moment(page.get("timestamp")), home_url="https://nvd.nist.gov/")
    yield from records(page["vulnerabilities"], _record, lambda item: item["cve"]["id"])


def _record(item: dict[str, Any]) -> Record:
    told = item["cve"]
    metrics = told.get("metrics") or {}
    named = sorted((name for name in metrics if name.startswith("cvssMetric")), reverse=True)
    decided = [one for name in metrics if name.startswith("ssvc") for one in metrics[name]]
    rejected = str(told.get("vulnStatus")).lower() == "rejected"
    said = {
        "state": "REJECTED" if rejected else "PUBLISHED",
        "description": english(told.get("descriptions")),
        "scoredBy": told.get("sourceIdentifier"),
        "scores": listed((metrics[name] for name in named), _score),
        "ssvc": next((ssvc(one["ssvcData"], one.get("source")) for one in decided), None),
        "weaknesses": weaknesses(one.get("description") for one in told.get("weaknesses") or ()),
        "affected": products(map(_product, _matches(told.get("configurations") or ()))),
        "references": references([told.get("references")]),
    }
    return entry(cve_id(told["id"]), said, PAGE, told.get("published"), told.get("lastModified"))


def _score(metric: dict[str, Any]) -> Any:
    source, role = metric.get("source"), str(metric.get("type") or "secondary").lower()
    provider = "nvd" if source == OWN else source
    return score(metric["cvssData"], provider, role, metric.get("baseSeverity"))


def _matches(configurations: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """What is affected, and not what it only runs on or with."""
    nodes = (one for each in configurations for one in each.get("nodes") or ())
    for node in (one for one in nodes if not one.get("negate")):
        yield from (one for one in node.get("cpeMatch") or () if one.get("vulnerable"))


def _product(match: dict[str, Any]) -> tuple[Any, Any, Any, list[Any]]:
    vendor, product, name = _named(match["criteria"])
    return vendor, product, match["criteria"], _versions(match, name)


def _named(criteria: str) -> tuple[str, str, str]:
    """Vendor, product and version of `cpe:2.3:part:vendor:product:version:update:...`."""
    parts = criteria.split(":")
    if "\\" in criteria:
        parts = [_ESCAPED.sub(r"\1", part) for part in _PARTS.split(criteria)]
    vendor, product, name, update = parts[3:7]
    return vendor, product, name if update in {"*", "-"} else f"{name} {update}"


def _versions(match: dict[str, Any], name: str) -> list[dict[str, Any]]:
    after, before = match.get("versionStartExcluding"), match.get("versionEndExcluding")
    first, last = match.get("versionStartIncluding") or after, match.get("versionEndIncluding")
    start = first or (None if before or last else name)
    ranged = {"version": start, "status": "affected", "lessThan": before, "lessThanOrEqual": last}
    return [{"version": after, "status": "unaffected"}, ranged] if after else [ranged]


NVD = declared(
    "nvd",
    lambda body: body.has("vulnerabilities") and body.json.get("format") == "NVD_CVE",
    _parse,
    bytes_max=128 * MEBI,  # pages of 2,000 reach 20 MB, yearly files are larger
)
