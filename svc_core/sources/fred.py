"""FRED: the observations of one series, or of several in one object by the names of the series.

An answer says neither which series it is nor its unit, area or frequency: options say it, and
without one the dates tell the frequency. A window of real time asks for vintages, each a row; the
real time of one day is only when it was asked.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from svc_core import periods
from svc_core.sources import indicators
from svc_core.sources.body import Body
from svc_core.sources.codes import currency
from svc_core.sources.model import About, DocumentRefused, Format, Given, Record, Told, Unusable
from svc_core.sources.values import day, midnight, records

PAGE = "https://fred.stlouisfed.org/series/"

_LETTERS = {"SA": "S", "SE": "S", "BW": "W", "BI": "W"}  # two weeks have no code in SDMX
_RELATIVE = frozenset({"pch", "pc1", "pca", "cch", "cca"})  # values of `units` that are percentages
_VINTAGE = re.compile(r".+_(\d{8})")  # a column of output types 2 and 3: GDP_20240328


def _parse(body: Body, given: Given) -> Told:
    told = body.whole_json()
    answers = {given.options["series"]: told} if "observations" in told else told
    for answer in answers.values():
        count, limit = answer.get("count"), answer.get("limit") or 100_000
        is_whole = isinstance(count, int) and count <= limit and not answer.get("offset")
        if is_whole and count != len(answer["observations"]):
            raise DocumentRefused("wrongCount", f"It says {count} values, and holds others.")
    last = max((str(answer.get("realtime_end") or "") for answer in answers.values()), default="")
    yield About(stamp=None if last.startswith("9999") else midnight(last))
    for series, answer in answers.items():
        yield from _values(series, answer, given.options)


def _values(series: str, answer: Mapping[str, Any], options: Mapping[str, str]) -> Told:
    frequency = _frequency(options.get("frequency") or "", answer)
    is_range = answer.get("realtime_start") != answer.get("realtime_end")
    change = str(answer.get("units") or "lin").lower()
    is_relative = change in _RELATIVE
    said = indicators.series(
        "fred",
        series if change == "lin" else f"{series}_{change.upper()}",
        options.get("title") or series,
        area=indicators.area(options.get("area")),
        unit="%" if is_relative else options.get("unit"),
        currency=None if is_relative else currency(options.get("currency")),
    )

    def told(row: Mapping[str, Any]) -> Iterator[Record]:
        if frequency is None:
            raise Unusable("has the only date, which tells no frequency: --option frequency=")
        when = periods.containing(date.fromisoformat(row["date"]), frequency)
        at: dict[str, Any] = {"record_id": f"{series}/{row['date']}", "url": PAGE + series}
        for value, vintage in _vintages(row, is_range):
            yield indicators.observation(said, when, value, **vintage, **at)

    yield from records(answer["observations"], told, lambda row: row["date"])


def _frequency(told: str, answer: Mapping[str, Any]) -> str | None:
    if told:
        letter = _LETTERS.get(told[:2].upper(), told[0].upper())
        if letter not in periods.FREQUENCIES:
            raise DocumentRefused("option", "frequency= is one of A, S, Q, M, W and D.")
        return letter
    days = (day(row.get("date")) for row in answer["observations"])
    return periods.spaced(date.fromisoformat(each) for each in days if each)


def _vintages(row: Mapping[str, Any], is_range: bool) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The values of a date, each with its vintage and whether that stands beside others."""
    start = day(row.get("realtime_start"))
    if "value" in row:
        told = start and {"start": start, "end": day(row["realtime_end"])}
        yield row["value"], {"vintage": told, "is_kept": is_range}
    for name, value in row.items():
        column = _VINTAGE.fullmatch(name)
        if column is not None and value != ".":
            yield value, {"vintage": {"start": day(column[1]), "end": None}, "is_kept": True}


def _is_fred(body: Body) -> bool:
    told = body.json if isinstance(body.json, dict) else {}
    answers = [told] if "observations" in told else list(told.values())
    rows = [one.get("observations") for one in answers if isinstance(one, dict)]
    are_all = len(rows) == len(answers) > 0 and all(isinstance(each, list) for each in rows)
    return are_all and all("observation_start" in one for one in answers)


FRED = Format(
    id="fred",
    title="FRED series observations",
    kind="window",
    provider="fred",
    brings=("indicator",),
    recognise=_is_fred,
    parse=_parse,
    options={
        "series": "the FRED series, such as GDP; an object of several names them itself",
        "title": "what the series is called",
        "unit": "its unit, in UCUM",
        "currency": "its currency, ISO 4217",
        "area": "what it is about, such as US",
        "frequency": "A, S, Q, M, W or D",
    },
    required=frozenset({"series"}),
    cadence_seconds=21_600,
    attribution="FRED, Federal Reserve Bank of St. Louis",
)
