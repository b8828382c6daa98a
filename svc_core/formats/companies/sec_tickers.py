"""Parses the SEC's list of companies with tickers: one JSON snapshot, several tickers a company."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from svc_core.formats.companies import sec
from svc_core.formats.designators.schemes import well_formed
from svc_core.formats.model import Contents, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import record_list, text_member

Row = dict[str, Any]


def _recognise(body: Body) -> bool:
    if body.has("fields", "data"):
        return {"cik", "ticker"}.issubset(body.json["fields"])
    return {"cik_str", "ticker"}.issubset(next(iter(body.json.values()), ()))


def _rows(document: dict[str, Any]) -> Iterable[Any]:
    """The rows of both forms: objects under running numbers, or lists described by `fields`."""
    if "fields" not in document:
        return document.values()
    return [dict(zip(document["fields"], row, strict=False)) for row in document["data"]]


def _cik(row: Row) -> Any:
    return row.get("cik_str", row.get("cik"))


def _parse(body: Body, _: Origin) -> Contents:
    companies: dict[Any, list[Row]] = defaultdict(list)
    for place, row in enumerate(_rows(body.whole_json())):
        number = well_formed("cik", _cik(row)) if isinstance(row, dict) else None
        companies[number or place].append(row)
    yield from record_list(companies.values(), _record, lambda rows: rows[0])


def _record(rows: list[Row]) -> Record:
    first = rows[0]
    members = {"name": text_member(first.get("title") or first.get("name"))}
    exchanges = {str(row["ticker"]): row.get("exchange") for row in rows if row["ticker"]}
    return sec.filer(sec.require_cik(_cik(first)), members, exchanges)


SEC_TICKERS = make_format("sec-tickers", _recognise, _parse)
