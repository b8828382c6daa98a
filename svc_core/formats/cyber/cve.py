"""CVE records (JSON 5.x) of cve.org: one record, or a list of them.

What CISA and others add stands in the same record, in containers of their own.
"""

from typing import Any

from svc_core.formats.cyber.vulnerabilities import (
    affected,
    cve_id,
    english,
    entry,
    listed,
    references,
    score,
    ssvc,
    weaknesses,
)
from svc_core.formats.model import Given, Record, Told, Unusable
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import objects, records, text

PAGE = "https://www.cve.org/CVERecord?id="


def _parse(body: Body, _: Given) -> Told:
    yield from records(_listed(body), _record, lambda one: one["cveMetadata"]["cveId"])


def _listed(body: Body) -> list[Any]:
    found = body.json
    lists = [[found], *(found.values() if isinstance(found, dict) else [found])]
    is_record = {"cveMetadata", "containers"}.issubset
    return next((one for one in lists if any(map(is_record, objects(one)))), [])


def _record(one: dict[str, Any]) -> Record:
    about, held = one["cveMetadata"], one["containers"]
    cve, state = cve_id(about["cveId"]), str(about.get("state") or "PUBLISHED").upper()
    if state not in {"PUBLISHED", "REJECTED"}:
        raise Unusable("is not published")
    cna = held.get("cna") or {}
    containers = [cna, *(held.get("adp") or ())]
    metrics = _metrics(containers)
    problems = [each for one in containers for each in one.get("problemTypes") or ()]
    assigner = {"shortName": about.get("assignerShortName"), "orgId": about.get("assignerOrgId")}
    said = {
        "state": state,
        "title": text(cna.get("title"), 500),
        "description": english(cna.get("descriptions") or cna.get("rejectedReasons")),
        "assigner": assigner,
        "scores": listed([metrics or None], _score),
        "ssvc": next(filter(None, map(_decision, metrics)), None),
        "weaknesses": weaknesses(each.get("descriptions") for each in problems),
        "affected": listed((one.get("affected") for one in containers), affected),
        "references": references(one.get("references") for one in containers),
    }
    return entry(cve, said, PAGE, about.get("datePublished"), about.get("dateUpdated"))


def _metrics(containers: list[Any]) -> list[tuple[str, Any, str | None, str]]:
    """By name, with who gives them: the assigner's are primary, those that others add secondary."""
    return [
        (name, value, _provider(one), "primary" if one is containers[0] else "secondary")
        for one in containers
        for metric in one.get("metrics") or ()
        for name, value in metric.items()
    ]


def _provider(container: dict[str, Any]) -> str | None:
    return text((container.get("providerMetadata") or {}).get("shortName"), 100)


def _score(metric: tuple[str, Any, str | None, str]) -> Any:
    name, *told = metric
    return score(*told) if name.startswith("cvss") else None


def _decision(metric: tuple[str, Any, str | None, str]) -> Any:
    name, value, provider, _ = metric
    is_one = name == "other" and str(value.get("type")).lower() == "ssvc"
    return ssvc(value["content"], provider) if is_one else None


CVE = declared("cve", lambda body: bool(_listed(body)), _parse)
