"""Parses CVE records (JSON 5.x) of cve.org: one record, or a list of them.

What CISA and others add stands in the same record, in containers of their own.
"""

from typing import Any

from svc_core.formats.cyber.cve_fields import (
    affected_product,
    collect,
    cve_entry,
    cve_id,
    english,
    reference_links,
    score,
    ssvc,
    weaknesses,
)
from svc_core.formats.cyber.cve_members import CveMembers
from svc_core.formats.model import Contents, Origin, Record, RecordRefused
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import objects, record_list, text_member

PAGE = "https://www.cve.org/CVERecord?id="


def _parse(body: Body, _: Origin) -> Contents:
    yield from record_list(_items(body), _record, lambda item: item["cveMetadata"]["cveId"])


def _items(body: Body) -> list[Any]:
    document = body.json
    lists = [[document], *(document.values() if isinstance(document, dict) else [document])]
    is_record = {"cveMetadata", "containers"}.issubset
    return next((items for items in lists if any(map(is_record, objects(items)))), [])


def _record(item: dict[str, Any]) -> Record:
    head, sections = item["cveMetadata"], item["containers"]
    cve, state = cve_id(head["cveId"]), str(head.get("state") or "PUBLISHED").upper()
    if state not in {"PUBLISHED", "REJECTED"}:
        raise RecordRefused("is not published")
    cna = sections.get("cna") or {}
    containers = [cna, *(sections.get("adp") or ())]
    metrics = _metrics(containers)
    problems = [problem for part in containers for problem in part.get("problemTypes") or ()]
    assigner = {"shortName": head.get("assignerShortName"), "orgId": head.get("assignerOrgId")}
    members: CveMembers = {
        "state": state,
        "title": text_member(cna.get("title"), 500),
        "description": english(cna.get("descriptions") or cna.get("rejectedReasons")),
        "assigner": assigner,
        "scores": collect([metrics or None], _score),
        "ssvc": next(filter(None, map(_decision, metrics)), None),
        "weaknesses": weaknesses(problem.get("descriptions") for problem in problems),
        "affected": collect((part.get("affected") for part in containers), affected_product),
        "references": reference_links(part.get("references") for part in containers),
    }
    return cve_entry(cve, members, PAGE, head.get("datePublished"), head.get("dateUpdated"))


def _metrics(containers: list[Any]) -> list[tuple[str, Any, str | None, str]]:
    """Metrics with name, provider and role: those of the assigner are primary, others secondary."""
    return [
        (name, value, _provider(part), "primary" if part is containers[0] else "secondary")
        for part in containers
        for metric in part.get("metrics") or ()
        for name, value in metric.items()
    ]


def _provider(container: dict[str, Any]) -> str | None:
    return text_member((container.get("providerMetadata") or {}).get("shortName"), 100)


def _score(metric: tuple[str, Any, str | None, str]) -> Any:
    name, *arguments = metric
    return score(*arguments) if name.startswith("cvss") else None


def _decision(metric: tuple[str, Any, str | None, str]) -> Any:
    name, value, provider, _ = metric
    is_one = name == "other" and str(value.get("type")).lower() == "ssvc"
    return ssvc(value["content"], provider) if is_one else None


CVE = make_format("cve", lambda body: bool(_items(body)), _parse)
