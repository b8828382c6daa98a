"""Renders events with the record that their source published, and as GeoJSON features.

Rule: a row stays the JSON bytes that are stored; additions are spliced into them.
"""

import json
from typing import Any

from svc_core import wire
from svc_core.base import compact

_text = compact.compact_encoder()
_PLACE = ("name", "countryCode", "admin1Code", "precision")


def event_id_of(row: bytes) -> str:
    """The id of an event's row."""
    return str(json.loads(row)["id"])


def with_raw(row: bytes, raw: Any) -> bytes:
    """The row with `raw`, the record that its source published; null where it is not stored."""
    return b'%b,"raw":%b}' % (row[:-1], wire.to_bytes(raw))


def feature(row: bytes) -> bytes:
    """The row as a GeoJSON feature (RFC 7946, 3.2); its geometry is null without coordinates.

    The properties are the other members of the row, and name, country and precision of its place.
    """
    properties = json.loads(row)
    place = properties.pop("place") or {}
    members = properties | {name: place.get(name) for name in _PLACE}
    geojson = {
        "type": "Feature",
        "id": properties["id"],
        "geometry": place.get("geometry"),
        "properties": members,
    }
    return _text(geojson).encode()
