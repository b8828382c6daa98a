"""Builds the members that all event parsers share: kind, title, geometry, counts.

Rule 1: an event is one record, even where a document splits it into several fragments.
Rule 2: kinds stand in `event_types.tsv`, severities in `severities.tsv`; no parser has its own.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from svc_core import data
from svc_core.formats.model import Members, Record, RecordRefused
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.flat_tables import Row
from svc_core.formats.reading.values import (
    designator,
    measurement,
    midnight,
    number,
    point,
    require,
    rfc3339,
    text_member,
)

SUMMARY_CHARS = 2_000
_UNKNOWN_KIND = ("other", "other")

_UNITS = {
    "M": ("magnitude", "1"),  # a small one is a metre
    **dict.fromkeys(("mb", "md", "ml", "ms", "mw", "mww"), ("magnitude", "1")),
    "km": ("depth", "km"),
    "km/h": ("windSpeed", "km/h"),
    "kts": ("windSpeed", "[kn_i]"),
    "km2": ("area", "km2"),
    "ha": ("area", "har"),
    "hectare": ("area", "har"),
    "acres": ("area", "[acr_us]"),
    "nm^2": ("area", "[nmi_i]2"),
}
"""The metric that a number measures, and its unit in UCUM, by the unit written upstream."""

_DEPTHS = {
    "Point": 0,
    "MultiPoint": 1,
    "LineString": 1,
    "Polygon": 2,
    "MultiLineString": 2,
    "MultiPolygon": 3,
}


# -- what an event is --------------------------------------------------------------------------


@cache
def _kinds() -> Mapping[tuple[str, str], tuple[str, str]]:
    return {
        (scheme, code.casefold()): (type_, category)
        for scheme, codes, type_, category in data.table_rows("event_types.tsv")
        for code in codes.split(",")
    }


def event_kind(scheme: str, *codes: object) -> dict[str, str]:
    """The `type` and `category` of the first code that the scheme knows, else `other`."""
    matches = (_kinds().get((scheme, str(code).casefold())) for code in codes)
    type_, category = next(filter(None, matches), _UNKNOWN_KIND)
    return {"type": type_, "category": category}


def event_record(
    provider: str,
    own_id: str | None,
    members: Members,
    *,
    url: str | None = None,
    other_keys: tuple[str, ...] = (),
    is_withdrawn: bool = False,
    **record: Any,
) -> Record:
    """The record of an event by the id that its provider gives it.

    An event that was withdrawn has no members.

    Raises:
        RecordRefused: it has no id.
    """
    own_id = require(own_id, "id")
    if members:
        designators = [designator(provider, own_id, provider)]
        members = {"designators": designators, "url": url, **members}
    key, own = f"{provider}:{own_id}", {"record_id": own_id, "url": url, **record}
    return Record(
        "osintEvent", key, members, other_keys=other_keys, is_withdrawn=is_withdrawn, **own
    )


@lru_cache(maxsize=4_096)  # tables tell of the same actors and dates again and again
def _name(name: str) -> str | None:
    return text_member(name)


@lru_cache(maxsize=4_096)
def day_start(date: str | None) -> str | None:
    """The first instant of a calendar date, as rows write it."""
    return rfc3339(midnight(date))


@cache
def _words(type_: str) -> str:
    return (
        re.sub("(?=[A-Z])", " ", type_).capitalize().replace("Non ", "Non-").replace("One ", "One-")
    )


def event_actors(*participants: tuple[str | None, str, str | None]) -> list[dict[str, Any]]:
    """The participants that have a name, each with its role and country.

    A participant is a name, a role and an alpha-2 country code.
    """
    return [
        {"name": label, "countryCode": code, "role": role}
        for name, role, code in participants
        if (label := _name(name or ""))
    ]


def headline(type_: str, actors: Iterable[Row] = (), site: Mapping[str, Any] | None = None) -> str:
    """A title made of type, actors and place, for events whose provider gives none."""
    names = " – ".join(actor["name"] for actor in actors)
    subject = ", ".join(filter(None, (names, (site or {}).get("name"))))
    return f"{_words(type_)}{subject and ': '}{subject}"


# -- what was measured -------------------------------------------------------------------------


def measures(provider: str, value: object, unit: object, **qualifiers: Any) -> list[dict[str, Any]]:
    """The measurement of a number with an upstream unit, as a list; empty for an unknown unit."""
    metric, ucum = _UNITS.get(str(unit)) or _UNITS.get(str(unit).lower(), ("", ""))
    quantity = number(value) if metric else None
    if quantity is None:
        return []
    return [measurement(metric, quantity, unit=ucum, provider=provider, **qualifiers)]


def count_measurements(provider: str, row: Row, **columns: str) -> list[dict[str, Any]]:
    """The measurements of the counts in a row; `columns` maps each metric to its column."""
    counts = ((metric, number(row.get(column))) for metric, column in columns.items())
    return [
        measurement(metric, value, unit="1", provider=provider)
        for metric, value in counts
        if value is not None
    ]


# -- where it was ------------------------------------------------------------------------------


def geometry(shape: Any) -> dict[str, Any]:
    """A GeoJSON geometry (RFC 7946) of longitudes and latitudes, without heights.

    Raises:
        RecordRefused: it is of no known type, or one of its positions is not on the globe.
    """
    if shape["type"] not in _DEPTHS:
        raise RecordRefused("has a geometry that is none")
    depth = _DEPTHS[shape["type"]]
    return {"type": shape["type"], "coordinates": _positions(shape["coordinates"], depth)}


def _positions(nested: Any, depth: int) -> list[Any]:
    if depth:
        return [_positions(part, depth - 1) for part in nested]
    coordinates: list[Any] = require(point(nested[0], nested[1]), "coordinates")["coordinates"]
    return coordinates


# -- how documents tell it ---------------------------------------------------------------------


def first_object(candidates: Any) -> Mapping[str, Any]:
    """The first JSON object of a list; an empty one where there is none."""
    items = candidates if isinstance(candidates, list) else ()
    return next((item for item in items if isinstance(item, dict)), {})


def features(document: Mapping[str, Any]) -> Any:
    """The features of a GeoJSON document, which is a collection or a single feature."""
    return document.get("features", [document])


def has_features(body: Body, *names: str) -> bool:
    """Whether a document is GeoJSON whose first feature has these properties."""
    properties = first_object(features(body.json)).get("properties") if body.has("type") else None
    return isinstance(properties, dict) and set(names) <= properties.keys()


def is_empty(body: Body) -> bool:
    """Whether a document is a GeoJSON collection without features."""
    return body.has("type", "features") and body.json["features"] == []


def group_by(items: Iterable[Any], name: Callable[[Any], str]) -> Collection[list[Any]]:
    """Groups fragments by the name of their event; one without a name forms a group of its own."""
    groups: dict[str | int, list[Any]] = {}
    for position, item in enumerate(items):
        try:
            groups.setdefault(name(item), []).append(item)
        except (KeyError, TypeError, AttributeError):
            groups[position] = [item]
    return groups.values()


def optional_list(member: Any) -> list[Any]:
    """A list as it is, a single value as a list of one, an empty value as an empty list."""
    return member if isinstance(member, list) else [member] if member else []
