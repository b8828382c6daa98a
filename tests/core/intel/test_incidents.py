"""Incidents: each event once, whoever tells of it, in whatever order; under ids that stay."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import drive
from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.folding.union import ALIKE_MAX
from svc_core.intel.incidents import fold_passes as passes
from svc_core.intel.incidents.fold_passes import fold_new
from svc_core.intel.incidents.incident_members import event_member
from svc_core.intel.incidents.model import INCIDENTS, INCIDENTS_DUE
from svc_core.intel.incidents.neighbourhood import around, distance_km
from svc_core.intel.incidents.queue import note_incident
from svc_core.intel.incidents.renewal import renew_rows
from svc_core.intel.incidents.text_places import hazard_in_headlines, place_in_texts
from svc_core.intel.news.model import NEWS, RECAPS, RecapDue, RecapWindow
from svc_core.intel.news.recaps import recap_id, recap_new
from svc_core.operation.source_members import SeverityBasis
from tests import events
from tests.core.intel.incident_documents import (
    NOON,
    eonet,
    fold,
    gdacs,
    gdelt,
    incident_of,
    incidents,
    mentions,
    misp,
    reliefweb,
    rss,
    take,
    usgs,
)
from tests.core.intel.news.test_grouping import Work
from tests.sampling import examples

QUAKE = "https://earthquake.usgs.gov/feed"
GLIDE = "EQ-2026-000071-ECU"
STRIKE = "Dockworkers of Fjordby walk out over night shifts"
PAPERS = ("pier.example", "quay.example", "mole.example")
OWN_MEMBERS = {
    "createdAt", "updatedAt", "retrievedAt", "revision", "mergedIds", "firstSeenAt", "lastSeenAt",
}  # fmt: skip


def without_own(value: Any) -> Any:
    """A row without what may depend on what came first."""
    if isinstance(value, dict):
        return {name: without_own(part) for name, part in value.items() if name not in OWN_MEMBERS}
    return [without_own(part) for part in value] if isinstance(value, list) else value


def state_of(house: Any) -> dict[str, Any]:
    """Every incident, and of which each event says that it is part."""
    rows = {row["id"]: without_own(row) for row in incidents(house)}
    return rows | _parts(house)


@pytest.fixture
def told_of(house: Any) -> Callable[..., list[Any]]:
    """Take documents in, each from a source of its own, and fold; the incidents."""
    house.clock.advance((NOON - house.clock.now()).total_seconds() + 3_600)

    def bodies_of(*bodies: bytes) -> list[Any]:
        for at, body in enumerate(bodies):
            take(house, body, f"https://source{at}.example/")
        fold(house)
        return incidents(house)

    return bodies_of


# -- what is one event -------------------------------------------------------------------------


def coded(id_: int, page: str, **members: Any) -> dict[str, Any]:
    """A row that a machine read in an article, such as `pier/a` for a page of pier.example."""
    host, _, path = page.partition("/")
    return {"id": id_, "url": f"https://{host}.example/{path}", **members}


ALERT, STORY = "report.aspx?eventtype=WF&eventid=1024410", [rss(host, STRIKE) for host in PAPERS]
FIRE = eonet(sources=[{"id": "GDACS", "url": f"https://www.gdacs.org/{ALERT}"}])
NOBODY = {"actors": ("UNION", "")}
CASES = {
    "a quake under two ids of its provider": (1, [usgs({"id": "us1", "ids": ",us1,pr1,"})]),
    "a quake that was given another id": (
        1, [usgs({"id": "us1"}), usgs({"id": "pr1", "ids": ",us1,pr1,"})],
    ),
    "two quakes": (2, [usgs({"id": "us1"}, {"id": "us2"})]),
    "an alert that names the quake": (
        1, [usgs({"id": "us1"}), gdacs(source="NEIC", sourceid="us1")],
    ),
    "an alert that names another quake": (
        2, [usgs({"id": "us1"}), gdacs(source="NEIC", sourceid="us2")],
    ),
    "an alert near by that names none": (2, [usgs({"id": "us1"}), gdacs()]),
    "a chain of names": (
        1, [usgs({"id": "us1"}), gdacs(source="NEIC", sourceid="us1", glide=GLIDE), reliefweb()],
    ),
    "another GLIDE number": (2, [gdacs(glide="EQ-2026-000099-ECU"), reliefweb()]),
    "a fire whose source is an alert": (
        1, [gdacs(eventtype="WF", eventid=1024410, name="Fire"), FIRE],
    ),
    "rows of one article": (
        1, [gdelt(coded(1, "pier/a"), coded(2, "www.pier/a/", code="173"),
                  coded(3, "pier/a", day="20250102", city="Sucre"))],
    ),
    "articles of one publisher": (
        2, [gdelt(coded(1, "pier/a"), coded(2, "pier/b", actors=("UNION", "ARMY")))],
    ),
    "the same by the same in another paper": (1, [gdelt(coded(1, "pier/a"), coded(2, "quay/b"))]),
    "the same the day after": (2, [gdelt(coded(1, "pier/a"), coded(2, "quay/b", day="20260103"))]),
    "the same somewhere in the country": (
        2, [gdelt(coded(1, "pier/a", kind="1"), coded(2, "quay/b", kind="1"))],
    ),
    "the same by nobody": (2, [gdelt(coded(1, "pier/a", **NOBODY), coded(2, "quay/b", **NOBODY))]),
    "rows without an article that tell the same": (1, [gdelt({"id": 1}, {"id": 2})]),
    "rows without an article": (2, [gdelt({"id": 1}, {"id": 2, "code": "190"})]),
    "a story of three papers": (1, STORY),
    "a story and rows of one of its articles": (
        1, [*STORY, gdelt(coded(1, "quay/0"), coded(2, "quay/0"))],
    ),
    "addresses that are none": (
        2, [gdelt({"id": 1, "url": "http://[bad/a", "code": "190"},
                  {"id": 2, "url": "BBC Monitoring"})],
    ),
    "the first day of all": (1, [usgs({"id": "us1", "at": datetime(1, 1, 1, tzinfo=UTC)})]),
    "a report": (1, [misp()]),
    "a draft of a report": (0, [misp(published=False)]),
}  # fmt: skip


@pytest.mark.parametrize(("count", "bodies"), CASES.values(), ids=CASES)
def test_an_event_is_one_incident(
    told_of: Any, house: Any, count: int, bodies: list[bytes]
) -> None:
    rows = told_of(*bodies)
    assert len(rows) == count
    assert {row["id"] for row in rows} >= set(_parts(house).values())


def _parts(house: Any) -> dict[str, Any]:
    return {event.id: event.incident_id for event in house.stored(OSINT_EVENTS)}


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_order_of_documents_changes_nothing(house_factory: Any, order: tuple[int, ...]) -> None:
    bodies = [
        usgs({"id": "us1"}, {"id": "us9", "point": (20.0, 40.0)}),
        gdacs(source="NEIC", sourceid="us1", glide=GLIDE),
        reliefweb(),
        gdelt(coded(1, "pier/a"), coded(2, "quay/b"), coded(3, "quay/b", code="190")),
    ]  # fmt: skip
    houses = [house_factory() for _ in range(3)]
    for at in order:
        for place, house in enumerate(houses):
            body = bodies[sorted(order)[order.index(at)] if place else at]
            take(house, body, f"https://source{bodies.index(body)}.example/")
            if place < 2:  # one is folded once, at the end
                fold(house)
    assert [fold(house) for house in houses][2] > 0
    first, *others = [state_of(house) for house in houses]
    assert all(other == first for other in others)
    assert len(incidents(houses[0])) == 3


@examples(25)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6), st.data())
def test_what_is_taken_back_leaves_nothing(
    house_factory: Any, pairs: list[tuple[int, int]], data: Any
) -> None:
    """Alerts that name quakes: with one source taken back the rest is as if it had never been."""
    bodies = {
        f"https://source{at}.example/": gdacs(
            eventid=100 + alert, source="NEIC", sourceid=f"us{quake}", glide=""
        )
        for at, (alert, quake) in enumerate(pairs)
    }
    bodies[QUAKE] = usgs(*({"id": f"us{at}"} for at in range(4)))
    dropped_name = data.draw(st.sampled_from(sorted(bodies)))
    house, without = house_factory(), house_factory()
    for location, body in bodies.items():
        take(house, body, location)
        if location != dropped_name:
            take(without, body, location)
        fold(house)
    house.withdraw(dropped_name)
    fold(house)
    fold(without)
    mine, theirs = state_of(house), state_of(without)
    assert mine == theirs


def test_a_mark_that_everybody_has_says_nothing(told_of: Any) -> None:
    rows = [{"id": at, "url": f"https://pier.example/{at}"} for at in range(ALIKE_MAX + 1)]
    take_two = told_of(gdelt(*rows))
    assert len(take_two) == 100  # the first page
    assert all(row["observationCount"] == 1 for row in take_two)


def test_no_unit_reads_all_that_have_a_mark_that_everybody_has(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "ALIKE_READ", 2 * passes.AT_ONCE)
    count = 4 * passes.AT_ONCE
    rows = [{"id": at, "url": f"https://pier.example/{at}"} for at in range(count)]
    take(house, gdelt(*rows), "https://gdelt.example/")
    read: list[str] = []
    monkeypatch.setattr(
        passes.members,
        "event_member",
        lambda event, claims: read.append(event.id) or event_member(event, claims),
    )
    fold(house)
    assert sorted(set(read)) == sorted(read)
    assert len(house.stored(INCIDENTS)) == count


# -- ids ---------------------------------------------------------------------------------------


def test_an_incident_that_is_taken_up_keeps_answering(told_of: Any, house: Any) -> None:
    quake, alert = sorted(
        told_of(usgs({"id": "us1"}), gdacs()), key=lambda row: row["sources"][0]["provider"]
    )[::-1]
    assert quake["relatedIncidentIds"] == [alert["id"]]
    assert alert["relatedIncidentIds"] == [quake["id"]]
    take(house, gdacs(source="NEIC", sourceid="us1", datemodified="2026-01-02T14:00:00"),
         "https://source1.example/")  # fmt: skip
    fold(house)
    (row,) = incidents(house)
    assert (row["id"], row["mergedIds"]) == (quake["id"], [alert["id"]])
    assert row["relatedIncidentIds"] == []
    assert incident_of(house, alert["id"]) == row
    assert _changes(house)[-2:] == [
        ("updated", quake["id"], None),
        ("merged", alert["id"], quake["id"]),
    ]
    take(house, gdacs(datemodified="2026-01-02T15:00:00"), "https://source1.example/")
    fold(house)
    assert {row["id"]: row["mergedIds"] for row in incidents(house)} == {
        quake["id"]: [],
        alert["id"]: [],
    }
    assert ("restored", alert["id"], None) in _changes(house)
    assert set(_parts(house).values()) == {quake["id"], alert["id"]}


def test_what_nobody_tells_any_more_is_gone(told_of: Any, house: Any) -> None:
    (row,) = told_of(usgs({"id": "us1"}))
    take(house, usgs({"id": "us1", "status": "deleted"}), "https://source0.example/")
    fold(house)
    assert incidents(house) == []
    assert _changes(house)[-1] == ("deleted", row["id"], None)
    assert house.refusal("getIncident", path={"incidentId": row["id"]}).type.code == "NOT_FOUND"


def _changes(house: Any) -> list[tuple[str, str, str | None]]:
    changes = (change for change in house.change_records() if change.resource_type == "incident")
    return [(change.change_type, change.resource_id, change.merged_into_id) for change in changes]


def test_reading_the_same_again_writes_nothing(told_of: Any, house: Any) -> None:
    bodies = (usgs({"id": "us1"}), gdacs(), *(rss(host, STRIKE) for host in PAPERS), misp())
    told_of(*bodies)
    before = _changes(house)
    rows = house.stored(INCIDENTS)
    house.run(lambda ctx: note_incident(ctx, [row.id for row in rows]))
    assert fold(house) == len(rows)
    assert _changes(house) == before
    told_of(*bodies)
    assert _changes(house) == before


# -- what may be the same ----------------------------------------------------------------------

ACLED = (
    "event_id_cnty,event_date,event_type,actor1,location,latitude,longitude,geo_precision,iso\n"
    "BOL1,2026-01-02,Protests,Labor Group,La Paz,{lat},-68.15,{exact},68"
)
PROTEST = gdelt({"id": 1, "url": "https://pier.example/a"})
TALA = {"eventtype": "TC", "eventid": 9, "name": "Tropical Cyclone"}
NEAR = {
    "a quake 24 hours and 90 km away": (
        {"at": NOON + timedelta(hours=24), "point": (-79.62, 1.73)},
        True,
    ),
    "a quake 25 hours away": ({"at": NOON + timedelta(hours=25)}, False),
    "a quake 110 km away": ({"point": (-79.62, 1.92)}, False),
}


@pytest.mark.parametrize(("quake", "is_near"), NEAR.values(), ids=NEAR)
def test_the_same_hazard_near_by_is_related_both_ways(
    told_of: Any, quake: dict[str, Any], is_near: bool
) -> None:
    first, second = told_of(gdacs(), usgs({"id": "us1", **quake}))
    assert first["relatedIncidentIds"] == ([second["id"]] if is_near else [])
    assert second["relatedIncidentIds"] == ([first["id"]] if is_near else [])


@pytest.mark.parametrize(
    ("lat", "exact", "is_near"), [(-16.45, 1, True), (-16.3, 1, False), (-16.45, 3, False)]
)
def test_violence_of_one_day_and_place_is_related(
    told_of: Any, lat: float, exact: int, is_near: bool
) -> None:
    rows = told_of(PROTEST, ACLED.format(lat=lat, exact=exact).encode())
    assert [bool(row["relatedIncidentIds"]) for row in rows] == [is_near, is_near]


def test_other_hazards_near_by_and_those_of_one_provider_are_not_related(told_of: Any) -> None:
    rows = told_of(gdacs(), gdacs(**TALA), usgs({"id": "us1"}, {"id": "us2"}))
    providers = {row["id"]: row["sources"][0]["provider"] for row in rows}
    pairs = {
        (providers[row["id"]], providers[id_]) for row in rows for id_ in row["relatedIncidentIds"]
    }
    assert pairs == {("usgs", "gdacs"), ("gdacs", "usgs")}


@pytest.mark.parametrize(
    ("point", "box"),
    [
        ((179.5, 0.0), (178.6, -0.9, -179.6, 0.9)),
        ((0.0, 89.5), (-180.0, 88.6, 180.0, 90.0)),
        ((-179.9, -45.0), (178.8, -45.9, -178.6, -44.1)),
    ],
)
def test_what_is_near_crosses_meridians_and_poles(point: Any, box: Any) -> None:
    area = around(point, 100)
    assert [round(side, 1) for side in (area.west, area.south, area.east, area.north)] == [*box]


@given(st.floats(-180, 180), st.floats(-89, 89), st.floats(-3, 3), st.floats(-1, 1))
def test_nothing_near_lies_outside_of_the_box(
    west: float, south: float, east: float, north: float
) -> None:
    point_ = ((west + east + 180) % 360 - 180, min(90.0, max(-90.0, south + north)))
    assert distance_km((west, south), point_) > 100 or around((west, south), 100).contains(*point_)


# -- passes ------------------------------------------------------------------------------------


def test_of_two_passes_at_once_each_does_what_the_other_left(house: Any) -> None:
    for at in range(5):
        take(house, usgs(*({"id": f"us{at}{number}", "point": (at * 10.0, number * 2.0)}
                           for number in range(20))), f"https://source{at}.example/")  # fmt: skip
    counts = []

    async def other_pass() -> None:
        if not counts:
            counts.append(0)
            counts.append(await fold_new(Work(house)))

    count = drive.run(fold_new(Work(house, other_pass)))
    assert (count, sum(counts)) == (0, 100)
    assert len(incidents(house)) == 100


def test_time_alone_moves_a_status_on(told_of: Any, house: Any) -> None:
    told_of(usgs({"id": "us1"}))
    seen = []
    for hours in (0, 5, 42, 12 * 24, 400 * 24):
        house.clock.advance(hours * 3_600)
        fold(house)
        (row,) = incidents(house)
        seen.append(row["status"])
    assert seen == ["emerging", "active", "monitoring", "closed", "closed"]
    assert house.stored(INCIDENTS_DUE) == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (eonet(), "monitoring"),
        (eonet(closed_at="2026-01-02T00:00:00Z"), "closed"),
        (reliefweb(status="ongoing"), "closed"),  # the work goes on, not the quake
        (gdacs(iscurrent="false"), "closed"),
        (gdacs(), "closed"),
        (misp(analysis="0"), "closed"),  # so does the analysis
    ],
)
def test_a_status_is_that_of_what_happened_not_of_the_work_on_it(
    told_of: Any, house: Any, body: bytes, status: str
) -> None:
    house.clock.advance(timedelta(days=60).total_seconds())
    (row,) = told_of(body)
    assert row["status"] == status


# -- what a row says ---------------------------------------------------------------------------


def test_a_quake_told_by_three_has_the_best_of_each(told_of: Any, house: Any) -> None:
    (row,) = told_of(
        usgs({"id": "us1", "alert": "yellow"}),
        gdacs(source="NEIC", sourceid="us1", glide=GLIDE),
        reliefweb(),
    )
    assert row["title"] == "M 6.1 - 10 km S of Esmeraldas"
    assert (row["severity"], row["severityBasis"]["provider"]) == ("high", "gdacs")
    assert row["place"]["countryCode"] == "EC"
    assert row["place"]["precision"] == "exact"
    assert (row["startedAt"], row["datePrecision"]) == ("2026-01-02T12:00:00Z", "instant")
    assert (row["articleCount"], row["sourceCount"], row["observationCount"]) == (0, 3, 3)
    assert row["confidence"] == 0.9
    assert {(designator["scheme"], designator["value"]) for designator in row["designators"]} >= {
        ("usgs", "us1"), ("glide", GLIDE), ("gdacs", "EQ1481201"), ("reliefweb", "55123"),
    }  # fmt: skip
    assert [
        measurement["provider"]
        for measurement in row["measurements"]
        if measurement["metric"] == "magnitude"
    ] == ["usgs"]
    full_row = incident_of(house, row["id"], "include=footprint,track,articles")
    assert full_row["footprint"]["type"] == "Polygon"
    assert (full_row["track"], full_row["articles"]) == (None, [])
    assert not {"footprint", "track", "articles"} & row.keys()


def test_a_fire_has_its_track(told_of: Any, house: Any) -> None:
    (row,) = told_of(eonet())
    track = incident_of(house, row["id"], "include=track")["track"]
    assert [point["measurement"]["value"] for point in track] == [400.0, 960.0]


def test_a_story_counts_articles_and_publishers(told_of: Any, house: Any) -> None:
    (row,) = told_of(
        *(rss(host, STRIKE) for host in PAPERS),
        gdelt(coded(1, "quay/0"), coded(2, "quay/0")),
        mentions((1, "https://www.news.crane.co.uk/a", 80), (1, "https://quay.example/0", 20)),
    )
    assert (row["articleCount"], row["sourceCount"], row["observationCount"]) == (4, 4, 5)
    # Three publishers, one of whom a machine read as well, and one that only it read: 0.5 x 0.8.
    assert row["confidence"] == round(1 - 0.5**3 * 0.6, 3)
    (story,) = {item["storyId"] for item in house.rows("listNews")}
    assert row["id"] == story
    assert row["title"] == STRIKE
    assert row["category"] == "unrest" or row["category"] == "economic"
    assert (row["startedAt"], row["datePrecision"]) == ("2026-01-02T00:00:00Z", "day")
    articles = incident_of(house, story, "include=articles")["articles"]
    assert {item["title"] for item in articles} == {STRIKE}
    assert len(articles) == 3


def test_mentions_that_come_later_are_counted(told_of: Any, house: Any) -> None:
    (row,) = told_of(gdelt({"id": 1, "url": "https://pier.example/a"}))
    assert (row["articleCount"], row["sourceCount"], row["confidence"]) == (1, 1, 0.3)
    take(
        house,
        mentions((1, "https://pier.example/a", 40), (1, "https://quay.example/b", 100)),
        "https://m.example/",
    )
    fold(house)
    (row,) = incidents(house)
    assert (row["articleCount"], row["sourceCount"], row["confidence"]) == (2, 2, 0.75)


def test_what_a_machine_dates_by_the_past_does_not_date_the_event(told_of: Any) -> None:
    days = ("20250102", "20260101", "20260101")
    (row,) = told_of(gdelt(*({"id": at, "url": "https://pier.example/a", "day": day}
                             for at, day in enumerate(days, 1))))  # fmt: skip
    assert row["startedAt"] == "2026-01-01T00:00:00Z"


# -- filters -----------------------------------------------------------------------------------

FILTERS = [
    ("category=disaster", {"quake", "fire"}),
    ("category=disaster,cyber", {"quake", "fire", "report"}),
    ("status=active", {"fire", "report"}),
    ("status=emerging", {"quake", "protest"}),
    ("minSeverity=high", {"quake", "report"}),
    ("minConfidence=0.85", {"quake", "fire"}),
    ("provider=eonet", {"fire"}),
    ("provider=usgs,misp", {"quake", "report"}),
    ("minSources=2", {"protest"}),
    ("country=bo", {"protest"}),
    ("bbox=-80,0,-79,1", {"quake"}),
    ("datetime=2026-01-02T06:00:00Z/..", {"quake"}),
    ("datetime=../2026-01-01T00:00:00Z", {"fire", "report"}),
    ("updatedSince=2026-01-02T13:00:00Z", set()),
    ("updatedSince=2026-01-02T12:59:59Z", {"quake", "fire", "report", "protest"}),
]  # fmt: skip


def test_every_filter_includes_and_excludes(told_of: Any, house: Any) -> None:
    told_of(
        usgs({"id": "us1"}),
        eonet(),
        misp(),
        gdelt(coded(1, "pier/a"), coded(2, "quay/b")),
    )
    names = {"usgs": "quake", "eonet": "fire", "misp": "report", "gdelt": "protest"}
    for query, expected in FILTERS:
        providers = {names[row["sources"][0]["provider"]] for row in incidents(house, query)}
        assert providers == expected, query


@pytest.mark.parametrize(
    ("sort", "first"),
    [("startedAt", "usgs"), ("severity", "usgs"), ("updatedAt", None), ("lastSeenAt", None)],
)
def test_lists_are_sorted_by_what_is_asked(told_of: Any, house: Any, sort: str, first: Any) -> None:
    told_of(eonet(), usgs({"id": "us1", "alert": "red"}), misp())
    rows = incidents(house, f"sort={sort}")
    assert len(rows) == 3
    assert first in {None, rows[0]["sources"][0]["provider"]}
    page = incidents(house, f"sort={sort}&limit=2")
    assert page == rows[:2]


def test_among_the_gravest_the_undated_is_last(house: Any) -> None:
    times = ["2010-02-27T06:34:11Z", "1960-05-22T19:11:14Z", None]
    records = [
        events.event(at, occurredAt=time, severity="critical", place=events.place(at * 9, 0, None))
        for at, time in enumerate(times)
    ]
    house.run(lambda ctx: events.take(ctx, records))
    fold(house)
    for operation, member in (("listIncidents", "startedAt"), ("listOsintEvents", "occurredAt")):
        rows = house.rows(operation, "sort=severity")
        assert [row[member] for row in rows] == times, operation


def test_an_entity_finds_what_it_takes_part_in(told_of: Any, house: Any) -> None:
    uuid = "7cdff317-a673-4474-84ec-4f1754947823"
    galaxy = {
        "name": "Threat Actor", "type": "threat-actor",
        "GalaxyCluster": [{"uuid": uuid, "value": "Silt Heron", "type": "threat-actor",
                           "tag_name": 'misp-galaxy:threat-actor="Silt Heron"',
                           "meta": {"synonyms": ["SH-1"]}}],
    }  # fmt: skip
    (row,) = told_of(misp(Galaxy=[galaxy]))
    (actor,) = row["entities"]
    assert (actor["name"], actor["role"]) == ("Silt Heron", "actor")
    assert set(actor) == {"entityId", "role", "name"}
    assert [incident["id"] for incident in incidents(house, f"entityId={actor['entityId']}")] == [
        row["id"]
    ]
    assert incidents(house, "entityId=ent_" + "0" * 24) == []


# -- what is told first ------------------------------------------------------------------------


def test_the_list_begins_with_the_gravest_of_the_latest_week(told_of: Any, house: Any) -> None:
    day = timedelta(days=1)
    told_of(
        usgs(
            {"id": "us_minor", "alert": None, "mag": 2.5, "at": NOON},
            {"id": "us_unrated", "alert": None, "mag": 6.0, "at": NOON - 3 * day},
            {"id": "us_low", "alert": "green", "at": NOON - 2 * day},
            {"id": "us_red", "alert": "red", "at": NOON - 4 * day},
            {"id": "us_before", "alert": "red", "at": NOON - 5 * day},
        ),
        *(re.sub(b"<pubDate>[^<]*</pubDate>", b"", rss(host, STRIKE)) for host in PAPERS),
    )
    rows = house.every("listIncidents", "limit=2")
    names = [row["designators"][0]["value"] if row["designators"] else "undated" for row in rows]
    assert names == ["us_red", "us_low", "us_unrated", "us_minor", "us_before", "undated"]
    levels = [row["severity"] for row in rows]
    assert levels == ["critical", "low", None, "info", "critical", None]
    assert (rows[-1]["startedAt"], rows[-1]["lastHappenedAt"], rows[-1]["status"]) == (None,) * 3


CODED = [(day, code, city) for day in ("20260101", "20260102") for code in ("141", "190")
         for city in ("La Paz, Bolivia", "Sucre, Bolivia")]  # fmt: skip


def test_coded_rows_without_an_article_make_one_incident_by_day_root_and_country(
    told_of: Any, house: Any
) -> None:
    rows = [{"id": at, "day": day, "code": code, "city": city, "actors": (f"A{at}", f"B{at}")}
            for at, (day, code, city) in enumerate(CODED, 1)]  # fmt: skip
    half = told_of(gdelt(*rows[::2]))
    whole = told_of(gdelt(*rows[1::2]))
    assert {row["id"] for row in half} == {row["id"] for row in whole}
    keys = sorted((row["startedAt"][:10], row["cameo"]["rootCode"]) for row in whole)
    assert keys == [(f"2026-01-0{day}", root) for day in (1, 2) for root in ("14", "19")]
    assert [row["observationCount"] for row in whole] == [2] * 4
    assert {row["severity"] for row in whole} == {None}


EXPOSED = [
    ({}, None),
    ({"kev": "Unknown"}, ("high", "kev")),
    ({"kev": "Known"}, ("critical", "kev")),
    ({"score": 5.0}, ("medium", "cvss")),
    ({"score": 9.9}, ("critical", "cvss")),
    ({"kev": "Unknown", "score": 9.9}, ("critical", "cvss")),
    ({"kev": "Unknown", "score": 5.0}, ("high", "kev")),
]


@pytest.mark.parametrize("is_known_before", [False, True])
@pytest.mark.parametrize(("facts", "expected"), EXPOSED)
def test_a_cyber_incident_is_as_grave_as_the_vulnerability_that_it_uses(
    told_of: Any, house: Any, facts: Any, expected: Any, is_known_before: bool
) -> None:
    title = "Intruders use CVE-2026-1001 in a data breach at a bank, researchers warn"
    papers = [(host, rss(host, title)) for host in PAPERS[:2]]
    catalogue = [(f"catalogue{at}.example", body) for at, body in enumerate(_catalogue(**facts))]
    for part in (catalogue, papers) if is_known_before else (papers, catalogue):
        for host, body in part:
            take(house, body, f"https://{host}/")
        fold(house)
    (row,) = told_of()
    assert row["category"] == "cyber"
    basis = row["severityBasis"]
    assert (row["severity"], basis and basis["scale"]) == (expected or (None, None))


def _catalogue(kev: str = "", score: float | None = None) -> list[bytes]:
    """Documents that list the vulnerability as exploited, and score it."""
    entry = {
        "cveID": "CVE-2026-1001", "vendorProject": "Pier", "product": "Gate",
        "dateAdded": "2026-01-02",
        "vulnerabilityName": "Pier Gate", "shortDescription": "A fault.",
        "requiredAction": "Mend it.",
        "dueDate": "2026-01-20", "knownRansomwareCampaignUse": kev, "cwes": [], "notes": "",
    }  # fmt: skip
    listing = {"title": "CISA Catalog of Known Exploited Vulnerabilities", "count": 1,
               "catalogVersion": "2026.01.02", "dateReleased": "2026-01-02T00:00:00.0000Z",
               "vulnerabilities": [entry]}  # fmt: skip
    vector = {"version": "3.1", "baseScore": score, "vectorString": ""}
    record = {
        "dataType": "CVE_RECORD", "dataVersion": "5.1",
        "cveMetadata": {"cveId": "CVE-2026-1001", "state": "PUBLISHED",
                        "assignerOrgId": "00000000-0000-4000-8000-000000000000"},
        "containers": {"cna": {"descriptions": [{"lang": "en", "value": "A fault."}],
                               "affected": [], "metrics": [{"cvssV3_1": vector}]}},
    }  # fmt: skip
    documents = [listing] * bool(kev) + [record] * (score is not None)
    return [json.dumps(document).encode() for document in documents]


# -- a store of an earlier state ---------------------------------------------------------------


def _age(house: Any) -> None:
    """Give rows what earlier rules made of them."""
    sig = SeverityBasis("usgs", "sig", 650)
    at = house.clock.now()
    stored = {table.name: house.stored(table) for table in (OSINT_EVENTS, NEWS, INCIDENTS, RECAPS)}

    async def unit(ctx: Any) -> None:
        for event in stored["osint_events"]:
            if event.severity is None:
                old = evolve(event, severity="high", severity_basis=sig)
                await ctx.save(OSINT_EVENTS, event.id, old)
        for item in stored["news"]:
            story = item.story_id and "inc_" + "0" * 24
            await ctx.save(NEWS, item.id, evolve(item, story_id=story))
        for row in stored["incidents"]:
            await ctx.save(
                INCIDENTS, row.id,
                evolve(row, severity="info", severity_basis=None, status="active", started_at=at),
            )  # fmt: skip
        for recap in stored["recaps"]:
            moved = RecapDue("", recap.topic, recap.window.start - timedelta(days=9))
            window = RecapWindow(moved.day, moved.day + timedelta(days=1))
            await ctx.save(
                RECAPS, recap_id(moved), evolve(recap, id=recap_id(moved), window=window)
            )

    house.run(unit)


def test_rows_that_earlier_rules_made_are_made_anew_once(told_of: Any, house: Any) -> None:
    undated = re.compile(b"<pubDate>[^<]*</pubDate>")
    told_of(
        usgs({"id": "us1", "alert": None}, {"id": "us2", "alert": "green"}),
        *(rss(host, "Ransomware gang breaches port operator") for host in PAPERS),
        *(undated.sub(b"", rss(f"old.{host}", "Airship burns at Albany")) for host in PAPERS),
    )
    house.clock.advance(3_600)
    drive.run(recap_new(Work(house)))
    fold(house)
    state, recaps = state_of(house), [row.id for row in house.stored(RECAPS)]
    assert recaps
    _age(house)
    house.clock.advance(3_600)
    for _ in range(2):
        drive.run(renew_rows(Work(house)))
        fold(house)
        drive.run(recap_new(Work(house)))
        assert state_of(house) == state
        assert [row.id for row in house.stored(RECAPS)] == recaps
    assert {row.severity for row in house.stored(OSINT_EVENTS)} == {"low", None}
    assert fold(house) == 0


# -- any order, any split, any day -------------------------------------------------------------

QUAKED = "Earthquake shakes Esmeraldas in Ecuador"
BURNT = "Airship burns at Albany meadow"
BREACHED = "Intruders use CVE-2026-1001 in a data breach at a bank, researchers warn"
LIBRARY = {
    "usgs": usgs({"id": "us1"}, {"id": "us2", "alert": "yellow", "at": NOON - timedelta(days=2)}),
    "gdacs": gdacs(source="NEIC", sourceid="us1", glide=GLIDE),
    "reliefweb": reliefweb(),
    "coded": gdelt({"id": 1}, {"id": 2, "actors": ("A", "B")}, coded(3, "pier.example/0")),
    "coded later": gdelt({"id": 4, "day": "20260101"}, coded(5, "quay/1")),
    "misp": misp(),
    **{f"{host} {at}": rss(f"{at}.{host}", STRIKE, QUAKED, BREACHED) for at in range(2)
       for host in PAPERS[:2]},
    **{f"undated {host}": re.sub(b"<pubDate>[^<]*</pubDate>", b"", rss(f"old.{host}", BURNT))
       for host in PAPERS[:2]},
    **{f"catalogue{at}": body for at, body in enumerate(_catalogue(kev="Known", score=9.9))},
}  # fmt: skip


def _state_after(house: Any, names: Sequence[str], passes_: Sequence[tuple[bool, int]]) -> Any:
    """What incidents are told after these documents, some with passes and days between."""
    end = NOON + timedelta(days=200)
    house.clock.advance((NOON - house.clock.now()).total_seconds() + 7_200)
    for name, (is_folded, days) in zip(names, passes_, strict=True):
        take(house, LIBRARY[name], f"https://{name.replace(' ', '-')}.example/")
        if is_folded:
            fold(house)
        house.clock.advance(timedelta(days=days).total_seconds())
    house.clock.advance((end - house.clock.now()).total_seconds())
    while fold(house):
        pass
    return state_of(house)


@examples(25)
@given(
    names=st.permutations(sorted(LIBRARY)),
    passes_=st.lists(
        st.tuples(st.booleans(), st.sampled_from([0, 1, 9])),
        min_size=len(LIBRARY),
        max_size=len(LIBRARY),
    ),
)
def test_documents_in_any_order_split_and_day_of_reading_make_the_same_incidents(
    house_factory: Any, names: list[str], passes_: list[tuple[bool, int]]
) -> None:
    plain = _state_after(house_factory(), sorted(LIBRARY), [(False, 0)] * len(LIBRARY))
    assert _state_after(house_factory(), names, passes_) == plain


# -- news of a place and of a hazard -----------------------------------------------------------

NAMED = [
    ([("Blaze in Karachi", ""), ("Factory burns in Karachi, Pakistan", "")], ("Karachi", "PK")),
    ([("Floods in Chile", "Rain in Chile."), ("Rain goes on", "")], ("Chile", "CL")),
    ([("Blaze in Karachi", ""), ("Blaze in Lahore", "")], (None, "PK")),
    ([("Blaze in Karachi", ""), ("Blaze in Lahore, Pakistan", "")], ("Pakistan", "PK")),
    ([("Talks in Chile", ""), ("Talks in Peru", "")], None),
    ([("Chile and Peru talk", ""), ("Rain goes on", "")], None),
    ([("Rain goes on", ""), ("It pours", ""), ("Rain in Chile", "")], None),
    ([("Rain goes on", "")], None),
]


@pytest.mark.parametrize(("texts", "expected"), NAMED)
def test_news_is_where_most_of_its_items_say(texts: Any, expected: Any) -> None:
    place = place_in_texts([(f"{title}\n{summary}", "en") for title, summary in texts])
    assert (place and (place.name, place.country_code)) == expected


@pytest.mark.parametrize(
    ("headlines", "hazard"),
    [
        (["Earthquake kills nine", "Quake: nine dead", "Nine dead"], "earthquake"),
        (["Hochwasser in Passau"], "flood"),
        (["Earthquake kills nine", "Flood kills nine"], None),
        (["Earthquake kills nine", "A", "B"], None),
        ([], None),
    ],
)
def test_news_tells_of_the_hazard_that_most_headlines_name(
    headlines: list[str], hazard: str | None
) -> None:
    assert hazard_in_headlines(headlines) == hazard


CITY = ["Earthquake shakes Quito, Ecuador", "Earthquake damages Quito in Ecuador"]
COUNTRY = ["Earthquake shakes Ecuador", "Earthquake in Ecuador damages homes"]
NEWS_OF = [
    (CITY, usgs({"id": "us1", "point": (-78.6, -0.2)}), True),
    (CITY, usgs({"id": "us1", "point": (-79.9, 0.9)}), False),  # 170 km
    (CITY, usgs({"id": "us1", "point": (-78.6, -0.2), "at": NOON - timedelta(days=3)}), False),
    (COUNTRY, gdacs(), True),
    (COUNTRY, gdacs(eventtype="FL"), False),
    (COUNTRY, gdacs(iso3="PER", country="Peru"), False),
    (["Storm shakes Ecuador", "Storm in Ecuador damages homes"], gdacs(eventtype="TC"), True),
]


@pytest.mark.parametrize("is_news_first", [False, True])
@pytest.mark.parametrize(("titles", "hazard", "is_related"), NEWS_OF)
def test_news_and_the_hazard_that_it_tells_of_are_related(
    told_of: Any,
    house: Any,
    titles: list[str],
    hazard: bytes,
    is_related: bool,
    is_news_first: bool,
) -> None:
    papers = [(host, rss(host, f"{title} on Friday"))
              for host, title in zip(PAPERS, titles, strict=False)]  # fmt: skip
    events = [("hazards.example", hazard)]
    for part in (papers, events) if is_news_first else (events, papers):
        for host, body in part:
            take(house, body, f"https://{host}/")
        while fold(house):
            pass
    rows = {row["sources"][0]["provider"]: row for row in told_of()}
    news = rows.pop("feed")
    (event,) = rows.values()
    assert news["place"]["countryCode"] == "EC"
    assert (news["relatedIncidentIds"] == [event["id"]]) is is_related
    assert (event["relatedIncidentIds"] == [news["id"]]) is is_related


def test_news_is_no_longer_related_to_a_hazard_that_was_withdrawn(told_of: Any, house: Any) -> None:
    told_of(*(rss(host, *COUNTRY) for host in PAPERS[:2]))
    take(house, gdacs(), "https://hazards.example/")
    fold(house)
    assert any(row["relatedIncidentIds"] for row in incidents(house))
    house.withdraw("https://hazards.example/")
    fold(house)
    assert not any(row["relatedIncidentIds"] for row in incidents(house))
