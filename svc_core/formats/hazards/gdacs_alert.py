"""Makes the record of a GDACS alert from the members that its API and its feeds share.

A 0 without a unit stands for no number. Dates without a zone are in UTC.
"""

import re
from typing import Any

from svc_core.formats.hazards.event_fields import (
    SUMMARY_CHARS,
    count_measurements,
    event_kind,
    event_record,
    first_object,
    headline,
    measures,
)
from svc_core.formats.model import Record
from svc_core.formats.reading.severities import severity_members
from svc_core.formats.reading.values import (
    country,
    designator,
    html_member,
    moment,
    place,
    require,
    rfc3339,
    text_member,
    web_url,
)

_DEPTH = re.compile(r"Depth:\s*([\d.]+)\s*km", re.IGNORECASE)


def alert(fields: dict[str, Any], position: Any, footprint: Any, raw: Any) -> Record:
    """The record of an alert with these properties, its position and the area that it covers."""
    own_id = "".join(
        require(text_member(fields[name]), name).upper() for name in ("eventtype", "eventid")
    )
    measure, url = fields.get("severitydata") or {}, fields.get("url")
    depth = _DEPTH.search(str(measure.get("severitytext")))
    other_ids = {"glide": fields.get("glide")}
    if fields.get("source") == "NEIC":
        other_ids["usgs"] = fields.get("sourceid")
    page = web_url(url.get("report") if isinstance(url, dict) else url)
    location = place(
        name=_name(fields.get("country")),
        country_code=country(
            fields.get("iso3") or first_object(fields.get("affectedcountries")).get("iso3"),
            "alpha3",
        ),
        geometry=position,
    )
    members = {
        **event_kind("glide", fields["eventtype"]),
        "summary": html_member(fields.get("htmldescription"), SUMMARY_CHARS)
        or text_member(fields.get("description"), SUMMARY_CHARS),
        "occurredAt": rfc3339(moment(fields.get("fromdate"))),
        "endedAt": None
        if _is_true(fields.get("iscurrent"))
        else rfc3339(moment(fields.get("todate"))),
        "datePrecision": "instant",
        "reportedAt": rfc3339(moment(fields.get("dateadded"))),
        "place": location,
        "footprint": footprint,
        **severity_members("gdacs", "alertLevel", fields.get("alertlevel")),
        "measurements": [
            *measures("gdacs", measure.get("severity"), measure.get("severityunit")),
            *measures("gdacs", depth and depth[1], "km"),
            *count_measurements("gdacs", fields, alertScore="alertscore"),
        ],
        "designators": [
            designator("gdacs", own_id, "gdacs"),
            *(designator(scheme, value, "gdacs") for scheme, value in other_ids.items() if value),
        ],
    }
    title = _name(fields.get("name")) or headline(members["type"], (), location)
    return event_record(
        "gdacs",
        own_id,
        {"title": title, **members},
        url=page,
        stamp=moment(fields.get("datemodified") or fields.get("pubDate")),
        published_at=moment(fields.get("pubDate")),
        raw=raw,
    )


def _name(label: object) -> str | None:
    return (text_member(label) or "").rstrip(
        ", "
    ) or None  # a country without a name leaves its comma


def _is_true(flag: object) -> bool:
    return str(flag).casefold() == "true"
