"""Parses political violence and protest of ACLED: CSV exports and JSON answers of its API.

The terms of ACLED forbid redistribution: whoever adds the source needs a licence.
"""

from svc_core.formats.hazards.event_fields import (
    SUMMARY_CHARS,
    count_measurements,
    event_actors,
    event_kind,
    event_record,
    headline,
)
from svc_core.formats.model import Record
from svc_core.formats.reading.flat_tables import Row, flat_format
from svc_core.formats.reading.severities import severity_members
from svc_core.formats.reading.values import (
    country,
    country_named,
    epoch_moment,
    moment,
    number,
    place,
    point,
    require,
    rfc3339,
    text_member,
)

_PLACE_PRECISION = {"1": "exact", "2": "locality", "3": "admin1"}
_DATE_PRECISION = {"1": "day", "2": "week", "3": "month"}


def _record(row: Row) -> Record:
    kinds = event_kind("acled", row.get("event_type"))
    parties = event_actors((row.get("actor1"), "actor", None), (row.get("actor2"), "target", None))
    location = place(
        name=row.get("location") or row.get("admin1") or row.get("country"),
        country_code=country(row.get("iso"), "numeric") or country_named(row.get("country")),
        geometry=point(row.get("longitude"), row.get("latitude")),
        precision=_PLACE_PRECISION.get(str(row.get("geo_precision")), "unknown"),
    )
    changed_seconds = number(row.get("timestamp"))
    return event_record(
        "acled",
        text_member(row["event_id_cnty"]),
        {
            **kinds,
            "title": headline(kinds["type"], parties, location),
            "summary": text_member(row.get("notes"), SUMMARY_CHARS),
            "occurredAt": rfc3339(require(moment(row.get("event_date")), "event_date")),
            "datePrecision": _DATE_PRECISION.get(str(row.get("time_precision"))),
            "place": location,
            **severity_members("acled", "deathsBest", number(row.get("fatalities"))),
            "measurements": count_measurements("acled", row, deathsBest="fatalities"),
            "actors": parties,
            "designators": [],
        },
        stamp=None if changed_seconds is None else epoch_moment(changed_seconds * 1_000),
        raw=dict(row),
    )


ACLED = flat_format(
    "acled", ("event_id_cnty",), _record, member="data", envelope=("success", "count")
)
