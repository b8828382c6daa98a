"""Parses GDELT event files, versions 1.0 and 2.0: events that machines code from news in CAMEO.

61 columns are version 2.0, 58 version 1.0, and 57 version 1.0 without the address of the article.
Countries of places are FIPS 10-4, those of actors CAMEO (mostly ISO 3166-1 alpha-3).
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from svc_core.formats.hazards.event_fields import (
    event_actors,
    event_kind,
    event_record,
    headline,
)
from svc_core.formats.hazards.gdelt_lines import (
    Layout,
    event_id,
    gdelt_records,
    gdelt_time,
    gdelt_timestamp,
    has_columns,
    has_row,
)
from svc_core.formats.model import Contents, Members, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.flat_tables import Row
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import country, number, place, point, require, web_url

_COMMON_COLUMNS = {
    "GLOBALEVENTID": 0, "SQLDATE": 1, "Actor1Code": 5, "Actor1Name": 6, "Actor1CountryCode": 7,
    "Actor2Code": 15, "Actor2Name": 16, "Actor2CountryCode": 17, "EventCode": 26,
    "EventRootCode": 28, "QuadClass": 29, "GoldsteinScale": 30, "NumMentions": 31,
    "NumSources": 32, "NumArticles": 33, "AvgTone": 34,
}  # fmt: skip
_GEO_NAMES = "ActionGeo_Type ActionGeo_FullName ActionGeo_CountryCode ActionGeo_Lat ActionGeo_Long"
_PLACE = tuple(_GEO_NAMES.split())
_CODES = ("EventCode", "EventRootCode", "QuadClass", "GoldsteinScale")
_ACTOR_1 = ("Actor1Name", "Actor1Code", "Actor1CountryCode")
_ACTOR_2 = ("Actor2Name", "Actor2Code", "Actor2CountryCode")
_V1 = _COMMON_COLUMNS | dict(zip((*_PLACE, "DATEADDED"), (49, 50, 51, 53, 54, 56), strict=True))
_V2 = _COMMON_COLUMNS | dict(zip((*_PLACE, "DATEADDED"), (51, 52, 53, 56, 57, 59), strict=True))
_LAYOUTS: Mapping[int, Layout] = {61: _V2 | {"SOURCEURL": 60}, 58: _V1 | {"SOURCEURL": 57}, 57: _V1}

_PRECISION = {"1": "country", "2": "admin1", "3": "locality", "4": "locality", "5": "admin1"}
_CAMEO_ONLY = {"ROM": "RO", "TMP": "TL"}  # codes that ISO has given up, and CAMEO has not


def _recognise(body: Body) -> bool:
    return has_row(body, _LAYOUTS, r"\d+\t\d{8}\t") or has_columns(
        body, "globaleventid", "sqldate", "eventcode"
    )


def _parse(body: Body, _: Origin) -> Contents:
    yield from gdelt_records(body, _LAYOUTS, _record)


def _record(row: Row) -> Record:
    cell = row.get
    added_at = gdelt_time(cell("DATEADDED"))
    codes = _event_codes(*map(cell, _CODES))
    parties = _party(*map(cell, _ACTOR_1), "actor") + _party(*map(cell, _ACTOR_2), "target")
    location = _location(*map(cell, _PLACE))
    return event_record(
        "gdelt",
        event_id(row),
        {
            **codes,
            "title": headline(codes["type"], parties, location),
            "occurredAt": gdelt_timestamp(row["SQLDATE"]),
            "datePrecision": "day",
            "reportedAt": gdelt_timestamp(cell("DATEADDED")),
            "place": location,
            "actors": parties,
        },
        url=web_url(cell("SOURCEURL")),
        stamp=added_at,
        published_at=added_at,
        raw=row,
    )


# The rows of a file repeat the same places, actors and kinds, so their members are cached.


@lru_cache(maxsize=4_096)
def _location(*cells: str | None) -> Mapping[str, Any] | None:
    type_, name, code, latitude, longitude = cells
    return place(
        name=name,
        country_code=country(code, "fips"),
        geometry=point(longitude, latitude),
        precision=_PRECISION.get(type_ or "", "unknown"),
    )


@lru_cache(maxsize=4_096)
def _party(name: str | None, code: str | None, land: str | None, role: str) -> list[dict[str, Any]]:
    return event_actors(
        (name or code, role, _CAMEO_ONLY.get(land or "") or country(land, "alpha3"))
    )


@lru_cache(maxsize=4_096)
def _event_codes(*cells: str | None) -> Members:
    code, root = require(cells[0], "EventCode"), require(cells[1], "EventRootCode")
    if len(root) == 1:  # a spreadsheet took the leading zeros
        root, code = f"0{root}", f"0{code}"
    quad, scale = map(number, cells[2:])
    class_ = None if quad is None else int(quad)
    cameo = {"eventCode": code, "rootCode": root, "quadClass": class_, "goldstein": scale}
    return {**event_kind("cameo", root), "cameo": cameo}


GDELT_EVENTS = make_format("gdelt-events", _recognise, _parse)
