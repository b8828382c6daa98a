"""The list of threat actors: what its filters find, and what they use."""

from typing import Any

import pytest

from svc_core.intel.entities.model import ListActors
from svc_core.operation.inputs import inputs_of


def actors(house: Any, query: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = house.rows("listActors", f"limit=100&{query}")
    return rows


def names(house: Any, query: str = "") -> set[str]:
    return {row["name"] for row in actors(house, query)}


CONDITIONS: dict[str, tuple[str, Any]] = {
    "country": ("ru", lambda row: row["country"] and row["country"]["code"] == "RU"),
    "targetsCountry": ("de,nl", lambda row: {"DE", "NL"} & {*row["targetCountries"]}),
    "targetsSector": ("FINANCIAL", lambda row: "Financial" in row["targetSectors"]),
    "technique": (
        "t1190,T1486", lambda row: {"T1190", "T1486"} & {t["attackId"] for t in row["techniques"]},
    ),
}  # fmt: skip


def test_every_filter_is_asked_for() -> None:
    names = {item.name for item in inputs_of(ListActors) if item.place == "query"}
    rest = {"limit", "cursor", "sort", "updatedSince", "include", "includeRevoked", "q"}
    assert names - rest == CONDITIONS.keys()


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_filter_finds_what_it_says_and_nothing_else(demo_house: Any, name: str) -> None:
    value, holds = CONDITIONS[name]
    every = actors(demo_house, "include=techniques")
    ids = {row["id"] for row in every if holds(row)}
    assert 0 < len(ids) < len(every)
    assert {row["id"] for row in actors(demo_house, f"{name}={value}")} == ids


def test_what_was_revoked_is_absent_unless_asked_for(demo_house: Any) -> None:
    live, every = actors(demo_house), actors(demo_house, "includeRevoked=true")
    assert not any(row["revoked"] for row in live)
    revoked_rows = [row for row in every if row["revoked"]]
    assert len(every) == len(live) + len(revoked_rows)
    assert [row["name"] for row in revoked_rows] == ["Dragonfly 2.0"]
    (heir,) = [row for row in live if row["id"] == revoked_rows[0]["replacedById"]]
    assert heir["attackId"] == "G0035"


def test_actors_alone_are_listed_with_who_uses_each_of_their_names(demo_house: Any) -> None:
    rows = actors(demo_house)
    assert {row["type"] for row in rows} == {"threatActor"}
    (row,) = [row for row in rows if row["attackId"] == "G0007"]
    assert {"name": "Sofacy", "provider": "mitre-attack"} in row["aliases"]
    assert {"techniques", "software", "campaigns", "actor"}.isdisjoint(row)


def test_what_was_asked_for_is_there_though_there_is_none(demo_house: Any) -> None:
    every = actors(demo_house, "include=software,campaigns")
    assert all({"software", "campaigns"} <= row.keys() for row in every)
    assert all("techniques" not in row for row in every)
    (actor,) = [row for row in every if row["attackId"] == "G0016"]
    assert {link["attackId"] for link in actor["software"]} == {"S0559", "S0002"}
    assert [link["name"] for link in actor["campaigns"]] == ["SolarWinds Compromise"]
    assert any(row["software"] == [] for row in every)
    (alone,) = [
        row for row in actors(demo_house, "include=campaigns") if row["attackId"] == "G0016"
    ]
    assert alone == {name: value for name, value in actor.items() if name != "software"}


def test_a_technique_finds_who_uses_a_sub_technique_of_it(demo_house: Any) -> None:
    users: dict[str, set[str]] = {}
    for row in actors(demo_house, "include=techniques"):
        for code in (link["attackId"] for link in row["techniques"]):
            for technique in {code, code.partition(".")[0]}:
                users.setdefault(technique, set()).add(row["name"])
    whole = {code.partition(".")[0] for code in users if "." in code}
    assert whole
    for technique, expected in users.items():
        assert names(demo_house, f"technique={technique}") == expected
    assert names(demo_house, f"technique={','.join(whole)}") == set.union(
        *(users[technique] for technique in whole)
    )


def test_a_technique_that_nobody_uses_finds_nobody(demo_house: Any) -> None:
    assert names(demo_house, "technique=T9999") == set()
