"""Events of GDELT, versions 1.0 and 2.0: what machines read out of the news, coded in CAMEO.

The files have no first line of names: 61 columns are version 2.0, 58 version 1.0, and 57 version
1.0 without the address of the article. Exports with names may have any of the columns in any order.
Countries of places are FIPS 10-4, those of actors CAMEO (mostly ISO 3166-1 alpha-3).
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter

from svc_core.sources.body import Body
from svc_core.sources.model import Format, Given, Record, Rejection, Told, Unusable
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
_WHERE = ("ActionGeo_Type", "ActionGeo_FullName", "ActionGeo_CountryCode")
_POINT = ("ActionGeo_Lat", "ActionGeo_Long")
_V1 = _WHO | dict(zip((*_WHERE, *_POINT, "DATEADDED"), (49, 50, 51, 53, 54, 56), strict=True))
_V2 = _WHO | dict(
    zip((*_WHERE, *_POINT, "DATEADDED", "SOURCEURL"), (51, 52, 53, 56, 57, 59, 60), strict=True)
)
_LAYOUTS: Mapping[int, Layout] = {61: _V2, 58: _V1 | {"SOURCEURL": 57}, 57: _V1}

_PRECISION = {"1": "country", "2": "admin1", "3": "locality", "4": "locality", "5": "admin1"}
_CAMEO_ONLY = {"ROM": "RO", "TMP": "TL"}  # codes that ISO has given up, and CAMEO has not


@lru_cache(maxsize=4_096)  # a file has few dates
def stamp(digits: str) -> datetime:
    """The instant that `YYYYMMDD` or `YYYYMMDDHHMMSS` names, in UTC.

    Raises:
        Unusable: there is no such instant.
    """
    try:
        told = datetime.fromisoformat(f"{digits[:8]}T{digits[8:] or '000000'}")
    except ValueError as fault:
        raise Unusable("has a date that is none") from fault
    return told.replace(tzinfo=UTC)


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
    own_id = row["GLOBALEVENTID"]
    root, code = row["EventRootCode"], row["EventCode"]
    if len(root) == 1:  # a spreadsheet took the leading zeros
        root, code = f"0{root}", f"0{code}"
    goldstein = number(row.get("GoldsteinScale"))
    added = stamp(row["DATEADDED"])
    kinds = kind("cameo", root)
    who = actors(_actor(row, "Actor1", "actor"), _actor(row, "Actor2", "target"))
    where = place(
        name=row.get("ActionGeo_FullName"),
        country_code=country(row.get("ActionGeo_CountryCode"), "fips"),
        geometry=point(row.get("ActionGeo_Long"), row.get("ActionGeo_Lat")),
        precision=_PRECISION.get(row.get("ActionGeo_Type", ""), "unknown"),
    )
    url = web(row.get("SOURCEURL"))
    return Record(
        "osintEvent",
        f"gdelt:{own_id}",
        {
            **kinds,
            "title": headline(kinds["type"], who, where),
            "occurredAt": at(stamp(row["SQLDATE"])),
            "datePrecision": "day",
            "reportedAt": at(added),
            "place": where,
            **severity("gdelt", "goldstein", goldstein),
            "cameo": {
                "eventCode": code,
                "rootCode": root,
                "quadClass": number(row.get("QuadClass")),
                "goldstein": goldstein,
            },
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


def _actor(row: Row, side: str, role: str) -> tuple[object, str, str | None]:
    code = row.get(f"{side}CountryCode", "")
    name = row.get(f"{side}Name") or row.get(f"{side}Code")
    return name, role, _CAMEO_ONLY.get(code) or country(code, "alpha3")


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
