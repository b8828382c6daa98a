"""Frankfurter: exchange rates of the ECB, of one day or of many.

A rate is what `amount` of the base costs; the row is what one of it costs.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from svc_core.base import periods
from svc_core.formats.economy import indicators
from svc_core.formats.model import About, Contents, Given, Record
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import day, midnight, number, records, require

PAGE = "https://frankfurter.dev"


def _recognise(body: Body) -> bool:
    told = body.json
    if isinstance(told, list):
        return {"date", "base", "quote", "rate"}.issubset(told[0])
    return {"base", "rates"}.issubset(told) and ("date" in told or "start_date" in told)


def _parse(body: Body, _: Given) -> Contents:
    rates = list(_rates(body.whole_json()))
    last = max((str(rate["date"]) for rate in rates), default="")
    yield About(stamp=midnight(last), home_url=PAGE)
    yield from records(rates, _record, lambda rate: " ".join(map(str, rate.values())))


def _rates(told: Any) -> Iterator[dict[str, Any]]:
    """The rates in the form of version 2, with the amount of the base that costs them."""
    if isinstance(told, list):
        yield from told
        return
    days = told["rates"] if "start_date" in told else {told["date"]: told["rates"]}
    known = {"base": told["base"], "amount": told.get("amount")}
    for date, rates in days.items():
        for quote, rate in rates.items():
            yield {"date": date, **known, "quote": quote, "rate": rate}


def _record(rate: dict[str, Any]) -> Record:
    base, quote, cost = rate["base"], rate["quote"], number(rate["rate"])
    amount = number(rate.get("amount")) or 1
    if cost is not None and amount != 1:
        cost = float(Decimal(str(cost)) / Decimal(str(amount)))
    said = {
        "provider": "frankfurter",
        "indicatorCode": f"{base}/{quote}",
        "name": f"{quote} for one {base}",
        **indicators.measured(quote),
    }
    when = periods.parse(require(day(rate["date"]), "a date"))
    return indicators.observation(said, when, cost)


FRANKFURTER = make_format("frankfurter", _recognise, _parse)
