"""The box that holds an outline: GeoJSON polygons, in degrees (RFC 7946, 5).

One on both sides of the antimeridian has a west beyond its east (RFC 7946, 5.2).
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

Range = tuple[float, float]


def box(geometry: Mapping[str, Any]) -> list[float]:
    """West, south, east and north of a polygon or of several."""
    parts = geometry["coordinates"]
    rings = [each[0] for each in (parts if geometry["type"] == "MultiPolygon" else [parts])]
    norths = [corner[1] for ring in rings for corner in ring]
    west, east = _span((min(c[0] for c in ring), max(c[0] for c in ring)) for ring in rings)
    return [west, min(norths), east, max(norths)]


def _span(ranges: Iterable[Range]) -> Range:
    """The shortest way round the globe that passes all of these: what its widest gap leaves."""
    joined: list[Range] = []
    for west, east in sorted(ranges):
        if joined and west <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(east, joined[-1][1]))
        else:
            joined.append((west, east))
    around = [*joined, (joined[0][0] + 360, 0.0)]
    gaps = [(after[0] - before[1], place) for place, (before, after) in enumerate(pairwise(around))]
    last = max(gaps)[1]
    return joined[(last + 1) % len(joined)][0], joined[last][1]
