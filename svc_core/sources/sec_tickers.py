"""The SEC's list of companies with tickers: one JSON snapshot; a company may have many tickers."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from svc_core.sources import sec
from svc_core.sources.body import Body
from svc_core.sources.model import Given, Record, Told
from svc_core.sources.values import records, text

Row = dict[str, Any]


def _has_fields(body: Body) -> bool:
    fields = body.json["fields"] if body.has("fields", "data") else None
    return isinstance(fields, list) and "cik" in fields and "ticker" in fields


def _recognise(body: Body) -> bool:
    first = next(iter(body.json.values()), None) if body.has() else None
    is_row = isinstance(first, dict) and "cik_str" in first and "ticker" in first
    return is_row or _has_fields(body)


def _rows(body: Body) -> Iterable[Any]:
    """The rows of either form: objects under running numbers, or lists under `fields`."""
    told = body.whole_json()
    if not _has_fields(body):
        return list(told.values())
    return [dict(zip(told["fields"], row, strict=False)) for row in told["data"]]


def _cik(row: Row) -> Any:
    return row.get("cik_str", row.get("cik"))


def _parse(body: Body, _: Given) -> Told:
    companies: dict[Any, list[Row]] = defaultdict(list)
    for place, row in enumerate(_rows(body)):
        known = isinstance(row, dict) and _cik(row) is not None
        companies[str(_cik(row)) if known else place].append(row)
    yield from records(companies.values(), _record, lambda rows: rows[0])


def _record(rows: list[Row]) -> Record:
    number, first = sec.company(_cik(rows[0])), rows[0]
    listed = {str(row["ticker"]): row.get("exchange") for row in rows if row["ticker"]}
    said = {
        "type": "company",
        "name": text(first.get("title") or first.get("name")),
        "designators": sec.names(number, list(listed)),
        "listings": [sec.listing(*one) for one in listed.items()],
    }
    return sec.entity(number, said)


SEC_TICKERS = sec.sec_format(
    id="sec-tickers",
    title="SEC company tickers",
    kind="snapshot",
    brings=("entity",),
    recognise=_recognise,
    parse=_parse,
    cadence_seconds=86_400,
)
