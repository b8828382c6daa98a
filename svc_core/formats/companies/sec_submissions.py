"""Parses a company at the SEC and its filings, of which a document has the newest thousand.

Filings are parallel arrays. Older ones stand in files of their own, which hold only those arrays
and are named after the company. The `items` of an 8-K are its topics:
1.05 is a cybersecurity incident.
"""

import re
from functools import partial
from itertools import zip_longest
from typing import Any

from svc_core.formats.companies import sec
from svc_core.formats.designators.schemes import well_formed
from svc_core.formats.model import Contents, DocumentRefused, Metadata, Origin, Record
from svc_core.formats.reading import entity_keys as parties
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import (
    comma_parts,
    day,
    midnight,
    moment,
    record_list,
    require,
    rfc3339,
    strings,
    text_member,
)

_FILE = re.compile(r"CIK(\d{10})")
_OPTIONS = {"cik": "whose filings they are, where neither document nor file name says so"}


def _recognise(body: Body) -> bool:
    return body.has("cik", "filings") or body.has("accessionNumber", "form")


def _parse(body: Body, origin: Origin) -> Contents:
    reply = body.whole_json()
    columns = reply if "filings" not in reply else (reply["filings"] or {}).get("recent") or {}
    number, rows = _company(reply, origin), _rows(columns)
    yield Metadata(stamp=sec.latest(row.get("acceptanceDateTime") for row in rows))
    if columns is not reply:
        yield from record_list([reply], partial(_entity, number))
    yield from record_list(rows, partial(_filing, number), lambda row: row["accessionNumber"])


def _company(document: dict[str, Any], origin: Origin) -> str:
    file_match = _FILE.search(origin.name)
    stated = document.get("cik") or origin.options.get("cik") or (file_match and file_match[1])
    number = well_formed("cik", stated)
    if number is None:
        raise DocumentRefused("option", "Nothing says whose filings these are: --option cik=")
    return number


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    arrays = {name: column for name, column in columns.items() if isinstance(column, list)}
    if len(set(map(len, arrays.values()))) > 1:
        raise DocumentRefused("truncated", "The arrays of filings are not of one length.")
    return [dict(zip(arrays, row, strict=True)) for row in zip(*arrays.values(), strict=True)]


def _entity(number: str, document: dict[str, Any]) -> Record:
    tickers, homes = strings(document.get("tickers")), _homes(document)
    exchanges = (document.get("exchanges") or ())[: len(tickers)]
    name, sic = (
        require(text_member(document.get("name")), "a name"),
        text_member(document.get("sic")),
    )
    industry = {"scheme": "SIC", "code": sic, "label": text_member(document.get("sicDescription"))}
    former_names = strings([former.get("name") for former in document.get("formerNames") or ()])
    is_person = _is_person(document)
    members = {
        "type": "person" if is_person else "company",
        "name": name,
        "aliases": [former for former in dict.fromkeys(former_names) if former != name],
        "description": text_member(document.get("description")),
        "jurisdiction": homes[0],
        "registered": None if is_person else parties.register_key(name, homes[0]),
        "countryCodes": list(dict.fromkeys(home[:2] for home in homes if home)),
        "industry": industry if sic else None,
    }
    return sec.filer(number, members, dict(zip_longest(tickers, exchanges)), document.get("lei"))


def _is_person(document: dict[str, Any]) -> bool:
    """Whether the filer is a person: owns shares of others, and is no business by class or tax."""
    marks = ("insiderTransactionForIssuerExists", "sic", "tickers", "stateOfIncorporation")
    is_business = str(document.get("ein") or "").strip("0") or any(map(document.get, marks))
    return bool(document.get("insiderTransactionForOwnerExists")) and not is_business


def _homes(document: dict[str, Any]) -> list[str | None]:
    """ISO 3166 codes of its places of incorporation, business and mail."""
    addresses = document.get("addresses") or {}
    places = [(document, "stateOfIncorporation")]
    places += [(addresses.get(kind) or {}, "stateOrCountry") for kind in ("business", "mailing")]
    return [sec.jurisdiction(row.get(name), row.get(f"{name}Description")) for row, name in places]


def _filing(number: str, row: dict[str, Any]) -> Record:
    accession, form = (
        require(text_member(row[name]), name) for name in ("accessionNumber", "form")
    )
    filed_on = require(day(row["filingDate"]), "filingDate")
    accepted_at = moment(row.get("acceptanceDateTime"))
    url = sec.filing_page(number, accession, text_member(row.get("primaryDocument")))
    members = {
        "entity": f"cik:{number}",
        "cik": number,
        "accession": accession,
        "form": form,
        "filedDate": filed_on,
        "reportDate": day(row.get("reportDate")),
        "acceptedAt": rfc3339(accepted_at),
        "items": None if row.get("items") is None else comma_parts(row["items"]),
        "description": text_member(row.get("primaryDocDescription")),
        "url": url,
    }
    stamp = accepted_at or midnight(filed_on)
    return Record("filing", f"{number}|{accession}", members, stamp, (), accession, url, stamp)


SEC_SUBMISSIONS = make_format("sec-submissions", _recognise, _parse, options=_OPTIONS)
