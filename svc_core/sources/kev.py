"""CISA's catalogue of known exploited vulnerabilities: one JSON snapshot, entries changed in place.

CISA has published truncated files, so its own count must agree with what is there.
"""

import re
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import About, Format, Given, Record, Told
from svc_core.sources.values import day, midnight, moment, records, text
from svc_core.sources.vulnerabilities import cve_id, record, references, weaknesses

PAGE = "https://www.cisa.gov/known-exploited-vulnerabilities-catalog"

_LINKS = re.compile(r"https?://[^\s;]+")


def _parse(body: Body, _: Given) -> Told:
    catalog = body.whole_json()
    yield About(
        stamp=moment(catalog.get("dateReleased")),
        title=catalog.get("title"),
        home_url=PAGE,
        records=catalog.get("count"),
    )
    yield from records(catalog["vulnerabilities"], _record, lambda entry: entry["cveID"])


def _record(entry: dict[str, Any]) -> Record:
    cve = cve_id(entry["cveID"])
    return record(
        cve,
        {
            "kev": {
                "dateAdded": day(entry["dateAdded"]),
                "dueDate": day(entry.get("dueDate")),
                "requiredAction": text(entry.get("requiredAction")),
                "knownRansomwareCampaignUse": text(entry.get("knownRansomwareCampaignUse")),
                "name": text(entry.get("vulnerabilityName")),
                "vendorProject": text(entry.get("vendorProject")),
                "product": text(entry.get("product")),
                "shortDescription": text(entry.get("shortDescription")),
            },
            "weaknesses": weaknesses([entry.get("cwes")]),
            "references": references(
                [[{"url": one} for one in _LINKS.findall(entry.get("notes") or "")]]
            ),
        },
        record_id=cve,
        url=f"{PAGE}?search_api_fulltext={cve}",
        published_at=midnight(entry["dateAdded"]),
    )


KEV = Format(
    id="kev",
    title="CISA Known Exploited Vulnerabilities",
    kind="snapshot",
    provider="cisa-kev",
    brings=("cve",),
    recognise=lambda body: body.has("catalogVersion", "vulnerabilities"),
    parse=_parse,
    cadence_seconds=3_600,
    license="CC0-1.0",
    attribution="CISA",
)
