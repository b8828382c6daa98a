"""Computes the bounding box of GeoJSON polygons, in degrees (RFC 7946, 5).

A box that crosses the antimeridian has a west greater than its east (RFC 7946, 5.2).
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

Range = tuple[float, float]


def box(geometry: Mapping[str, Any]) -> list[float]:
    """West, south, east and north of a Polygon or a MultiPolygon."""
    parts = geometry["coordinates"]
    rings = [polygon[0] for polygon in (parts if geometry["type"] == "MultiPolygon" else [parts])]
    norths = [corner[1] for ring in rings for corner in ring]
    west, east = _span((min(c[0] for c in ring), max(c[0] for c in ring)) for ring in rings)
    return [west, min(norths), east, max(norths)]


def _span(ranges: Iterable[Range]) -> Range:
    """The shortest range of longitudes that covers all ranges: the complement of the widest gap."""
    spans: list[Range] = []
    for west, east in sorted(ranges):
        if spans and west <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(east, spans[-1][1]))
        else:
            spans.append((west, east))
    around = [*spans, (spans[0][0] + 360, 0.0)]
    gaps = [(after[0] - before[1], place) for place, (before, after) in enumerate(pairwise(around))]
    last = max(gaps)[1]
    return spans[(last + 1) % len(spans)][0], spans[last][1]
