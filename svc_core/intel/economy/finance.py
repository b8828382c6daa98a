"""Lists the financial facts that a company reported, as filed today or by an earlier day.

Rule 1: of a fact that several filings report, the newest is listed; with `asOf` the newest that
        had been filed by that day.
Rule 2: a metric has one row for each period, whichever concepts state it. A query by concept
        lists the newest row of that concept.
"""

from datetime import date, datetime
from typing import Any

from svc_core.base.unset import Unset, or_default
from svc_core.contract.result import Page
from svc_core.intel.economy.statement import (
    NEVER,
    OBSERVATIONS,
    FinancialObservation,
    ListFinancialObservations,
)
from svc_core.intel.entities import directory
from svc_core.intel.folding.read_declarations import FININT, workspace_reading
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation
from svc_core.operation.filters import Range, list_selection
from svc_core.operation.period import parse_moment
from svc_core.search.lists import Listing

LISTING = Listing(OBSERVATIONS, look_ups={"entity": directory.keys_of_ids})


async def list_financial_observations(
    ctx: Context, request: ListFinancialObservations
) -> Page[FinancialObservation]:
    """Facts of a company's financial reports, each as one filing reports it. Of a fact that several
    filings report, the newest is listed, or with `asOf` the newest that had been filed by then;
    `includeSuperseded=true` lists all of them. A metric has one row for each period, whichever
    concepts state it; `concept` without `metric` lists the newest of that concept. The values of
    one filter are alternatives; different filters must all match.

    Raises:
        Problem: NOT_FOUND, INVALID_PARAMETER for a date that does not exist, INVALID_CURSOR.
    """
    entity = await directory.answering_row(ctx, request.entity_id)
    choice = list_selection(request)
    page = await LISTING.page(ctx, request, choice._replace(ranges=_ranges(request)))
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


def _ranges(request: ListFinancialObservations) -> dict[str, Range]:
    text = or_default(request.as_of, None)
    day = None if text is None else parse_moment("asOf", text)
    is_of_concepts = isinstance(request.metric, Unset) and not isinstance(request.concept, Unset)
    return filing_ranges(
        day.date() if isinstance(day, datetime) else day,
        is_whole=request.include_superseded,
        column="repeated" if is_of_concepts else "superseded",
    )


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


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    workspace_reading(
        "entities financials",
        "/entities/{entityId}/financial-observations",
        list_financial_observations,
        scopes=FININT,
        columns=("periodStart", "periodEnd", "metric", "concept.name", "value", "filing.form"),
        summary="List what a company reported",
    ),
)
