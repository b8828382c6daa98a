"""Frankfurter: exchange rates of the ECB, of one day or of many.

A rate is what `amount` of the base costs; the row is what one of it costs.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from svc_core.sources import indicators
from svc_core.sources.body import Body
from svc_core.sources.codes import currency
from svc_core.sources.model import About, Format, Given, Record, Told
from svc_core.sources.values import day, midnight, number, records, required

PAGE = "https://frankfurter.dev"

Rate = tuple[str, str, str, Any, Any]
"""Date, base and quoted currency, what an amount of the base costs, and that amount."""


def _parse(body: Body, _: Given) -> Told:
    rates = list(_rates(body.whole_json()))
    yield About(stamp=midnight(max((str(rate[0]) for rate in rates), default="")), home_url=PAGE)
    yield from records(rates, _record, lambda rate: " ".join(map(str, rate)))


def _rates(told: Any) -> Iterator[Rate]:
    if isinstance(told, list):  # version 2 of the API
        yield from ((row["date"], row["base"], row["quote"], row["rate"], 1) for row in told)
        return
    days = told["rates"] if "start_date" in told else {told["date"]: told["rates"]}
    for date, rates in days.items():
        for quote, rate in rates.items():
            yield date, told["base"], quote, rate, told.get("amount")


def _record(rate: Rate) -> Record:
    date, base, quote, cost, amount = rate
    found = number(cost)
    for_one = number(amount) or 1
    if found is not None and for_one != 1:
        found = float(Decimal(str(found)) / Decimal(str(for_one)))
    money = currency(quote)
    said = indicators.series(
        "frankfurter",
        f"{base}/{quote}",
        f"{quote} for one {base}",
        unit=None if money else indicators.measured(quote)["unit"],
        currency=money,
    )
    when = indicators.period(required(day(date), "a date"))
    return indicators.observation(said, when, found)


def _is_frankfurter(body: Body) -> bool:
    told = body.json
    if isinstance(told, list):
        row = told[0] if told else None
        return isinstance(row, dict) and {"date", "base", "quote", "rate"} <= row.keys()
    return (
        body.has("base", "rates")
        and isinstance(told["rates"], dict)
        and ("date" in told or "start_date" in told)
    )


FRANKFURTER = Format(
    id="frankfurter",
    title="Frankfurter exchange rates",
    kind="window",
    provider="frankfurter",
    brings=("indicator",),
    recognise=_is_frankfurter,
    parse=_parse,
    cadence_seconds=86_400,
    attribution="European Central Bank",
)
