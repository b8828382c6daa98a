"""The rows of company finance: facts that filings report, and the filings themselves.

One row is one fact of one filing, for instance the revenue of a year in a 10-K. The rows of one
fact supersede each other in the order of filing, so for every day one can tell which value had
been filed by then.
"""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Annotated, Literal

from attrs import NOTHING, frozen

from svc_core.base.unset import UNSET
from svc_core.operation.declaration import PATH, QUERY, In
from svc_core.operation.filters import ORDER, FilterFields, FilterValues, sort_orders
from svc_core.operation.members import CreatedAt, EntityId, ObservationId, PageRequest, UpdatedAt
from svc_core.operation.period import Moment, Period, parse_period
from svc_core.operation.ports import BASE_V2, Collection, Layout
from svc_core.operation.source_members import SourceRef
from svc_core.wire.constraints import Example, Ge, Pattern

Metric = Literal[
    "revenue", "netIncome", "assets", "liabilities", "equity", "cash", "operatingCashFlow",
    "capex", "rdExpense", "epsBasic", "epsDiluted", "sharesOutstanding",
]  # fmt: skip
PeriodType = Literal["duration", "instant"]

NEVER = date.max.toordinal()
"""The day that rows have for `superseded` which no other row supersedes."""


# -- observations ------------------------------------------------------------------------------


@frozen
class Concept:
    """What is reported, in the words of an XBRL taxonomy."""

    taxonomy: Annotated[str, Example("us-gaap")]
    """us-gaap, ifrs-full, dei or srt."""
    name: Annotated[str, Example("Revenues")]
    """Its name there."""
    label: Annotated[str | None, Example("Revenues")] = None
    """In words; null where untold."""


@frozen
class ReportedIn:
    """The filing that reports a fact, and the period that the filing itself is about."""

    accession: Annotated[str, Example("0000320193-18-000145")]
    """Its accession number."""
    form: Annotated[str | None, Example("10-K")]
    """Its form."""
    filed_date: Annotated[date | None, Example("2018-11-05")]
    """When it was filed."""
    fiscal_year: Annotated[int | None, Example(2018)]
    """The year it is about."""
    fiscal_period: Annotated[str | None, Example("FY")]
    """The period it is about."""
    url: Annotated[str, Example("https://www.sec.gov/Archives/edgar/data/1")]
    """Its address."""


@frozen(kw_only=True, slots=False)
class FinancialObservation:
    """One fact as one filing reports it."""

    id: ObservationId
    entity_id: EntityId
    concept: Concept
    metric: Annotated[Metric | None, Example("revenue")]
    """The one that it states, if any."""
    value: Annotated[float, Example(265595000000)]
    """Exactly as reported; money is whole."""
    unit: Annotated[str | None, Example(None)]
    """UCUM; null for plain money."""
    currency: Annotated[str | None, Example("USD")]
    """ISO 4217; null for no money."""
    period_type: Annotated[PeriodType, Example("duration")]
    """A span of days, or one day."""
    period_start: Annotated[date | None, Example("2017-10-01")]
    """First day; null for one day."""
    period_end: Annotated[date, Example("2018-09-29")]
    """Its last day."""
    period_months: Annotated[int | None, Example(12)]
    """3, 6, 9 or 12; null for other spans."""
    fiscal_year: Annotated[int | None, Example(2018)]
    """Of the period, by its dates."""
    fiscal_period: Annotated[str | None, Example("FY")]
    """FY, Q1 to Q4, H1, H2, M9, likewise."""
    filing: ReportedIn
    frame: Annotated[str | None, Example("CY2018")]
    """The SEC's frame, where it picked it."""
    restated: bool = False
    """Whether a filing before it reported another value."""
    supersedes_id: ObservationId | None = None
    """The same in the filing before."""
    superseded_by_id: ObservationId | None = None
    """The same in the next filing."""
    sources: tuple[SourceRef, ...]
    """What the row was made from."""
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Example(1)]
    """Counts its versions from 1."""

    @property
    def concept_name(self) -> str:
        """The concept with its taxonomy: `us-gaap:Revenues`."""
        return f"{self.concept.taxonomy}:{self.concept.name}"


@frozen(kw_only=True, slots=False)
class StoredObservation(FinancialObservation):
    """A row as it is stored: `fact` is what rows that may supersede each other have in common.

    `superseded_date` is when the row that supersedes it was filed, and `repeated_date` when its
    concept was filed next. Readers do not see these members, which come last.
    """

    fact: str
    superseded_date: date | None = None
    repeated_date: date | None = None


def _filing_day(row: StoredObservation) -> int | None:
    day = row.filing.filed_date
    return None if day is None else day.toordinal()


def _day(day: date | None) -> int:
    return (day or date.max).toordinal()


TAXONOMIES = ("us-gaap", "ifrs-full", "dei", "srt", "invest", "ecd", "cyd", "ffd")
"""The taxonomies in which a concept that is sent without one is looked up."""

_SPANS = ("3", "6", "9", "12", "None")
"""The lengths of durations in months, as rows are indexed by them; `None` is any other length."""


def _concepts(codes: Iterable[str]) -> list[str]:
    """Concepts with their taxonomies: all of them where none is sent."""
    return [
        name
        for code in codes
        for name in ([code] if ":" in code else [f"{scheme}:{code}" for scheme in TAXONOMIES])
    ]


def _lengths(types: Iterable[PeriodType]) -> list[str]:
    return [span for kind in types for span in (("instant",) if kind == "instant" else _SPANS)]


_OBSERVATION = FilterFields[StoredObservation]()


@frozen
class ListFinancialObservations(PageRequest):
    """What was reported of one company."""

    entity_id: Annotated[EntityId, PATH] = _OBSERVATION.key(
        lambda row: row.entity_id, "entity", choose=lambda id_: (id_,), default=NOTHING
    )
    metric: Annotated[FilterValues[Metric], Example(["revenue"])] = _OBSERVATION.key(
        lambda row: row.metric
    )
    """Comma list of metrics."""
    concept: Annotated[
        FilterValues[
            Annotated[str, Pattern("(?:[a-z0-9-]{1,40}:)?[A-Za-z0-9]{1,250}", "a concept")]
        ],
        Example(["us-gaap:Revenues", "Assets"]),
    ] = _OBSERVATION.key(lambda row: row.concept_name, choose=_concepts)
    """Comma list of concepts, each with its taxonomy or without."""
    period_type: FilterValues[PeriodType] = _OBSERVATION.key(
        lambda row: "instant" if row.period_start is None else str(row.period_months),
        "length",
        choose=_lengths,
    )
    """Comma list of `duration`, `instant`."""
    months: FilterValues[Literal["3", "6", "9", "12"]] = _OBSERVATION.key(index="length")
    """Comma list of lengths."""
    from_: Annotated[Period, In("query", "from")] = _OBSERVATION.number(
        None, ORDER, lambda text: (parse_period("from", text).start.toordinal(), None)
    )
    """Ends in it or later."""
    to: Annotated[Period, QUERY, Example("2024-Q3")] = _OBSERVATION.number(
        None, ORDER, lambda text: (None, parse_period("to", text).end.toordinal())
    )
    """Ends in it or before."""
    as_of: Moment = UNSET
    """As filed by this date (of an instant, in UTC)."""
    include_superseded: Annotated[bool, QUERY] = False
    """Include facts that later filings superseded."""
    sort: Annotated[Literal["periodEnd", "filedDate"], QUERY] = sort_orders(
        "periodEnd", filedDate="filed"
    )
    """The last to end, or to be filed, comes first."""


OBSERVATIONS: Collection[StoredObservation] = Collection(
    name="financial_observations",
    model=StoredObservation,
    prefix="obs",
    order=lambda row: row.period_end.toordinal(),
    scope="global",
    layout=Layout(
        is_compressed=True,
        is_filtered=True,
        beside=("length", "filed", "superseded", "repeated"),
        distinctive=("fact",),
    ),
    **_OBSERVATION.indexes(
        ListFinancialObservations,
        keys={"fact": lambda row: row.fact},
        numbers={
            "filed": _filing_day,
            "superseded": lambda row: _day(row.superseded_date),
            "repeated": lambda row: _day(row.repeated_date),
        },
    ),
    base=BASE_V2,
)
"""Ordered by the last day of the period. `length` is `instant`, the months of a span (3, 6, 9, 12),
or `None` for a span of any other length.

Changes are not published: no route reads one row, and one company has tens of thousands of them.
"""


# -- filings -----------------------------------------------------------------------------------


@frozen(kw_only=True)
class Filing:
    """One filing of a company."""

    id: ObservationId
    entity_id: EntityId
    cik: Annotated[str, Example("0000789019")]
    """The SEC's number of the company."""
    accession: Annotated[str, Example("0001193125-24-011295")]
    """Its accession number."""
    form: Annotated[str, Example("8-K")]
    """Its form."""
    filed_date: Annotated[date, Example("2024-01-19")]
    """When it was filed."""
    report_date: date | None
    """The day or the period's end it is about."""
    accepted_at: datetime | None
    """When the SEC took it in."""
    items: Annotated[tuple[str, ...] | None, Example(["1.05"])]
    """Of an 8-K; null if untold."""
    description: Annotated[str | None, Example("8-K")]
    """In the filer's words."""
    url: Annotated[str, Example("https://www.sec.gov/Archives/edgar/data/1")]
    """Its address."""
    sources: tuple[SourceRef, ...]
    """What the row was made from."""
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Example(1)]
    """Counts its versions from 1."""


FILINGS: Collection[Filing] = Collection(
    name="filings",
    model=Filing,
    prefix="obs",
    order=lambda row: row.filed_date.toordinal(),
    scope="global",
    layout=Layout(is_compressed=True),
    keys={"entity": lambda row: row.entity_id, "form": lambda row: row.form},
    facets={"item": lambda row: row.items or ()},
    base=BASE_V2,
)
"""Ordered by the day of filing. Changes are not published, as no route reads one row."""
