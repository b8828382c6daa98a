"""Armed conflict of the Uppsala programme (UCDP): its georeferenced events, CSV or API.

`where_prec` and `date_prec` are codes of the codebook, not numbers of anything.
"""

from svc_core.formats.hazards.events import (
    Row,
    actors,
    counted,
    date_at,
    event_record,
    first,
    headline,
    kind,
    severity,
    tabled,
)
from svc_core.formats.model import Given, Record, Told
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import country, country_named, number, place, point, text

_WHERE = {"1": "exact", "2": "locality", "3": "locality", "4": "admin1", "6": "country"}
_WHEN = {"1": "day", "2": "week", "3": "week", "4": "month", "5": "year"}
_CONFIDENCE = {"1": 1.0, "2": 0.5}
"""By `event_clarity`: told in full, or only as part of several events."""


def _recognised(body: Body) -> bool:
    columns = first(body.json["Result"]) if body.has("Result") else body.first_line.lower()
    is_table = body.has("Result") or body.json is None
    return is_table and "type_of_violence" in columns and "date_start" in columns


def _parse(body: Body, _: Given) -> Told:
    yield from tabled(body, "Result", _record)


def _record(row: Row) -> Record:
    kinds = kind("ucdp", row.get("type_of_violence"))
    rival = "victim" if kinds["type"] == "oneSidedViolence" else "actor"
    who = actors((row.get("side_a"), "actor", None), (row.get("side_b"), rival, None))
    where = place(
        name=row.get("where_coordinates") or row.get("adm_1") or row.get("country"),
        country_code=country(row.get("iso3"), "alpha3") or country_named(row.get("country")),
        geometry=point(row.get("longitude"), row.get("latitude")),
        precision=_WHERE.get(str(row.get("where_prec")), "unknown"),
    )
    return event_record(
        "ucdp",
        text(row.get("id")),
        {
            **kinds,
            "title": headline(kinds["type"], who, where),
            "occurredAt": date_at(row["date_start"]),
            "endedAt": date_at(row.get("date_end")),
            "datePrecision": _WHEN.get(str(row.get("date_prec"))),
            "place": where,
            **severity("ucdp", "deathsBest", number(row.get("best"))),
            "confidence": _CONFIDENCE.get(str(row.get("event_clarity"))),
            "measurements": counted(
                "ucdp", row, deathsLow="low", deathsBest="best", deathsHigh="high"
            ),
            "actors": who,
        },
        raw=dict(row),
    )


UCDP = declared("ucdp", _recognised, _parse)
