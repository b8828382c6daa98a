"""Political violence and protest of ACLED: exports (CSV) and answers of its API (JSON).

Its terms forbid to hand its data on: whoever adds it has to have the right.
"""

from svc_core.formats.hazards.events import (
    SUMMARY_CHARS,
    Row,
    actors,
    counted,
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
from svc_core.formats.reading.values import (
    at,
    country,
    country_named,
    millis,
    moment,
    number,
    place,
    point,
    required,
    text,
)

_WHERE = {"1": "exact", "2": "locality", "3": "admin1"}
_WHEN = {"1": "day", "2": "week", "3": "month"}


def _recognised(body: Body) -> bool:
    if body.has("data", "success", "count"):
        return body.json["data"] == [] or "event_id_cnty" in first(body.json["data"])
    return body.json is None and "event_id_cnty" in body.first_line.lower()


def _parse(body: Body, _: Given) -> Told:
    yield from tabled(body, "data", _record)


def _record(row: Row) -> Record:
    kinds = kind("acled", row.get("event_type"))
    who = actors((row.get("actor1"), "actor", None), (row.get("actor2"), "target", None))
    where = place(
        name=row.get("location") or row.get("admin1") or row.get("country"),
        country_code=country(row.get("iso"), "numeric") or country_named(row.get("country")),
        geometry=point(row.get("longitude"), row.get("latitude")),
        precision=_WHERE.get(str(row.get("geo_precision")), "unknown"),
    )
    changed = number(row.get("timestamp"))
    return event_record(
        "acled",
        text(row["event_id_cnty"]),
        {
            **kinds,
            "title": headline(kinds["type"], who, where),
            "summary": text(row.get("notes"), SUMMARY_CHARS),
            "occurredAt": at(required(moment(row.get("event_date")), "event_date")),
            "datePrecision": _WHEN.get(str(row.get("time_precision"))),
            "place": where,
            **severity("acled", "deathsBest", number(row.get("fatalities"))),
            "measurements": counted("acled", row, deathsBest="fatalities"),
            "actors": who,
            "designators": [],
        },
        stamp=None if changed is None else millis(changed * 1_000),
        raw=dict(row),
    )


ACLED = declared("acled", _recognised, _parse)
