"""The list of threat actors: what its filters find, and what they use."""

from typing import Any

import pytest

from svc_core.intel.entities.actors import ListActors
from svc_core.operation.inputs import inputs


def actors(house: Any, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.rows("listActors", f"limit=100&{query}")
    return found


def names(house: Any, query: str = "") -> set[str]:
    return {row["name"] for row in actors(house, query)}


HELD: dict[str, tuple[str, Any]] = {
    "country": ("ru", lambda row: row["country"] and row["country"]["code"] == "RU"),
    "targetsCountry": ("de,nl", lambda row: {"DE", "NL"} & {*row["targetCountries"]}),
    "targetsSector": ("FINANCIAL", lambda row: "Financial" in row["targetSectors"]),
    "technique": (
        "t1190,T1486", lambda row: {"T1190", "T1486"} & {t["attackId"] for t in row["techniques"]},
    ),
}  # fmt: skip


def test_every_filter_is_asked_for() -> None:
    asked = {one.name for one in inputs(ListActors) if one.place == "query"}
    rest = {"limit", "cursor", "sort", "updatedSince", "include", "includeRevoked", "q"}
    assert asked - rest == HELD.keys()


@pytest.mark.parametrize("name", HELD)
def test_a_filter_finds_what_it_says_and_nothing_else(filled: Any, name: str) -> None:
    value, holds = HELD[name]
    every = actors(filled, "include=techniques")
    wanted = {row["id"] for row in every if holds(row)}
    assert 0 < len(wanted) < len(every)
    assert {row["id"] for row in actors(filled, f"{name}={value}")} == wanted


def test_what_was_revoked_is_absent_unless_asked_for(filled: Any) -> None:
    live, every = actors(filled), actors(filled, "includeRevoked=true")
    assert not any(row["revoked"] for row in live)
    gone = [row for row in every if row["revoked"]]
    assert len(every) == len(live) + len(gone)
    assert [row["name"] for row in gone] == ["Dragonfly 2.0"]
    (heir,) = [row for row in live if row["id"] == gone[0]["replacedById"]]
    assert heir["attackId"] == "G0035"


def test_actors_alone_are_listed_with_who_uses_each_of_their_names(filled: Any) -> None:
    rows = actors(filled)
    assert {row["type"] for row in rows} == {"threatActor"}
    (one,) = [row for row in rows if row["attackId"] == "G0007"]
    assert {"name": "Sofacy", "provider": "mitre-attack"} in one["aliases"]
    assert {"techniques", "software", "campaigns", "actor"}.isdisjoint(one)


def test_what_was_asked_for_is_there_though_there_is_none(filled: Any) -> None:
    every = actors(filled, "include=software,campaigns")
    assert all({"software", "campaigns"} <= row.keys() for row in every)
    assert all("techniques" not in row for row in every)
    (one,) = [row for row in every if row["attackId"] == "G0016"]
    assert {link["attackId"] for link in one["software"]} == {"S0559", "S0002"}
    assert [link["name"] for link in one["campaigns"]] == ["SolarWinds Compromise"]
    assert any(row["software"] == [] for row in every)
    (alone,) = [row for row in actors(filled, "include=campaigns") if row["attackId"] == "G0016"]
    assert alone == {name: value for name, value in one.items() if name != "software"}


def test_a_technique_that_nobody_uses_finds_nobody(filled: Any) -> None:
    assert names(filled, "technique=T9999") == set()
