"""Parses pages of the NVD's CVE API 2.0 and its yearly files, which have the same form.

Times have no zone and are UTC. What the NVD repeats of CISA's catalogue (`cisaExploitAdd`, ...) is
left to the catalogue itself, which also takes entries back. The NVD asks for no more than one poll
in two hours.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from svc_core.formats.cyber.cve_fields import (
    collect,
    cve_entry,
    cve_id,
    english,
    products,
    reference_links,
    score,
    ssvc,
    weaknesses,
)
from svc_core.formats.cyber.cve_members import CveMembers
from svc_core.formats.model import Contents, Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import MEBI, make_format
from svc_core.formats.reading.values import moment, record_list

PAGE = "https://nvd.nist.gov/vuln/detail/"
OWN = "nvd@nist.gov"

_PARTS = re.compile(r"(?<!\\):")
_ESCAPE = re.compile(r"\\(.)")


def _parse(body: Body, _: Origin) -> Contents:
    page = body.whole_json()
    yield Metadata(stamp=moment(page.get("timestamp")), home_url="https://nvd.nist.gov/")
    yield from record_list(page["vulnerabilities"], _record, lambda item: item["cve"]["id"])


def _record(item: dict[str, Any]) -> Record:
    cve = item["cve"]
    metrics = cve.get("metrics") or {}
    score_names = sorted((name for name in metrics if name.startswith("cvssMetric")), reverse=True)
    decisions = [item for name in metrics if name.startswith("ssvc") for item in metrics[name]]
    is_rejected = str(cve.get("vulnStatus")).lower() == "rejected"
    members: CveMembers = {
        "state": "REJECTED" if is_rejected else "PUBLISHED",
        "description": english(cve.get("descriptions")),
        "scoredBy": cve.get("sourceIdentifier"),
        "scores": collect((metrics[name] for name in score_names), _score),
        "ssvc": next((ssvc(item["ssvcData"], item.get("source")) for item in decisions), None),
        "weaknesses": weaknesses(item.get("description") for item in cve.get("weaknesses") or ()),
        "affected": products(map(_product, _matches(cve.get("configurations") or ()))),
        "references": reference_links([cve.get("references")]),
    }
    dates = cve.get("published"), cve.get("lastModified")
    return cve_entry(cve_id(cve["id"]), members, PAGE, *dates)


def _score(metric: dict[str, Any]) -> Any:
    source, role = metric.get("source"), str(metric.get("type") or "secondary").lower()
    provider = "nvd" if source == OWN else source
    return score(metric["cvssData"], provider, role, metric.get("baseSeverity"))


def _matches(configurations: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The CPE matches that are vulnerable, without the platforms on which they run."""
    nodes = (node for configuration in configurations for node in configuration.get("nodes") or ())
    for node in (candidate for candidate in nodes if not candidate.get("negate")):
        yield from (match for match in node.get("cpeMatch") or () if match.get("vulnerable"))


def _product(match: dict[str, Any]) -> tuple[Any, Any, Any, list[Any]]:
    vendor, product, name = _cpe_names(match["criteria"])
    return vendor, product, match["criteria"], _versions(match, name)


def _cpe_names(criteria: str) -> tuple[str, str, str]:
    """Vendor, product and version of `cpe:2.3:part:vendor:product:version:update:...`."""
    parts = criteria.split(":")
    if "\\" in criteria:
        parts = [_ESCAPE.sub(r"\1", part) for part in _PARTS.split(criteria)]
    vendor, product, name, update = parts[3:7]
    return vendor, product, name if update in {"*", "-"} else f"{name} {update}"


def _versions(match: dict[str, Any], name: str) -> list[dict[str, Any]]:
    after, before = match.get("versionStartExcluding"), match.get("versionEndExcluding")
    first, last = match.get("versionStartIncluding") or after, match.get("versionEndIncluding")
    start = first or (None if before or last else name)
    range_ = {"version": start, "status": "affected", "lessThan": before, "lessThanOrEqual": last}
    return [{"version": after, "status": "unaffected"}, range_] if after else [range_]


NVD = make_format(
    "nvd",
    lambda body: body.has("vulnerabilities") and body.json.get("format") == "NVD_CVE",
    _parse,
    bytes_max=128 * MEBI,  # pages of 2,000 reach 20 MB, yearly files are larger
)
