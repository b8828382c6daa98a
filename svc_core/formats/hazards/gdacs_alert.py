"""What an alert of GDACS says, by the names that its API and its feeds share.

A number of 0 without a unit is none. Dates without a zone are UTC.
"""

import re
from typing import Any

from svc_core.formats.hazards.events import (
    SUMMARY_CHARS,
    count_measurements,
    event_record,
    first_object,
    headline,
    kind,
    severity,
    unit_measurements,
)
from svc_core.formats.model import Record
from svc_core.formats.reading.values import (
    at,
    country,
    designator,
    moment,
    place,
    require,
    text,
    web_url,
)

_DEPTH = re.compile(r"Depth:\s*([\d.]+)\s*km", re.IGNORECASE)


def alert(properties: dict[str, Any], position: Any, footprint: Any, raw: Any) -> Record:
    """The record of an alert at a position, with the geometry of what it covers."""
    own_id = "".join(
        require(text(properties[name]), name).upper() for name in ("eventtype", "eventid")
    )
    measure, url = properties.get("severitydata") or {}, properties.get("url")
    depth = _DEPTH.search(str(measure.get("severitytext")))
    other_ids = {"glide": properties.get("glide")}
    if properties.get("source") == "NEIC":
        other_ids["usgs"] = properties.get("sourceid")
    page = web_url(url.get("report") if isinstance(url, dict) else url)
    location = place(
        name=_name(properties.get("country")),
        country_code=country(
            properties.get("iso3") or first_object(properties.get("affectedcountries")).get("iso3"),
            "alpha3",
        ),
        geometry=position,
    )
    members = {
        **kind("glide", properties["eventtype"]),
        "summary": text(
            properties.get("htmldescription") or properties.get("description"), SUMMARY_CHARS
        ),
        "occurredAt": at(moment(properties.get("fromdate"))),
        "endedAt": None
        if _is_true(properties.get("iscurrent"))
        else at(moment(properties.get("todate"))),
        "datePrecision": "instant",
        "reportedAt": at(moment(properties.get("dateadded"))),
        "place": location,
        "footprint": footprint,
        **severity("gdacs", "alertLevel", properties.get("alertlevel")),
        "measurements": [
            *unit_measurements("gdacs", measure.get("severity"), measure.get("severityunit")),
            *unit_measurements("gdacs", depth and depth[1], "km"),
            *count_measurements("gdacs", properties, alertScore="alertscore"),
        ],
        "designators": [
            designator("gdacs", own_id, "gdacs"),
            *(designator(scheme, value, "gdacs") for scheme, value in other_ids.items() if value),
        ],
    }
    title = _name(properties.get("name")) or headline(members["type"], (), location)
    return event_record(
        "gdacs",
        own_id,
        {"title": title, **members},
        url=page,
        stamp=moment(properties.get("datemodified") or properties.get("pubDate")),
        published_at=moment(properties.get("pubDate")),
        raw=raw,
    )


def _name(label: object) -> str | None:
    return (text(label) or "").rstrip(", ") or None  # a country without a name leaves its comma


def _is_true(flag: object) -> bool:
    return str(flag).casefold() == "true"
