"""Facts in the order of filing: what supersedes what, against an oracle, in whatever order."""

import json
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import Document, read_document, recognise_format
from svc_core.intel.economy.statement import OBSERVATIONS
from svc_core.intel.intake import record_intake as documents
from svc_core.intel.linking.references import id_of
from tests.sampling import examples

Make = Callable[..., Any]
Row = dict[str, Any]

ENTITY = id_of("cik:0000000001")

CONCEPTS = {  # with the metric of each and its place among those of the metric
    "Revenues": ("revenue", 0),
    "SalesRevenueNet": ("revenue", 1),
    "StockholdersEquity": ("equity", 0),
    "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest": ("equity", 1),
    "Goodwill": (None, 0),
}
INSTANTS = {name for name in CONCEPTS if name.startswith(("Stock", "Good"))}
EQUITY, WITH_OTHERS = sorted(INSTANTS - {"Goodwill"}, key=len)
FIRST = date(2019, 2, 1)


class Fact(NamedTuple):
    """One fact of a filing: the filing counts days, its form may be an amendment."""

    concept: str
    year: int
    filing: int
    is_amended: bool
    value: int

    @property
    def filing_date(self) -> date:
        return FIRST + timedelta(days=self.filing // 2)  # two filings each day

    @property
    def accession(self) -> str:
        return f"0000000001-19-{self.filing:06}{'9' if self.is_amended else ''}"

    @property
    def place(self) -> tuple[Any, ...]:
        return self.filing_date, self.is_amended, self.accession

    @property
    def row(self) -> Row:
        start = {} if self.concept in INSTANTS else {"start": f"{self.year}-01-01"}
        return start | {
            "end": f"{self.year}-12-31",
            "val": self.value,
            "accn": self.accession,
            "form": "10-K/A" if self.is_amended else "10-K",
            "filed": self.filing_date.isoformat(),
        }


facts = st.lists(
    st.builds(
        Fact,
        st.sampled_from(sorted(CONCEPTS)),
        st.integers(2015, 2017),
        st.integers(0, 7),
        st.booleans(),
        st.integers(1, 2),
    ),
    max_size=14,
    unique_by=lambda fact: (fact.concept, fact.year, fact.accession),
)


def companyfacts(facts_: Sequence[Fact]) -> Document:
    """The document that has these facts."""
    concepts: dict[str, Any] = {}
    for fact in facts_:
        units = concepts.setdefault(fact.concept, {"label": None, "units": {"USD": []}})["units"]
        units["USD"].append(fact.row)
    company = {"cik": 1, "entityName": "Quay Inc.", "facts": {"us-gaap": concepts}}
    body = Body(json.dumps(company).encode())
    return read_document(body, recognise_format(body), Origin(name="facts.json"))


def rows_of(house: Any) -> dict[str, Row]:
    """The rows of a store, by their ids, without what tells when they were written."""
    page = house.run(lambda ctx: ctx.tx.documents.scan(OBSERVATIONS, limit=10_000))
    rows = [json.loads(row.raw) for row in page.rows]
    own_members = {"createdAt", "updatedAt", "revision", "sources"}
    return {row["id"]: {k: v for k, v in row.items() if k not in own_members} for row in rows}


# -- the oracle --------------------------------------------------------------------------------


def main_of(facts_: Sequence[Fact], fact: Fact) -> str:
    """The concept by which the filing of this fact states its metric."""
    metric = CONCEPTS[fact.concept][0]
    alike = [
        other
        for other in facts_
        if other.accession == fact.accession and CONCEPTS[other.concept][0] == metric
    ]
    latest = max(other.year for other in alike)
    names = {other.concept for other in alike if other.year == latest}
    return min(names, key=lambda name: CONCEPTS[name][1])


def metric_of(facts_: Sequence[Fact], fact: Fact) -> str | None:
    """The metric that a fact states, among all that had been filed by then."""
    metric, rank = CONCEPTS[fact.concept]
    if metric is None or fact.concept == main_of(facts_, fact):
        return metric
    if fact.concept == WITH_OTHERS:
        return None
    rivals = [
        other
        for other in facts_
        if other.year == fact.year and CONCEPTS[other.concept][0] == metric and other != fact
    ]
    has_main = any(
        other.filing_date <= fact.filing_date and other.concept == main_of(facts_, other)
        for other in rivals
    )
    has_better = any(
        other.accession == fact.accession and CONCEPTS[other.concept][1] < rank for other in rivals
    )
    return None if has_main or has_better else metric


def expected_rows(facts_: Sequence[Fact], day: date | None = None) -> set[tuple[Any, ...]]:
    """What had been filed by a day: what is stated, of which year, by which filing, and how."""
    newest: dict[Any, tuple[Fact, bool]] = {}
    for fact in sorted(facts_, key=lambda fact: fact.place):
        line = metric_of(facts_, fact) or fact.concept, fact.year
        if day is None or fact.filing_date <= day:
            last, was = newest.get(line, (fact, False))
            newest[line] = fact, was or last.value != fact.value
    return {
        (*line, fact.accession, fact.concept, fact.value, is_restated)
        for line, (fact, is_restated) in newest.items()
    }


def listed_rows(house: Any, query: str = "") -> set[tuple[Any, ...]]:
    """What the list shows, in the same form."""
    page = house.send(
        "listFinancialObservations", path={"entityId": ENTITY}, query=f"limit=100&{query}"
    )
    return {
        (
            row["metric"] or row["concept"]["name"],
            int(row["periodEnd"][:4]),
            row["filing"]["accession"],
            row["concept"]["name"],
            row["value"],
            row["restated"],
        )
        for row in json.loads(page.body)["data"]
    }


def take(house: Any, document: Document, location: str, parts: Sequence[slice]) -> None:
    """Take in parts of a document, each in a unit of its own."""
    source = house.add(location)
    for part in parts:
        batch = documents.record_readings(source, document, document.records[part], set())
        ready = [documents.judge_reading(source, item, house.clock.now()) for item in batch]
        house.run(lambda ctx, ready=ready: documents.write_readings(ctx, ready))


def parts_of(document: Document, size: int, random: Any) -> list[slice]:
    """The parts of a document of this size, in any order."""
    parts = [slice(at, at + size) for at in range(0, len(document.records), size)]
    random.shuffle(parts)
    return parts


DAYS = [FIRST + timedelta(days=number) for number in range(-1, 5)]


# -- laws --------------------------------------------------------------------------------------


@given(facts, st.integers(1, 5), st.randoms(use_true_random=False))
@examples(150)
def test_what_had_been_filed_by_a_day_is_shown_in_whatever_order_it_was_read(
    house_factory: Make, facts_: list[Fact], size: int, random: Any
) -> None:
    house, document = house_factory(), companyfacts(facts_)
    take(house, document, "/a", parts_of(document, size, random))
    assert listed_rows(house) == expected_rows(facts_)
    for day in DAYS:
        assert listed_rows(house, f"asOf={day}") == expected_rows(facts_, day)
    assert len(rows_of(house)) == len(facts_)


@given(facts)
def test_rows_of_one_fact_are_one_chain_from_the_first_filed_to_the_last(
    house_factory: Make, facts_: list[Fact]
) -> None:
    house, document = house_factory(), companyfacts(facts_)
    take(house, document, "/a", [slice(None)])
    rows = rows_of(house)
    for row in rows.values():
        later = rows.get(row["supersededById"] or "")
        if later is not None:
            assert later["supersedesId"] == row["id"]
            assert (later["fact"], later["metric"]) == (row["fact"], row["metric"])
            assert later["filing"]["filedDate"] >= row["filing"]["filedDate"]
            assert row["supersededDate"] == later["filing"]["filedDate"]
    last = [row for row in rows.values() if row["supersededById"] is None]
    assert len(last) == len(expected_rows(facts_))
    first = [row for row in rows.values() if row["supersedesId"] is None]
    assert len(first) == len(last)
    assert not any(row["restated"] for row in first)


@given(facts, st.integers(0, 4), st.booleans())
@examples(150)
def test_an_older_document_changes_nothing_and_stays_when_the_newer_is_withdrawn(
    house_factory: Make, facts_: list[Fact], days: int, is_first: bool
) -> None:
    older = [fact for fact in facts_ if fact.filing_date < FIRST + timedelta(days=days)]
    alone, whole, both_houses = house_factory(), house_factory(), house_factory()
    take(alone, companyfacts(older), "/b", [slice(None)])
    take(whole, companyfacts(facts_), "/a", [slice(None)])
    order = [("/b", older), ("/a", facts_)] if is_first else [("/a", facts_), ("/b", older)]
    for location, facts_of_document in order:
        take(both_houses, companyfacts(facts_of_document), location, [slice(None)])
    assert rows_of(both_houses) == rows_of(whole)
    counts = both_houses.run(lambda ctx: ctx.tx.documents.scan(OBSERVATIONS, limit=1_000)).rows
    take(both_houses, companyfacts(facts_), "/a", [slice(None)])
    assert (
        both_houses.run(lambda ctx: ctx.tx.documents.scan(OBSERVATIONS, limit=1_000)).rows == counts
    )
    id_ = both_houses.add("/a").id
    claims = both_houses.run(lambda ctx: documents.absent_contributions(ctx, id_, set()))[0]
    both_houses.run(lambda ctx: documents.withdraw(ctx, claims))
    assert rows_of(both_houses) == rows_of(alone)


# -- tables ------------------------------------------------------------------------------------

STATEMENTS = [
    (
        "the concept changes, and what the newer filing says of the year before is newer",
        [
            Fact("SalesRevenueNet", 2015, 0, False, 1),
            Fact("Revenues", 2016, 2, False, 2),
            Fact("Revenues", 2015, 2, False, 2),
        ],
        {("revenue", 2015, "Revenues", 2, True), ("revenue", 2016, "Revenues", 2, False)},
    ),
    (
        "older years of another concept do not take the place of what the filings stated",
        [
            Fact(EQUITY, 2015, 0, False, 1),
            Fact(EQUITY, 2016, 2, False, 1),
            Fact(WITH_OTHERS, 2016, 2, False, 2),
            Fact(WITH_OTHERS, 2015, 2, False, 2),
        ],
        {
            ("equity", 2015, EQUITY, 1, False),
            ("equity", 2016, EQUITY, 1, False),
            (WITH_OTHERS, 2015, WITH_OTHERS, 2, False),
            (WITH_OTHERS, 2016, WITH_OTHERS, 2, False),
        },
    ),
    (
        "an older year that no filing stated is known by another concept of the same",
        [Fact("Revenues", 2016, 2, False, 1), Fact("SalesRevenueNet", 2015, 2, False, 2)],
        {("revenue", 2016, "Revenues", 1, False), ("revenue", 2015, "SalesRevenueNet", 2, False)},
    ),
    (
        "and stays unknown where there is only a wider one, unless the filing has no other",
        [
            Fact(EQUITY, 2016, 2, False, 1),
            Fact(WITH_OTHERS, 2015, 2, False, 2),
            Fact(WITH_OTHERS, 2017, 4, False, 2),
        ],
        {
            ("equity", 2016, EQUITY, 1, False),
            (WITH_OTHERS, 2015, WITH_OTHERS, 2, False),
            ("equity", 2017, WITH_OTHERS, 2, False),
        },
    ),
    (
        "of one day an amendment is newer; what is repeated after it stays restated",
        [
            Fact("Goodwill", 2015, 1, False, 1),
            Fact("Goodwill", 2015, 0, True, 2),
            Fact("Goodwill", 2015, 4, False, 2),
        ],
        {("Goodwill", 2015, "Goodwill", 2, True)},
    ),
]


@pytest.mark.parametrize(
    ("facts_", "rows_"), [case[1:] for case in STATEMENTS], ids=[case[0] for case in STATEMENTS]
)
def test_a_year_has_the_figure_that_was_filed_last(
    house: Any, facts_: list[Fact], rows_: set[Any]
) -> None:
    take(house, companyfacts(facts_), "/a", [slice(None)])
    assert {(*row[:2], *row[3:]) for row in listed_rows(house)} == rows_


def test_concepts_that_come_one_by_one_state_a_metric_once(house: Any) -> None:
    facts_ = [Fact("SalesRevenueNet", 2015, 0, False, 1), Fact("Revenues", 2015, 0, False, 2)]
    for fact in facts_:
        take(house, companyfacts([fact]), fact.concept, [slice(None)])
    assert [row[3:5] for row in listed_rows(house, "metric=revenue")] == [("Revenues", 2)]
