"""Lists of events: what each filter finds, how they are sorted, and what they tell besides."""

import json
from typing import Any

import pytest

from svc_core.contract import problem
from svc_core.operation.source_members import point_of
from tests import events

NAMES = [f"Quake {number} near Esmeraldas" for number in range(len(events.ROWS))]


@pytest.fixture
def house(house: Any) -> Any:
    """A house that has taken in the invented events, the last of them a minute later."""
    house.run(lambda ctx: events.take(ctx, events.ROWS[:-1]))
    house.clock.advance(60)
    house.run(lambda ctx: events.take(ctx, events.ROWS))
    return house


def numbers(rows: list[Any]) -> str:
    """Which of the invented events these are."""
    return "".join(str(NAMES.index(row["title"])) for row in rows)


FIRST = "2026-03-04T03:00:00Z"  # when the event of number 1 happened


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("", "0123456"),  # one without a time stands where it was taken in, long before
        ("provider=gdacs,acled", "56"),
        ("provider=nobody", ""),
        ("type=flood", "5"),
        ("category=unrest", "6"),
        ("country=fj", "23"),
        ("country=FJ,CL", "235"),
        ("severity=low,high", "12"),
        ("minSeverity=high", "13"),
        ("minSeverity=high&severity=low,critical", "3"),
        ("minSeverity=high&severity=low", ""),
        ("minConfidence=0.9", "1"),
        ("minConfidence=0.3", "14"),
        ("bbox=177,-20,-178,-16", "234"),
        ("bbox=177,-20,180,-16", "24"),
        ("bbox=-180,-20,-179,-16", "34"),
        ("bbox=-180,-90,180,90", "01234"),
        ("bbox=-79.6,0.98,-79.6,0.98", "01"),
        ("bbox=-79.6,0.98,-79.5,0.99&severity=high", "1"),
        (f"datetime={FIRST}", "1"),
        (f"datetime={FIRST}/..", "01"),
        (f"datetime=../{FIRST}", "12345"),
        ("datetime=2026-03-04T01:00:00Z/2026-03-04T02:00:00Z", "23"),
        (f"datetime=../{FIRST}&sort=severity", "31524"),
        ("sort=severity", "3105624"),
        ("country=EC&type=earthquake&minSeverity=high", "1"),
    ],
)
def test_a_filter_finds_its_events_alone(house: Any, query: str, matches: str) -> None:
    assert numbers(house.rows("listOsintEvents", query)) == matches
    assert numbers(house.every("listOsintEvents", f"{query}&limit=2")) == matches


@pytest.mark.parametrize("interval", ["../2090-01-01T00:00:00Z", "1970-01-01T00:00:00Z/.."])
@pytest.mark.parametrize("reported", [None, "2026-03-05T00:00:00Z"])
def test_an_event_that_nobody_dates_is_last_and_in_no_time_whenever_it_is_read(
    house: Any, interval: str, reported: str | None
) -> None:
    house.clock.advance(10**7)
    undated = {"occurredAt": None, "datePrecision": None, "reportedAt": reported}
    late = events.event(70, title="Late", severity="low", **undated)
    house.run(lambda ctx: events.take(ctx, [*events.ROWS, late]))
    for sort in ("", "sort=occurredAt"):
        assert "Late" in [row["title"] for row in house.rows("listOsintEvents", sort)[-2:]]
    low_events = house.rows("listOsintEvents", "sort=severity&severity=low")
    assert low_events[-1]["title"] == "Late"
    dated = house.rows("listOsintEvents", f"datetime={interval}")
    assert "Late" not in {row["title"] for row in dated}


def test_what_was_recorded_since_an_instant_is_found_by_it(house: Any) -> None:
    every = house.rows("listOsintEvents", "sort=updatedAt")
    newest = every[0]
    assert numbers([newest]) == "6"
    first = every[-1]["updatedAt"]
    assert house.rows("listOsintEvents", f"updatedSince={first}") == [newest]
    assert house.rows("listOsintEvents", f"updatedSince={newest['updatedAt']}") == []


def test_what_its_source_published_is_told_where_it_is_asked_for(house: Any) -> None:
    quiet, with_raw = house.rows("listOsintEvents"), house.rows("listOsintEvents", "include=raw")
    assert [row["raw"]["id"] for row in with_raw] == list(range(7))
    assert [row | {"raw": None} for row in quiet] == [row | {"raw": None} for row in with_raw]
    assert all("raw" not in row for row in quiet)
    path = {"eventId": with_raw[0]["id"]}
    bare = house.send("getOsintEvent", path=path)
    whole = house.send("getOsintEvent", path=path, query="include=raw")
    assert json.loads(whole.body)["data"] == with_raw[0]
    assert json.loads(bare.body)["data"] == quiet[0]
    assert dict(bare.headers)["ETag"] != dict(whole.headers)["ETag"]


def test_the_strongest_source_is_the_one_whose_record_is_told(house: Any) -> None:
    alert = events.event(0, title="Orange alert")
    place = "https://alerts.example/all"
    house.run(lambda ctx: events.take(ctx, [alert], location=place, format_=events.ALERTS))
    (row,) = house.rows("listOsintEvents", "include=raw&bbox=-80,0,-79,1&severity=medium")
    assert (row["title"], len(row["sources"])) == ("Orange alert", 2)
    assert row["raw"] == alert.raw


def test_the_id_of_an_event_that_another_took_up_answers_with_that_one(house: Any) -> None:
    ids = {row["title"]: row["id"] for row in house.rows("listOsintEvents")}
    twin = events.event(50, also=("usgs:51",), title="First")
    stranger = events.event(51, title="Second", also=("usgs:52",))
    later = events.event(52, title="Third", also=("usgs:50",))
    for event in (twin, stranger, later):
        house.run(lambda ctx, event=event: events.take(ctx, [event]))
    rows = [row for row in house.rows("listOsintEvents") if row["id"] not in ids.values()]
    assert len(rows) == 1
    survivors = [
        row.resource_id
        for row in house.change_records()
        if row.resource_type == "osintEvent" and row.resource_id not in {*ids.values()}
    ]
    for id_ in survivors:
        answer = house.send("getOsintEvent", path={"eventId": id_})
        assert json.loads(answer.body)["data"] == rows[0]


def test_of_very_many_values_of_a_filter_none_is_looked_for(house: Any) -> None:
    refusal = house.refusal("listOsintEvents", query="type=" + ",".join("x" * 51))
    assert refusal.type is problem.INVALID_PARAMETER
    assert refusal.detail.startswith("type")


@pytest.mark.parametrize(
    ("geometry", "point"),
    [
        (None, None),
        ({"type": "Point", "coordinates": []}, None),
        ({"type": "Point", "coordinates": [7, 8, 9]}, (7, 8)),
        ({"type": "LineString", "coordinates": [[0, 0], [4, 2], [2, 2]]}, (2, 1)),
        ({"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [4, 2], [0, 0]]]}, (2, 1)),
        (
            {
                "type": "MultiPolygon",
                "coordinates": [[[[176, 0], [180, 0], [180, 2], [176, 0]]], [[[-180, 0]]]],
            },
            (178, 1),
        ),
        ({"type": "GeometryCollection", "geometries": []}, None),
    ],
)
def test_a_geometry_lies_at_one_point(geometry: Any, point: Any) -> None:
    assert point_of(geometry) == point
