"""Listing and reading countries."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from svc_core.contract import problem
from svc_core.intel.events.model import OSINT_EVENTS, OsintEvent
from svc_core.operation.source_members import Measurement, Place, SourceRef

Take = Callable[..., Any]

BY_NAME = ["AQ", "BE", "EC", "FJ", "FR", "DE", "JE", "XK", "NA", "PR", "UA", "US"]

FILTERS = [
    ("", BY_NAME),
    ("region=europe", ["BE", "FR", "DE", "XK", "UA"]),
    ("region=Americas,Oceania", ["EC", "FJ", "PR", "US"]),
    ("subregion=Western Europe", ["BE", "FR", "DE"]),
    ("region=Europe&q=ger", ["DE"]),
    ("q=belgië", ["BE"]),
    ("q=Königreich", []),
    ("q=united america", ["US"]),
    ("q=fji", ["FJ"]),
    ("sort=population&region=Europe", ["DE", "FR", "UA", "BE", "XK"]),
    ("sort=area&limit=3", ["US", "NA", "UA"]),
]


@pytest.mark.parametrize(("query", "codes"), FILTERS)
def test_a_filter_finds_the_countries_that_match(world: Any, query: str, codes: list[str]) -> None:
    assert [row["countryCode"] for row in world.rows("listCountries", query)] == codes


def country_row(world: Any, code: str, query: str = "") -> dict[str, Any]:
    row: dict[str, Any] = world.body("getCountry", query, path={"code": code})["data"]
    return row


@pytest.mark.parametrize("code", ["BE", "be", "BEL", "bel"])
def test_a_country_is_read_by_any_of_its_codes(world: Any, code: str) -> None:
    assert country_row(world, code)["countryCode"] == "BE"


@pytest.mark.parametrize("code", ["ZZ", "QQQ", "GB"])
def test_a_country_that_nobody_told_of_is_not_found(world: Any, code: str) -> None:
    assert world.refusal("getCountry", path={"code": code}).type is problem.NOT_FOUND


def test_a_country_is_folded_from_all_that_tell_of_it(world: Any) -> None:
    row = country_row(world, "FJ")
    told_by = sorted(source["provider"] for source in row["sources"])
    assert told_by == ["datasets", "geonames", "mledoze", "mledoze"]
    assert row["bbox"] == [177.2, -19.2, -178.3, -16.1]
    assert row["name"] == "Fiji"
    assert row["m49"] == "242"
    assert row["languages"] == ["en", "fj"]
    assert row["population"]["value"] == 928_784
    assert row["centroid"]["coordinates"] == [175, -18]
    assert row["borders"] == []
    assert not {"indicators", "risk"} & set(row)


def test_the_newest_value_of_each_series_about_it(world: Any) -> None:
    france = country_row(world, "FR", "include=indicators")
    triples = [(row["indicatorCode"], row["period"], row["value"]) for row in france["indicators"]]
    assert triples == [
        ("UNE_RATE.PT.Y", "2025-Q3", 7.7),
        ("GC.DOD.TOTL.GD.ZS", "2023", 99.2),
        ("SP.POP.TOTL", "2024", 68_500_000),
    ]
    assert country_row(world, "NA", "include=indicators")["indicators"] == []
    assert "risk" not in france


def test_risk_is_unknown_where_no_event_was_ever_read(world: Any) -> None:
    risk = country_row(world, "EC", "include=risk")["risk"]
    assert risk == {"incidents30d": None, "fatalities30d": None, "bySeverity": None}


def event(house: Any, number: int, **members: Any) -> OsintEvent:
    now = house.clock.now()
    place = Place(None, "x", members.pop("country", "EC"), None, None, "unknown")
    deaths = members.pop("deaths", None)
    measurements = () if deaths is None else (Measurement(deaths, "deathsBest", unit="1"),)
    row_members: dict[str, Any] = {
        "id": f"obs_{number:024x}", "provider": "ucdp", "type": "conflict", "title": "x",
        "summary": None, "category": None, "occurred_at": now, "ended_at": None,
        "date_precision": "day", "reported_at": None, "place": place, "measurements": measurements,
        "cameo": None, "actors": None, "severity": None, "severity_basis": None,
        "confidence": None, "url": None, "incident_id": None, "designators": (),
        "sources": (SourceRef("src_" + "0" * 24, "ucdp", "x", None, None, now),),
        "created_at": now, "updated_at": now, "revision": 1,
    }  # fmt: skip
    return OsintEvent(**row_members | members)


def test_risk_counts_the_events_of_the_last_thirty_days(house: Any, take: Take, world: Any) -> None:
    rows = [{"cca2": code, "name": {"common": code}} for code in ("EC", "BE")]
    take(house, "countries", json.dumps(rows).encode())
    old, next_year = (house.clock.now() + timedelta(days=days) for days in (-31, 365))
    events = [
        {"severity": "high", "deaths": 12},
        {"severity": "high", "deaths": None},
        {"severity": "low", "deaths": 3},
        {"deaths": 0},
        {"severity": "high", "deaths": 99, "occurred_at": old},
        {"severity": "high", "deaths": 99, "occurred_at": next_year},
        {"severity": "high", "deaths": 99, "country": "PE"},
    ]
    for number, members in enumerate(events):
        row = event(house, number, **members)
        house.run(lambda ctx, row=row: ctx.tx.documents.put(OSINT_EVENTS, row.id, row))
    counts = {"info": 0, "low": 1, "medium": 0, "high": 2, "critical": 0, "unknown": 1}
    expected = {"incidents30d": 4, "fatalities30d": 15, "bySeverity": counts}
    assert country_row(house, "EC", "include=risk,indicators")["risk"] == expected
    assert country_row(house, "BE", "include=risk")["risk"]["incidents30d"] == 0


def test_what_is_included_is_part_of_the_tag(world: Any) -> None:
    tags = {
        dict(world.send("getCountry", path={"code": "FR"}, query=query).headers)["ETag"]
        for query in ("", "include=risk", "include=indicators", "include=indicators,risk")
    }
    assert len(tags) == 4
