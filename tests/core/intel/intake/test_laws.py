"""What holds of documents of every format, in whatever order, parts and company they come."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from random import Random
from typing import Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.formats.model import Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import Format
from svc_core.formats.table import FORMATS, Document, read_document, recognise_format
from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.folding import identity
from svc_core.intel.folding.contributions import CONTRIBUTIONS
from svc_core.intel.folding.model import RowCounts
from svc_core.intel.intake import record_intake as intake
from svc_core.intel.intake.kinds import KINDS
from svc_core.testing.clock import START
from svc_http.run.demo.demo_feeds import data_documents, demo_documents
from tests.sampling import examples

Make = Callable[..., Any]

# -- a store and what it shows -----------------------------------------------------------------

OWN_MEMBERS = {
    "createdAt",
    "updatedAt",
    "recordedAt",
    "retrievedAt",
    "revision",
    "mergedIds",
    "storyId",
}
"""What may depend on what came first (a news item's `updatedAt` is compared apart)."""


def without_own(value: Any) -> Any:
    """A JSON value without what may depend on what came first."""
    if isinstance(value, dict):
        return {name: without_own(part) for name, part in value.items() if name not in OWN_MEMBERS}
    return [without_own(part) for part in value] if isinstance(value, list) else value


def state_of(house: Any) -> dict[str, Any]:
    """Every row, and of rows that are not made yet what is said of them."""
    state: dict[str, Any] = {}
    for kind in KINDS.values():
        if kind.collection is not None:
            for row in house.stored(kind.collection):
                state[getattr(row, "id", None) or row.country_code] = without_own(wire.to_json(row))
    for claim in house.stored(CONTRIBUTIONS):
        if not claim.gone:
            state[claim.id] = (claim.row, without_own(claim.said), claim.stamp)
    return state


def take(house: Any, document: Document, location: str = "/a") -> RowCounts:
    """Take in a document of the source at this location, an hour later than the one before."""
    house.clock.advance(3_600)
    counts: RowCounts = house.take(house.add(location), document)
    return counts


# -- documents of every format -----------------------------------------------------------------


def _demo() -> dict[str, Document]:
    by_format: dict[str, Document] = {}
    for demo_document in (*demo_documents(START), *data_documents(START)):
        body = Body(demo_document.body)
        hints = Origin(
            options=demo_document.options,
            base_url=f"/demo/{demo_document.file_name}",
            name=demo_document.file_name,
        )
        by_format[demo_document.file_name] = read_document(body, recognise_format(body), hints)
    return by_format


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
    assert state_of(house)
    before, changes = state_of(house), len(house.change_records())
    again = take(house, document)
    assert again == RowCounts(unchanged=len(document.records))
    assert (state_of(house), len(house.change_records())) == (before, changes)


def test_parts_in_any_order_give_what_the_whole_gives(
    house_factory: Make, document: Document
) -> None:
    whole, parts = house_factory(), house_factory()
    take(whole, part(document, document.records))
    for start in (2, 1, 0):
        take(parts, part(document, document.records[start::3]))
    assert state_of(parts) == state_of(whole)


def test_what_one_of_two_sources_brought_is_withdrawn_alone(
    house_factory: Make, document: Document
) -> None:
    both_houses, alone = house_factory(), house_factory()
    half = part(document, document.records[::2])
    take(alone, half, "/b")
    both_houses.clock.advance(3_600)  # so that both are read at the same time
    take(alone, part(document, ()), "/a")
    for order in (("/a", "/b"), ("/b", "/a")):
        for location in order:
            take(both_houses, document if location == "/a" else half, location)
        both_houses.withdraw("/a")
        assert state_of(both_houses) == state_of(alone)
    both_houses.withdraw("/b")
    assert state_of(both_houses) == {}


def test_a_snapshot_takes_back_what_it_lacks(house: Any, document: Document) -> None:
    records = tuple(record for record in document.records if not record.is_withdrawn)
    format_ = attrs.evolve(document.format, kind="snapshot")
    snapshot = attrs.evolve(document, format=format_, records=records)
    take(house, snapshot)
    remaining = attrs.evolve(snapshot, records=snapshot.records[1:])
    take(house, remaining)
    assert sum(not claim.gone for claim in house.stored(CONTRIBUTIONS)) == len(remaining.records)
    take(house, attrs.evolve(snapshot, records=()))
    assert state_of(house) == {}


# -- rows of several keys, of any kind ---------------------------------------------------------

KEYS = ("lei:A", "cik:1", "usgs:us7", "x:pr7")

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
    unique_by=lambda saying_: saying_[3],
)


ITEM: dict[str, Any] = {
    "summary": "", "text": "", "language": "en", "categories": (), "sourceUrl": None,
    "publishedAt": None, "publishedBasis": None, "updatedAt": None, "authors": (), "imageUrl": None,
}  # fmt: skip
INDICATOR: dict[str, Any] = {
    "indicatorCode": "S", "area": {"countryCode": "EC", "code": "EC", "label": None},
    "frequency": "A", "period": "2025", "periodStart": "2025-01-01", "periodEnd": "2025-12-31",
}  # fmt: skip
FACT: dict[str, Any] = {
    "entity": "cik:1", "concept": {"taxonomy": "us-gaap", "name": "Revenues", "label": None},
    "periodType": "duration", "periodEnd": "2025-12-31",
    "filing": {"accession": "1", "form": "10-K", "filedDate": "2026-01-30", "fiscalYear": 2025,
               "fiscalPeriod": "FY", "url": "https://sec.example"},
}  # fmt: skip
MEMBERS: dict[str, dict[str, Any]] = {
    "newsItem": ITEM, "country": {"countryCode": "EC"}, "indicator": INDICATOR,
    "entity": {"type": "company"}, "market": {"providerMarketId": "902001"},
    "cve": {"cveId": "CVE-2026-0001"},
    "financialObservation": FACT,
    "relation": {"type": "owns", "directed": True, "attributes": {}},
}  # fmt: skip
"""What a record of a kind says beside its title or name, where that makes no row."""


def saying(resource: str, statement: Saying, format_: Format = FORMATS["usgs"]) -> Document:
    """A document that says one thing."""
    _, key, also, hour, title, is_gone = statement
    stamp = START - timedelta(hours=hour)
    if resource == "newsItem":
        key = f"https://pier.org/{key}"
    words = {"title": title, "name": title, "question": title, "url": key, "source": f"x:{title}"}
    measure = {"type": "earthquake", "target": "lei:A", "value": len(title)}
    members = measure | words | MEMBERS.get(resource, {})
    record = Record(resource, key, members, stamp, also, is_withdrawn=is_gone)
    return Document(attrs.evolve(format_, kind="delta"), Metadata(), (record,), ())


def said_in(house: Any, resource: str, order: Sequence[Saying]) -> dict[str, Any]:
    """What a store shows after these were said, in this order."""
    for statement in order:
        take(house, saying(resource, statement), statement[0])
    return state_of(house)


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


@pytest.mark.parametrize("resource", KINDS)
@given(sayings, st.randoms(use_true_random=False))
@example(GONE_WITH_ANOTHER_KEY, Random(1))
@example(OLDER_WORDS_OF_A_JOINED_ROW, Random(1))
@examples(25)
def test_rows_of_every_kind_depend_on_what_is_said_and_on_nothing_else(
    house_factory: Make, resource: str, order: list[Saying], random: Any
) -> None:
    first = said_in(house_factory(), resource, order)
    other_order = list(order)
    random.shuffle(other_order)
    house = house_factory()
    assert said_in(house, resource, other_order) == first
    changes = len(house.change_records())
    assert said_in(house, resource, other_order) == first
    assert len(house.change_records()) == changes
    house.withdraw("/a")
    others = [statement for statement in order if statement[0] != "/a"]
    assert state_of(house) == said_in(house_factory(), resource, others)


def test_rows_of_more_contributions_than_a_page_are_folded_whole(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "ROWS_SCANNED", 2)
    monkeypatch.setattr(intake, "ROWS_SCANNED", 2)
    keys = tuple(f"usgs:{number}" for number in range(7))
    for hour, key in enumerate(keys):
        take(house, saying("osintEvent", ("/a", key, keys[-1:], hour, key, False)), f"/{key}")
    (row,) = house.stored(OSINT_EVENTS)
    assert len(row.sources) == 7
    house.withdraw(f"/{keys[-1]}")
    assert len(house.stored(OSINT_EVENTS)) == 1
    snapshot = saying("osintEvent", ("/a", keys[0], (), 0, "One", False))
    for kind, records in (("window", 5), ("snapshot", 0)):
        copies = tuple(attrs.evolve(snapshot.records[0], key=f"x:{n}") for n in range(records))
        format_ = attrs.evolve(snapshot.format, kind=kind)
        take(house, attrs.evolve(snapshot, format=format_, records=copies), "/many")
    assert len(house.stored(CONTRIBUTIONS)) == 6


@given(sayings)
@examples(60)
def test_every_id_that_a_row_ever_had_leads_to_it(house_factory: Make, order: list[Saying]) -> None:
    house, ids = house_factory(), set[str]()
    for statement in order:
        take(house, saying("osintEvent", statement), statement[0])
        live = {row.id for row in house.stored(OSINT_EVENTS)}
        ids |= live
        for id_ in ids:
            end = house.run(lambda ctx, id_=id_: identity.survivor(ctx, id_))
            assert end == id_ or id_ not in live
    last = {change.resource_id: change.change_type for change in house.change_records()}
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
    assert len(house.stored(OSINT_EVENTS)) == rows


ALIKE = tuple(f"usgs:{number}" for number in range(6))


@given(st.permutations(range(len(ALIKE))), st.integers(0, len(ALIKE)))
@examples(30)
def test_a_key_that_many_rows_have_joins_none_of_them_in_whatever_order(
    house_factory: Make, order: list[int], count: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity, "ALIKE_MAX", 3)
        patch.setattr(identity, "ROWS_SCANNED", 2)
        house = house_factory()
        for number in order:
            key = ALIKE[number]
            statement = saying("osintEvent", ("/", key, ("x:0000",), number, key, False))
            take(house, statement, f"/{number}")
        for number in order[:count]:
            house.withdraw(f"/{number}")
    rows = len(house.stored(OSINT_EVENTS))
    rest = len(ALIKE) - count
    assert rows == (rest if rest > 3 else min(rest, 1))
