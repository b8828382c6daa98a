"""Events of GDELT, versions 1.0 and 2.0: what machines read out of the news, coded in CAMEO.

The files have no first line of names: 61 columns are version 2.0, 58 version 1.0, and 57 version
1.0 without the address of the article. Exports with names may have any of the columns in any order.
Countries of places are FIPS 10-4, those of actors CAMEO (mostly ISO 3166-1 alpha-3).
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import Format, Given, Record, Rejection, Said, Told, Unusable
from svc_core.sources.osint import Row, actors, headline, kind, severity
from svc_core.sources.values import (
    at,
    country,
    designator,
    number,
    place,
    point,
    records,
    web,
)

Layout = Mapping[str, int]
"""The position of each column that is used."""

_WHO = {
    "GLOBALEVENTID": 0,
    "SQLDATE": 1,
    "Actor1Code": 5,
    "Actor1Name": 6,
    "Actor1CountryCode": 7,
    "Actor2Code": 15,
    "Actor2Name": 16,
    "Actor2CountryCode": 17,
    "EventCode": 26,
    "EventRootCode": 28,
    "QuadClass": 29,
    "GoldsteinScale": 30,
    "NumMentions": 31,
    "NumSources": 32,
    "NumArticles": 33,
    "AvgTone": 34,
}
_PLACE = (
    "ActionGeo_Type",
    "ActionGeo_FullName",
    "ActionGeo_CountryCode",
    "ActionGeo_Lat",
    "ActionGeo_Long",
)
_V1 = _WHO | dict(zip((*_PLACE, "DATEADDED"), (49, 50, 51, 53, 54, 56), strict=True))
_V2 = _WHO | dict(
    zip((*_PLACE, "DATEADDED", "SOURCEURL"), (51, 52, 53, 56, 57, 59, 60), strict=True)
)
_LAYOUTS: Mapping[int, Layout] = {61: _V2, 58: _V1 | {"SOURCEURL": 57}, 57: _V1}

_PRECISION = {"1": "country", "2": "admin1", "3": "locality", "4": "locality", "5": "admin1"}
_CAMEO_ONLY = {"ROM": "RO", "TMP": "TL"}  # codes that ISO has given up, and CAMEO has not


@lru_cache(maxsize=4_096)  # a file has few dates
def stamp(digits: str | None) -> datetime | None:
    """The instant that `YYYYMMDD` or `YYYYMMDDHHMMSS` names, in UTC; None for none.

    Raises:
        Unusable: there is no such instant.
    """
    if digits is None:
        return None
    try:
        told = datetime.fromisoformat(f"{digits[:8]}T{digits[8:] or '000000'}")
    except ValueError as fault:
        raise Unusable("has a date that is none") from fault
    return told.replace(tzinfo=UTC)


@lru_cache(maxsize=4_096)
def instant(digits: str | None) -> str | None:
    """The same as rows write it."""
    return at(stamp(digits))


def lines(
    body: Body, layouts: Mapping[int, Layout], make: Callable[[Row], Record]
) -> Iterator[Record | Rejection]:
    """The records of a file of GDELT by the names of its columns, without those that are empty."""
    rows = body.rows("\t" if "\t" in body.first_line else ",")
    if not body.first_line[:1].isdecimal():
        header = [name.strip().lower() for name in next(rows, [])]
        names = max(layouts.values(), key=len)
        told = {name: header.index(name.lower()) for name in names if name.lower() in header}
        layouts = {len(header): told}

    def record(row: list[str]) -> Record:
        layout = layouts.get(len(row))
        if layout is None:
            raise Unusable("has a number of columns that its format does not have")
        return make({name: row[index] for name, index in layout.items() if row[index]})

    yield from records(rows, record, itemgetter(0))


def named(body: Body, *columns: str) -> bool:
    """Whether the first line has names of columns, these among them."""
    return body.json is None and all(name in body.first_line.lower() for name in columns)


def _recognised(body: Body) -> bool:
    first = body.columns("\t")
    if len(first) in _LAYOUTS and first[0].isdecimal():
        return len(first[1]) == 8 and first[1].isdecimal()
    return named(body, "globaleventid", "sqldate", "eventcode")


def _parse(body: Body, _: Given) -> Told:
    yield from lines(body, _LAYOUTS, _record)


def _record(row: Row) -> Record:
    own_id, told = row["GLOBALEVENTID"], row.get
    added = stamp(told("DATEADDED"))
    coded = _coded(
        row["EventCode"], row["EventRootCode"], told("QuadClass"), told("GoldsteinScale")
    )
    who = [
        one
        for side, role in (("Actor1", "actor"), ("Actor2", "target"))
        for one in _actor(
            told(f"{side}Name") or told(f"{side}Code"), told(f"{side}CountryCode"), role
        )
    ]
    where = _where(*map(told, _PLACE))
    url = web(told("SOURCEURL"))
    return Record(
        "osintEvent",
        f"gdelt:{own_id}",
        {
            **coded,
            "title": headline(coded["type"], who, where),
            "occurredAt": instant(row["SQLDATE"]),
            "datePrecision": "day",
            "reportedAt": instant(told("DATEADDED")),
            "place": where,
            "actors": who,
            "designators": [designator("gdelt", own_id, "gdelt")],
            "url": url,
        },
        stamp=added,
        record_id=own_id,
        url=url,
        published_at=added,
        raw=row,
    )


# A file tells of the same places, actors and kinds again and again: what they say is shared.


@lru_cache(maxsize=4_096)
def _where(
    type_: str | None,
    name: str | None,
    code: str | None,
    latitude: str | None,
    longitude: str | None,
) -> Mapping[str, Any] | None:
    return place(
        name=name,
        country_code=country(code, "fips"),
        geometry=point(longitude, latitude),
        precision=_PRECISION.get(type_ or "", "unknown"),
    )


@lru_cache(maxsize=4_096)
def _actor(name: str | None, code: str | None, role: str) -> list[dict[str, Any]]:
    nation = _CAMEO_ONLY.get(code or "") or country(code, "alpha3")
    return actors((name, role, nation))


@lru_cache(maxsize=4_096)
def _coded(code: str, root: str, quad: str | None, goldstein: str | None) -> Said:
    if len(root) == 1:  # a spreadsheet took the leading zeros
        root, code = f"0{root}", f"0{code}"
    scale = number(goldstein)
    cameo = {"eventCode": code, "rootCode": root, "quadClass": number(quad), "goldstein": scale}
    return {**kind("cameo", root), **severity("gdelt", "goldstein", scale), "cameo": cameo}


GDELT_EVENTS = Format(
    id="gdelt-events",
    title="GDELT events 1.0 and 2.0",
    kind="window",
    provider="gdelt",
    brings=("osintEvent",),
    recognise=_recognised,
    parse=_parse,
    cadence_seconds=900,
    attribution="The GDELT Project, gdeltproject.org",
)
