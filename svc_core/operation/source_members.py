"""Members that rows made from sources share: provenance, places, measurements and names."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base.boxes import cells_of
from svc_core.base.unset import UNSET, Maybe
from svc_core.operation.members import CountryCode, SourceId
from svc_core.wire.constraints import Doc, Example, Ge, IdOf, Le

Precision = Literal["exact", "locality", "admin1", "country", "unknown"]
Severity = Literal["info", "low", "medium", "high", "critical"]
SEVERITIES: tuple[Severity, ...] = ("info", "low", "medium", "high", "critical")

Geometry = Annotated[
    Mapping[str, Any] | None,
    Doc("GeoJSON geometry (RFC 7946), longitude first; null where it is not known."),
    Example({"type": "Point", "coordinates": [-79.62, 0.98]}),
]
Confidence = Annotated[
    Annotated[float, Ge(0), Le(1)] | None,
    Doc("From 0 to 1, by its provider's own word; null where that says nothing."),
    Example(0.8),
]


@frozen
class SourceRef:
    """One source that a row was made from, back to the record in its document."""

    id: SourceId
    provider: Annotated[str, Example("usgs")]
    """Who publishes the data."""
    name: Annotated[str, Example("USGS earthquakes, past day")]
    """What the source is called."""
    url: Annotated[
        str | None, Example("https://earthquake.usgs.gov/earthquakes/eventpage/us7000abcd")
    ]
    """The record at its publisher; null where it has no address."""
    record_id: Annotated[str | None, Example("us7000abcd")]
    """What its publisher calls it."""
    retrieved_at: Annotated[datetime, Example("2026-01-31T05:52:11Z")]
    """When first read."""
    published_at: datetime | None = None
    """When its publisher published the record."""
    license: Annotated[str | None, Example("Public domain")] = None
    """For using the data."""


@frozen
class Designator:
    """A name by which others know the same thing."""

    scheme: Annotated[str, Example("glide")]
    """Whose names these are."""
    value: Annotated[str, Example("EQ-2026-000012-ECU")]
    """The name in that scheme."""
    provider: Annotated[str | None, Example(None)] = None
    """Who says so; null for everybody."""
    valid_from: Maybe[str] = UNSET
    """The first day on which it was the name."""
    valid_to: Maybe[str] = UNSET
    """The last one."""


@frozen
class Place:
    """Where something is; WGS 84."""

    id: Annotated[str, IdOf("plc")] | None
    """Null of a mere position."""
    name: Annotated[str | None, Example("Esmeraldas, Ecuador")]
    """As its provider names it."""
    country_code: CountryCode
    admin1_code: Annotated[str | None, Example("EC-E")]
    """ISO 3166-2; null where unknown."""
    geometry: Geometry
    precision: Annotated[Precision, Example("exact")]
    """How exactly the place is known."""


@frozen
class Measurement:
    """A measured value with its basis: a unit, a currency or the provider's scale."""

    value: Annotated[float | None, Example(7.1)]
    """Null where it is not known."""
    metric: Annotated[Maybe[str], Example("magnitude")] = UNSET
    """What is measured."""
    unit: Annotated[Maybe[str], Example("1")] = UNSET
    """UCUM; `1` for counts and scales."""
    currency: Annotated[Maybe[str], Example("USD")] = UNSET
    """ISO 4217."""
    provider: Annotated[Maybe[str], Example("usgs")] = UNSET
    """Whose measure it is."""
    as_of: Maybe[str] = UNSET
    """The time or day it is of."""
    low: Maybe[float] = UNSET
    """The lower bound."""
    high: Maybe[float] = UNSET
    """The upper bound."""
    basis: Annotated[Maybe[str], Example("mww")] = UNSET
    """How it was measured."""


@frozen
class SeverityBasis:
    """What a severity was read from."""

    provider: Annotated[str, Example("gdacs")]
    """Whose scale it is."""
    scale: Annotated[str, Example("alertlevel")]
    """The scale."""
    value: Annotated[str | float | None, Example("Orange")]
    """What it says there."""


def point_at(place: "Place | None") -> tuple[float, float] | None:
    """The longitude and latitude of a place; None where they are unknown."""
    return None if place is None else point_of(place.geometry)


def exact_point(place: "Place | None") -> tuple[float, float] | None:
    """The position of a place that is known to its locality or better; else None."""
    return point_at(place) if place and place.precision in {"exact", "locality"} else None


def country_at(place: "Place | None") -> str | None:
    """The country of a place; None where it is unknown."""
    return None if place is None else place.country_code


def cells_at(place: "Place | None") -> tuple[str, ...]:
    """The grid cells that hold a place, for the filter by area."""
    point = point_at(place)
    return () if point is None else cells_of(*point)


def point_of(geometry: Mapping[str, Any] | None) -> tuple[float, float] | None:
    """Where a GeoJSON geometry lies, as longitude and latitude; None without a position.

    Of a geometry with several positions it is the middle of the bounds of its first line or ring:
    a part never crosses the antimeridian (RFC 7946, 3.1.9), the whole may.
    """
    part = (geometry or {}).get("coordinates") or ()
    if not part:
        return None
    if not isinstance(part[0], Sequence):
        return part[0], part[1]
    while isinstance(part[0][0], Sequence):
        part = part[0]
    longitudes, latitudes, *_ = zip(*part, strict=False)
    return _middle(longitudes), _middle(latitudes)


def _middle(numbers: Sequence[float]) -> float:
    return (min(numbers) + max(numbers)) / 2
