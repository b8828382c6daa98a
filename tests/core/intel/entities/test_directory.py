"""References mean an entity only where its name is its alone, and says enough."""

import json
from typing import Any

import pytest
from attrs import evolve

from svc_core.intel.entities import directory
from svc_core.intel.entities.model import ENTITIES, Entity, Industry
from svc_core.intel.linking.references import id_of, text_references, vendor_references
from svc_core.operation.source_members import Designator
from svc_core.testing.clock import FrozenClock

SOFTWARE, SHOPS = Industry("SIC", "7372"), Industry("SIC", "5331")


def entity(key: str, name: str, *aliases: str, **members: Any) -> Entity:
    now = FrozenClock().now()
    row = Entity(
        id=id_of(key),
        type="company",
        name=name,
        aliases=aliases,
        designators=(Designator(*key.split(":"), None),),
        sources=(),
        created_at=now,
        updated_at=now,
        revision=1,
    )
    return evolve(row, **members)


ROWS = [
    entity("cik:0000000001", "Contoso Software Inc", "Fabrikam Holdings Corp"),
    entity("cik:0000000002", "QUILLDRIVE INC", industry=SOFTWARE),
    entity("cik:0000000003", "Quillstore Corp", industry=SHOPS),
    entity("cik:0000000004", "Progress Corp", industry=SOFTWARE),
    entity("cik:0000000005", "Two Brothers Inc", industry=SOFTWARE),
    entity("cik:0000000006", "Two Brothers Ltd", industry=SOFTWARE),
    entity("cik:0000000007", "Palo Verde Networks Inc", industry=SOFTWARE),
    entity("lei:1", "Nacecode AG", industry=Industry("NACE", "62.01")),
    entity("attack:S1", "LockExample", type="malware"),
    entity("attack:S2", "Carbon", type="malware"),
    entity("ofac-uid:1", "Jane Example", type="person"),
    entity("cik:0000000008", "Symbol Works Inc",
           designators=(Designator("ticker", "SYMW", None),)),
    entity("cpe-vendor:zohocorp", "Zoho Corporation"),
]  # fmt: skip


@pytest.fixture
def directory_house(house: Any) -> Any:
    async def save(ctx: Any) -> None:
        for row in ROWS:
            await ctx.save(ENTITIES, row.id, row)

    house.run(save)
    return house


def names_of(house: Any, *references: str) -> dict[str, str]:
    rows = house.run(lambda ctx: directory.rows_by_reference(ctx, references))
    return {item: json.loads(row.raw)["name"] for item, row in rows.items()}


MEANINGS = [
    ("vendor:contoso software", "Contoso Software Inc"),
    ("vendor:fabrikam holdings", "Contoso Software Inc"),
    ("name:fabrikam holdings", "Contoso Software Inc"),
    ("vendor:quilldrive", "QUILLDRIVE INC"),
    ("vendor:paloverdenetworks", "Palo Verde Networks Inc"),
    ("vendor:nacecode", "Nacecode AG"),
    ("firm:quillstore", "Quillstore Corp"),
    ("name:lockexample", "LockExample"),
    ("ticker:SYMW", "Symbol Works Inc"),
    ("ticker:SYMW works", "Symbol Works Inc"),
    (id_of("lei:1"), "Nacecode AG"),
]
AMBIGUOUS = [
    "vendor:contoso",  # a shared word
    "vendor:quillstore",  # one word, and no software
    "vendor:progress",  # an ordinary word
    "vendor:two brothers",  # two have it
    "vendor:lockexample",  # no maker
    "name:quilldrive",  # one word of a text, written as any other
    "name:carbon",
    "name:jane example",  # an equal name is no equal person
    "ticker:NONE",
    "ticker:SYMW street",  # an acronym, or another's symbol
    id_of("cik:0000000099"),
]


@pytest.mark.parametrize(("reference", "name"), MEANINGS)
def test_whom_a_reference_means(directory_house: Any, reference: str, name: str) -> None:
    assert names_of(directory_house, reference) == {reference: name}


def test_references_that_mean_nobody_or_several_lack(directory_house: Any) -> None:
    assert names_of(directory_house, *AMBIGUOUS) == {}


def test_a_filter_asks_for_every_reference_that_means_an_entity(directory_house: Any) -> None:
    for row in ROWS:
        refs = directory_house.run(lambda ctx, id_=row.id: directory.entity_references(ctx, [id_]))
        assert row.id in refs
        assert set(names_of(directory_house, *refs).values()) == {row.name}
    refs = directory_house.run(
        lambda ctx: directory.entity_references(ctx, [id_of("cik:0000000001"), "ent_none"])
    )
    assert {"vendor:contoso software", "name:fabrikam holdings", "ent_none"} <= set(refs)


def test_the_surest_reference_of_a_vendor_may_be_unknown(directory_house: Any) -> None:
    refs = vendor_references("ManageEngine")
    assert list(names_of(directory_house, *refs)) == [refs[0]]


def test_many_rows_of_one_name_are_all_looked_at(directory_house: Any) -> None:
    async def save(ctx: Any) -> None:
        for number in range(directory.IDS_AT_ONCE + 1):
            row = entity(f"cik:9{number:09d}", "Many Example Inc")
            await ctx.save(ENTITIES, row.id, row)

    directory_house.run(save)
    assert names_of(directory_house, "name:many example", "name:contoso software") == {
        "name:contoso software": "Contoso Software Inc"
    }


def test_rows_tell_whom_they_mention_once(directory_house: Any) -> None:
    text = "Contoso Software and Fabrikam Holdings and Jane Example"
    row = b'{"id":"x","entities":null}'
    rows = directory_house.run(
        lambda ctx: directory.with_mentions(ctx, [row, row], [text_references(text), {}])
    )
    assert [json.loads(item)["entities"] for item in rows] == [
        [{"entityId": ROWS[0].id, "name": "Contoso Software", "role": "mentioned"}],
        [],
    ]
