"""What an alert of GDACS says, by the names that its API and its feeds share.

A number of 0 without a unit is none. Dates without a zone are UTC.
"""

import re
from typing import Any

from svc_core.formats.hazards.events import (
    SUMMARY_CHARS,
    counted,
    event_record,
    first,
    headline,
    kind,
    measured,
    severity,
)
from svc_core.formats.model import Record
from svc_core.formats.reading.values import (
    at,
    country,
    designator,
    moment,
    place,
    required,
    text,
    web,
)

_DEPTH = re.compile(r"Depth:\s*([\d.]+)\s*km", re.IGNORECASE)


def alert(told: dict[str, Any], position: Any, footprint: Any, raw: Any) -> Record:
    """The record of an alert at a position, with the geometry of what it covers."""
    own_id = "".join(required(text(told[name]), name).upper() for name in ("eventtype", "eventid"))
    measure, url = told.get("severitydata") or {}, told.get("url")
    depth = _DEPTH.search(str(measure.get("severitytext")))
    others = {"glide": told.get("glide")}
    if told.get("source") == "NEIC":
        others["usgs"] = told.get("sourceid")
    page = web(url.get("report") if isinstance(url, dict) else url)
    where = place(
        name=_name(told.get("country")),
        country_code=country(
            told.get("iso3") or first(told.get("affectedcountries")).get("iso3"), "alpha3"
        ),
        geometry=position,
    )
    said = {
        **kind("glide", told["eventtype"]),
        "summary": text(told.get("htmldescription") or told.get("description"), SUMMARY_CHARS),
        "occurredAt": at(moment(told.get("fromdate"))),
        "endedAt": None if _is_true(told.get("iscurrent")) else at(moment(told.get("todate"))),
        "datePrecision": "instant",
        "reportedAt": at(moment(told.get("dateadded"))),
        "place": where,
        "footprint": footprint,
        **severity("gdacs", "alertLevel", told.get("alertlevel")),
        "measurements": [
            *measured("gdacs", measure.get("severity"), measure.get("severityunit")),
            *measured("gdacs", depth and depth[1], "km"),
            *counted("gdacs", told, alertScore="alertscore"),
        ],
        "designators": [
            designator("gdacs", own_id, "gdacs"),
            *(designator(scheme, value, "gdacs") for scheme, value in others.items() if value),
        ],
    }
    title = _name(told.get("name")) or headline(said["type"], (), where)
    return event_record(
        "gdacs",
        own_id,
        {"title": title, **said},
        url=page,
        stamp=moment(told.get("datemodified") or told.get("pubDate")),
        published_at=moment(told.get("pubDate")),
        raw=raw,
    )


def _name(told: object) -> str | None:
    return (text(told) or "").rstrip(", ") or None  # a country without a name leaves its comma


def _is_true(told: object) -> bool:
    return str(told).casefold() == "true"
