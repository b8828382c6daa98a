"""Parses CISA's catalogue of known exploited vulnerabilities (KEV): one JSON snapshot.

CISA has published truncated files, so the count in the file must be that of its entries.
"""

import re
from typing import Any

from svc_core.formats.cyber.cve_fields import (
    cve_id,
    cve_record,
    products,
    reference_links,
    weaknesses,
)
from svc_core.formats.cyber.cve_members import CveMembers
from svc_core.formats.model import Contents, Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import day, midnight, moment, record_list, text_member

PAGE = "https://www.cisa.gov/known-exploited-vulnerabilities-catalog"

_LINKS = re.compile(r"https?://[^\s;]+")
_WORDS = {
    "requiredAction": "requiredAction", "name": "vulnerabilityName", "product": "product",
    "vendorProject": "vendorProject", "shortDescription": "shortDescription",
    "knownRansomwareCampaignUse": "knownRansomwareCampaignUse",
}  # fmt: skip


def _parse(body: Body, _: Origin) -> Contents:
    catalog = body.whole_json()
    release = moment(catalog.get("dateReleased"))
    yield Metadata(release, catalog.get("title"), PAGE, records=catalog.get("count"))
    yield from record_list(catalog["vulnerabilities"], _record, lambda entry: entry["cveID"])


def _record(entry: dict[str, Any]) -> Record:
    cve, added_on = cve_id(entry["cveID"]), entry["dateAdded"]
    links = [{"url": address} for address in _LINKS.findall(entry.get("notes") or "")]
    words = {name: text_member(entry.get(column)) for name, column in _WORDS.items()}
    names = (words["vendorProject"], words["product"])
    members: CveMembers = {
        "title": words["name"],
        "description": words["shortDescription"],
        "affected": products([(*names, None, [])] if any(names) else []),
        "kev": {"dateAdded": day(added_on), "dueDate": day(entry.get("dueDate")), **words},
        "weaknesses": weaknesses([entry.get("cwes")]),
        "references": reference_links([links]),
    }
    url = f"{PAGE}?search_api_fulltext={cve}"
    return cve_record(cve, members, record_id=cve, url=url, published_at=midnight(added_on))


KEV = make_format("kev", lambda body: body.has("catalogVersion", "vulnerabilities"), _parse)
