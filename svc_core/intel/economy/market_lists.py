"""Lists and reads prediction markets.

Rule: a market is stored with references to the entities that its question names; an answer has
the entities that these references mean at the time of reading.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from attrs import evolve, frozen

from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.contract.result import Page, Single
from svc_core.intel.economy.market import (
    MARKETS,
    WORDS,
    Market,
    MarketId,
    MarketStatus,
    label_key,
    question_references,
    volume_steps,
)
from svc_core.intel.entities import directory, render
from svc_core.intel.folding.read_declarations import FININT, reading
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, QUERY, Operation
from svc_core.operation.filters import (
    ALTERNATIVES,
    FilterValues,
    Name,
    Providers,
    ShareFilter,
    present_ranges,
    sent_filters,
)
from svc_core.operation.members import Cursor, EntityId, Limit, micros
from svc_core.operation.period import UpdatedSince, range_after
from svc_core.operation.ports import RowBounds
from svc_core.search import lists
from svc_core.search.lists import RowQuery
from svc_core.wire.constraints import Doc, Ge

Sort = Annotated[Maybe[Literal["updatedAt", "volume", "closesAt"]], QUERY]

_ORDERS = {"volume": "volume", "closesAt": "closes"}


# -- requests ----------------------------------------------------------------------------------


@frozen
class ListMarkets:
    """Prediction markets of every provider."""

    status: Annotated[FilterValues[MarketStatus], Doc("Comma list of statuses.")] = UNSET
    provider: Providers = UNSET
    category: Annotated[FilterValues[Name], Doc("Comma list of categories, in either case.")] = (
        UNSET
    )
    entity_id: Annotated[FilterValues[EntityId], Doc("Comma list of entities that it names.")] = (
        UNSET
    )
    min_volume: Annotated[Maybe[float], QUERY, Ge(0), Doc("The least volume, in its unit.")] = UNSET
    closes_before: Annotated[Maybe[datetime], QUERY, Doc("Whose trading ends before this.")] = UNSET
    label: Annotated[Maybe[Name], QUERY, Doc("With such an outcome, in either case.")] = UNSET
    min_probability: Annotated[
        ShareFilter, Doc("The least of that outcome, else of the first.")
    ] = UNSET
    max_probability: Annotated[ShareFilter, Doc("The most, likewise.")] = UNSET
    updated_since: UpdatedSince = UNSET
    q: lists.Q = UNSET
    sort: Annotated[Sort, Doc("The last written, the most traded, or the last to close.")] = UNSET
    include: lists.Include = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class GetMarket:
    """One market."""

    market_id: Annotated[MarketId, PATH]


# -- rules -------------------------------------------------------------------------------------


def has_share(label: str | None, low: Maybe[float], high: Maybe[float], market: Market) -> bool:
    """Whether the probability of an outcome lies within bounds: of a label, else the first one."""
    outcomes = market.outcomes or ()
    key = label_key(label or "")
    matches = [item for item in outcomes if item.label and label_key(item.label) == key]
    shares = [item.probability for item in (outcomes[:1] if label is None else matches)]
    return any(
        share is not None and or_default(low, 0.0) <= share <= or_default(high, 1.0)
        for share in shares
    )


def _bounds(request: ListMarkets) -> RowBounds:
    least, before = or_default(request.min_volume, None), or_default(request.closes_before, None)
    return {
        "start": (range_after(request.updated_since) or (None,))[0],
        "ranges": present_ranges(
            volume=None if least is None else (volume_steps(least), None),
            closes=None if before is None else (None, micros(before) - 1),
        ),
    }


# -- use cases ---------------------------------------------------------------------------------


async def list_markets(ctx: Context, request: ListMarkets) -> Page[Market]:
    """A page of markets."""
    shares = (request.min_probability, request.max_probability)
    has_shares = any(not isinstance(share, Unset) for share in shares)
    label, entity_ids = or_default(request.label, None), or_default(request.entity_id, None)
    query = RowQuery[Market](
        where={
            **sent_filters(request, "status", "provider", "category"),
            "label": UNSET if label is None else label_key(label),
            "entity": UNSET
            if entity_ids is None
            else await directory.entity_references(ctx, entity_ids),
        },
        order=_ORDERS.get(or_default(request.sort, "")),
        is_sorted=not isinstance(request.sort, Unset),
        keep=partial(has_share, label, *shares) if has_shares else None,
        binding={"entity": entity_ids or (), "shares": tuple(map(str, shares))},
        bounds=_bounds(request),
    )
    page = await lists.list_page(ctx, MARKETS, WORDS, request, query)
    return evolve(page, rows=tuple(await markets_with_entities(ctx, page.rows)))


async def get_market(ctx: Context, request: GetMarket) -> Single[Market]:
    """One market; another id of it names it too.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load_by_key(MARKETS, request.market_id)
    (row,) = await markets_with_entities(ctx, [document.raw])
    return Single(row, render.tag(document.id, row))


async def markets_with_entities(ctx: Context, rows: Sequence[bytes]) -> list[bytes]:
    """The rows of markets with the entities that their questions name, as known now."""
    names = [question_references(MARKETS.decode(row)) for row in rows]
    return await directory.with_mentions(ctx, rows, names, blank=b"[]")


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "markets list",
        "/markets",
        list_markets,
        scopes=FININT,
        columns=("id", "question", "status", "closesAt", "provider"),
        summary="List prediction markets",
        description=(
            "What people bet on: one row is one proposition with its outcomes. "
            f"{ALTERNATIVES} By probability, a page may be short though a next one follows."
        ),
    ),
    reading(
        "markets show",
        "/markets/{marketId}",
        get_market,
        scopes=FININT,
        summary="Read a prediction market",
        description="One proposition. Each id that its provider's names for it give names it.",
    ),
)
