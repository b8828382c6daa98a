"""Entities as they are listed and read: what each filter finds, and what is looked up."""

import json
import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import instants
from svc_core.contract import problem
from svc_core.formats.model import Metadata, Record
from svc_core.formats.reading.entity_keys import entity
from svc_core.formats.table import FORMATS, Document
from svc_core.intel.entities.model import alphabetical_order
from svc_core.intel.linking.name_forms import NAME_ORDERS, name_order
from svc_core.intel.linking.references import id_of
from svc_core.text.words import fold_case
from tests.core import demo

Make = Callable[..., Any]
Row = dict[str, Any]


def listed_rows(house: Any, query: str = "", limit: int = 100) -> list[Row]:
    """The rows of all pages."""
    rows: list[Row] = house.every("listEntities", f"limit={limit}&{query}")
    return rows


def entity_row(house: Any, key: str) -> Row:
    """The entity of a key."""
    answer = house.send("getEntity", path={"entityId": id_of(key)})
    row: Row = json.loads(answer.body)["data"]
    return row


def has(scheme: str, value: str) -> Callable[[Row], bool]:
    return lambda row: {"scheme": scheme, "value": value}.items() <= {
        (name, item[name]) for item in row["designators"] for name in ("scheme", "value")
    }  # fmt: skip


FILTERS: dict[str, Callable[[Row], bool]] = {
    "type=company": lambda row: row["type"] == "company",
    "type=vulnerability": lambda row: row["type"] == "vulnerability",
    "type=person,vessel": lambda row: row["type"] in {"person", "vessel"},
    "country=gb,KP": lambda row: bool({"GB", "KP"} & set(row["countryCodes"])),
    "topic=sanction": lambda row: "sanction" in row["topics"],
    "sanctioned=true": lambda row: any(
        sanction["status"] == "active" for sanction in row["sanctions"]
    ),
    "sanctioned=false": lambda row: all(
        sanction["status"] != "active" for sanction in row["sanctions"]
    ),
    "type=company&sanctioned=false": lambda row: row["type"] == "company" and not row["sanctions"],
    "type=vulnerability,company&country=US": lambda row: (
        row["type"] == "company" and "US" in row["countryCodes"]
    ),
}


@pytest.mark.parametrize("query", FILTERS)
def test_a_filter_finds_all_that_it_means_and_leaves_out_the_rest(
    demo_house: Any, query: str
) -> None:
    every = listed_rows(demo_house)
    ids = [row["id"] for row in every if FILTERS[query](row)]
    assert 0 < len(ids) < len(every)
    assert [row["id"] for row in listed_rows(demo_house, query)] == ids
    assert [row["id"] for row in listed_rows(demo_house, query, limit=3)] == ids


@pytest.mark.parametrize(
    ("designator", "names"),
    [
        ("cik:320193", ["APPLE INC."]),
        ("cik:0000320193", ["APPLE INC."]),
        ("lei:hwupkr0mpou8fgxbt394", ["APPLE INC."]),
        ("isin:US0378331005", ["APPLE INC."]),
        ("wikidata:q312", ["APPLE INC."]),
        ("domain:https://www.apple.com/legal", ["APPLE INC."]),
        ("cve:cve-2021-44228", ["CVE-2021-44228"]),
        ("attack:G0007", ["APT28"]),
        ("cik:320193,cve:CVE-2021-44228", ["APPLE INC.", "CVE-2021-44228"]),
        ("cik:42", []),
        ("ticker:NONE", []),
    ],
)
def test_a_designator_finds_the_entity_that_has_it(
    demo_house: Any, designator: str, names: list[str]
) -> None:
    assert (
        sorted(row["name"] for row in listed_rows(demo_house, f"designator={quote(designator)}"))
        == names
    )


@pytest.mark.parametrize(
    ("designator", "reason"),
    [
        ("lei:HWUPKR0MPOU8FGXBT395", "check digits"),
        ("isin:US0378331006", "check digit"),
        ("cik:12345678901", "one to ten digits"),
        ("cik:0", "one to ten digits"),
        ("cve:2021-44228", "CVE"),
    ],
)
def test_a_designator_that_cannot_be_one_is_refused_with_the_reason(
    demo_house: Any, designator: str, reason: str
) -> None:
    refusal = demo_house.refusal("listEntities", query=f"designator={designator}")
    assert refusal.type == problem.INVALID_PARAMETER
    assert reason in refusal.detail


def test_what_was_revoked_is_shown_only_where_it_is_asked_for(demo_house: Any) -> None:
    ids = {row["id"] for row in listed_rows(demo_house, "includeRevoked=true")}
    ids -= {row["id"] for row in listed_rows(demo_house)}
    revoked_rows = [
        row for row in listed_rows(demo_house, "includeRevoked=true") if row["id"] in ids
    ]
    assert revoked_rows
    assert all(row["revoked"] for row in revoked_rows)
    actors = [row["actor"] for row in revoked_rows if "actor" in row]
    assert [shown_name(demo_house, item["replacedById"]) for item in actors] == ["Dragonfly"]
    assert {row["revoked"] for row in listed_rows(demo_house)} == {False}


def shown_name(house: Any, id_: str) -> str:
    name: str = json.loads(house.send("getEntity", path={"entityId": id_}).body)["data"]["name"]
    return name


def test_an_actor_of_two_catalogues_is_one_with_who_uses_each_name(demo_house: Any) -> None:
    row = entity_row(demo_house, "attack:G0007")
    assert {source["provider"] for source in row["sources"]} >= {"mitre-attack", "misp-galaxy"}
    used = {(alias["name"], alias["provider"]) for alias in row["actor"]["aliases"]}
    assert {("Fancy Bear", "mitre-attack"), ("Fancy Bear", "misp-galaxy")} <= used
    assert ("Sednit", "misp-galaxy") in used
    assert set(row["aliases"]) == {name for name, _ in used}
    assert (
        row["id"]
        == entity_row(demo_house, "misp-galaxy:20000000-0000-4000-8000-000000000001")["id"]
    )
    refusal = demo_house.refusal("getEntity", path={"entityId": "ent_" + "0" * 24})
    assert refusal.type is problem.NOT_FOUND


def test_a_cve_is_an_entity_with_a_facet(demo_house: Any) -> None:
    row = entity_row(demo_house, "CVE-2021-44228")
    (twin,) = listed_rows(demo_house, "designator=cve:CVE-2021-44228")
    assert row == twin
    assert row["type"] == "vulnerability"
    assert row["cve"]["cveId"] == row["name"] == "CVE-2021-44228"
    assert "cveId" not in row
    assert "cve" not in entity_row(demo_house, "cik:0000320193")


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    """The place of a row among entities by name, of which a CVE's is a number."""
    name = fold_case(row["name"])
    words = " ".join("".join(c if c.isalnum() else " " for c in name).split())
    numbers = tuple(map(int, words.split()[1:])) if row["type"] == "vulnerability" else ()
    return row["type"] == "indicator", "cve" if numbers else words[:12], numbers


def test_entities_and_cves_come_by_name_and_indicators_last(demo_house: Any) -> None:
    for limit in (1, 7, 100):
        rows = listed_rows(demo_house, limit=limit)
        places = [_place(row) for row in rows]
        assert places == sorted(places)
        assert len({row["id"] for row in rows}) == len(rows)
    assert {"vulnerability", "indicator", "company"} <= {row["type"] for row in rows}


def test_entities_and_cves_come_by_their_last_change_where_that_is_asked_for(
    demo_house: Any,
) -> None:
    for limit in (1, 7, 100):
        rows = listed_rows(demo_house, "sort=updatedAt", limit=limit)
        order = [(row["updatedAt"], row["id"]) for row in rows]
        assert order == sorted(order, reverse=True)
        assert len({row["id"] for row in rows}) == len(rows)
    assert "vulnerability" in {row["type"] for row in rows}


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_name_has_the_place_of_its_first_letters(one: str, other: str) -> None:
    places = [name_order(name) for name in (one, other)]
    assert all(0 <= place < NAME_ORDERS for place in places)
    assert -(2**63) < alphabetical_order(one, is_indicator=True) < 0
    assert 0 <= alphabetical_order(one) < 2**63
    words = [re.sub(r"[\W_]+", " ", fold_case(name)).split() for name in (one, other)]
    names = [" ".join(name)[:12] for name in words]
    if all(name.isascii() for name in names):
        assert (places[0] < places[1]) == (names[0] < names[1])


# -- what changes ------------------------------------------------------------------------------


def record_of(house: Any, key: str, name: str = "X", **members: Any) -> Record:
    return entity([key], {"type": "company", "name": name, **members})


def take(house: Any, at: str, *records: Record, format_: str = "ofac") -> None:
    house.clock.advance(3_600)
    house.take(house.add(at), Document(FORMATS[format_], Metadata(), records, ()))


LISTING = {"programId": "P1", "authority": "A", "listName": "L", "status": "active"}


def tag(house: Any, key: str) -> str:
    return dict(house.send("getEntity", path={"entityId": id_of(key)}).headers)["ETag"]


def test_sanctions_are_null_until_a_list_was_read_and_empty_after(house: Any) -> None:
    take(house, "/gleif", record_of(house, "lei:A"), format_="gleif")
    assert entity_row(house, "lei:A")["sanctions"] is None
    assert listed_rows(house)[0]["sanctions"] is None
    assert listed_rows(house, "sanctioned=false") == []
    before = tag(house, "lei:A")
    take(house, "/list", record_of(house, "ofac-uid:1", sanctions=[LISTING]))
    assert entity_row(house, "lei:A")["sanctions"] == []
    assert [row["name"] for row in listed_rows(house, "sanctioned=false")] == ["X"]
    assert tag(house, "lei:A") != before


def test_a_listing_that_vanished_stays_as_delisted_while_others_know_the_entity(house: Any) -> None:
    sanctioned_entity = entity(
        ["lei:A", "ofac-uid:1"], {"type": "company", "name": "X", "sanctions": [LISTING]}
    )
    rest = [record_of(house, f"ofac-uid:{n}", f"N{n}", sanctions=[LISTING]) for n in (2, 3)]
    take(house, "/gleif", record_of(house, "lei:A"), format_="gleif")
    take(house, "/list", sanctioned_entity, *rest)
    assert len(listed_rows(house, "sanctioned=true")) == 3
    take(house, "/list", rest[0])
    row = entity_row(house, "lei:A")
    assert [sanction["status"] for sanction in row["sanctions"]] == ["delisted"]
    assert row["id"] == entity_row(house, "ofac-uid:1")["id"]
    assert [source["name"] for source in row["sources"]] == ["gleif"]
    assert [item["name"] for item in listed_rows(house, "sanctioned=true")] == ["N2"]
    assert row["id"] in {item["id"] for item in listed_rows(house, "sanctioned=false")}
    changes = {change.resource_id: change.change_type for change in house.change_records()}
    assert changes[id_of("ofac-uid:3")] == "deleted"
    before = len(house.change_records())
    take(house, "/list", rest[0])
    assert len(house.change_records()) == before
    take(house, "/list", sanctioned_entity, *rest)
    assert [sanction["status"] for sanction in entity_row(house, "lei:A")["sanctions"]] == [
        "active"
    ]
    take(house, "/list", *rest)
    house.withdraw("/list")
    assert entity_row(house, "lei:A")["sanctions"] is None
    assert len(listed_rows(house)) == 1


def test_an_instant_leaves_out_what_was_written_before(house: Any) -> None:
    take(house, "/a", record_of(house, "lei:A", "First"), format_="gleif")
    at = house.clock.now()
    take(house, "/b", record_of(house, "lei:B", "Second"), format_="gleif")
    for instant, names in ((at, ["Second"]), (at - timedelta(seconds=1), ["First", "Second"])):
        query = f"updatedSince={quote(instants.render(instant))}"
        assert [row["name"] for row in listed_rows(house, query)] == names


def test_a_walk_shows_each_row_once_that_was_there_while_others_come(house: Any) -> None:
    take(house, "/a", *(record_of(house, f"lei:{n}", f"N{n}") for n in range(20)), format_="gleif")
    first = {row["id"] for row in listed_rows(house)}
    numbers = iter(range(20, 40))

    def meanwhile() -> None:
        at = next(numbers)
        take(house, f"/{at}", record_of(house, f"lei:{at}", f"N{at}"), format_="gleif")

    pages = house.pages("listEntities", "limit=3", meanwhile=meanwhile)
    ids = [row["id"] for page in pages for row in page["data"]]
    assert len(ids) == len(set(ids))
    assert set(ids) >= first


# -- real documents ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(house_factory: Make) -> Callable[..., Any]:
    root = Path(os.environ.get("SVC_REAL_DATA", ""))  # noqa: TID251 - what the tests are given

    def read(*paths: str) -> Any:
        house = house_factory()
        for path in paths:
            body = (root / path).read_bytes()
            # Lists of lines are read as far as tests of one store in memory may take.
            body = b"".join(body.splitlines(keepends=True)[:500]) if path.endswith("csv") else body
            demo.take(house, path.rpartition("/")[2], body)
        return house

    return read


@pytest.mark.needs("SVC_REAL_DATA")
def test_the_parts_of_a_real_sanctions_list_are_one_row_each(real: Make) -> None:
    house = real("ofac/sdn.csv", "ofac/alt.csv", "ofac/add.csv")
    rows = listed_rows(house)
    assert rows
    assert all(row["sanctions"] for row in rows)
    assert {len(row["sources"]) for row in rows} >= {1, 3}
    assert any(row["aliases"] for row in rows)
    assert any(row.get("addresses") for row in rows)


@pytest.mark.needs("SVC_REAL_DATA")
def test_a_real_actor_of_two_catalogues_is_one(real: Make) -> None:
    house = real("attack_stix20/enterprise_dev.json", "misp_galaxy/threat-actor.json")
    rows = listed_rows(house, "type=threatActor")
    attack = [has_ for row in rows for has_ in (_attack(row),) if has_]
    assert len(attack) == len(set(attack))
    of_both = [row for row in rows if len({source["provider"] for source in row["sources"]}) == 2]
    assert of_both
    for row in of_both:
        assert {alias["provider"] for alias in row["actor"]["aliases"]} <= {
            "mitre-attack",
            "misp-galaxy",
        }


def _attack(row: Row) -> str | None:
    return next(
        (
            designator["value"]
            for designator in row["designators"]
            if designator["scheme"] == "attack"
        ),
        None,
    )


@pytest.mark.needs("SVC_REAL_DATA")
def test_a_real_company_of_two_registries_is_one(real: Make) -> None:
    house = real(
        "gleif_api/direct-parent_549300YX4S1LLSMK2627.json",
        "gleif_api/single_lei_record_549300YX4S1LLSMK2627.json",
        "sec_edgar/submissions_CIK0000320193.json",
    )
    (row,) = listed_rows(house, "designator=cik:320193")
    assert {designator["scheme"] for designator in row["designators"]} >= {"lei", "cik"}
    assert row["id"] == id_of(f"lei:{_lei(row)}")
    assert (row["industry"]["code"], row["status"]) == ("3571", "active")
    assert [listing["ticker"] for listing in row["listings"]] == ["AAPL"]
    assert len(listed_rows(house)) == 2


def _lei(row: Row) -> str:
    return next(
        designator["value"] for designator in row["designators"] if designator["scheme"] == "lei"
    )
