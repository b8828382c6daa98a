"""One company at the SEC and its filings, the newest thousand of them in parallel arrays.

`items` of an 8-K name what it is about: 1.05 is a material cybersecurity incident. Older filings
stand in files of their own, which are those arrays alone and are named after the company.
"""

import re
from functools import partial
from itertools import zip_longest
from typing import Any

from svc_core.formats.companies import sec
from svc_core.formats.model import About, Contents, DocumentRefused, Given, Record
from svc_core.formats.reading import parties
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.identifiers import cik
from svc_core.formats.reading.values import (
    at,
    comma_parts,
    day,
    midnight,
    moment,
    records,
    require,
    text,
    text_list,
)

_FILE = re.compile(r"CIK(\d{10})")
_OPTIONS = {"cik": "whose filings they are, where neither document nor file name says so"}


def _recognise(body: Body) -> bool:
    return body.has("cik", "filings") or body.has("accessionNumber", "form")


def _parse(body: Body, given: Given) -> Contents:
    told = body.whole_json()
    columns = told if "filings" not in told else (told["filings"] or {}).get("recent") or {}
    number, rows = _company(told, given), _rows(columns)
    yield About(stamp=sec.latest(row.get("acceptanceDateTime") for row in rows))
    if columns is not told:
        yield from records([told], partial(_entity, number))
    yield from records(rows, partial(_filing, number), lambda row: row["accessionNumber"])


def _company(told: dict[str, Any], given: Given) -> str:
    named = _FILE.search(given.name)
    found = cik(told.get("cik") or given.options.get("cik") or (named and named[1]))
    if found is None:
        raise DocumentRefused("option", "Nothing says whose filings these are: --option cik=")
    return found


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    arrays = {name: column for name, column in columns.items() if isinstance(column, list)}
    if len(set(map(len, arrays.values()))) > 1:
        raise DocumentRefused("truncated", "The arrays of filings are not of one length.")
    return [dict(zip(arrays, row, strict=True)) for row in zip(*arrays.values(), strict=True)]


def _entity(number: str, told: dict[str, Any]) -> Record:
    tickers, homes = text_list(told.get("tickers")), _homes(told)
    exchanges = (told.get("exchanges") or ())[: len(tickers)]
    name, sic = require(text(told.get("name")), "a name"), text(told.get("sic"))
    industry = {"scheme": "SIC", "code": sic, "label": text(told.get("sicDescription"))}
    formerly = text_list([one.get("name") for one in told.get("formerNames") or ()])
    is_person = _is_person(told)
    said = {
        "type": "person" if is_person else "company",
        "name": name,
        "aliases": [one for one in dict.fromkeys(formerly) if one != name],
        "description": text(told.get("description")),
        "jurisdiction": homes[0],
        "registered": None if is_person else parties.registered(name, homes[0]),
        "countryCodes": list(dict.fromkeys(home[:2] for home in homes if home)),
        "industry": industry if sic else None,
    }
    return sec.entity(number, said, dict(zip_longest(tickers, exchanges)), told.get("lei"))


def _is_person(told: dict[str, Any]) -> bool:
    """Whoever only owns shares of others, and is neither classified nor taxed as a business."""
    marks = ("insiderTransactionForIssuerExists", "sic", "tickers", "stateOfIncorporation")
    is_business = str(told.get("ein") or "").strip("0") or any(map(told.get, marks))
    return bool(told.get("insiderTransactionForOwnerExists")) and not is_business


def _homes(told: dict[str, Any]) -> list[str | None]:
    """ISO 3166 of where it was founded, does business and has its post sent to."""
    addresses = told.get("addresses") or {}
    stated = [(told, "stateOfIncorporation")]
    stated += [(addresses.get(kind) or {}, "stateOrCountry") for kind in ("business", "mailing")]
    return [sec.jurisdiction(one.get(name), one.get(f"{name}Description")) for one, name in stated]


def _filing(number: str, row: dict[str, Any]) -> Record:
    accession, form = (require(text(row[name]), name) for name in ("accessionNumber", "form"))
    filed = require(day(row["filingDate"]), "filingDate")
    accepted = moment(row.get("acceptanceDateTime"))
    url = sec.filing_page(number, accession, text(row.get("primaryDocument")))
    said = {
        "entity": f"cik:{number}",
        "cik": number,
        "accession": accession,
        "form": form,
        "filedDate": filed,
        "reportDate": day(row.get("reportDate")),
        "acceptedAt": at(accepted),
        "items": None if row.get("items") is None else comma_parts(row["items"]),
        "description": text(row.get("primaryDocDescription")),
        "url": url,
    }
    stamp = accepted or midnight(filed)
    return Record("filing", f"{number}|{accession}", said, stamp, (), accession, url, stamp)


SEC_SUBMISSIONS = make_format("sec-submissions", _recognise, _parse, options=_OPTIONS)
