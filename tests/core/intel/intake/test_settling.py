"""Whether entities are one: what designators say, and what the operator settles."""

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import permutations
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.contract.problem import Problem
from svc_core.formats.model import Metadata
from svc_core.formats.reading.entity_keys import entity, register_key
from svc_core.formats.table import FORMATS, Document
from svc_core.intel.entities import directory, settlement
from svc_core.intel.entities.model import ENTITIES, Entity
from svc_core.intel.intake.kinds import KINDS
from svc_core.intel.linking.references import id_of
from svc_core.testing.clock import START
from tests.core import demo
from tests.core.cves import record
from tests.sampling import examples

Make = Callable[..., Any]

STRENGTH = KINDS["entity"].strength


def telling(
    *keys: str, name: str | None = None, hour: int = 0, format_: str = "ftm", home: str = ""
) -> Document:
    """A document that says by what keys one entity is known, and where it is registered."""
    members = {"type": "company", "name": name or keys[0]}
    members |= {"registered": register_key(members["name"], home)} if home else {}
    record = entity(sorted(keys, key=STRENGTH), members, stamp=START - timedelta(hours=hour))
    kind = attrs.evolve(FORMATS[format_], kind="delta")
    return Document(kind, Metadata(), (record,), ())


def take(house: Any, *keys: str, at: str = "", **members: Any) -> None:
    house.clock.advance(60)
    house.take(house.add(at or "/" + "|".join(keys)), telling(*keys, **members))


def rows(house: Any) -> dict[str, Entity]:
    return {row.id: row for row in house.stored(ENTITIES)}


def groups(house: Any) -> set[frozenset[str]]:
    """The designators of each row."""
    return {
        frozenset(f"{item.scheme}:{item.value}" for item in row.designators)
        for row in rows(house).values()
    }


def answering(house: Any, key: str) -> str | None:
    """The row that answers to the id that a key gives."""
    id_ = id_of(key)
    row = house.run(lambda ctx: directory.rows_by_id(ctx, [id_])).get(id_)
    return row and row.id


def decide(house: Any, verb: str, entity_key: str, *other_keys: str) -> dict[str, Any]:
    """What the operator said, by keys."""
    request = {
        "merge": settlement.MergeEntities,
        "part": settlement.PartEntity,
        "distinct": settlement.DistinguishEntities,
    }[verb](*map(id_of, (entity_key, *other_keys)))
    run = {
        "merge": settlement.merge_entities,
        "part": settlement.part_entity,
        "distinct": settlement.distinguish_entities,
    }[verb]
    house.clock.advance(60)
    answer: dict[str, Any] = json.loads(house.run(lambda ctx: run(ctx, request)).raw)
    return answer


def refusal_of(house: Any, *words: str) -> tuple[str, str]:
    with pytest.raises(Problem) as caught:
        decide(house, *words)
    return caught.value.type.code, caught.value.detail or ""


# -- what designators say ----------------------------------------------------------------------

CONFLICTS: dict[str, tuple[list[tuple[str, ...]], set[frozenset[str]]]] = {
    "a name in common": (
        [("lei:A",), ("cik:1", "ftm:x"), ("lei:A", "cik:1")],
        {frozenset({"lei:A", "cik:1", "ftm:x"})},
    ),
    "several ISINs of one": (
        [("lei:A", "isin:1"), ("lei:A", "isin:2")], {frozenset({"lei:A", "isin:1", "isin:2"})},
    ),
    "two LEIs with an ISIN": (
        [("lei:A", "isin:1"), ("lei:B", "isin:1")],
        {frozenset({"lei:A", "isin:1"}), frozenset({"lei:B", "isin:1"})},
    ),
    "two LEIs over a third": (
        [("lei:A",), ("lei:B",), ("lei:A", "ftm:x"), ("lei:B", "ftm:x")],
        {frozenset({"lei:A", "ftm:x"}), frozenset({"lei:B", "ftm:x"})},
    ),
    "one that says two of them": (
        [("lei:A",), ("lei:B",), ("lei:A", "lei:B")],
        {frozenset({"lei:A", "lei:B"}), frozenset({"lei:B"})},
    ),
    "two groups of ATT&CK": (
        [("attack:G0001", "misp-galaxy:m"), ("attack:G0002", "misp-galaxy:m")],
        {frozenset({f"attack:G000{n}", "misp-galaxy:m"}) for n in (1, 2)},
    ),
    "two items of Wikidata": (
        [("ftm:x", "wikidata:Q1"), ("ftm:x", "wikidata:Q2"), ("wikidata:Q2",)],
        {frozenset({"ftm:x", "wikidata:Q1"}), frozenset({"ftm:x", "wikidata:Q2"})},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFLICTS)
def test_entities_are_one_by_a_designator_unless_they_were_two_by_another(
    house_factory: Make, name: str
) -> None:
    statements, groups_ = CONFLICTS[name]
    for order in permutations(statements):
        house = house_factory()
        for keys in order:
            take(house, *keys)
        assert groups(house) == groups_, order


def test_an_id_that_two_might_have_is_that_of_the_one_whose_source_is_stronger(house: Any) -> None:
    take(house, "lei:B", "cik:1", at="/weak")
    take(house, "lei:A", "cik:1", format_="sec-submissions", at="/strong")
    take(house, "cik:1", format_="sec-tickers")
    assert answering(house, "cik:1") == id_of("lei:A")
    assert id_of("cik:1") not in rows(house)[id_of("lei:B")].merged_ids
    house.withdraw("/strong")
    assert answering(house, "cik:1") == id_of("lei:B")


KEYS = ("lei:A", "lei:B", "cik:1", "cik:2", "isin:1", "wikidata:Q1", "ftm:x", "ftm:y")
tellings = st.lists(
    st.tuples(
        st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True),
        st.sampled_from(["ftm", "sec-submissions", "gleif"]),
        st.sampled_from(["", "US-CA", "US-DE"]),
    ),
    max_size=7,
)


@given(tellings, st.randoms(use_true_random=False), st.integers(0, 6))
@examples(120)
def test_no_row_has_two_names_of_an_exclusive_scheme_that_two_told_in_whatever_order(
    house_factory: Make,
    statements: list[tuple[list[str], str, str]],
    random: Any,
    dropped_index: int,
) -> None:
    def house_of(order: Sequence[int]) -> Any:
        house = house_factory()
        for at in order:
            keys, format_, home = statements[at]
            take(house, *keys, at=f"/{at}", format_=format_, hour=at, name="Harbour", home=home)
        return house

    def state_of(house: Any) -> Any:
        return {
            id_: (row.name, row.designators, row.merged_ids) for id_, row in rows(house).items()
        }

    order = list(range(len(statements)))
    first = house_of(order)
    new_order = list(order)
    random.shuffle(new_order)
    assert state_of(house_of(new_order)) == state_of(first)
    for row in rows(first).values():
        for scheme in ("lei:", "cik:"):
            assert len({key for key in _own(row, statements, first) if key.startswith(scheme)}) < 2
    every = [id_ for row in rows(first).values() for id_ in (row.id, *row.merged_ids)]
    assert len(every) == len(set(every))
    if dropped_index < len(statements):
        first.withdraw(f"/{dropped_index}")
        assert state_of(first) == state_of(house_of([at for at in order if at != dropped_index]))


def _own(row: Entity, statements: list[tuple[list[str], str, str]], house: Any) -> list[str]:
    """The strongest keys by which sources know an entity."""
    strongest = {
        house.add(f"/{at}").id: min(keys, key=STRENGTH) for at, (keys, *_) in enumerate(statements)
    }
    return [strongest[source.id] for source in row.sources]


# -- legal names -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (("APPLE INC", "US-CA"), ("Apple Inc.", "US-CA"), True),
        (("MICROSOFT CORP", "US-WA"), ("Microsoft Corporation", "US-WA"), True),
        (("COCA COLA CO", "US-DE"), ("The Coca-Cola Company", "US-DE"), True),
        (("AMAZON COM INC", "US-DE"), ("AMAZON.COM, INC.", "US-DE"), True),
        (("NESTLE S A /FI", "CH"), ("Nestlé S.A.", "CH"), True),
        (("JPMORGAN CHASE & CO", "US-DE"), ("JPMorgan Chase and Company", "US-DE"), True),
        (("HARBOUR HOLDINGS INC", "US-DE"), ("Harbour Holdings LLC", "US-DE"), False),
        (("HARBOUR HOLDINGS INC", "US-DE"), ("Harbour Holdings Inc", "US-NY"), False),
        (("HARBOUR INC", "US-DE"), ("Harbour Cafe Inc", "US-DE"), False),
        (("HARBOUR INC", None), ("Harbour Inc", None), False),
    ],
)
def test_a_company_goes_by_its_legal_name_in_its_register(
    first: tuple[str, str | None], second: tuple[str, str | None], is_same: bool
) -> None:
    key = register_key(*first)
    assert (key is not None and key == register_key(*second)) is is_same


def test_companies_of_two_registries_are_one_by_their_legal_name(house_factory: Make) -> None:
    statements = [("cik:1", "US-CA"), ("lei:A", "US-CA"), ("lei:B", "US-DE")]
    for order in permutations(statements):
        house = house_factory()
        for key, home in order:
            take(house, key, name="Harbour Inc", home=home)
        assert groups(house) == {frozenset({"cik:1", "lei:A"}), frozenset({"lei:B"})}
        assert answering(house, "cik:1") == id_of("lei:A")


def test_a_legal_name_that_two_companies_have_joins_neither(house: Any) -> None:
    for key in ("cik:1", "lei:A", "lei:B"):
        take(house, key, name="Harbour Inc", home="US-CA")
    assert len(rows(house)) == 3
    house.withdraw("/lei:B")
    assert groups(house) == {frozenset({"cik:1", "lei:A"})}


def test_what_a_legal_name_joined_is_parted_by_the_operator(house: Any) -> None:
    for key in ("cik:1", "lei:A"):
        take(house, key, name="Harbour Inc", home="US-CA")
    assert decide(house, "part", "cik:1")["changed"] is True
    assert len(rows(house)) == 2
    for key in ("cik:1", "lei:A"):
        take(house, key, name="HARBOUR INC.", home="US-CA")
    assert len(rows(house)) == 2
    assert decide(house, "merge", "cik:1", "lei:A")["changed"] is True
    assert len(rows(house)) == 1


# -- what the operator settles -----------------------------------------------------------------


def test_a_merge_makes_two_one_under_the_id_of_the_second(house: Any) -> None:
    take(house, "lei:A", name="A")
    take(house, "ftm:x", name="X")
    before = len(house.change_records())
    answer = decide(house, "merge", "lei:A", "ftm:x")
    assert (answer["id"], answer["otherId"], answer["status"], answer["changed"]) == (
        id_of("ftm:x"), id_of("lei:A"), "merged", True,
    )  # fmt: skip
    (row,) = rows(house).values()
    assert (row.id, row.merged_ids, row.aliases) == (id_of("ftm:x"), (id_of("lei:A"),), ("X",))
    assert answering(house, "lei:A") == row.id
    changes = {change.resource_id: change for change in house.change_records()[before:]}
    assert {change.change_type for change in changes.values()} == {"merged", "updated"}
    assert changes[id_of("lei:A")].merged_into_id == row.id
    for pair in (("lei:A", "ftm:x"), ("ftm:x", "lei:A")):
        assert decide(house, "merge", *pair)["changed"] is False
    assert len(house.change_records()) == before + 2


def test_parting_restores_what_was_merged_and_nothing_else(house: Any) -> None:
    for key in ("lei:A", "ftm:x", "cik:1"):
        take(house, key)
    decide(house, "merge", "lei:A", "ftm:x")
    decide(house, "merge", "ftm:x", "cik:1")
    assert groups(house) == {frozenset({"lei:A", "ftm:x", "cik:1"})}
    before = len(house.change_records())
    assert decide(house, "part", "ftm:x")["changed"] is True
    assert groups(house) == {frozenset({"lei:A", "ftm:x"}), frozenset({"cik:1"})}
    assert {change.change_type for change in house.change_records()[before:]} == {
        "restored",
        "updated",
    }
    decide(house, "part", "lei:A")
    assert len(rows(house)) == 3
    assert decide(house, "part", "lei:A")["changed"] is False


def test_what_the_operator_merged_survives_whatever_sources_say_anew_in_any_order(
    house_factory: Make,
) -> None:
    for order in permutations(["lei:A", "ftm:x", "cik:1"]):
        house = house_factory()
        for key in ("lei:A", "ftm:x"):
            take(house, key)
        decide(house, "merge", "lei:A", "ftm:x")
        for key in ("lei:A", "ftm:x"):
            house.withdraw(f"/{key}")
        assert rows(house) == {}
        for key in order:
            take(house, key, name="New")
        assert groups(house) == {frozenset({"lei:A", "ftm:x"}), frozenset({"cik:1"})}


def test_designators_and_the_operator_hold_entities_apart(house: Any) -> None:
    for keys in (("lei:A", "isin:1"), ("lei:B", "isin:2"), ("ftm:x",), ("ftm:y",)):
        take(house, *keys)
    code, detail = refusal_of(house, "merge", "lei:A", "lei:B")
    assert code == "RESOURCE_CONFLICT"
    assert "lei A is not B" in detail
    assert decide(house, "distinct", "ftm:x", "ftm:y")["changed"] is True
    assert decide(house, "distinct", "ftm:y", "ftm:x")["changed"] is False
    decide(house, "merge", "ftm:x", "lei:A")
    assert "distinct" in refusal_of(house, "merge", "ftm:y", "lei:A")[1]
    assert len(rows(house)) == 3
    # Of a pair the last word counts.
    decide(house, "part", "ftm:x")
    decide(house, "merge", "ftm:x", "ftm:y")
    assert len(rows(house)) == 3
    assert "part ent_" in refusal_of(house, "distinct", "ftm:x", "ftm:y")[1]


def test_a_merge_gives_way_to_designators_that_come_later(house: Any) -> None:
    take(house, "ftm:x", at="/x")
    take(house, "ftm:y", at="/y")
    decide(house, "merge", "ftm:x", "ftm:y")
    for letter, key in zip("AB", ("ftm:x", "ftm:y"), strict=True):
        take(house, f"lei:{letter}", key)
    assert groups(house) == {frozenset({"lei:A", "ftm:x"}), frozenset({"lei:B", "ftm:y"})}
    house.withdraw("/lei:B|ftm:y")
    assert groups(house) == {frozenset({"lei:A", "ftm:x", "ftm:y"})}


def test_what_cannot_be_settled_is_refused_with_what_to_do(house: Any) -> None:
    take(house, "lei:A", "ftm:x", at="/both")
    take(house, "ftm:x")
    take(house, "cik:1")
    assert refusal_of(house, "merge", "lei:A", "ftm:unknown")[0] == "NOT_FOUND"
    assert refusal_of(house, "part", "ftm:unknown")[0] == "NOT_FOUND"
    assert refusal_of(house, "merge", "cik:1", "cik:1")[0] == "VALIDATION_FAILED"
    assert refusal_of(house, "distinct", "cik:1", "cik:1")[0] == "VALIDATION_FAILED"
    demo.take(house, "cve", record("CVE-2024-0001"))
    assert refusal_of(house, "part", "CVE-2024-0001")[0] == "RESOURCE_CONFLICT"
    code, detail = refusal_of(house, "part", "ftm:x")
    assert code == "RESOURCE_CONFLICT"
    assert f"svc sources remove {house.add('/both').id} --withdraw" in detail
    decide(house, "merge", "cik:1", "lei:A")
    assert f"part {id_of('cik:1')}" in refusal_of(house, "part", "lei:A")[1]


def test_who_is_distinct_is_told_by_any_id_of_an_entity(house: Any) -> None:
    take(house, "ftm:x")
    take(house, "ftm:y")
    decide(house, "distinct", "ftm:x", "ftm:y")
    take(house, "lei:A", "ftm:x")
    row = rows(house)[id_of("lei:A")]
    distinct_ids = house.run(lambda ctx: settlement.distinct_from(ctx, (row.id, *row.merged_ids)))
    assert distinct_ids == {id_of("ftm:y")}
    assert house.run(lambda ctx: settlement.distinct_from(ctx, distinct_ids)) == {id_of("ftm:x")}


words = st.lists(
    st.tuples(
        st.sampled_from(["merge", "merge", "distinct", "part"]),
        st.sampled_from(KEYS),
        st.sampled_from(KEYS),
    ),
    max_size=5,
)


@given(tellings, words, st.randoms(use_true_random=False))
@examples(80)
def test_what_the_operator_said_gives_the_same_entities_in_whatever_order_sources_come_back(
    house_factory: Make,
    statements: list[tuple[list[str], str, str]],
    decisions: list[tuple[str, str, str]],
    random: Any,
) -> None:
    house, order = house_factory(), list(range(len(statements)))

    def state() -> Any:
        return {
            id_: (row.name, row.designators, row.merged_ids) for id_, row in rows(house).items()
        }

    def take_all() -> None:
        for at in order:
            keys, format_, home = statements[at]
            take(house, *keys, at=f"/{at}", format_=format_, hour=at, name="Harbour", home=home)

    take_all()
    for word, first, second in decisions:
        before = state()
        try:
            decide(house, word, first, *(() if word == "part" else (second,)))
        except Problem:
            assert state() == before
    final_state = state()
    every = [id_ for id_, (_, _, merges) in final_state.items() for id_ in (id_, *merges)]
    assert len(every) == len(set(every))
    for at in order:
        house.withdraw(f"/{at}")
    assert rows(house) == {}
    random.shuffle(order)
    take_all()
    assert state() == final_state
