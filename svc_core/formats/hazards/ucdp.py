"""Parses georeferenced events of armed conflict of the Uppsala programme (UCDP): CSV or API.

`where_prec` and `date_prec` are codes of the codebook, not numbers of anything.
"""

from svc_core.formats.hazards.event_fields import (
    count_measurements,
    day_start,
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
    number,
    place,
    point,
    text_member,
)

_PLACE_PRECISION = {"1": "exact", "2": "locality", "3": "locality", "4": "admin1", "6": "country"}
_DATE_PRECISION = {"1": "day", "2": "week", "3": "week", "4": "month", "5": "year"}
_CONFIDENCE = {"1": 1.0, "2": 0.5}
"""By `event_clarity`: 1 is reported in full, 2 only as part of several events."""


def _record(row: Row) -> Record:
    kinds = event_kind("ucdp", row.get("type_of_violence"))
    rival = "victim" if kinds["type"] == "oneSidedViolence" else "actor"
    parties = event_actors((row.get("side_a"), "actor", None), (row.get("side_b"), rival, None))
    location = place(
        name=row.get("where_coordinates") or row.get("adm_1") or row.get("country"),
        country_code=country(row.get("iso3"), "alpha3") or country_named(row.get("country")),
        geometry=point(row.get("longitude"), row.get("latitude")),
        precision=_PLACE_PRECISION.get(str(row.get("where_prec")), "unknown"),
    )
    return event_record(
        "ucdp",
        text_member(row.get("id")),
        {
            **kinds,
            "title": headline(kinds["type"], parties, location),
            "occurredAt": day_start(row["date_start"]),
            "endedAt": day_start(row.get("date_end")),
            "datePrecision": _DATE_PRECISION.get(str(row.get("date_prec"))),
            "place": location,
            **severity_members("ucdp", "deathsBest", number(row.get("best"))),
            "confidence": _CONFIDENCE.get(str(row.get("event_clarity"))),
            "measurements": count_measurements(
                "ucdp", row, deathsLow="low", deathsBest="best", deathsHigh="high"
            ),
            "actors": parties,
        },
        raw=dict(row),
    )


UCDP = flat_format("ucdp", ("type_of_violence", "date_start"), _record, member="Result")
