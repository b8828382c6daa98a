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
from svc_core.operation.ports import Collection, Layout
from svc_core.operation.source_members import SourceRef
from svc_core.search.field_index import FieldIndex
from svc_core.search.row_names import RowNames
from svc_core.text.country_names import names_by_code
from svc_core.wire.constraints import Doc, Example, Ge, IdOf

IndicatorId = Annotated[str, IdOf("fin")]
Frequency = Literal["A", "S", "Q", "M", "W", "D"]
Status = Literal["A", "E", "P", "F", "M"]

_DAY_BITS = 22  # the days from the year 1 to 9999


@frozen
class IndicatorArea:
    """What part of the world a value is about; an aggregate has no country."""

    country_code: CountryCode
    code: Annotated[str | None, Example("BEL")]
    """As its provider codes it."""
    label: Annotated[str | None, Example("Belgium")]
    """As its provider names it."""


@frozen
class Vintage:
    """The days on which a value was the one that its provider gave."""

    start: Annotated[date, Example("2026-01-29")]
    """The first of them."""
    end: Annotated[date | None, Example("2026-02-25")]
    """The last known one; null for none."""


@frozen
class Indicator:
    """The value of one series in one period."""

    id: IndicatorId
    provider: Annotated[str, Example("worldbank")]
    """Who publishes it."""
    dataset_id: Annotated[str | None, Example("2")]
    """Its data set there; null for none."""
    indicator_code: Annotated[str, Example("FI.RES.TOTL.MO")]
    """What its provider calls it."""
    name: Annotated[str, Example("Total reserves")]
    """What people call the series."""
    area: IndicatorArea
    frequency: Annotated[Frequency, Example("A")]
    """SDMX CL_FREQ."""
    period: Annotated[str, Example("2025")]
    """In SDMX notation."""
    period_start: Annotated[date, Example("2025-01-01")]
    """Its first day."""
    period_end: Annotated[date, Example("2025-12-31")]
    """Its last day."""
    value: Annotated[float | None, Example(3.9)]
    """Null where it is missing."""
    unit: Annotated[str | None, Example(None)]
    """UCUM; null where no unit is told."""
    currency: Annotated[str | None, Example(None)]
    """ISO 4217; null for no money."""
    unit_multiplier: Annotated[int | None, Example(6)]
    """Power of ten; null where untold."""
    seasonal_adjustment: str | None
    """Its provider's code; null where untold."""
    status: Status | None
    """Normal, estimated, provisional, forecast, missing."""
    vintage: Vintage | None
    """Null where its provider keeps none."""
    released_at: datetime | None
    """When it was released; null where untold."""
    sources: tuple[SourceRef, ...]
    """What the row was made from."""
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Example(1)]
    """Counts its versions from 1."""
    previous_value: Maybe[float | None] = UNSET
    """Of the last period with a value."""
    change: Annotated[Maybe[float | None], Example(0.8)] = UNSET
    """Since that one."""
    change_percent: Maybe[float | None] = UNSET
    """Null where it was zero."""

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

    indicator: UnboundedValues[Name] = _VALUE.key(attrgetter("indicator_code"))
    """Comma list of codes of indicators."""
    provider: Annotated[UnboundedValues[Name], Example(["fred"])] = _VALUE.key(
        attrgetter("provider")
    )
    """Comma list of providers."""
    area: UnboundedValues[Name] = _VALUE.key(attrgetter("area.code"))
    """Comma list of area codes of their providers."""
    country: Annotated[UnboundedValues[Code], Example(["BE", "FR"])] = _VALUE.key(
        attrgetter("area.country_code"), form=str.upper
    )
    """Comma list of countries."""
    frequency: UnboundedValues[Frequency] = _VALUE.key(attrgetter("frequency"))
    """Comma list of frequencies."""
    period_from: Annotated[Period, QUERY, Example("2024-Q3")] = _VALUE.number(None, ORDER, _from)
    """Begins then or later."""
    period_to: Annotated[Period, QUERY, Example("2025")] = UNSET
    """Ends then or before."""
    vintage: Annotated[Maybe[date], QUERY] = UNSET
    """Values as they were given on this day."""
    latest: Annotated[bool, QUERY] = False
    """Only the newest period of each series."""
    updated_since: UpdatedSince = _VALUE.later(lambda row: row.updated_at, "updated")
    sort: Annotated[Maybe[Literal["period", "updatedAt"]], QUERY] = sort_orders(updatedAt="updated")
    """The newest comes first; not with `latest`."""
    include: IncludeChange = UNSET


FININT: Collection[Indicator] = Collection(
    name="finint",
    model=Indicator,
    prefix="fin",
    order=_order,
    scope="global",
    layout=Layout(is_compressed=True),
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
    name: str = ""
    """What people call it; a series that was stored before it had one gets it with a value."""


def series_of(row: Indicator) -> IndicatorSeries:
    """The series that a row belongs to."""
    id_ = ids.derived_id("fin", "series", "", row.series)
    return IndicatorSeries(
        id_, row.series, row.provider, row.indicator_code, row.area, row.frequency, row.name
    )


SERIES_WORDS: FieldIndex[IndicatorSeries] = FieldIndex(
    lambda row: {
        "name": [row.name],
        "area": [row.area.label or "", *names_by_code().get(row.area.country_code or "", ())],
        "provider": [row.provider, row.indicator_code],
    },
    names=lambda row: RowNames(row.name, (), [row.indicator_code], prominence=0),
    levels=(0,),
)


FININT_SERIES: Collection[IndicatorSeries] = Collection(
    name="indicator_series",
    model=IndicatorSeries,
    prefix="fin",
    order=lambda _: 0,
    scope="global",
    keys=_OF_SERIES,
    search=SERIES_WORDS,
    form=2,
)
"""One row per series, so that finding the newest value of each costs the same however long the
series are. The row of a series whose last value was withdrawn stays, and is skipped."""
