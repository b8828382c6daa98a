"""CISA's catalogue of known exploited vulnerabilities: one JSON snapshot, entries changed in place.

CISA has published truncated files, so its own count must agree with what is there.
"""

import re
from typing import Any

from svc_core.formats.cyber.vulnerabilities import cve_id, record, references, weaknesses
from svc_core.formats.model import About, Given, Record, Told
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import day, midnight, moment, records, text

PAGE = "https://www.cisa.gov/known-exploited-vulnerabilities-catalog"

_LINKS = re.compile(r"https?://[^\s;]+")
_WORDS = {
    "requiredAction": "requiredAction", "name": "vulnerabilityName", "product": "product",
    "vendorProject": "vendorProject", "shortDescription": "shortDescription",
    "knownRansomwareCampaignUse": "knownRansomwareCampaignUse",
}  # fmt: skip


def _parse(body: Body, _: Given) -> Told:
    catalog = body.whole_json()
    made = moment(catalog.get("dateReleased"))
    yield About(made, catalog.get("title"), PAGE, records=catalog.get("count"))
    yield from records(catalog["vulnerabilities"], _record, lambda entry: entry["cveID"])


def _record(entry: dict[str, Any]) -> Record:
    cve, added = cve_id(entry["cveID"]), entry["dateAdded"]
    links = [{"url": one} for one in _LINKS.findall(entry.get("notes") or "")]
    words = {ours: text(entry.get(theirs)) for ours, theirs in _WORDS.items()}
    said = {
        "kev": {"dateAdded": day(added), "dueDate": day(entry.get("dueDate")), **words},
        "weaknesses": weaknesses([entry.get("cwes")]),
        "references": references([links]),
    }
    url = f"{PAGE}?search_api_fulltext={cve}"
    return record(cve, said, record_id=cve, url=url, published_at=midnight(added))


KEV = declared("kev", lambda body: body.has("catalogVersion", "vulnerabilities"), _parse)
