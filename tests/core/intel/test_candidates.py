"""Candidates of an entity, and tables of names screened against all entities."""

import json
from typing import Any

import pytest
from attrs import evolve

from svc_core.base import drive
from svc_core.intel.entities import bulk_screening as screening
from svc_core.intel.entities import render
from svc_core.intel.entities.bulk_screening import (
    MatchEntities,
    ScreeningLine,
    match_entities,
    party_of_line,
)
from svc_core.intel.entities.candidates import candidate, candidates_of
from svc_core.intel.entities.model import ENTITIES, Entity
from svc_core.intel.entities.settlement import DistinguishEntities, distinguish_entities
from svc_core.intel.linking.matching import NameMatch, Names, Party
from svc_core.operation.caller import Actor
from tests.core.intel.entities.test_directory import entity
from tests.core.intel.intake.test_settling import take

ROWS = [
    entity("lei:1", "Contoso Software Inc", country_codes=("US",)),
    entity("cik:0000000001", "Contosso Software", country_codes=("US",)),
    entity("cik:0000000002", "Contoso Shipping Inc"),
    entity("ofac-uid:1", "Contoso Software", type="person"),
    entity("ofac-uid:2", "Jane Exampleton", type="person", birth_dates=("1960-05-01",)),
]


@pytest.fixture
def directory_house(house: Any) -> Any:
    async def save(ctx: Any) -> None:
        for row in ROWS:
            await ctx.save(ENTITIES, row.id, row)

    house.run(save)
    return house


def entity_row(house: Any, row: Entity) -> Any:
    reply = house.send("getEntity", path={"entityId": row.id}, query="include=candidates")
    return json.loads(reply.body)["data"]


def test_candidates_are_told_where_they_are_asked_for(directory_house: Any) -> None:
    (other,) = entity_row(directory_house, ROWS[0])["candidates"]
    assert (other["entityId"], other["name"]) == (ROWS[1].id, "Contosso Software")
    assert 0.7 < other["score"] < 1
    assert other["features"]["name"] == other["score"]
    assert "Contosso" in other["reasons"][0]
    plain = directory_house.send("getEntity", path={"entityId": ROWS[0].id})
    assert "candidates" not in json.loads(plain.body)["data"]


@pytest.mark.parametrize("query", ["limit=100", "limit=2", "limit=100&q=contoso"])
def test_a_page_of_candidates_is_the_same_in_however_many_units(
    directory_house: Any, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    def page() -> Any:
        return directory_house.send("listEntities", query=f"{query}&include=candidates").body

    whole = page()
    assert any(row["candidates"] for row in json.loads(whole)["data"])
    for rows in (1, 2, 3):
        monkeypatch.setattr(render, "CANDIDATES_AT_ONCE", rows)
        assert json.loads(page())["data"] == json.loads(whole)["data"]


def test_who_was_told_apart_is_no_candidate(house: Any) -> None:
    take(house, "lei:1", name="Contoso Software")
    take(house, "cik:0000000001", name="Contosso Software")
    first, second = (entity(key, "") for key in ("lei:1", "cik:0000000001"))
    assert [item["entityId"] for item in entity_row(house, first)["candidates"]] == [second.id]
    house.run(lambda ctx: distinguish_entities(ctx, DistinguishEntities(first.id, second.id)))
    assert entity_row(house, first)["candidates"] == entity_row(house, second)["candidates"] == []


def test_a_vulnerability_is_nobody_else(house: Any) -> None:
    row = b'{"id":"ent_1","cveId":"CVE-2024-12345"}'
    assert house.run(lambda ctx: candidates_of(ctx, row)) == ()


def test_a_name_without_words_has_no_candidates(directory_house: Any) -> None:
    row = entity("lei:9", "---")
    directory_house.run(lambda ctx: ctx.save(ENTITIES, row.id, row))
    assert entity_row(directory_house, row)["candidates"] == []


def test_an_entity_whose_name_has_no_words_is_told_by_its_id() -> None:
    match = NameMatch(1.0, {"designator": 1.0}, ("both are lei:1",))
    assert candidate("ent_1", Party(Names.of(["---"]), type="company"), match).name == "ent_1"


FAULTS = [
    (ScreeningLine(), "neither a name nor"),
    (ScreeningLine(name="---"), "no words"),
    (ScreeningLine(name="Jane", birth_date="5/1/1960"), "birthDate"),
    (ScreeningLine(name="Jane", type="planet"), "type"),
    (ScreeningLine(name="Jane", country="Nowhere"), "country"),
    (ScreeningLine(designator="969500A1YF1XUYYXS285"), "check digits"),
    (ScreeningLine(designator="cik:x"), "check digits"),
]


@pytest.mark.parametrize(("line", "reason"), FAULTS)
def test_a_line_that_cannot_be_used_says_why(line: ScreeningLine, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        party_of_line(line)


def test_a_line_is_read_liberally() -> None:
    party = party_of_line(ScreeningLine("Jane", "cik:320193", " de ", "Legal Entity", "1960"))
    assert (party.designators, party.countries) == ({"cik:0000320193"}, {"DE"})
    assert (party.type, party.birth_dates) == ("company", {"1960"})
    assert party_of_line(ScreeningLine("Jane", country="Germany")).countries == {"DE"}
    assert party_of_line(ScreeningLine(designator="US0378331005")).designators == {
        "isin:US0378331005"
    }
    assert party_of_line(ScreeningLine(designator="969500A1YF1XUYYXS284")).designators == {
        "lei:969500A1YF1XUYYXS284"
    }


class Work:
    """The units of a house; before the second one that reads something is written."""

    def __init__(self, house: Any, row: Entity | None = None) -> None:
        self.house, self.row, self.reads = house, row, 0

    async def read(self, tenant: str, usecase: Any) -> Any:
        self.reads += 1
        if self.reads == 2 and self.row is not None:
            self.house.run(lambda ctx: ctx.save(ENTITIES, self.row.id, self.row))
        return self.house.run(usecase)

    async def aside(self, work: Any) -> Any:
        return work()


def results_of(house: Any, work: Work, *lines: ScreeningLine) -> list[Any]:
    ctx = evolve(house.hands.context(Actor("")), work=work)
    page = drive.run(match_entities(ctx, MatchEntities(lines)))
    return [json.loads(row) for row in page.rows]


def test_every_line_is_answered_in_its_place(directory_house: Any) -> None:
    results = results_of(
        directory_house, Work(directory_house),
        ScreeningLine("Software Contoso", type="company"), ScreeningLine(),
        ScreeningLine("Exampleton, Jane", birth_date="1960"),
        ScreeningLine("Nobody Whatsoever"), ScreeningLine(designator="cik:2"),
    )  # fmt: skip
    assert [[match["entityId"] for match in line["matches"]] for line in results] == [
        [ROWS[0].id, ROWS[1].id], [], [ROWS[4].id], [], [ROWS[2].id],
    ]  # fmt: skip
    assert [line["error"] is None for line in results] == [True, False, True, True, True]
    assert results[2]["matches"][0]["features"] == {"name": 1.0, "birthDate": 0.05}


def test_what_is_written_meanwhile_is_seen(directory_house: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(screening, "_ROWS", 2)
    directory_house.clock.advance(60)
    late = entity("lei:7", "Latecomer Example", updated_at=directory_house.clock.now())
    (line_,) = results_of(
        directory_house, Work(directory_house, late), ScreeningLine("Latecomer Example")
    )
    assert [match["entityId"] for match in line_["matches"]] == [late.id]


def test_an_empty_store_has_no_matches(house: Any) -> None:
    assert results_of(house, Work(house), ScreeningLine("Jane")) == [{"matches": [], "error": None}]
