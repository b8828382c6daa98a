"""What holds of documents of every format, in whatever order, parts and company they come."""

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc_core.formats.model import About, Given, Record
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import Format
from svc_core.formats.table import FORMATS, Document, read, recognised
from svc_core.intel.folding import identity
from svc_core.intel.folding.contributions import CONTRIBUTIONS
from svc_core.intel.folding.writing import Taken
from svc_core.intel.intake import documents as intake
from svc_core.intel.intake.kinds import KINDS
from svc_core.testing.clock import START
from svc_http.run.demo.documents import data_documents, documents
from tests.sampling import examples

Make = Callable[..., Any]

# -- a store and what it shows -----------------------------------------------------------------

OURS = {"createdAt", "updatedAt", "recordedAt", "retrievedAt", "revision", "mergedIds", "storyId"}
"""What may depend on what came first (a news item's `updatedAt` is compared apart)."""


def told(value: Any) -> Any:
    """A JSON value without what may depend on what came first."""
    if isinstance(value, dict):
        return {name: told(one) for name, one in value.items() if name not in OURS}
    return [told(one) for one in value] if isinstance(value, list) else value


def shown(house: Any) -> dict[str, Any]:
    """Every row, and of rows that are not made yet what is said of them."""
    found: dict[str, Any] = {}
    for kind in KINDS.values():
        if kind.collection is not None:
            for row in _all(house, kind.collection):
                found[row.id] = told(json.loads(row.raw))
    for row in _all(house, CONTRIBUTIONS):
        one = CONTRIBUTIONS.decode(row.raw)
        if not one.gone:
            found[one.id] = (one.row, told(one.said), one.stamp)
    return found


def _all(house: Any, collection: Any) -> Sequence[Any]:
    return house.run(lambda ctx: ctx.tx.documents.scan(collection, limit=100_000)).rows


def take(house: Any, document: Document, location: str = "/a") -> Taken:
    """Take in a document of the source at this location, an hour later than the one before."""
    house.clock.advance(3_600)
    brought: Taken = house.take(house.add(location), document)
    return brought


def withdraw(house: Any, location: str) -> None:
    """Take back all that the source at this location brought."""
    id_ = house.add(location).id
    gone = house.run(lambda ctx: intake.contributions_from(ctx, id_))[0]
    while gone:
        house.run(lambda ctx, gone=gone: intake.withdraw(ctx, gone))
        gone = house.run(lambda ctx: intake.contributions_from(ctx, id_))[0]


# -- documents of every format -----------------------------------------------------------------


def _demo() -> dict[str, Document]:
    found: dict[str, Document] = {}
    for one in (*documents(START), *data_documents(START)):
        body = Body(one.body)
        given_ = Given(options=one.options, base_url=f"/demo/{one.file_name}", name=one.file_name)
        found[one.file_name] = read(body, recognised(body), given_)
    return found


DEMO = _demo()


@pytest.fixture(params=sorted(DEMO))
def document(request: pytest.FixtureRequest) -> Document:
    return DEMO[request.param]


def part(document: Document, records: Sequence[Record]) -> Document:
    """A document of the same format with some of the records, as a window has them."""
    window = attrs.evolve(document.format, kind="window")
    return attrs.evolve(document, format=window, records=tuple(records))


def test_a_document_taken_in_twice_writes_nothing_the_second_time(
    house: Any, document: Document
) -> None:
    first = take(house, document)
    assert (first.updated, first.deleted) == (0, 0)
    assert first.created + first.unchanged == len(document.records)
    assert shown(house)
    before, changes = shown(house), len(house.recorded())
    again = take(house, document)
    assert again == Taken(unchanged=len(document.records))
    assert (shown(house), len(house.recorded())) == (before, changes)


def test_parts_in_any_order_give_what_the_whole_gives(
    house_factory: Make, document: Document
) -> None:
    whole, parts = house_factory(), house_factory()
    take(whole, part(document, document.records))
    for start in (2, 1, 0):
        take(parts, part(document, document.records[start::3]))
    assert shown(parts) == shown(whole)


def test_what_one_of_two_sources_brought_is_withdrawn_alone(
    house_factory: Make, document: Document
) -> None:
    both, alone = house_factory(), house_factory()
    half = part(document, document.records[::2])
    take(alone, half, "/b")
    both.clock.advance(3_600)  # so that both are read at the same time
    take(alone, part(document, ()), "/a")
    for order in (("/a", "/b"), ("/b", "/a")):
        for location in order:
            take(both, document if location == "/a" else half, location)
        withdraw(both, "/a")
        assert shown(both) == shown(alone)
    withdraw(both, "/b")
    assert shown(both) == {}


def test_a_snapshot_takes_back_what_it_lacks(house: Any, document: Document) -> None:
    records = tuple(one for one in document.records if not one.gone)
    format_ = attrs.evolve(document.format, kind="snapshot")
    snapshot = attrs.evolve(document, format=format_, records=records)
    take(house, snapshot)
    kept = attrs.evolve(snapshot, records=snapshot.records[1:])
    take(house, kept)
    held = [CONTRIBUTIONS.decode(row.raw) for row in _all(house, CONTRIBUTIONS)]
    assert sum(not one.gone for one in held) == len(kept.records)
    take(house, attrs.evolve(snapshot, records=()))
    assert shown(house) == {}


# -- rows of several keys, of any kind ---------------------------------------------------------

KEYS = ("lei:A", "cik:1", "usgs:us7", "x:pr7")
JOINED = [kind.resource for kind in KINDS.values() if kind.is_joined]
ALONE = ["newsItem", "filing", "market", "relation"]

Saying = tuple[str, str, tuple[str, ...], int, str, bool]
"""Of which source, under which key, with which others, at which hour, what; or that it is gone."""

sayings = st.lists(
    st.tuples(
        st.sampled_from(["/a", "/b", "/c"]),
        st.sampled_from(KEYS),
        st.lists(st.sampled_from(KEYS), max_size=2).map(tuple),
        st.integers(0, 99),
        st.sampled_from(["One", "Two", "Three"]),
        st.booleans(),
    ),
    max_size=7,
    unique_by=lambda one: one[3],
)


ITEM: dict[str, Any] = {
    "summary": "", "text": "", "language": "en", "categories": (), "sourceUrl": None,
    "publishedAt": None, "publishedBasis": None, "updatedAt": None, "authors": (), "imageUrl": None,
}  # fmt: skip


def saying(resource: str, one: Saying, format_: Format = FORMATS["usgs"]) -> Document:
    """A document that says one thing."""
    _, key, also, hour, title, gone = one
    stamp = START - timedelta(hours=hour)
    if resource == "newsItem":
        key = f"https://pier.org/{key}"
        said = ITEM | {"title": title, "url": key}
    else:
        said = {"title": title, "type": "earthquake"}
    record = Record(resource, key, said, stamp, also, gone=gone)
    return Document(attrs.evolve(format_, kind="delta"), About(), (record,), ())


def said_in(house: Any, resource: str, order: Sequence[Saying]) -> dict[str, Any]:
    """What a store shows after these were said, in this order."""
    for one in order:
        take(house, saying(resource, one), one[0])
    return shown(house)


@given(st.sampled_from(JOINED + ALONE), sayings, st.randoms(use_true_random=False))
@examples(150)
def test_the_order_in_which_stamped_documents_come_does_not_matter(
    house_factory: Make, resource: str, order: list[Saying], random: Any
) -> None:
    first = said_in(house_factory(), resource, order)
    other = list(order)
    random.shuffle(other)
    house = house_factory()
    assert said_in(house, resource, other) == first
    changes = len(house.recorded())
    assert said_in(house, resource, other) == first
    assert len(house.recorded()) == changes


GONE_WITH_ANOTHER_KEY: list[Saying] = [
    ("/a", "lei:A", (), 3, "One", False),
    ("/b", "lei:A", (), 2, "One", False),
    ("/b", "lei:A", ("cik:1",), 0, "One", True),
    ("/b", "cik:1", (), 1, "One", False),
]
OLDER_WORDS_OF_A_JOINED_ROW: list[Saying] = [
    ("/a", "lei:A", ("cik:1",), 0, "One", False),
    ("/b", "cik:1", (), 1, "Two", False),
    ("/b", "cik:1", (), 3, "Two", False),
]


@given(st.sampled_from(JOINED + ALONE), sayings)
@example("osintEvent", GONE_WITH_ANOTHER_KEY)
@example("osintEvent", OLDER_WORDS_OF_A_JOINED_ROW)
@examples(150)
def test_withdrawing_a_source_leaves_what_the_others_give(
    house_factory: Make, resource: str, order: list[Saying]
) -> None:
    house = house_factory()
    said_in(house, resource, order)
    withdraw(house, "/a")
    assert shown(house) == said_in(
        house_factory(), resource, [one for one in order if one[0] != "/a"]
    )


def test_rows_of_more_contributions_than_a_page_are_folded_whole(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "ROWS_SCANNED", 2)
    monkeypatch.setattr(intake, "ROWS_SCANNED", 2)
    keys = tuple(f"usgs:{number}" for number in range(7))
    for hour, key in enumerate(keys):
        take(house, saying("osintEvent", ("/a", key, keys[-1:], hour, key, False)), f"/{key}")
    (row,) = _all(house, KINDS["osintEvent"].collection)
    assert len(json.loads(row.raw)["sources"]) == 7
    withdraw(house, f"/{keys[-1]}")
    assert len(_all(house, KINDS["osintEvent"].collection)) == 1
    snapshot = saying("osintEvent", ("/a", keys[0], (), 0, "One", False))
    for kind, records in (("window", 5), ("snapshot", 0)):
        told = tuple(attrs.evolve(snapshot.records[0], key=f"x:{n}") for n in range(records))
        format_ = attrs.evolve(snapshot.format, kind=kind)
        take(house, attrs.evolve(snapshot, format=format_, records=told), "/many")
    assert len(_all(house, CONTRIBUTIONS)) == 6


@given(sayings)
@examples(60)
def test_every_id_that_a_row_ever_had_leads_to_it(house_factory: Make, order: list[Saying]) -> None:
    house, ids = house_factory(), set[str]()
    for one in order:
        take(house, saying("osintEvent", one), one[0])
        live = {row.id for row in _all(house, KINDS["osintEvent"].collection)}
        ids |= live
        for id_ in ids:
            end = house.run(lambda ctx, id_=id_: identity.survivor(ctx, id_))
            assert end == id_ or id_ not in live
    last = {change.resource_id: change.change_type for change in house.recorded()}
    assert {id_ for id_, change in last.items() if change not in {"deleted", "merged"}} == (
        live if order else set()
    )


@pytest.mark.parametrize(("length", "rows"), [(3, 1), (4, 4), (9, 9)])
def test_a_chain_of_keys_is_one_row_only_as_long_as_a_thing_may_have_keys(
    house_factory: Make, length: int, rows: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity, "ALIKE_MAX", 3)
        patch.setattr(identity, "HOPS_MAX", 2)
        house = house_factory()
        for number in range(length):
            key, after = f"usgs:{number}", f"usgs:{number + 1}"
            take(
                house, saying("osintEvent", ("/", key, (after,), number, key, False)), f"/{number}"
            )
    assert len(_all(house, KINDS["osintEvent"].collection)) == rows


ALIKE = tuple(f"usgs:{number}" for number in range(6))


@given(st.permutations(range(len(ALIKE))), st.integers(0, len(ALIKE)))
@examples(30)
def test_a_key_that_many_rows_have_joins_none_of_them_in_whatever_order(
    house_factory: Make, order: list[int], gone: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity, "ALIKE_MAX", 3)
        patch.setattr(identity, "ROWS_SCANNED", 2)
        house = house_factory()
        for number in order:
            key = ALIKE[number]
            one = saying("osintEvent", ("/", key, ("x:0000",), number, key, False))
            take(house, one, f"/{number}")
        for number in order[:gone]:
            withdraw(house, f"/{number}")
    rows = len(_all(house, KINDS["osintEvent"].collection))
    left = len(ALIKE) - gone
    assert rows == (left if left > 3 else min(left, 1))
