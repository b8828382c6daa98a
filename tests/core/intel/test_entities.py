"""Entities as they are listed and read: what each filter finds, and what is looked up."""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlparse

import pytest

from svc_core.base import instants
from svc_core.contract import problem
from svc_core.formats.model import About, Record
from svc_core.formats.reading.parties import entity
from svc_core.formats.table import FORMATS, Document
from svc_core.intel.intake import documents
from svc_core.intel.linking.references import id_of
from tests.core import demo

Make = Callable[..., Any]
Row = dict[str, Any]


def listed(house: Any, query: str = "", limit: int = 100) -> list[Row]:
    """The rows of all pages."""
    rows, cursor = [], ""
    while True:
        told = json.loads(house.send("listEntities", query=f"limit={limit}&{query}{cursor}").body)
        rows += told["data"]
        if (after := told["links"].get("next")) is None:
            return rows
        cursor = "&cursor=" + quote(parse_qs(urlparse(after).query)["cursor"][0])


def shown(house: Any, key: str) -> Row:
    """The entity of a key."""
    told = house.send("getEntity", path={"entityId": id_of(key)})
    row: Row = json.loads(told.body)["data"]
    return row


def has(scheme: str, value: str) -> Callable[[Row], bool]:
    return lambda row: {"scheme": scheme, "value": value}.items() <= {
        (name, each[name]) for each in row["designators"] for name in ("scheme", "value")
    }  # fmt: skip


FILTERS: dict[str, Callable[[Row], bool]] = {
    "type=company": lambda row: row["type"] == "company",
    "type=vulnerability": lambda row: row["type"] == "vulnerability",
    "type=person,vessel": lambda row: row["type"] in {"person", "vessel"},
    "country=gb,KP": lambda row: bool({"GB", "KP"} & set(row["countryCodes"])),
    "topic=sanction": lambda row: "sanction" in row["topics"],
    "sanctioned=true": lambda row: any(one["status"] == "active" for one in row["sanctions"]),
    "sanctioned=false": lambda row: all(one["status"] != "active" for one in row["sanctions"]),
    "type=company&sanctioned=false": lambda row: row["type"] == "company" and not row["sanctions"],
    "type=vulnerability,company&country=US": lambda row: (
        row["type"] == "company" and "US" in row["countryCodes"]
    ),
}


@pytest.mark.parametrize("query", FILTERS)
def test_a_filter_finds_all_that_it_means_and_leaves_out_the_rest(filled: Any, query: str) -> None:
    every = listed(filled)
    wanted = [row["id"] for row in every if FILTERS[query](row)]
    assert 0 < len(wanted) < len(every)
    assert [row["id"] for row in listed(filled, query)] == wanted
    assert [row["id"] for row in listed(filled, query, limit=3)] == wanted


@pytest.mark.parametrize(
    ("asked", "names"),
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
    filled: Any, asked: str, names: list[str]
) -> None:
    assert sorted(row["name"] for row in listed(filled, f"designator={quote(asked)}")) == names


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("lei:HWUPKR0MPOU8FGXBT395", "check digits"),
        ("isin:US0378331006", "check digit"),
        ("cik:12345678901", "one to ten digits"),
        ("cik:0", "one to ten digits"),
        ("cve:2021-44228", "CVE"),
    ],
)
def test_a_designator_that_cannot_be_one_is_refused_with_the_reason(
    filled: Any, asked: str, reason: str
) -> None:
    refused = filled.refused("listEntities", query=f"designator={asked}")
    assert refused.type == problem.INVALID_PARAMETER
    assert reason in refused.detail


def test_what_was_revoked_is_shown_only_where_it_is_asked_for(filled: Any) -> None:
    left = {row["id"] for row in listed(filled, "includeRevoked=true")}
    left -= {row["id"] for row in listed(filled)}
    gone = [row for row in listed(filled, "includeRevoked=true") if row["id"] in left]
    assert gone
    assert all(row["revoked"] for row in gone)
    replaced = [row["actor"] for row in gone if "actor" in row]
    assert [shown_name(filled, one["replacedById"]) for one in replaced] == ["Dragonfly"]
    assert {row["revoked"] for row in listed(filled)} == {False}


def shown_name(house: Any, id_: str) -> str:
    name: str = json.loads(house.send("getEntity", path={"entityId": id_}).body)["data"]["name"]
    return name


def test_an_actor_of_two_catalogues_is_one_with_who_uses_each_name(filled: Any) -> None:
    row = shown(filled, "attack:G0007")
    assert {one["provider"] for one in row["sources"]} >= {"mitre-attack", "misp-galaxy"}
    used = {(one["name"], one["provider"]) for one in row["actor"]["aliases"]}
    assert {("Fancy Bear", "mitre-attack"), ("Fancy Bear", "misp-galaxy")} <= used
    assert ("Sednit", "misp-galaxy") in used
    assert set(row["aliases"]) == {name for name, _ in used}
    assert row["id"] == shown(filled, "misp-galaxy:20000000-0000-4000-8000-000000000001")["id"]
    refused = filled.refused("getEntity", path={"entityId": "ent_" + "0" * 24})
    assert refused.type is problem.NOT_FOUND


def test_a_cve_is_an_entity_with_a_facet(filled: Any) -> None:
    row = shown(filled, "CVE-2021-44228")
    (same,) = listed(filled, "designator=cve:CVE-2021-44228")
    assert row == same
    assert row["type"] == "vulnerability"
    assert row["cve"]["cveId"] == row["name"] == "CVE-2021-44228"
    assert "cveId" not in row
    assert "cve" not in shown(filled, "cik:0000320193")


def test_entities_and_cves_share_one_order(filled: Any) -> None:
    for limit in (1, 7, 100):
        rows = listed(filled, limit=limit)
        order = [(row["updatedAt"], row["id"]) for row in rows]
        assert order == sorted(order, reverse=True)
        assert len({row["id"] for row in rows}) == len(rows)
    assert "vulnerability" in {row["type"] for row in rows}


# -- what changes ------------------------------------------------------------------------------


def told(house: Any, key: str, name: str = "X", **said: Any) -> Record:
    return entity([key], {"type": "company", "name": name, **said})


def take(house: Any, at: str, *records: Record, format_: str = "ofac") -> None:
    house.clock.advance(3_600)
    house.take(house.add(at), Document(FORMATS[format_], About(), records, ()))


LISTING = {"programId": "P1", "authority": "A", "listName": "L", "status": "active"}


def tag(house: Any, key: str) -> str:
    return dict(house.send("getEntity", path={"entityId": id_of(key)}).headers)["ETag"]


def test_sanctions_are_null_until_a_list_was_read_and_empty_after(house: Any) -> None:
    take(house, "/gleif", told(house, "lei:A"), format_="gleif")
    assert shown(house, "lei:A")["sanctions"] is None
    assert listed(house)[0]["sanctions"] is None
    assert listed(house, "sanctioned=false") == []
    before = tag(house, "lei:A")
    take(house, "/list", told(house, "ofac-uid:1", sanctions=[LISTING]))
    assert shown(house, "lei:A")["sanctions"] == []
    assert [row["name"] for row in listed(house, "sanctioned=false")] == ["X"]
    assert tag(house, "lei:A") != before


def test_a_listing_that_vanished_stays_as_delisted_while_others_know_the_entity(house: Any) -> None:
    both = entity(["lei:A", "ofac-uid:1"], {"type": "company", "name": "X", "sanctions": [LISTING]})
    others = [told(house, f"ofac-uid:{n}", f"N{n}", sanctions=[LISTING]) for n in (2, 3)]
    take(house, "/gleif", told(house, "lei:A"), format_="gleif")
    take(house, "/list", both, *others)
    assert len(listed(house, "sanctioned=true")) == 3
    take(house, "/list", others[0])
    row = shown(house, "lei:A")
    assert [one["status"] for one in row["sanctions"]] == ["delisted"]
    assert row["id"] == shown(house, "ofac-uid:1")["id"]
    assert [one["name"] for one in row["sources"]] == ["gleif"]
    assert [each["name"] for each in listed(house, "sanctioned=true")] == ["N2"]
    assert row["id"] in {each["id"] for each in listed(house, "sanctioned=false")}
    changes = {one.resource_id: one.change_type for one in house.recorded()}
    assert changes[id_of("ofac-uid:3")] == "deleted"
    before = len(house.recorded())
    take(house, "/list", others[0])
    assert len(house.recorded()) == before
    take(house, "/list", both, *others)
    assert [one["status"] for one in shown(house, "lei:A")["sanctions"]] == ["active"]
    take(house, "/list", *others)
    withdraw(house, "/list")
    assert shown(house, "lei:A")["sanctions"] is None
    assert len(listed(house)) == 1


def withdraw(house: Any, location: str) -> None:
    """Take back all that the source at this location ever brought."""
    id_ = house.add(location).id

    async def unit(ctx: Any) -> None:
        gone, _ = await documents.contributions_from(ctx, id_)
        await documents.withdraw(ctx, gone)

    house.run(unit)


def test_an_instant_leaves_out_what_was_written_before(house: Any) -> None:
    take(house, "/a", told(house, "lei:A", "First"), format_="gleif")
    at = house.clock.now()
    take(house, "/b", told(house, "lei:B", "Second"), format_="gleif")
    for instant, names in ((at, ["Second"]), (at - timedelta(seconds=1), ["Second", "First"])):
        query = f"updatedSince={quote(instants.render(instant))}"
        assert [row["name"] for row in listed(house, query)] == names


def test_a_walk_shows_each_row_once_that_was_there_while_others_come(house: Any) -> None:
    take(house, "/a", *(told(house, f"lei:{n}", f"N{n}") for n in range(20)), format_="gleif")
    first = {row["id"] for row in listed(house)}
    query, found = "limit=3", []
    for at in range(20, 40):
        page = json.loads(house.send("listEntities", query=query).body)
        found += [row["id"] for row in page["data"]]
        take(house, f"/{at}", told(house, f"lei:{at}", f"N{at}"), format_="gleif")
        if (after := page["links"].get("next")) is None:
            break
        query = urlparse(after).query
    assert len(found) == len(set(found))
    assert set(found) == first


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
    rows = listed(house)
    assert rows
    assert all(row["sanctions"] for row in rows)
    assert {len(row["sources"]) for row in rows} >= {1, 3}
    assert any(row["aliases"] for row in rows)
    assert any(row.get("addresses") for row in rows)


@pytest.mark.needs("SVC_REAL_DATA")
def test_a_real_actor_of_two_catalogues_is_one(real: Make) -> None:
    house = real("attack_stix20/enterprise_dev.json", "misp_galaxy/threat-actor.json")
    rows = listed(house, "type=threatActor")
    attack = [has_ for row in rows for has_ in (_attack(row),) if has_]
    assert len(attack) == len(set(attack))
    both = [row for row in rows if len({one["provider"] for one in row["sources"]}) == 2]
    assert both
    for row in both:
        assert {one["provider"] for one in row["actor"]["aliases"]} <= {
            "mitre-attack",
            "misp-galaxy",
        }


def _attack(row: Row) -> str | None:
    return next((one["value"] for one in row["designators"] if one["scheme"] == "attack"), None)


@pytest.mark.needs("SVC_REAL_DATA")
def test_a_real_company_of_two_registries_is_one(real: Make) -> None:
    house = real(
        "gleif_api/direct-parent_549300YX4S1LLSMK2627.json",
        "gleif_api/single_lei_record_549300YX4S1LLSMK2627.json",
        "sec_edgar/submissions_CIK0000320193.json",
    )
    (row,) = listed(house, "designator=cik:320193")
    assert {one["scheme"] for one in row["designators"]} >= {"lei", "cik"}
    assert row["id"] == id_of(f"lei:{_lei(row)}")
    assert (row["industry"]["code"], row["status"]) == ("3571", "active")
    assert [one["ticker"] for one in row["listings"]] == ["AAPL"]
    assert len(listed(house)) == 2


def _lei(row: Row) -> str:
    return next(one["value"] for one in row["designators"] if one["scheme"] == "lei")
