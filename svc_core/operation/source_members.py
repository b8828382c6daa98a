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
    provider: Annotated[str, Doc("Who publishes the data."), Example("usgs")]
    name: Annotated[str, Doc("What the source is called."), Example("USGS earthquakes, past day")]
    url: Annotated[
        str | None,
        Doc("The record at its publisher; null where it has no address."),
        Example("https://earthquake.usgs.gov/earthquakes/eventpage/us7000abcd"),
    ]
    record_id: Annotated[str | None, Doc("What its publisher calls it."), Example("us7000abcd")]
    retrieved_at: Annotated[datetime, Doc("When first read."), Example("2026-01-31T05:52:11Z")]
    published_at: Annotated[datetime | None, Doc("When its publisher published the record.")] = None
    license: Annotated[str | None, Doc("For using the data."), Example("Public domain")] = None


@frozen
class Designator:
    """A name by which others know the same thing."""

    scheme: Annotated[str, Doc("Whose names these are."), Example("glide")]
    value: Annotated[str, Doc("The name in that scheme."), Example("EQ-2026-000012-ECU")]
    provider: Annotated[str | None, Doc("Who says so; null for everybody."), Example(None)] = None
    valid_from: Annotated[Maybe[str], Doc("The first day on which it was the name.")] = UNSET
    valid_to: Annotated[Maybe[str], Doc("The last one.")] = UNSET


@frozen
class Place:
    """Where something is; WGS 84."""

    id: Annotated[Annotated[str, IdOf("plc")] | None, Doc("Null of a mere position.")]
    name: Annotated[str | None, Doc("As its provider names it."), Example("Esmeraldas, Ecuador")]
    country_code: CountryCode
    admin1_code: Annotated[str | None, Doc("ISO 3166-2; null where unknown."), Example("EC-E")]
    geometry: Geometry
    precision: Annotated[Precision, Doc("How exactly the place is known."), Example("exact")]


@frozen
class Measurement:
    """A measured value with its basis: a unit, a currency or the provider's scale."""

    value: Annotated[float | None, Doc("Null where it is not known."), Example(7.1)]
    metric: Annotated[Maybe[str], Doc("What is measured."), Example("magnitude")] = UNSET
    unit: Annotated[Maybe[str], Doc("UCUM; `1` for counts and scales."), Example("1")] = UNSET
    currency: Annotated[Maybe[str], Doc("ISO 4217."), Example("USD")] = UNSET
    provider: Annotated[Maybe[str], Doc("Whose measure it is."), Example("usgs")] = UNSET
    as_of: Annotated[Maybe[str], Doc("The time or day it is of.")] = UNSET
    low: Annotated[Maybe[float], Doc("The lower bound.")] = UNSET
    high: Annotated[Maybe[float], Doc("The upper bound.")] = UNSET
    basis: Annotated[Maybe[str], Doc("How it was measured."), Example("mww")] = UNSET


@frozen
class SeverityBasis:
    """What a severity was read from."""

    provider: Annotated[str, Doc("Whose scale it is."), Example("gdacs")]
    scale: Annotated[str, Doc("The scale."), Example("alertlevel")]
    value: Annotated[str | float | None, Doc("What it says there."), Example("Orange")]


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
