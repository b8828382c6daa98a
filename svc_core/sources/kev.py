"""CISA's catalogue of known exploited vulnerabilities: one JSON snapshot, entries changed in place.

CISA has published truncated files, so its own count must agree with what is there.
"""

from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import About, Format, Given, Record, Told
from svc_core.sources.values import day, designator, midnight, moment, records, required, text, web

PAGE = "https://www.cisa.gov/known-exploited-vulnerabilities-catalog"


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
    cve = entry["cveID"].strip().upper()
    notes = [web(note) for note in (entry.get("notes") or "").split(";")]
    return Record(
        "cve",
        required(cve, "cveID"),
        {
            "cveId": cve,
            "designators": [designator("cve", cve)],
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
            "weaknesses": [{"id": cwe, "name": None} for cwe in entry.get("cwes") or ()],
            "references": [{"url": note, "tags": []} for note in notes if note],
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
