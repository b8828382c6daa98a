"""The SEC's list of companies with tickers: one JSON snapshot; a company may have many tickers."""

from collections import defaultdict
from typing import Any

from svc_core.sources import sec
from svc_core.sources.body import Body
from svc_core.sources.model import Format, Given, Record, Told
from svc_core.sources.values import records, text

Row = dict[str, Any]


def _rows(body: Body) -> list[Row]:
    """The rows of either form: objects under running numbers, or lists under `fields`."""
    told = body.json
    if not isinstance(told, dict):
        return []
    if isinstance(told.get("fields"), list) and isinstance(told.get("data"), list):
        return [dict(zip(told["fields"], row, strict=False)) for row in told["data"]]
    return list(told.values())


def _recognise(body: Body) -> bool:
    first = next(iter(_rows(body)), None)
    return isinstance(first, dict) and "ticker" in first and ("cik_str" in first or "cik" in first)


def _cik(row: Row) -> Any:
    return row.get("cik_str", row.get("cik"))


def _parse(body: Body, _: Given) -> Told:
    body.whole_json()
    companies: dict[Any, list[Row]] = defaultdict(list)
    for place, row in enumerate(_rows(body)):
        known = isinstance(row, dict) and _cik(row) is not None
        companies[str(_cik(row)) if known else place].append(row)
    yield from records(companies.values(), _record, lambda rows: rows[0])


def _record(rows: list[Row]) -> Record:
    number, first = sec.company(_cik(rows[0])), rows[0]
    listed = {row["ticker"]: row.get("exchange") for row in rows if row.get("ticker")}
    said = {
        "type": "company",
        "name": text(first.get("title") or first.get("name")),
        "designators": sec.names(number, list(listed)),
        "listings": [sec.listing(*one) for one in listed.items()],
    }
    return sec.entity(number, said)


SEC_TICKERS = Format(
    id="sec-tickers",
    title="SEC company tickers",
    kind="snapshot",
    provider="sec",
    brings=("entity",),
    recognise=_recognise,
    parse=_parse,
    cadence_seconds=86_400,
    license=sec.LICENSE,
    attribution=sec.ATTRIBUTION,
)
