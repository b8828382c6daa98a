"""Parses exchange rates of the ECB from Frankfurter, of one day or of several.

A rate is the price of `amount` units of the base; a row holds the price of one.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from svc_core.base import periods
from svc_core.formats.model import Contents, Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import day, midnight, number, record_list, require
from svc_core.formats.statistics import indicator_record as indicators

PAGE = "https://frankfurter.dev"


def _recognise(body: Body) -> bool:
    document = body.json
    if isinstance(document, list):
        return {"date", "base", "quote", "rate"}.issubset(document[0])
    return {"base", "rates"}.issubset(document) and ("date" in document or "start_date" in document)


def _parse(body: Body, _: Origin) -> Contents:
    rates = list(_rates(body.whole_json()))
    last = max((str(rate["date"]) for rate in rates), default="")
    yield Metadata(stamp=midnight(last), home_url=PAGE)
    yield from record_list(rates, _record, lambda rate: " ".join(map(str, rate.values())))


def _rates(document: Any) -> Iterator[dict[str, Any]]:
    """The rates in the form of version 2, with the amount of the base to which they apply."""
    if isinstance(document, list):
        yield from document
        return
    days = document["rates"] if "start_date" in document else {document["date"]: document["rates"]}
    common = {"base": document["base"], "amount": document.get("amount")}
    for date, rates in days.items():
        for quote, rate in rates.items():
            yield {"date": date, **common, "quote": quote, "rate": rate}


def _record(rate: dict[str, Any]) -> Record:
    base, quote, cost = rate["base"], rate["quote"], number(rate["rate"])
    amount = number(rate.get("amount")) or 1
    if cost is not None and amount != 1:
        cost = float(Decimal(str(cost)) / Decimal(str(amount)))
    members = {
        "provider": "frankfurter",
        "indicatorCode": f"{base}/{quote}",
        "name": f"{quote} for one {base}",
        **indicators.unit_members(quote),
    }
    period = periods.read_period(require(day(rate["date"]), "a date"))
    return indicators.observation(members, period, cost)


FRANKFURTER = make_format("frankfurter", _recognise, _parse)
