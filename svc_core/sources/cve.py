"""CVE records (JSON 5.x) of cve.org: one record, or a list of them.

What CISA and others add stands in the same record, in containers of their own.
"""

from collections.abc import Iterator
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import Format, Given, Record, Told, Unusable
from svc_core.sources.values import at, moment, objects, records, text
from svc_core.sources.vulnerabilities import (
    affected,
    cve_id,
    english,
    listed,
    record,
    references,
    score,
    ssvc,
    weaknesses,
)

PAGE = "https://www.cve.org/CVERecord?id="


def _parse(body: Body, _: Given) -> Told:
    yield from records(_listed(body), _record, lambda one: one["cveMetadata"]["cveId"])


def _listed(body: Body) -> list[Any]:
    found = body.json
    lists = [[found], found] if not isinstance(found, dict) else [[found], *found.values()]
    is_record = {"cveMetadata", "containers"}.issubset
    return next((one for one in lists if any(map(is_record, objects(one)))), [])


def _record(one: dict[str, Any]) -> Record:
    about, told = one["cveMetadata"], one["containers"]
    cve, state = cve_id(about["cveId"]), str(about.get("state") or "PUBLISHED").upper()
    if state not in {"PUBLISHED", "REJECTED"}:
        raise Unusable("is not published")
    cna = told.get("cna") or {}
    containers = [cna, *(told.get("adp") or ())]
    published, changed = moment(about.get("datePublished")), moment(about.get("dateUpdated"))
    return record(
        cve,
        {
            "state": state,
            "title": text(cna.get("title"), 500),
            "description": english(cna.get("descriptions") or cna.get("rejectedReasons")),
            "publishedAt": at(published),
            "modifiedAt": at(changed),
            "assigner": {
                "shortName": about.get("assignerShortName"),
                "orgId": about.get("assignerOrgId"),
            },
            "scores": _scores(containers) or None,
            "ssvc": next(_decisions(containers), None),
            "weaknesses": weaknesses(
                problem.get("descriptions")
                for one in containers
                for problem in one.get("problemTypes") or ()
            ),
            "affected": listed((one.get("affected") for one in containers), affected),
            "references": references(one.get("references") for one in containers),
        },
        stamp=changed,
        record_id=cve,
        url=f"{PAGE}{cve}",
        published_at=published,
    )


def _provider(container: dict[str, Any]) -> str | None:
    return text((container.get("providerMetadata") or {}).get("shortName"), 100)


def _scores(containers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The assigner's are primary, those that others added secondary."""
    found = (
        score(cvss, _provider(container), "secondary" if at_ else "primary")
        for at_, container in enumerate(containers)
        for metric in container.get("metrics") or ()
        for name, cvss in metric.items()
        if name.startswith("cvss")
    )
    return [one for one in found if one is not None]


def _decisions(containers: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for container in containers:
        for metric in container.get("metrics") or ():
            other = metric.get("other") or {}
            if str(other.get("type")).lower() == "ssvc":
                yield ssvc(other["content"], _provider(container))


CVE = Format(
    id="cve",
    title="CVE records (JSON 5)",
    kind="window",
    provider="cve",
    brings=("cve",),
    recognise=lambda body: bool(_listed(body)),
    parse=_parse,
    license="CC0-1.0",
    attribution="CVE Program",
)
