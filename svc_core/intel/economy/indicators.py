"""Lists and reads economic indicators: all values, the newest of each series, and changes.

Rule 1: a requested period matches rows whose period lies wholly within it: 2024-Q3 matches its
        months and days, not the year 2024.
Rule 2: the newest value of each series is looked up series by series, so the cost of a page
        depends on its rows and not on the length of the series.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Final, Unpack

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Unset
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.intel.economy.indicator import (
    FININT,
    FININT_SERIES,
    SERIES_WORDS,
    IncludeChange,
    Indicator,
    IndicatorId,
    ListIndicators,
    first_sort_key,
    last_sort_key,
)
from svc_core.intel.folding.read_declarations import FININT as FININT_SCOPES
from svc_core.intel.folding.read_declarations import osint, reading
from svc_core.operation.context import Context
from svc_core.operation.declaration import JSON, NDJSON, PATH, Operation
from svc_core.operation.filters import Selection, list_selection
from svc_core.operation.period import parse_period
from svc_core.operation.ports import Position
from svc_core.operation.ports.documents import RowBounds
from svc_core.search.lists import Listing
from svc_core.search.ranked_rows import SearchKind

LOOKBACK_ROWS = 10  # earlier rows looked at for one with a value: markets close for a week at most
PERCENT_DIGITS = 6
SERIES_SCAN_MAX = 200  # for one page: some 20 ms

LISTING = Listing(FININT)


# -- requests ----------------------------------------------------------------------------------


@frozen
class GetIndicator:
    """One value of an indicator."""

    indicator_id: Annotated[IndicatorId, PATH]
    include: IncludeChange = UNSET


# -- use cases ---------------------------------------------------------------------------------


async def list_indicators(ctx: Context, request: ListIndicators) -> Page[Indicator]:
    """Values of indicators, newest period first. The values of one filter are alternatives;
    different filters must all match. `latest=true` gives the newest period of each series among
    what matches.

    Raises:
        Problem: INVALID_PARAMETER for a period that is none; CONFLICTING_PARAMETERS for `sort`
            with `latest`.
    """
    choice = _selection(request)
    if request.latest:
        if not isinstance(request.sort, Unset):
            raise Problem(
                problem.CONFLICTING_PARAMETERS,
                "sort: cannot be combined with latest",
                resolution="Use sort or latest, not both.",
            )
        bounds: RowBounds = {**choice.bounds, "ranges": choice.ranges}
        binding = ctx.list_binding(choice.where, "series", **bounds)
        after = ctx.open_cursor(request.cursor, binding)
        latest, end = await newest(ctx, choice.where, bounds, after=after, limit=request.limit)
        page = Page[Indicator](latest, ctx.seal_cursor(end, binding))
    else:
        if not isinstance(request.vintage, Unset):
            choice = choice._replace(where={**choice.where, "vintage": ("yes",)})
        page = await LISTING.page(ctx, request, choice)
    if isinstance(request.include, Unset):
        return page
    rows = [FININT.decode(raw) for raw in page.rows]
    lines = [wire.to_bytes(await _with_change(ctx, row)) for row in rows]
    return attrs.evolve(page, rows=tuple(lines))


async def get_indicator(ctx: Context, request: GetIndicator) -> Single[Indicator]:
    """One row, as the list and the change feed name it.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load(FININT, request.indicator_id)
    if isinstance(request.include, Unset):
        return Single(document.raw, document.tag)
    row = await _with_change(ctx, FININT.decode(document.raw))
    return Single(wire.to_bytes(row), (*document.tag, str(row.previous_value)))


async def newest(
    ctx: Context,
    filters: Mapping[str, tuple[str, ...]],
    bounds: RowBounds,
    *,
    after: Position | None = None,
    limit: int,
) -> tuple[tuple[bytes, ...], Position | None]:
    """The newest row of each series that matches, and the position after the last series read.

    A page may be short though more follows, as at most `SERIES_SCAN_MAX` series are read for it.
    """
    rows: list[bytes] = []
    for _ in range(0, SERIES_SCAN_MAX, limit):
        page = await ctx.tx.documents.scan(
            FININT_SERIES, where=filters, after=after, limit=limit - len(rows)
        )
        rows += filter(None, await _newest_values(ctx, [row.raw for row in page.rows], **bounds))
        after = page.end
        if after is None or len(rows) == limit:
            break
    return tuple(rows), after


async def _newest_values(
    ctx: Context, series: Sequence[bytes], **bounds: Unpack[RowBounds]
) -> Sequence[bytes]:
    """The newest value of each of these series; an empty row where all were withdrawn."""
    rows = []
    for raw in series:
        key = {"series": (FININT_SERIES.decode(raw).series,)}
        page = await ctx.tx.documents.scan(FININT, where=key, limit=1, **bounds)
        rows.append(next((row.raw for row in page.rows), b""))
    return rows


_SERIES = Listing(FININT_SERIES, SERIES_WORDS, complete=_newest_values)
_SHOWN = "getFinancialIndicator", "name", "area.label area.countryCode period value", "fin"
INDICATOR_SEARCH: Final = SearchKind("indicator", _SERIES, *_SHOWN)


# -- rules -------------------------------------------------------------------------------------


def _selection(request: ListIndicators) -> Selection:
    """What a request selects, with the two ends of periods and of vintages."""
    choice = list_selection(request)
    ranges, bounds = dict(choice.ranges), choice.bounds
    if not isinstance(request.period_to, Unset):
        end = parse_period("periodTo", request.period_to).end
        ranges["period_end"] = (None, end.toordinal())
        bounds = {**bounds, "end": last_sort_key(end)}
    if not isinstance(request.vintage, Unset):
        day = request.vintage.toordinal()
        ranges |= {"vintage_start": (None, day), "vintage_end": (day, None)}
    return choice._replace(ranges=ranges, bounds=bounds)


async def _with_change(ctx: Context, row: Indicator) -> Indicator:
    """The row with the value of the period before it.

    Where the provider keeps vintages, that is the value that was valid when the row's was given.
    """
    first, last = row.days
    by_then = {} if first == last else {"vintage_start": (None, first)}
    earlier = await ctx.tx.documents.scan(
        FININT,
        where={"series": (row.series,)},
        end=first_sort_key(row.period_start) - 1,
        ranges=by_then,
        limit=LOOKBACK_ROWS,
    )
    values = (FININT.decode(document.raw).value for document in earlier.rows)
    return with_previous_value(row, next((value for value in values if value is not None), None))


def with_previous_value(row: Indicator, previous: float | None) -> Indicator:
    """The row with its change since the previous value, computed in decimals without rounding."""
    change = percent = None
    if row.value is not None and previous is not None:
        before = Decimal(str(previous))
        difference = Decimal(str(row.value)) - before
        change = float(difference)
        percent = round(float(difference / abs(before) * 100), PERCENT_DIGITS) if before else None
    return attrs.evolve(row, previous_value=previous, change=change, change_percent=percent)


# -- declarations ------------------------------------------------------------------------------

_LIST: dict[str, Any] = {
    "columns": ("id", "name", "indicatorCode", "area.code", "period", "value", "provider"),
    "summary": "List financial and economic indicators",
    "fails": (problem.CONFLICTING_PARAMETERS,),
}
"""The members that the declarations of both versions share."""

_READ = "Read one value of an indicator"

OSINT_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    osint(
        "finint list",
        "/osint/finint",
        list_indicators,
        media=(JSON, NDJSON),
        timeless=True,
        **_LIST,
    ),
    osint(
        "finint show", "/osint/finint/{indicatorId}", get_indicator, summary=_READ, timeless=True
    ),
)
"""Indicators among situation data."""

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "indicators list",
        "/finint",
        list_indicators,
        id_="listFinancialIndicators",
        scopes=FININT_SCOPES,
        **_LIST,
    ),
    reading(
        "indicators show",
        "/finint/{indicatorId}",
        get_indicator,
        id_="getFinancialIndicator",
        scopes=FININT_SCOPES,
        summary=_READ,
    ),
)
"""The same rows in the second version: JSON alone."""
