"""Parses observations of FRED: one series, or several in one object by their names.

An answer names neither its series nor its unit, area or frequency, so options do; without one the
frequency follows from the dates. A real-time range of several days holds vintages, each of which is
a row; a real-time range of one day is only the day of the request.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from svc_core.base import periods
from svc_core.formats.model import (
    Contents,
    DocumentRefused,
    Metadata,
    Origin,
    Record,
    RecordRefused,
)
from svc_core.formats.reading.codes import currency
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import day, midnight, record_list
from svc_core.formats.statistics import indicator_record as indicators

PAGE = "https://fred.stlouisfed.org/series/"

_LETTERS = {"SA": "S", "SE": "S", "BW": "W", "BI": "W"}  # two weeks have no code in SDMX
_RELATIVE = frozenset({"pch", "pc1", "pca", "cch", "cca"})  # values of `units` that are percentages
_VINTAGE = re.compile(r".+_(\d{8})")  # a column of output types 2 and 3: GDP_20240328


def _answers(document: Mapping[str, Any], series: str = "") -> Mapping[str, Any]:
    """The answers by their series; `series` names one that stands alone."""
    return {series: document} if "observations" in document else document


def _recognise(body: Body) -> bool:
    answers = _answers(body.json).values()
    are_all = all(isinstance(answer["observations"], list) for answer in answers)
    return bool(answers) and are_all and all("observation_start" in answer for answer in answers)


def _parse(body: Body, origin: Origin) -> Contents:
    answers = _answers(body.whole_json(), origin.options["series"])
    for answer in answers.values():
        count, limit = answer.get("count"), answer.get("limit") or 100_000
        is_whole = isinstance(count, int) and count <= limit and not answer.get("offset")
        if is_whole and count != len(answer["observations"]):
            raise DocumentRefused("wrongCount", f"It says {count} values, and holds others.")
    last = max(str(answer.get("realtime_end") or "") for answer in answers.values())
    yield Metadata(stamp=None if last.startswith("9999") else midnight(last))
    for series, answer in answers.items():
        yield from _values(series, answer, origin.options)


def _values(series: str, answer: Mapping[str, Any], options: Mapping[str, str]) -> Contents:
    frequency = _frequency(options.get("frequency") or "", answer)
    is_range = answer.get("realtime_start") != answer.get("realtime_end")
    change = str(answer.get("units") or "lin").lower()
    is_relative = change in _RELATIVE
    members = {
        "provider": "fred",
        "indicatorCode": series if change == "lin" else f"{series}_{change.upper()}",
        "name": options.get("title") or series,
        "area": indicators.area(options.get("area")),
        "unit": "%" if is_relative else options.get("unit"),
        "currency": None if is_relative else currency(options.get("currency")),
    }

    def row_records(row: Mapping[str, Any]) -> Iterator[Record]:
        if frequency is None:
            raise RecordRefused("has the only date, which tells no frequency: --option frequency=")
        period = periods.period_of(date.fromisoformat(row["date"]), frequency)
        links: dict[str, Any] = {"record_id": f"{series}/{row['date']}", "url": PAGE + series}
        is_kept = is_range or "value" not in row
        for value, vintage in _vintages(row):
            yield indicators.observation(
                members, period, value, vintage=vintage, is_kept=is_kept, **links
            )

    yield from record_list(answer["observations"], row_records, lambda row: row["date"])


def _frequency(option: str, answer: Mapping[str, Any]) -> str | None:
    if not option:
        days = (day(row.get("date")) for row in answer["observations"])
        return periods.frequency_of(date.fromisoformat(text) for text in days if text)
    letter = _LETTERS.get(option[:2].upper(), option[0].upper())
    if letter not in periods.FREQUENCIES:
        raise DocumentRefused("option", "frequency= is one of A, S, Q, M, W and D.")
    return letter


def _vintages(row: Mapping[str, Any]) -> Iterator[tuple[Any, dict[str, str | None] | None]]:
    """The values of a date, each with its vintage."""
    start = day(row.get("realtime_start"))
    if "value" in row:
        yield row["value"], {"start": start, "end": day(row["realtime_end"])} if start else None
    for name, value in row.items():
        column = _VINTAGE.fullmatch(name)
        if column is not None and value != ".":
            yield value, {"start": day(column[1]), "end": None}


_OPTIONS = {
    "series": "the FRED series, such as GDP; an object of several names them itself",
    "title": "what the series is called",
    "unit": "its unit, in UCUM",
    "currency": "its currency, ISO 4217",
    "area": "what it is about, such as US",
    "frequency": "A, S, Q, M, W or D",
}

FRED = make_format("fred", _recognise, _parse, options=_OPTIONS, required=frozenset({"series"}))
