"""One company at the SEC and its filings, the newest thousand of them in parallel arrays.

`items` of an 8-K name what it is about: 1.05 is a material cybersecurity incident. Older filings
stand in files of their own, which are those arrays alone and are named after the company.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from typing import Any

from svc_core.sources import sec
from svc_core.sources.body import Body
from svc_core.sources.identifiers import cik, lei
from svc_core.sources.model import About, DocumentRefused, Given, Record, Told
from svc_core.sources.values import (
    at,
    day,
    designator,
    midnight,
    moment,
    records,
    required,
    text,
)

_FILE = re.compile(r"CIK(\d{10})")


def _parse(body: Body, given: Given) -> Told:
    told = body.whole_json()
    columns = told if "filings" not in told else (told["filings"] or {}).get("recent") or {}
    number = _company(told, given)
    rows = list(_rows(columns))
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


def _rows(columns: dict[str, Any]) -> Iterator[dict[str, Any]]:
    arrays = {name: column for name, column in columns.items() if isinstance(column, list)}
    if len(set(map(len, arrays.values()))) > 1:
        raise DocumentRefused("truncated", "The arrays of filings are not of one length.")
    return (dict(zip(arrays, row, strict=True)) for row in zip(*arrays.values(), strict=True))


def _entity(number: str, told: dict[str, Any]) -> Record:
    tickers = [ticker for ticker in map(text, told.get("tickers") or ()) if ticker]
    listed = zip_longest(tickers, (told.get("exchanges") or ())[: len(tickers)])
    legal, known = lei(told.get("lei")), sec.names(number, tickers)
    name, sic = required(text(told.get("name")), "a name"), text(told.get("sic"))
    industry = {"scheme": "SIC", "code": sic, "label": text(told.get("sicDescription"))}
    formerly = (text(former.get("name")) for former in told.get("formerNames") or ())
    homes = _homes(told)
    said = {
        "type": "person" if _is_person(told) else "company",
        "name": name,
        "aliases": [one for one in dict.fromkeys(formerly) if one and one != name],
        "description": text(told.get("description")),
        "designators": [*([designator("lei", legal, "sec")] if legal else ()), *known],
        "jurisdiction": homes[0],
        "countryCodes": list(dict.fromkeys(home[:2] for home in homes if home)),
        "industry": industry if sic else None,
        "listings": [sec.listing(*one) for one in listed],
    }
    return sec.entity(number, said, legal)


def _is_person(told: dict[str, Any]) -> bool:
    """Whoever only owns shares of others, and is neither classified nor taxed as a business."""
    owns = told.get("insiderTransactionForOwnerExists")
    marks = ("insiderTransactionForIssuerExists", "sic", "tickers", "stateOfIncorporation")
    taxed = str(told.get("ein") or "").strip("0")
    return bool(owns) and not taxed and not any(told.get(mark) for mark in marks)


def _homes(told: dict[str, Any]) -> list[str | None]:
    """ISO 3166 of where it was founded, does business and has its post sent to."""
    addresses = told.get("addresses") or {}
    stated = [(told, "stateOfIncorporation")]
    stated += [(addresses.get(kind) or {}, "stateOrCountry") for kind in ("business", "mailing")]
    return [sec.jurisdiction(one.get(name), one.get(f"{name}Description")) for one, name in stated]


def _filing(number: str, row: dict[str, Any]) -> Record:
    accession = required(text(row["accessionNumber"]), "accessionNumber")
    accepted = moment(row.get("acceptanceDateTime")) or midnight(row.get("filingDate"))
    url = sec.filing_page(number, accession, text(row.get("primaryDocument")) or "")
    said = {
        "entity": f"cik:{number}",
        "cik": number,
        "accession": accession,
        "form": required(text(row.get("form")), "form"),
        "filedDate": required(day(row.get("filingDate")), "filingDate"),
        "reportDate": day(row.get("reportDate")),
        "acceptedAt": at(moment(row.get("acceptanceDateTime"))),
        "items": [item.strip() for item in (row.get("items") or "").split(",") if item.strip()],
        "description": text(row.get("primaryDocDescription")),
        "url": url,
    }
    key = f"{number}|{accession}"
    return Record("filing", key, said, accepted, (), accession, url, accepted)


SEC_SUBMISSIONS = sec.sec_format(
    id="sec-submissions",
    title="SEC company and its filings",
    kind="window",
    brings=("entity", "filing"),
    recognise=lambda body: body.has("cik", "filings") or body.has("accessionNumber", "form"),
    parse=_parse,
    options={"cik": "whose filings they are, where neither document nor file name says so"},
    cadence_seconds=3_600,
)
