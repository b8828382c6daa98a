"""Events of nature and of people: what each provider's documents say, and their traps."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.model import DocumentRefused, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import Document, read_document, recognise_format

Real = Callable[[str], list[Path]]


def document(body: bytes) -> Document:
    items = Body(body)
    return read_document(items, recognise_format(items), Origin())


def members(record: Record, path: str) -> Any:
    """What stands at `place.geometry.coordinates` or `measurements.0.value`; None for nothing."""
    value: Any = record.members
    for name in path.split("."):
        if isinstance(value, list):
            value = value[int(name)] if int(name) < len(value) else None
        else:
            value = None if value is None else value.get(name)
    return value


def check(record: Record, expected: Mapping[str, Any]) -> None:
    assert {path: members(record, path) for path in expected} == expected


def only(body: bytes) -> Record:
    content = document(body)
    assert content.rejections == ()
    (record,) = content.records
    return record


def reasons(body: bytes) -> dict[str, int]:
    content = document(body)
    assert content.records == ()
    return {rejection.reason: rejection.count for rejection in content.rejections}


# -- real documents ----------------------------------------------------------------------------

RECORDS = {
    "usgs_2.5_day.json": 52,
    "usgs_2.5_day_2026-05-02T0258Z.json": 43,
    "usgs_2.5_day_2026-05-02T0409Z.json": 38,
    "usgs_2.5_day_2026-05-04T1628Z.json": 45,
    "usgs_2.5_day_2026-05-04T1728Z.json": 45,
    "gdacs_eventlist.json": 13,  # 82 features
    "gdacs-rss-24h.xml": 21,
    "eonet_events.json": 26,
    "disasters_list_v1.json": 1000,
    "ucdp_ged_BGD_a.csv": 300,
    "events_v1_a.tsv": 400,
    "20191024143000.export.part1.CSV": 700,
    "mentions_a.csv": 299,
}

VALUES: dict[str, dict[str, dict[str, Any]]] = {
    "usgs_2.5_day_2026-05-04T1728Z.json": {
        "usgs:nc75356897": {
            "title": "M 2.6 - 12 km S of Tres Pinos, CA",
            "type": "earthquake",
            "occurredAt": "2026-05-04T17:25:05.530000Z",
            "place.geometry.coordinates": [-121.331832885742, 36.6786651611328],
            "place.countryCode": None,
            "severity": "low",
            "severityBasis": {"provider": "usgs", "scale": "sig", "value": 103},
            "measurements": [
                {
                    "metric": "magnitude",
                    "value": 2.59,
                    "unit": "1",
                    "provider": "usgs",
                    "basis": "md",
                },
                {"metric": "depth", "value": 4.65000009536743, "unit": "km", "provider": "usgs"},
            ],
        },
        "usgs:pr71515628": {"measurements.0.value": 2.71, "designators.1.value": "us7000si5c"},
    },
    "gdacs_eventlist.json": {
        "gdacs:EQ1552700": {
            "title": "Earthquake in Scotia Sea",
            "occurredAt": "2026-07-18T19:50:37Z",
            "endedAt": None,
            "place.name": "Scotia Sea",
            "place.countryCode": None,
            "place.geometry.coordinates": [-50.9727, -60.6982],
            "footprint.type": "Polygon",
            "severity": "low",
            "measurements.0.value": 5.5,
            "measurements.1.metric": "depth",
            "measurements.1.value": 10,
            "designators.1": {"scheme": "usgs", "value": "us7000t1ng", "provider": "gdacs"},
        },
        "gdacs:TC1001289": {
            "type": "tropicalCyclone",
            "footprint.type": "MultiPolygon",
            "measurements.0.metric": "windSpeed",
            "measurements.0.value": 175.9248,
            "measurements.0.unit": "km/h",
        },
        "gdacs:FL1103888": {"footprint": None, "measurements.0.metric": "alertScore"},
        "gdacs:DR1018332": {
            "severity": "high",
            "endedAt": "2026-07-18T00:00:00Z",
            "place.countryCode": "AL",
            "measurements.0.value": 1336291.0,
            "measurements.0.unit": "km2",
            "designators.1.value": "DR-2025-000239-ALB",
        },
    },
    "gdacs-rss-24h.xml": {
        "gdacs:EQ1200011": {
            "type": "earthquake",
            "occurredAt": "2019-12-29T11:25:23Z",
            "place.geometry.coordinates": [160.6628, 55.1467],
            "place.countryCode": "RU",
            "measurements.0.value": 4.5,
            "measurements.1.value": 118.92,
            "designators.1.value": "us70006s5t",
        },
        "gdacs:TC1000642": {
            "measurements.0.value": 129.6288,  # its sentence says 111
            "place.geometry.coordinates": [-178.8, -20.5],
        },
    },
    "eonet_events.json": {
        "eonet:EONET_5359": {
            "type": "ice",
            "occurredAt": "2021-05-28T00:00:00Z",
            "track.57.at": "2026-07-17T00:00:00Z",
            "place.geometry.coordinates": [-31.57, -52.27],
            "measurements.0.value": 112.0,
            "measurements.0.unit": "[nmi_i]2",
        },
        "eonet:EONET_21399": {
            "type": "storm",
            "endedAt": None,
            "track.0.measurement.value": 35.0,
            "measurements.0.unit": "[kn_i]",
        },
    },
    "disasters_list_v1.json": {
        "reliefweb:52108": {
            "title": "Chad: Floods - Aug 2024",
            "type": "flood",
            "place.countryCode": "TD",
            "occurredAt": None,
            "severityBasis.value": "ongoing",
            "designators.1.value": "FL-2024-000139-TCD",
        },
        "reliefweb:52104": {"type": "epidemic", "category": "health"},
    },
    "ucdp_ged_BGD_a.csv": {
        "ucdp:71663": {
            "title": "Non-state conflict: Supporters of Awami League – Supporters of BNP, "
            "Bhāndāria town",
            "type": "nonStateConflict",
            "occurredAt": "2013-12-13T00:00:00Z",
            "endedAt": "2013-12-14T00:00:00Z",
            "datePrecision": "week",
            "place.geometry.coordinates": [90.062732, 22.488976],
            "place.precision": "exact",
            "place.countryCode": "BD",
            "confidence": 1.0,
            "measurements.1.metric": "deathsBest",
            "measurements.1.value": 1,
        },
    },
    "events_v1_a.tsv": {
        "gdelt:564111644": {
            "title": "Public statement: UNITED STATES, National Postal Museum, "
            "District of Columbia, United States",
            "occurredAt": "2006-07-31T00:00:00Z",
            "reportedAt": "2016-07-28T00:00:00Z",
            "cameo": {"eventCode": "010", "rootCode": "01", "quadClass": 1, "goldstein": 0.0},
            "place.geometry.coordinates": [-77.0083, 38.8973],
        },
        "gdelt:564111654": {"place": None, "actors.0.name": "CABINET", "severity": "info"},
    },
    "20191024143000.export.part1.CSV": {
        "gdelt:881990833": {
            "type": "consultation",
            "occurredAt": "2018-10-24T00:00:00Z",
            "reportedAt": "2019-10-24T14:30:00Z",
            "actors": [{"name": "THE EU", "countryCode": None, "role": "target"}],
            "place.countryCode": "BY",  # BO in FIPS 10-4
            "place.geometry.coordinates": [27.5667, 53.9],
            "place.precision": "locality",
        },
    },
    "mentions_a.csv": {
        "gdelt:555924816|http://arabic.china.org.cn/txt/2017-07/02/content_41135804.htm": {
            "eventId": "555924816",
            "confidence": 1.0,
            "tone": 0.83565459610028,
            "mentionedAt": "2017-07-01T23:45:00Z",
            "translation": "srclc:ara;eng:GT-ARA 1.0",
        },
    },
}

FOLDERS = (
    *("usgs_geojson", "gdacs_api", "gdacs_rss", "eonet", "reliefweb", "ucdp_ged_csv"),
    *("gdelt_events1", "gdelt_events2", "gdelt_mentions"),
)


@pytest.fixture(scope="module")
def real(real_documents: Real) -> dict[str, Document]:
    paths = (path for folder in FOLDERS for path in real_documents(folder))
    return {path.name: document(path.read_bytes()) for path in paths}


@pytest.mark.needs("SVC_REAL_DATA")
def test_every_real_document_is_read_whole(real: dict[str, Document]) -> None:
    assert {name: len(item.records) for name, item in real.items()} == RECORDS
    assert not [name for name, item in real.items() if item.rejections]


@pytest.mark.needs("SVC_REAL_DATA")
def test_real_values_are_right(real: dict[str, Document]) -> None:
    for name, rows in VALUES.items():
        records = {record.key: record for record in real[name].records}
        for key, expected in rows.items():
            check(records[key], expected)


@pytest.mark.needs("SVC_REAL_DATA")
def test_real_counts_are_right(real: dict[str, Document]) -> None:
    content = real["ucdp_ged_BGD_a.csv"].records
    deaths = [
        sum(members(number, f"measurements.{n}.value") for number in content) for n in range(3)
    ]
    assert deaths == [903, 926, 1336]
    assert sum(len(record.members["track"]) for record in real["eonet_events.json"].records) == 384
    events = real["20191024143000.export.part1.CSV"].records
    countries = Counter(members(item, "place.countryCode") for item in events)
    assert (countries["US"], countries["CN"], countries["ZA"], countries["DE"]) == (200, 27, 22, 20)
    assert Counter(item.members["type"] for item in events)["protest"] == 16
    mentions = real["mentions_a.csv"].records
    assert round(sum(item.members["confidence"] for item in mentions), 2) == 222.1
    disasters = real["disasters_list_v1.json"].records
    assert Counter(members(item, "severityBasis.value") for item in disasters)["past"] == 813


@pytest.mark.needs("SVC_REAL_DATA")
def test_an_event_that_was_keyed_anew_names_its_old_key(real: dict[str, Document]) -> None:
    before, after = (
        {item.key: item for item in real[f"usgs_2.5_day_2026-05-04T{at}Z.json"].records}
        for at in ("1628", "1728")
    )
    assert "usgs:us7000si5c" in before
    assert "usgs:us7000si5c" not in after
    assert after["usgs:pr71515628"].other_keys == ("usgs:us7000si5c", "usgs:pr71515628")


# -- USGS --------------------------------------------------------------------------------------


def quake(**changed_at: Any) -> dict[str, Any]:
    content = {
        "mag": 4.5, "place": "Off the coast", "time": 1_700_000_000_000, "ids": ",us1,pt2,",
        "updated": 1_700_000_100_000, "status": "reviewed", "type": "earthquake", "magType": "mb",
        "url": "https://quakes.example/us1", "title": "M 4.5 - Off the coast",
    }  # fmt: skip
    members = {"type": "Feature", "id": "us1", "geometry": {"coordinates": [179.5, -20, 33]}}
    members |= {name: changed_at.pop(name) for name in ("id", "geometry") if name in changed_at}
    return members | {"properties": content | changed_at}


def quakes(*events: Any) -> bytes:
    meta = {"generated": 1_700_000_200_000, "title": "All", "count": 99}
    return json.dumps({"type": "FeatureCollection", "metadata": meta, "features": events}).encode()


QUAKES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"severityBasis.scale": "magnitude", "severity": "low", "endedAt": None}),
    ({"alert": "red", "sig": 5}, {"severity": "critical", "severityBasis.scale": "pager"}),
    ({"alert": None, "sig": 600}, {"severity": "high", "severityBasis.value": 600}),
    ({"mag": None}, {"severity": None, "measurements.0.metric": "depth"}),
    ({"mag": "-0.3", "sig": "1"}, {"measurements.0.value": -0.3, "severity": "info"}),
    ({"time": -2_013_000_000_000}, {"occurredAt": "1906-03-19T09:20:00Z"}),
    ({"type": "quarry blast"}, {"type": "technological", "category": "other"}),
    ({"type": "gargle"}, {"type": "other", "category": "other"}),
    ({"title": None}, {"title": "M 4.5 - Off the coast"}),
    ({"geometry": None}, {"place.geometry": None, "place.name": "Off the coast"}),
    ({"ids": None}, {"designators": [{"scheme": "usgs", "value": "us1", "provider": "usgs"}]}),
]


@pytest.mark.parametrize(("changed_at", "expected"), QUAKES)
def test_an_earthquake(changed_at: dict[str, Any], expected: dict[str, Any]) -> None:
    check(only(quakes(quake(**changed_at))), expected)


def test_one_earthquake_in_detail_is_a_document_too() -> None:
    assert only(json.dumps(quake()).encode()).key == "usgs:us1"


def test_an_earthquake_is_gone_only_where_its_status_says_so() -> None:
    withdrawal = only(quakes(quake(status="deleted", mag=None, time=None, geometry=None)))
    assert (withdrawal.is_withdrawn, withdrawal.members, withdrawal.other_keys) == (
        True,
        {},
        ("usgs:us1", "usgs:pt2"),
    )
    empty_document = document(quakes())
    assert (empty_document.format.kind, empty_document.records) == ("window", ())
    assert empty_document.metadata.stamp == datetime(2023, 11, 14, 22, 16, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changed_at", "reason"),
    [
        ({"geometry": {"coordinates": [-20, 179.5, 33]}}, "has coordinates out of range"),
        ({"id": None}, "lacks id"),
        ({"mag": "big"}, "has a number that is none"),
        ({"ids": 5}, "is not of the form of its kind (AttributeError)"),
    ],
)
def test_an_earthquake_that_cannot_be_meant(changed_at: dict[str, Any], reason: str) -> None:
    assert reasons(quakes(quake(**changed_at))) == {reason: 1}


# -- GDACS -------------------------------------------------------------------------------------


def alert(class_: str, geometry: Any, **changed_at: Any) -> dict[str, Any]:
    content = {
        "eventtype": "EQ", "eventid": 7, "episodeid": 1, "name": "Earthquake in Tonga",
        "alertlevel": "Orange", "istemporary": "false", "iscurrent": "true", "iso3": "TON",
        "fromdate": "2026-01-01T02:00:00", "todate": "2026-01-01T02:00:00", "Class": class_,
        "datemodified": "2026-01-01T03:00:00", "country": "Tonga",
        "severitydata": {"severity": 6.1, "severityunit": "M", "severitytext": "Depth:7.5km"},
    }  # fmt: skip
    return {"type": "Feature", "geometry": geometry, "properties": content | changed_at}


def alerts(*features: Any) -> bytes:
    content = {"type": "FeatureCollection", "features": features, "bbox": None}
    return json.dumps(content).encode()


POINT = {"type": "Point", "coordinates": [-175.0, -20.0]}
RING = [[0, 0], [1, 0], [1, 1], [0, 0]]
POLYGON = {"type": "Polygon", "coordinates": [RING]}
POLYGONS = {"type": "MultiPolygon", "coordinates": [[RING]]}
CENTRE = "Point_Centroid"

ALERTS: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
    (
        [alert("Poly_Circle", POLYGON), alert("Line_Line_0", None),
         alert(CENTRE, POINT, glide="EQ-1")],
        {"place.geometry": POINT, "footprint": POLYGON, "endedAt": None, "severity": "high",
         "designators.1.value": "EQ-1"},
    ),
    (
        [alert("Poly_A", POLYGON), alert("Poly_B", POLYGONS)],
        {"place.geometry": None, "footprint.coordinates": [[RING], [RING]]},
    ),
    (
        # Of two episodes the newer counts; the older one's footprint is past.
        [
            alert("Poly_A", POLYGON),
            alert(CENTRE, POINT, episodeid=2, datemodified="2026-01-02T00:00:00", alertlevel="Red"),
        ],
        {"footprint": None, "severity": "critical"},
    ),
    (
        [alert("Poly_A", {"type": "Polygon", "coordinates": [[[180.4, 1], [179, 1], [180, 2]]]})],
        {"footprint": None, "title": "Earthquake in Tonga"},
    ),
    (
        [alert(CENTRE, POINT, severitydata={"severity": 0.0, "severityunit": ""}, alertscore=1)],
        {"measurements": [
            {"metric": "alertScore", "value": 1, "unit": "1", "provider": "gdacs"},
        ]},
    ),
    (
        [alert(CENTRE, POINT, severitydata={"severity": 4, "severityunit": "m"}, eventtype="TS")],
        {"type": "tsunami", "measurements": []},
    ),
    (
        [alert(CENTRE, POINT, iscurrent=False, iso3="", name="", url="https://gdacs.example/7",
               affectedcountries=[{"iso3": "FJI"}])],
        {"endedAt": "2026-01-01T02:00:00Z", "place.countryCode": "FJ",
         "title": "Earthquake: Tonga", "url": "https://gdacs.example/7"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("features", "expected"), ALERTS)
def test_an_alert_is_one_event_of_many_features(
    features: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    record = only(alerts(*features))
    check(record, expected)
    assert record == only(alerts(*features[::-1]))


def test_an_alert_without_a_number_does_not_cost_its_neighbours() -> None:
    content = document(alerts(alert(CENTRE, POINT), {"properties": {"eventtype": "EQ"}}, 5))
    assert [record.key for record in content.records] == ["gdacs:EQ7"]
    assert {rejection.reason: rejection.count for rejection in content.rejections} == {
        "lacks 'eventid'": 1,
        "is not of the form of its kind (TypeError)": 1,
    }
    assert reasons(alerts(alert(CENTRE, {"type": "Point", "coordinates": [0, 91]}))) == {
        "has coordinates out of range": 1
    }
    assert document(alerts()).format.id == "gdacs"


def alert_feed(inner: str, encoding: str = "utf-8") -> bytes:
    return (
        f'<?xml version="1.0" encoding="{encoding}"?><rss version="2.0" '
        'xmlns:gdacs="http://www.gdacs.org" xmlns:georss="http://www.georss.org/georss" '
        'xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#"><channel>'
        f"<pubDate>Thu, 01 Jan 2026 00:00:00 GMT</pubDate>{inner}</channel></rss>"
    ).encode(encoding)


ALERT = (
    "<item><title>Séisme</title><link>https://gdacs.example/7</link><guid>EQ7</guid>"
    "<pubDate>Thu, 01 Jan 2026 03:00:00 GMT</pubDate><gdacs:eventtype>EQ</gdacs:eventtype>"
    "<gdacs:eventid>7</gdacs:eventid>{}</item>"
)
GEO = "<geo:Point><geo:lat>-20</geo:lat><geo:long>-175</geo:long></geo:Point>"


BARE = GEO.removeprefix("<geo:Point>").removesuffix("</geo:Point>")


@pytest.mark.parametrize("location", [GEO, BARE, "<georss:point>-20 -175</georss:point>"])
@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_a_feed_and_the_api_name_one_event_alike(location: str, encoding: str) -> None:
    content = document(alert_feed(ALERT.format(location), encoding))
    assert content.metadata.stamp == datetime(2026, 1, 1, tzinfo=UTC)
    (record,) = content.records
    assert record.key == only(alerts(alert(CENTRE, POINT))).key
    check(record, {"title": "Séisme", "place.geometry": POINT, "severity": None})
    assert record.stamp == datetime(2026, 1, 1, 3, tzinfo=UTC)


NEIC = (
    '<gdacs:severity unit="M" value="6.1">Magnitude 6.1M, Depth:7.5km</gdacs:severity>'
    '<gdacs:identifiers><gdacs:identifier id="neicid">us9</gdacs:identifier></gdacs:identifiers>'
)


def test_the_name_of_an_earthquake_at_its_other_provider_is_told() -> None:
    (record,) = document(alert_feed(ALERT.format(NEIC))).records
    window = only(alerts(alert(CENTRE, POINT, source="NEIC", sourceid="us9", glide="EQ-2026-1-X")))
    assert record.members["measurements"] == window.members["measurements"]
    assert [item["value"] for item in record.members["measurements"]] == [6.1, 7.5]
    assert [name["value"] for name in window.members["designators"]] == [
        "EQ7",
        "EQ-2026-1-X",
        "us9",
    ]
    assert record.members["designators"][1] == window.members["designators"][2]


@pytest.mark.parametrize(
    ("inner", "reason"),
    [
        (ALERT.format("").replace("<gdacs:eventid>7</gdacs:eventid>", ""), "lacks 'eventid'"),
        (ALERT.format("<georss:point>-175 -20</georss:point>"), "has coordinates out of range"),
    ],
)
def test_an_item_of_a_feed_that_cannot_be_meant(inner: str, reason: str) -> None:
    assert reasons(alert_feed(inner)) == {reason: 1}


def test_a_feed_of_alerts_may_be_empty_and_may_not_be_cut_off() -> None:
    assert document(alert_feed("")).records == ()
    with pytest.raises(DocumentRefused, match="truncated"):
        document(alert_feed(ALERT.format(GEO))[:-6])


# -- EONET -------------------------------------------------------------------------------------


def natural(*positions: Any, **changed_at: Any) -> dict[str, Any]:
    content = {
        "id": "EONET_1", "title": "Storm", "description": None, "closed": None,
        "link": "https://eonet.example/1", "categories": [{"id": "severeStorms"}], "sources": [],
    }  # fmt: skip
    return content | {"geometry": positions} | changed_at


def position(day: int, longitude: float = 1.0, **changed_at: Any) -> dict[str, Any]:
    content = {"magnitudeValue": 35.00, "magnitudeUnit": "kts", "date": f"2026-01-0{day}T06:00:00Z"}
    return content | {"type": "Point", "coordinates": [longitude, 2.0]} | changed_at


def fragments(event: dict[str, Any]) -> list[dict[str, Any]]:
    """The features as which EONET's GeoJSON tells an event: one for each of its positions."""
    shared = {name: value for name, value in event.items() if name != "geometry"}
    return [
        {
            "type": "Feature",
            "properties": shared | {name: item[name] for name in item if name[0] in "dm"},
            "geometry": {"type": item["type"], "coordinates": item["coordinates"]},
        }
        for item in event["geometry"]
    ]


def eonet(*events: Any) -> bytes:
    return json.dumps({"title": "EONET Events", "events": events}).encode()


NATURAL: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        natural(position(2, 5.0, magnitudeValue=40), position(1)),
        {
            "occurredAt": "2026-01-01T06:00:00Z",
            "endedAt": None,
            "place.geometry.coordinates": [5.0, 2.0],
            "measurements.0.value": 40,
            "measurements.0.asOf": "2026-01-02T06:00:00Z",
            "track.0.geometry.coordinates": [1.0, 2.0],
        },
    ),
    (
        natural(position(1, **POLYGON, magnitudeValue=None), closed="2026-01-09T00:00:00Z"),
        {"endedAt": "2026-01-09T00:00:00Z", "place.geometry": POLYGON, "measurements": []},
    ),
    (
        natural(position(1, magnitudeUnit="furlong"), title=None),
        {"title": "Storm", "track.0.measurement": None},
    ),
    (
        natural(
            position(1),
            sources=[
                {"id": "A", "url": "https://earthquake.usgs.gov/earthquakes/eventpage/us7000abcd"},
                {"id": "B", "url": "https://www.gdacs.org/r.aspx?eventtype=TC&eventid=1001"},
            ],
        ),
        {"designators.1.value": "us7000abcd", "designators.2.value": "TC1001"},
    ),
]


@pytest.mark.parametrize(("event", "expected"), NATURAL)
def test_both_forms_of_an_event_say_the_same(
    event: dict[str, Any], expected: dict[str, Any]
) -> None:
    plain = only(eonet(event))
    check(plain, expected)
    features = {"type": "FeatureCollection", "features": fragments(event)}
    joined = only(json.dumps(features).encode())
    single = only(json.dumps(event).encode())
    assert plain.members == joined.members == single.members
    assert plain.stamp == joined.stamp == single.stamp


def test_many_features_are_few_events() -> None:
    events = [
        natural(*(position(day) for day in range(1, 10)), id=f"EONET_{number}")
        for number in range(10)
    ]
    features = [item for event in events for item in fragments(event)]
    content = document(json.dumps({"type": "FeatureCollection", "features": features}).encode())
    assert (len(features), len(content.records), content.rejections) == (90, 10, ())


def test_a_line_of_places_with_their_dates_is_a_track() -> None:
    content = natural(position(1, 3.0), position(2, 4.0), position(3, 5.0))
    (feature, *_) = fragments(content)
    dates = [item["date"] for item in content["geometry"]]
    line_ = {
        "type": "LineString",
        "coordinates": [item["coordinates"] for item in content["geometry"]],
    }
    feature |= {"geometry": line_}
    feature["properties"] |= {"geometryDates": dates}
    document_ = {"type": "FeatureCollection", "features": [feature]}
    tracks = [
        [(item["at"], item["geometry"]) for item in only(body).members["track"]]
        for body in (eonet(content), json.dumps(document_).encode())
    ]
    assert tracks[0] == tracks[1]
    feature["properties"]["geometryDates"] = dates[:2]
    assert sum(reasons(json.dumps(document_).encode()).values()) == 1
    feature |= {"geometry": None}
    check(only(json.dumps(document_).encode()), {"track": []})


def test_a_natural_event_that_cannot_be_meant() -> None:
    assert reasons(eonet(natural(position(1, 181)))) == {"has coordinates out of range": 1}
    assert reasons(eonet(natural(position(1, type="Circle")))) == {"has a geometry that is none": 1}
    assert reasons(eonet(natural(position(1, coordinates=[None, 1])))) == {"lacks coordinates": 1}
    nowhere = only(eonet(natural()))
    check(nowhere, {"occurredAt": None, "place": None, "track": []})
    for empty in ({"title": "EONET Events", "events": []}, {"type": "FeatureCollection"}):
        content = document(json.dumps(empty | {"features": []}).encode())
        assert (content.format.id, content.records) == ("eonet", ())


# -- ReliefWeb ---------------------------------------------------------------------------------


def reliefweb(*fields: dict[str, Any], version: int = 2, **members: Any) -> bytes:
    base = f"https://api.reliefweb.int/v{version}/disasters"
    data = [{"id": "9", "fields": content, "href": f"{base}/9"} for content in fields]
    return json.dumps({"href": base, "count": 1, "data": data} | members).encode()


FULL = {
    "id": 9, "name": "Togo: Floods", "status": "past", "glide": "FL-2024-000001-TGO",
    "country": [{"name": "Togo", "iso3": "tgo"}, {"name": "Benin", "iso3": "ben"}],
    "primary_country": {"name": "Togo", "iso3": "tgo", "location": {"lat": 8.6, "lon": 1.0}},
    "primary_type": {"name": "Flash Flood", "code": "FF"}, "type": [{"code": "EP"}],
    "date": {"created": "2024-08-02T00:00:00+00:00", "event": "2024-07-30T00:00:00+00:00",
             "changed": "2024-09-01T10:00:00+00:00"},
    "url": "https://reliefweb.int/node/9", "description": "Rivers <b>rose</b>.",
}  # fmt: skip

DISASTERS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        FULL,
        {
            "type": "flood",
            "occurredAt": "2024-07-30T00:00:00Z",
            "reportedAt": "2024-08-02T00:00:00Z",
            "place.name": "Togo, Benin",
            "place.countryCode": "TG",
            "place.geometry.coordinates": [1.0, 8.6],
            "place.precision": "country",
            "summary": "Rivers rose.",
            "severity": "low",
            "url": "https://reliefweb.int/node/9",
        },
    ),
    (
        {"name": None, "type": [{"name": "Land Slide"}], "date": {"created": "2024-08-02"}},
        {"title": "Landslide", "occurredAt": "2024-08-02T00:00:00Z", "place": None, "url": None},
    ),
    (
        {"name": "X", "status": "external", "glide": "CW-2022-000007-ZZZ"},
        {"type": "coldWave", "severity": None, "place": None, "datePrecision": None},
    ),
    ({"name": "X", "glide": "EQ-TEST"}, {"type": "other", "place": None}),  # of no Estonia
]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(("fields", "expected"), DISASTERS)
def test_a_disaster(fields: dict[str, Any], expected: dict[str, Any], version: int) -> None:
    check(only(reliefweb(fields, version=version)), expected)
    assert only(reliefweb(fields, href=None)).key == "reliefweb:9"
    assert only(json.dumps(json.loads(reliefweb(fields))["data"]).encode()).key == "reliefweb:9"


def test_a_disaster_that_cannot_be_meant() -> None:
    assert document(reliefweb()).records == ()
    assert reasons(reliefweb(data=[{"id": "9"}])) == {"lacks 'fields'": 1}
    assert reasons(reliefweb(data=[{"fields": FULL | {"id": None}}])) == {"lacks id": 1}


# -- UCDP and ACLED ----------------------------------------------------------------------------

UCDP = {
    "id": 1, "type_of_violence": 3, "side_a": "IS", "side_b": "Civilians", "where_prec": 1,
    "where_coordinates": "Beni", "latitude": 0.5, "longitude": 29.5, "country": "DR Congo (Zaire)",
    "event_clarity": 2, "date_prec": 5, "date_start": "2020-01-01 00:00:00.000",
    "date_end": "2020-12-31 00:00:00.000", "low": 0, "best": 0, "high": 130,
}  # fmt: skip

ACLED = {
    "event_id_cnty": "BOL1", "event_date": "02 May 2024", "time_precision": 2, "iso": 68,
    "event_type": "Riots", "sub_event_type": "Mob violence", "actor1": "Rioters (Bolivia)",
    "actor2": "", "country": "Bolivia", "location": "El Alto", "latitude": -16.5,
    "longitude": -68.2, "geo_precision": 2, "notes": "Stones, 'and' more.", "fatalities": 5,
    "timestamp": 1_714_700_000,
}  # fmt: skip


def table(base: Mapping[str, Any], *rows: Mapping[str, Any], delimiter: str = ",") -> bytes:
    quoted = [[f'"{(base | row)[name]}"' for name in base] for row in rows]
    return "\n".join(delimiter.join(row) for row in ([*base], *quoted)).encode()


CONFLICT: list[tuple[Mapping[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        UCDP,
        {},
        {
            "title": "One-sided violence: IS – Civilians, Beni",
            "actors.1.role": "victim",
            "place.countryCode": "CD",
            "datePrecision": "year",
            "endedAt": "2020-12-31T00:00:00Z",
            "confidence": 0.5,
            "severity": "info",
            "measurements.0": {
                "metric": "deathsLow", "value": 0, "unit": "1", "provider": "ucdp",
            },
            "measurements.2.value": 130,
        },
    ),
    (UCDP, {"where_prec": 4, "best": 25}, {"place.precision": "admin1", "severity": "high"}),
    (UCDP, {"where_prec": 7, "country": "Sudan"},
     {"place.precision": "unknown", "place.countryCode": "SD"}),
    (UCDP, {"event_clarity": "", "best": "", "date_end": "", "side_b": ""},
     {"confidence": None, "severity": None, "measurements.1.metric": "deathsHigh",
      "endedAt": None, "actors.1": None}),
    (
        ACLED,
        {},
        {
            "title": "Riot: Rioters (Bolivia), El Alto",
            "type": "riot",
            "category": "unrest",
            "occurredAt": "2024-05-02T00:00:00Z",
            "datePrecision": "week",
            "place.countryCode": "BO",
            "place.precision": "locality",
            "severity": "medium",
            "measurements.0.metric": "deathsBest",
            "summary": "Stones, 'and' more.",
        },
    ),
    (ACLED, {"event_date": "2024-05-02", "iso": 0, "country": "Kosovo", "timestamp": ""},
     {"occurredAt": "2024-05-02T00:00:00Z", "place.countryCode": "XK"}),
]  # fmt: skip


@pytest.mark.parametrize(("base", "changed_at", "expected"), CONFLICT)
def test_an_event_of_conflict(
    base: Mapping[str, Any], changed_at: dict[str, Any], expected: dict[str, Any]
) -> None:
    record = only(table(base, changed_at, delimiter=";"))
    check(record, expected)
    content = {
        "success": True,
        "count": 1,
        "data" if base is ACLED else "Result": [{**base, **changed_at}],
    }
    assert only(json.dumps(content).encode()).members == record.members


def test_tags_of_columns_are_no_data() -> None:
    tags = dict.fromkeys(UCDP, "") | {"best": "#affected+killed", "side_a": "#group"}
    content = document(table(UCDP, tags, {}, {"id": ""}, {"date_start": "2020-02-30"}) + b"\n7,8\n")
    assert [record.key for record in content.records] == ["ucdp:1"]
    assert {rejection.reason: rejection.count for rejection in content.rejections} == {
        "lacks id": 1,
        "has a date that is none": 1,
        "has another number of columns than the first line": 1,
    }


def test_an_answer_without_events_is_none_the_less_one() -> None:
    content = document(b'{"status": 200, "success": true, "count": 0, "data": []}')
    assert (content.format.id, content.records) == ("acled", ())
    assert only(table(ACLED, {})).stamp == datetime(2024, 5, 3, 1, 33, 20, tzinfo=UTC)


# -- GDELT -------------------------------------------------------------------------------------

CELLS = {
    "GLOBALEVENTID": "42", "SQLDATE": "20181024", "Actor1Name": "IRAQ", "Actor1CountryCode": "IRQ",
    "Actor2Code": "ROM", "Actor2CountryCode": "ROM", "EventCode": "090", "EventRootCode": "09",
    "QuadClass": "3", "GoldsteinScale": "-9.5", "ActionGeo_Type": "1",
    "ActionGeo_FullName": "Iraq", "ActionGeo_CountryCode": "IZ", "ActionGeo_Lat": "33",
    "ActionGeo_Long": "44", "DATEADDED": "20191024143000", "SOURCEURL": "https://a.example/1",
}  # fmt: skip
PLACES_V2 = (0, 1, 6, 7, 15, 17, 26, 28, 29, 30, 51, 52, 53, 56, 57, 59, 60)
PLACES_V1 = (0, 1, 6, 7, 15, 17, 26, 28, 29, 30, 49, 50, 51, 53, 54, 56, 57)


def line(length: int, **changed_at: str) -> str:
    row = [""] * length
    places = PLACES_V2 if length == 61 else PLACES_V1
    for place, cell in zip(places, (CELLS | changed_at).values(), strict=True):
        if place < length:
            row[place] = cell
    return "\t".join(row)


def table_with_header(delimiter: str = ",", **changed_at: str) -> bytes:
    names = [name for name in reversed(CELLS) if name not in changed_at or changed_at[name]]
    cells = CELLS | changed_at
    rows = (names, [cells[name] for name in names])
    return "\n".join(delimiter.join(row) for row in rows).encode()


CODED_EVENTS: list[tuple[bytes, dict[str, Any]]] = [
    (
        line(61).encode(),
        {
            "title": "Investigation: IRAQ – ROM, Iraq",
            "cameo": {"eventCode": "090", "rootCode": "09", "quadClass": 3, "goldstein": -9.5},
            "severity": "high",
            "actors": [
                {"name": "IRAQ", "countryCode": "IQ", "role": "actor"},
                {"name": "ROM", "countryCode": "RO", "role": "target"},
            ],
            "place.countryCode": "IQ",
            "place.precision": "country",
            "datePrecision": "day",
            "occurredAt": "2018-10-24T00:00:00Z",
            "reportedAt": "2019-10-24T14:30:00Z",
            "url": "https://a.example/1",
        },
    ),
    (line(58, DATEADDED="20191024").encode(), {"reportedAt": "2019-10-24T00:00:00Z"}),
    (line(57).encode(), {"url": None, "place.countryCode": "IQ"}),
    (table_with_header(), {"place.geometry.coordinates": [44, 33], "actors.1.name": "ROM"}),
    (table_with_header("\t", EventCode="90", EventRootCode="9"), {"cameo.eventCode": "090"}),
    (table_with_header(DATEADDED="", SOURCEURL=""), {"reportedAt": None, "url": None}),
    (line(61, ActionGeo_CountryCode="YI").encode(), {"place.countryCode": None}),
    (line(61, ActionGeo_CountryCode="CH").encode(), {"place.countryCode": "CN"}),
    (line(61, SOURCEURL="BBC Monitoring").encode(), {"url": None}),
    (line(61, EventRootCode="20", GoldsteinScale="-10").encode(), {"type": "massViolence"}),
    (line(61, GoldsteinScale="").encode(), {"severity": None, "cameo.goldstein": None}),
]


@pytest.mark.parametrize(("body", "expected"), CODED_EVENTS)
def test_a_coded_event(body: bytes, expected: dict[str, Any]) -> None:
    record = only(body)
    check(record, expected)
    assert record.key == "gdelt:42"
    assert "" not in record.raw.values()


def test_lines_of_several_lengths_and_damaged_ones_are_told_apart() -> None:
    rows = [
        "x" * 9,
        line(58, GLOBALEVENTID="1"),
        line(57, GLOBALEVENTID="2"),
        line(61, GLOBALEVENTID="3")[:-70],
        line(58, GLOBALEVENTID="4", SQLDATE="20181301"),
        line(58, GLOBALEVENTID="5", ActionGeo_Lat="91"),
        line(58, GLOBALEVENTID="GLOBALEVENTID"),
        line(58, GLOBALEVENTID="6", EventRootCode=""),
        line(58, GLOBALEVENTID="7", QuadClass='"3'),
    ]
    content = document("\n".join(rows).encode())
    assert [record.key for record in content.records] == ["gdelt:1", "gdelt:2"]
    assert {rejection.reason: rejection.count for rejection in content.rejections} == {
        "has a number of columns that its format does not have": 2,
        "has a date that is none": 1,
        "has coordinates out of range": 1,
        "has an id that is none": 1,
        "lacks EventRootCode": 1,
        "has a number that is none": 1,
    }


_NAMES = """
    GLOBALEVENTID EventTimeDate MentionTimeDate MentionType MentionSourceName MentionIdentifier
    SentenceID Actor1CharOffset Actor2CharOffset ActionCharOffset InRawText Confidence
    MentionDocLen MentionDocTone MentionDocTranslationInfo Extras
"""
_MENTION = "42 20191024143000 20191024144500 1 a.example https://a.example/1 3 -1 5 9 1 40 800 -2.5"
NAMES, MENTION = tuple(_NAMES.split()), tuple(_MENTION.split())


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([MENTION], {"confidence": 0.4, "tone": -2.5, "translation": None}),
        ([(*MENTION, "srclc:fra;eng:X", "")], {"translation": "srclc:fra;eng:X"}),
        ([NAMES, (*MENTION, "", "")], {"eventId": "42", "mentionedAt": "2019-10-24T14:45:00Z"}),
        ([(*MENTION[:11], "", *MENTION[12:])], {"confidence": None}),
    ],
)
def test_a_mention(rows: list[tuple[str, ...]], expected: dict[str, Any]) -> None:
    record = only("\n".join(map("\t".join, rows)).encode())
    check(record, expected)
    assert (record.resource, record.key) == ("mention", "gdelt:42|https://a.example/1")
    assert record.stamp == datetime(2019, 10, 24, 14, 45, tzinfo=UTC)


def test_a_mention_surer_than_sure_is_none() -> None:
    row = [*MENTION[:11], "101", *MENTION[12:]]
    assert reasons("\t".join(row).encode()) == {"has a confidence beyond 100": 1}
