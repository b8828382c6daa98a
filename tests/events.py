"""Invented events of the kinds that providers tell of, taken in as documents are."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from svc_core.base import instants
from svc_core.formats.model import Metadata, Record, Rejection
from svc_core.formats.reading.format import Format
from svc_core.formats.table import Document
from svc_core.intel.folding.model import Source
from svc_core.intel.intake import record_intake as documents
from svc_core.intel.intake import registry
from svc_core.operation.context import Context

NOON = datetime(2026, 3, 4, 4, tzinfo=UTC)


def _format(id_: str, kind: Any = "window") -> Format:
    return Format(
        id=id_,
        title=id_.upper(),
        kind=kind,
        provider=id_,
        resources=("osintEvent",),
        recognise=lambda _: False,
        parse=lambda _, __: iter(()),
        license="Public domain",
        attribution=id_.upper(),
    )


PAGER = {"low": "green", "medium": "yellow", "high": "orange", "critical": "red"}
QUAKES, ALERTS = _format("usgs"), _format("gdacs")


def at(hours: float) -> str:
    """An instant so many hours before noon, as rows write it."""
    return instants.render(NOON - timedelta(seconds=hours * 3_600))


def place(longitude: float | None, latitude: float | None, country: str | None) -> dict[str, Any]:
    """A place of a row."""
    point = {"type": "Point", "coordinates": [longitude, latitude]}
    return {
        "id": None,
        "name": "Somewhere",
        "countryCode": country,
        "admin1Code": None,
        "geometry": None if longitude is None else point,
        "precision": "country" if longitude is None else "exact",
    }


def event(number: int, **members: Any) -> Record:
    """An earthquake; `members` stand in place of its own, and `also` are other keys of it."""
    provider, severity = members.setdefault("provider", "usgs"), members.get("severity", "medium")
    usual = {
        "type": "earthquake",
        "category": "disaster",
        "title": f"Quake {number} near Esmeraldas",
        "occurredAt": at(number % 10_000),
        "datePrecision": "instant",
        "place": place(-79.6, 0.98, "EC"),
        "measurements": [
            {"metric": "magnitude", "value": 5.5, "unit": "1", "provider": "usgs", "basis": "mww"}
        ],
        "severity": "medium",
        "severityBasis": {"provider": "usgs", "scale": "pager", "value": PAGER.get(severity)},
        "designators": [{"scheme": "usgs", "value": f"us{number}", "provider": None}],
    }
    also, stamp = members.pop("also", ()), members.pop("stamp", None)
    return Record(
        resource="osintEvent",
        key=f"{provider}:{number}",
        members=usual | members,
        stamp=stamp,
        other_keys=also,
        record_id=str(number),
        url=f"https://quakes.example/{number}",
        raw={"id": number, "properties": {"mag": 5.5}},
    )


ROWS = (
    event(0),
    event(1, severity="high", confidence=0.9),
    event(2, place=place(179.5, -17.0, "FJ"), severity="low"),
    event(3, place=place(-179.5, -17.0, "FJ"), severity="critical"),
    event(4, place=place(180, -18.0, None), severity=None, severityBasis=None, confidence=0.3),
    event(5, place=place(None, None, "CL"), type="flood", provider="gdacs"),
    event(6, place=None, occurredAt=None, type="riot", category="unrest", provider="acled"),
)
"""Some at the antimeridian, one without coordinates, one without a time."""


async def take(
    ctx: Context,
    records: Iterable[Record] = ROWS,
    *,
    location: str = "https://quakes.example/day.json",
    format_: Format = QUAKES,
    rejections: tuple[Rejection, ...] = (),
    **wish: Any,
) -> Source:
    """Take them in as one document of the source at a location."""
    source = await registry.register_source(ctx, registry.SourceWish(location, **wish))
    document = Document(format_, Metadata(), tuple(records), rejections)
    await documents.take_document(ctx, source.id, document)
    return source


def json_of(body: bytes) -> Any:
    """What an answer says."""
    return json.loads(body)
