"""Events in other forms: with what was published, and as features of a map.

Rule: rows are wire bytes and stay what they are; whatever is added is spliced in.
"""

import json
from typing import Any

from svc_core import wire
from svc_core.base import compact

_text = compact.encoder()
_PLACE = ("name", "countryCode", "admin1Code", "precision")


def event_id_of(row: bytes) -> str:
    """The identifier of a row."""
    return str(json.loads(row)["id"])


def with_raw(row: bytes, raw: Any) -> bytes:
    """The row with the record that its source published; null where that is not known."""
    return b'%b,"raw":%b}' % (row[:-1], wire.dumps(raw))


def feature(row: bytes) -> bytes:
    """The row as a GeoJSON feature (RFC 7946, 3.2); one without coordinates has no geometry.

    What its place tells besides is among its properties, which are the other members of the row.
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
