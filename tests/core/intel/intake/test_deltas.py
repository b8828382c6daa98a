"""Changes of a collection come in as what they are: added, replaced and taken back.

What a delta says is as old as the delta, and replaces what its provider said before, in whatever
source: one address that changes, or a folder with the collection and its deltas.
"""

import json
from itertools import permutations
from typing import Any

import pytest

from svc_core import wire
from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, Document, read_document
from svc_core.intel.entities.model import ENTITIES
from svc_core.intel.entities.relation import RELATIONS
from svc_core.intel.folding.contributions import CONTRIBUTIONS
from svc_core.intel.folding.model import RowCounts
from svc_core.intel.linking.references import id_of


def entity(id_: str, schema: str, day: int, **properties: str) -> dict[str, Any]:
    changed_at = f"2026-01-{day:02}T00:00:00"
    texts = {name: [value] for name, value in properties.items()}
    return {"id": id_, "schema": schema, "properties": texts, "last_change": changed_at}


def changes(*lines: tuple[str, dict[str, Any]], version: str = "") -> Document:
    lines_json = "\n".join(json.dumps({"op": op, "entity": entity}) for op, entity in lines)
    address = f"https://lists.example/artifacts/all/{version}/entities.delta.json"
    origin = Origin(base_url=address if version else None)
    return read_document(Body(lines_json.encode()), FORMATS["ftm-delta"], origin)


def collection(*entities: dict[str, Any]) -> Document:
    text = "\n".join(map(json.dumps, entities))
    return read_document(Body(text.encode()), FORMATS["ftm"], Origin())


APPLE = entity("c", "Company", 1, name="Apple", leiCode="HWUPKR0MPOU8FGXBT394")
FIRST = changes(
    ("ADD", entity("p", "Person", 1, name="Ann")),
    ("ADD", APPLE),
    ("ADD", entity("e", "Ownership", 1, owner="p", asset="c")),
    version="20260101000000-abc",
)
SECOND = changes(("MOD", entity("p", "Person", 2, name="Ann B")), version="20260102000000-abc")
DELETION = changes(
    ("ADD", entity("x", "Person", 3, name="Xu")),
    *(("DEL", {"id": id_}) for id_ in ("p", "c", "e", "never")),
    version="20260103000000-abc",
)


def live_names(house: Any) -> dict[str, Any]:
    claims = house.stored(CONTRIBUTIONS)
    return {claim.key: claim.said.get("name") for claim in claims if not claim.gone}


def test_a_deletion_by_id_alone_takes_back_what_was_added(house: Any) -> None:
    source = house.add("https://example.org/changes")
    assert house.take(source, FIRST) == RowCounts(created=3)
    assert house.take(source, FIRST) == RowCounts(unchanged=3)
    assert house.take(source, SECOND) == RowCounts(updated=1)
    assert live_names(house) == {"ftm:p": "Ann B", "ftm:c": "Apple", "ftm:e": None}
    counts = house.take(source, DELETION)
    assert (counts.created, counts.deleted) == (1, 3)
    assert live_names(house) == {"ftm:x": "Xu"}


def test_a_change_may_have_what_it_names_within_it(house: Any) -> None:
    person = entity("p", "Person", 1, name="Ann")
    address = entity("a", "Address", 1, full="1 Quay Street, Port Vell")
    person["properties"]["addressEntity"] = [address]
    house.take(house.add("https://example.org/changes"), changes(("ADD", person)))
    (claim,) = house.stored(CONTRIBUTIONS)
    assert "1 Quay Street, Port Vell" in json.dumps(claim.said)


def test_old_changes_read_again_bring_nothing_back(house: Any) -> None:
    source = house.add("https://example.org/changes")
    for document in (FIRST, SECOND, DELETION):
        house.take(source, document)
    for document in (FIRST, SECOND, DELETION, SECOND):
        again = house.take(source, document)
        assert (again.created, again.updated, again.deleted) == (0, 0, 0)
    assert live_names(house) == {"ftm:x": "Xu"}


# -- deltas in their order, in one source or in several ----------------------------------------

LEI = APPLE["properties"]["leiCode"][0]


def organization(id_: str, day: int, *referents: str, **properties: str) -> dict[str, Any]:
    return entity(id_, "Organization", day, **properties) | {"referents": list(referents)}


def rows(house: Any) -> dict[str, Any]:
    return {row.name: row for row in house.stored(ENTITIES)}


def changes_of(house: Any, id_: str) -> list[str]:
    return [row.change_type for row in house.change_records() if row.resource_id == id_]


SANCTION = entity("s", "Sanction", 1, entity="a", authority="Office", program="List")
STEPS: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "added": (("ADD", organization("a", 9, "b", name="Alpha")), ("ADD", SANCTION)),
    # The entity changed before, by its own word, and comes without what is said of it elsewhere.
    "renamed": (("MOD", organization("a", 2, "b", name="Alpha Works")),),
    "split": (
        ("MOD", organization("a", 1, name="Alpha Works")),
        ("ADD", organization("b", 1, name="Beta")),
    ),
    "delisted": (("DEL", {"id": "s"}),),
    "deleted": (("DEL", {"id": "a"}),),
}
NAMES = {
    "added": {"Alpha"}, "renamed": {"Alpha Works"}, "split": {"Alpha Works", "Beta"},
    "delisted": {"Alpha Works", "Beta"}, "deleted": {"Beta"},
}  # fmt: skip
ORDERS = [*permutations(range(5)), *[tuple(range(count)) for count in range(1, 5)]]


@pytest.mark.parametrize("locations", ["/one", "/several/{}"])
@pytest.mark.parametrize("is_dated", [True, False])
def test_changes_are_told_one_after_the_other(house: Any, locations: str, is_dated: bool) -> None:
    for number, (step, lines) in enumerate(STEPS.items(), 1):
        version = f"2026010{number}000000-abc" if is_dated else ""
        house.clock.advance(3_600)
        house.take(house.add(locations.format(number)), changes(*lines, version=version))
        assert rows(house).keys() == NAMES[step], step
        alpha = rows(house).get("Alpha Works") or rows(house).get("Alpha")
        if alpha is not None:
            listings = [item["authority"] for item in wire.to_json(alpha)["sanctions"] or ()]
            assert listings == (["Office"] if number < 4 else [])
            assert alpha.aliases == ()
    ids = [id_of("ftm:a"), id_of("ftm:b")]
    assert [changes_of(house, id_)[-1] for id_ in ids] == ["deleted", "created"]


@pytest.mark.parametrize("order", ORDERS)
def test_versions_order_changes_that_are_read_in_any_order(
    house_factory: Any, order: tuple[int, ...]
) -> None:
    """In one source or in several, once or twice."""
    for locations in ("/one", "/several/{}"):
        house = house_factory()
        for number in (*order, *order[:2]):
            document = changes(
                *list(STEPS.values())[number], version=f"2026010{number + 1}000000-abc"
            )
            house.clock.advance(3_600)
            house.take(house.add(locations.format(number)), document)
        last = list(STEPS)[max(order)]
        assert rows(house).keys() == NAMES[last]


def test_a_collection_is_changed_by_its_deltas(house: Any) -> None:
    party = organization("a", 1, "b", name="Alpha", leiCode=LEI, address="Old Road")
    relation = entity("o", "Ownership", 1, owner="a", asset="x")
    house.take(house.add("/base"), collection(party, SANCTION, relation))
    (row,) = house.stored(ENTITIES)
    assert row.sanctions
    version = "20260105000000-abc"
    lines = (("MOD", organization("a", 1, name="Alpha Works")), ("DEL", {"id": "o"}))
    house.take(house.add("/delta"), changes(*lines, version=version))
    (row,) = house.stored(ENTITIES)
    assert (row.name, row.aliases, row.addresses) == ("Alpha Works", (), ("Old Road",))
    assert row.sanctions, "a delta has them on lines of their own"
    assert house.stored(RELATIONS) == []
    house.take(house.add("/later"), changes(("DEL", {"id": "a"}), version="20260106000000-abc"))
    assert house.stored(ENTITIES) == []
    assert changes_of(house, row.id)[-1] == "deleted"
    # The collection of another provider has the same id, and is not changed.
    other = house.add("/other", options={"provider": "elsewhere"})
    house.take(other, collection(party))
    (row,) = house.stored(ENTITIES)
    assert row.name == "Alpha"
