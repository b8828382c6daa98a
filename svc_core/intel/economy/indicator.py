"""The rows of economic indicators: one row is the value of one series in one period (FININT)."""

from collections.abc import Mapping
from datetime import date, datetime
from operator import attrgetter
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base import ids
from svc_core.base.unset import UNSET, Maybe
from svc_core.operation.declaration import QUERY
from svc_core.operation.filters import (
    ORDER,
    Code,
    FilterFields,
    Name,
    Range,
    UnboundedValues,
    sort_orders,
)
from svc_core.operation.members import CountryCode, CreatedAt, PageRequest, UpdatedAt
from svc_core.operation.period import Period, UpdatedSince, parse_period
from svc_core.operation.ports import Collection
from svc_core.operation.source_members import SourceRef
from svc_core.wire.constraints import Doc, Example, Ge, IdOf

IndicatorId = Annotated[str, IdOf("fin")]
Frequency = Literal["A", "S", "Q", "M", "W", "D"]
Status = Literal["A", "E", "P", "F", "M"]

_DAY_BITS = 22  # the days from the year 1 to 9999


@frozen
class IndicatorArea:
    """What part of the world a value is about; an aggregate has no country."""

    country_code: CountryCode
    code: Annotated[str | None, Doc("As its provider codes it."), Example("BEL")]
    label: Annotated[str | None, Doc("As its provider names it."), Example("Belgium")]


@frozen
class Vintage:
    """The days on which a value was the one that its provider gave."""

    start: Annotated[date, Doc("The first of them."), Example("2026-01-29")]
    end: Annotated[date | None, Doc("The last known one; null for none."), Example("2026-02-25")]


@frozen
class Indicator:
    """The value of one series in one period."""

    id: IndicatorId
    provider: Annotated[str, Doc("Who publishes it."), Example("worldbank")]
    dataset_id: Annotated[str | None, Doc("Its data set there; null for none."), Example("2")]
    indicator_code: Annotated[str, Doc("What its provider calls it."), Example("FI.RES.TOTL.MO")]
    name: Annotated[str, Doc("What people call the series."), Example("Total reserves")]
    area: IndicatorArea
    frequency: Annotated[Frequency, Doc("SDMX CL_FREQ."), Example("A")]
    period: Annotated[str, Doc("In SDMX notation."), Example("2025")]
    period_start: Annotated[date, Doc("Its first day."), Example("2025-01-01")]
    period_end: Annotated[date, Doc("Its last day."), Example("2025-12-31")]
    value: Annotated[float | None, Doc("Null where it is missing."), Example(3.9)]
    unit: Annotated[str | None, Doc("UCUM; null where no unit is told."), Example(None)]
    currency: Annotated[str | None, Doc("ISO 4217; null for no money."), Example(None)]
    unit_multiplier: Annotated[int | None, Doc("Power of ten; null where untold."), Example(6)]
    seasonal_adjustment: Annotated[str | None, Doc("Its provider's code; null where untold.")]
    status: Annotated[Status | None, Doc("Normal, estimated, provisional, forecast, missing.")]
    vintage: Annotated[Vintage | None, Doc("Null where its provider keeps none.")]
    released_at: Annotated[datetime | None, Doc("When it was released; null where untold.")]
    sources: Annotated[tuple[SourceRef, ...], Doc("What the row was made from.")]
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Doc("Counts its versions from 1."), Example(1)]
    previous_value: Annotated[Maybe[float | None], Doc("Of the last period with a value.")] = UNSET
    change: Annotated[Maybe[float | None], Doc("Since that one."), Example(0.8)] = UNSET
    change_percent: Annotated[Maybe[float | None], Doc("Null where it was zero.")] = UNSET

    @property
    def series(self) -> str:
        """The key that all values of one series share."""
        key = (self.provider, self.dataset_id, self.indicator_code, self.area.code, self.frequency)
        return "|".join(part or "" for part in key)

    @property
    def days(self) -> tuple[int | None, int | None]:
        """The first and the last day of its vintage, counted from the year 1."""
        span = self.vintage
        if span is None:
            return None, None
        return span.start.toordinal(), (span.end or date.max).toordinal()


def first_sort_key(day: date) -> int:
    """The lowest sort key of values whose period begins on this day.

    A sort key is the day the period begins, in days since the year 1, and in its lower
    `_DAY_BITS` bits the day the vintage begins.
    """
    return day.toordinal() << _DAY_BITS


def last_sort_key(day: date) -> int:
    """The highest sort key of values whose period begins on this day."""
    return first_sort_key(day) + (1 << _DAY_BITS) - 1


def _from(text: str) -> Range:
    return first_sort_key(parse_period("periodFrom", text).start), None


def _order(row: Indicator) -> int:
    """The sort key of a value: by period, and within one period by vintage."""
    return first_sort_key(row.period_start) + (row.days[0] or 0)


IncludeChange = Annotated[
    UnboundedValues[Literal["change"]], Doc("`change` adds the value before it.")
]
_VALUE = FilterFields[Indicator]()


@frozen
class ListIndicators(PageRequest):
    """Values of indicators, newest period first."""

    indicator: Annotated[UnboundedValues[Name], Doc("Comma list of codes of indicators.")] = (
        _VALUE.key(attrgetter("indicator_code"))
    )
    provider: Annotated[
        UnboundedValues[Name], Doc("Comma list of providers."), Example(["fred"])
    ] = _VALUE.key(attrgetter("provider"))
    area: Annotated[UnboundedValues[Name], Doc("Comma list of area codes of their providers.")] = (
        _VALUE.key(attrgetter("area.code"))
    )
    country: Annotated[
        UnboundedValues[Code], Doc("Comma list of countries."), Example(["BE", "FR"])
    ] = _VALUE.key(attrgetter("area.country_code"), form=str.upper)
    frequency: Annotated[UnboundedValues[Frequency], Doc("Comma list of frequencies.")] = (
        _VALUE.key(attrgetter("frequency"))
    )
    period_from: Annotated[Period, QUERY, Doc("Begins then or later."), Example("2024-Q3")] = (
        _VALUE.number(None, ORDER, _from)
    )
    period_to: Annotated[Period, QUERY, Doc("Ends then or before."), Example("2025")] = UNSET
    vintage: Annotated[Maybe[date], QUERY, Doc("Values as they were given on this day.")] = UNSET
    latest: Annotated[bool, QUERY, Doc("Only the newest period of each series.")] = False
    updated_since: UpdatedSince = _VALUE.later(lambda row: row.updated_at, "updated")
    sort: Annotated[
        Maybe[Literal["period", "updatedAt"]],
        QUERY,
        Doc("The newest comes first; not with `latest`."),
    ] = sort_orders(updatedAt="updated")
    include: IncludeChange = UNSET


FININT: Collection[Indicator] = Collection(
    name="finint",
    model=Indicator,
    prefix="fin",
    order=_order,
    scope="global",
    **_VALUE.indexes(
        ListIndicators,
        keys={
            "series": lambda row: row.series,
            "vintage": lambda row: None if row.vintage is None else "yes",
        },
        numbers={
            "period_end": lambda row: row.period_end.toordinal(),
            "vintage_start": lambda row: row.days[0],
            "vintage_end": lambda row: row.days[1],
        },
    ),
    kind="indicator",
    path="/osint/finint",
)
"""Ordered by the day on which the period begins, so that the newest come first."""


_OF_SERIES: Mapping[str, Any] = {
    name: FININT.keys[name] for name in ("indicator", "provider", "area", "country", "frequency")
}
"""The index keys that all values of a series share, so that series are filtered by them too."""


@frozen
class IndicatorSeries:
    """A series that had a value once: what its values have in common."""

    id: str
    series: str
    provider: str
    indicator_code: str
    area: IndicatorArea
    frequency: Frequency


def series_of(row: Indicator) -> IndicatorSeries:
    """The series that a row belongs to."""
    id_ = ids.derived_id("fin", "series", "", row.series)
    return IndicatorSeries(
        id_, row.series, row.provider, row.indicator_code, row.area, row.frequency
    )


FININT_SERIES: Collection[IndicatorSeries] = Collection(
    name="indicator_series",
    model=IndicatorSeries,
    prefix="fin",
    order=lambda _: 0,
    scope="global",
    keys=_OF_SERIES,
)
"""One row per series, so that finding the newest value of each costs the same however long the
series are. The row of a series whose last value was withdrawn stays, and is skipped."""
