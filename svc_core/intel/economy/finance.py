"""Lists the financial facts that a company reported, as filed today or by an earlier day.

Rule 1: of a fact that several filings report, the newest is listed; with `asOf` the newest that
        had been filed by that day.
Rule 2: a metric has one row for each period, whichever concepts state it. A query by concept
        lists the newest row of that concept.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Unset
from svc_core.contract.result import Page
from svc_core.intel.economy.statement import (
    FILINGS,
    NEVER,
    OBSERVATIONS,
    Filing,
    FinancialObservation,
    Metric,
    PeriodType,
)
from svc_core.intel.entities import directory
from svc_core.intel.folding.read_declarations import FININT, workspace_reading
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, QUERY, In, Operation
from svc_core.operation.filters import ALTERNATIVES, FilterValues, Range, sent_filters
from svc_core.operation.members import Cursor, EntityId, Limit
from svc_core.operation.period import Moment, Period, parse_moment, parse_period
from svc_core.operation.ports.documents import RowBounds
from svc_core.wire.constraints import Doc, Example, Pattern

TAXONOMIES = ("us-gaap", "ifrs-full", "dei", "srt", "invest", "ecd", "cyd", "ffd")
"""The taxonomies in which a concept that is sent without one is looked up."""

SPANS = ("3", "6", "9", "12", "None")
"""The lengths of durations in months, as rows are indexed by them; `None` is any other length."""


@frozen
class ListFinancialObservations:
    """What was reported of one company."""

    entity_id: Annotated[EntityId, PATH]
    metric: Annotated[FilterValues[Metric], Doc("Comma list of metrics."), Example(["revenue"])] = (
        UNSET
    )
    concept: Annotated[
        FilterValues[
            Annotated[str, Pattern("(?:[a-z0-9-]{1,40}:)?[A-Za-z0-9]{1,250}", "a concept")]
        ],
        Doc("Comma list of concepts, each with its taxonomy or without."),
        Example(["us-gaap:Revenues", "Assets"]),
    ] = UNSET
    period_type: Annotated[
        FilterValues[PeriodType], Doc("Comma list of `duration`, `instant`.")
    ] = UNSET
    months: Annotated[FilterValues[Literal["3", "6", "9", "12"]], Doc("Comma list of lengths.")] = (
        UNSET
    )
    from_: Annotated[Period, In("query", "from"), Doc("Ends in it or later.")] = UNSET
    to: Annotated[Period, QUERY, Doc("Ends in it or before."), Example("2024-Q3")] = UNSET
    as_of: Annotated[Moment, Doc("As filed by this date (of an instant, in UTC).")] = UNSET
    include_superseded: Annotated[bool, QUERY, Doc("Also what later filings superseded.")] = False
    sort: Annotated[
        Literal["periodEnd", "filedDate"],
        QUERY,
        Doc("The last to end, or to be filed, comes first."),
    ] = "periodEnd"
    limit: Limit = 20
    cursor: Cursor = UNSET


async def list_financial_observations(
    ctx: Context, request: ListFinancialObservations
) -> Page[FinancialObservation]:
    """A page of the facts that a company reported.

    Raises:
        Problem: NOT_FOUND, INVALID_PARAMETER for a date that does not exist, INVALID_CURSOR.
    """
    entity_id = request.entity_id
    entity = await directory.answering_row(ctx, entity_id)
    page = await ctx.page(
        OBSERVATIONS,
        where=_filters(request) | {"entity": await directory.keys_of_ids(ctx, [entity_id])},
        order="filed" if request.sort == "filedDate" else None,
        after=request.cursor,
        limit=request.limit,
        **_bounds(request),
    )
    rows = tuple(public_row(raw, entity.id) for raw in page.rows)
    return Page[FinancialObservation](rows, page.next_cursor)


def public_row(raw: bytes, entity_id: str) -> bytes:
    """A stored row as readers see it: with this entity's id, without the members for indexing.

    The row is cut as bytes, as decoding a page of rows would cost more than reading it; the
    members for indexing begin with `fact` and come last.
    """
    before, name, after = raw[: raw.rindex(b',"fact":')].partition(b'"entityId":"')
    return before + name + entity_id.encode() + after[after.index(b'"') :] + b"}"


# -- rules -------------------------------------------------------------------------------------


def _filters(request: ListFinancialObservations) -> dict[str, tuple[str, ...]]:
    filters = sent_filters(request, "metric")
    if not isinstance(request.concept, Unset):
        filters["concept"] = tuple(
            name
            for code in request.concept
            for name in ([code] if ":" in code else [f"{scheme}:{code}" for scheme in TAXONOMIES])
        )
    lengths = {"instant", *SPANS}
    if not isinstance(request.period_type, Unset):
        kinds = {"instant": {"instant"}, "duration": set(SPANS)}
        lengths &= set().union(*(kinds[kind] for kind in request.period_type))
    if not isinstance(request.months, Unset):
        lengths &= set(request.months)
    if len(lengths) <= len(SPANS):
        filters["length"] = tuple(sorted(lengths))
    return filters


def _bounds(request: ListFinancialObservations) -> RowBounds:
    day = parse_moment("asOf", request.as_of)
    first, last = parse_period("from", request.from_), parse_period("to", request.to)
    return {
        "start": None if first is None else first.start.toordinal(),
        "end": None if last is None else last.end.toordinal(),
        "ranges": filing_ranges(
            day.date() if isinstance(day, datetime) else day,
            is_whole=request.include_superseded,
            column="repeated" if _is_of_concepts(request) else "superseded",
        ),
    }


def _is_of_concepts(request: ListFinancialObservations) -> bool:
    return isinstance(request.metric, Unset) and not isinstance(request.concept, Unset)


def filing_ranges(
    day: date | None, *, is_whole: bool = False, column: str = "superseded"
) -> dict[str, Range]:
    """The index ranges of the rows that had been filed by the end of a day; None means today.

    Without `is_whole` they are only rows that none had superseded by then. `column` is
    `superseded`, or `repeated` for a query by concept: superseded by a row of the same concept.
    """
    if day is None:
        return {} if is_whole else {column: (NEVER, None)}
    later: dict[str, Range] = {} if is_whole else {column: (min(day.toordinal() + 1, NEVER), None)}
    return {"filed": (None, day.toordinal()), **later}


# -- filings -----------------------------------------------------------------------------------


async def filings(
    ctx: Context,
    entity_ids: Sequence[str],
    *,
    since: date | None = None,
    until: date | None = None,
    limit: int,
    **filters: tuple[str, ...],
) -> list[Filing]:
    """The newest filings of the entities that these ids mean, filed from `since` to `until`.

    `form` and `item` name forms (`8-K`, `8-K/A`) and items of an 8-K, of which one must match.
    """
    page = await ctx.tx.documents.scan(
        FILINGS,
        where={**filters, "entity": await directory.keys_of_ids(ctx, entity_ids)},
        start=None if since is None else since.toordinal(),
        end=None if until is None else until.toordinal(),
        limit=limit,
    )
    return [FILINGS.decode(row.raw) for row in page.rows]


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    workspace_reading(
        "entities financials",
        "/entities/{entityId}/financial-observations",
        list_financial_observations,
        scopes=FININT,
        columns=("periodStart", "periodEnd", "metric", "concept.name", "value", "filing.form"),
        summary="List what a company reported",
        description=(
            "Facts of a company's financial reports, each as one filing reports it. Of a fact that "
            "several filings report, the newest is listed, or with `asOf` the newest that had been "
            "filed by then; `includeSuperseded=true` lists all of them. A metric has one row for "
            "each period, whichever concepts state it; `concept` without `metric` lists the newest "
            f"of that concept. {ALTERNATIVES}"
        ),
    ),
)
