"""Lists and reads prediction markets.

Rule: a market is stored with references to the entities that its question names; an answer has
the entities that these references mean at the time of reading.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final

from attrs import frozen

from svc_core.base.unset import Maybe, Unset, or_default
from svc_core.contract.result import Page, Single
from svc_core.intel.economy.market import (
    MARKETS,
    WORDS,
    ListMarkets,
    Market,
    MarketId,
    label_key,
    question_references,
    status_at,
)
from svc_core.intel.entities import directory
from svc_core.intel.folding.read_declarations import FININT, reading
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, Operation
from svc_core.operation.filters import Range, Values, list_selection
from svc_core.operation.members import UNDATED, micros
from svc_core.search.lists import Listing
from svc_core.search.ranked_rows import SearchKind

# -- requests ----------------------------------------------------------------------------------


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


def status_filters(statuses: Collection[str], now: datetime) -> tuple[dict[str, Values], Range]:
    """The stored statuses of markets that have one of these now, and the range of their ends.

    Past its end a market is closed, though `open` is what was last read. Open and decided ones
    together are a range of no index: some that are closed are among these.
    """
    if {*statuses} == {"open"}:
        return {}, (micros(now), None)
    if {*statuses} == {"closed"}:
        return {}, (UNDATED, micros(now) - 1)
    stored = {*statuses, *(("open",) if "closed" in statuses else ())}
    return {"status": tuple(sorted(stored))}, (None, None)


# -- use cases ---------------------------------------------------------------------------------


async def with_named_entities(ctx: Context, rows: Sequence[bytes]) -> list[bytes]:
    """The rows of markets with their status and the entities that their questions name, as known
    now."""
    markets = [MARKETS.decode(row) for row in rows]
    names = [question_references(market) for market in markets]
    rows = [_as_of(ctx.now, market, row) for market, row in zip(markets, rows, strict=True)]
    return await directory.with_mentions(ctx, rows, names, blank=b"[]")


def _as_of(now: datetime, market: Market, row: bytes) -> bytes:
    """The row of a market with its status now."""
    status = status_at(market, now)
    if status == market.status:
        return row
    before, after = (f'"status":"{name}"'.encode() for name in (market.status, status))
    return row.replace(before, after, 1)


LISTING = Listing(
    MARKETS,
    WORDS,
    look_ups={"entity": directory.entity_references},
    complete=with_named_entities,
)
MARKET_SEARCH: Final = SearchKind("market", LISTING, "getMarket", "question", "status", "mkt")


async def list_markets(ctx: Context, request: ListMarkets) -> Page[Market]:
    """What people bet on: one row is one proposition with its outcomes. The values of one filter
    are alternatives; different filters must all match. Filtered by probability or by several
    statuses, a page may be short although another follows.
    """
    label, low, high = request.label, request.min_probability, request.max_probability
    choice, binding, ranges = list_selection(request), dict[str, Values](), dict[str, Range]()
    checks: list[Callable[[Market], bool]] = []
    if not isinstance(low, Unset) or not isinstance(high, Unset):
        checks.append(partial(has_share, or_default(label, None), low, high))
        binding["shares"] = (str(low), str(high))
    if statuses := choice.where.get("status"):
        stored, span = status_filters(statuses, ctx.now)
        others = {name: texts for name, texts in choice.where.items() if name != "status"}
        choice, binding["status"] = choice._replace(where={**others, **stored}), statuses
        ranges = {} if stored else {"open_until": span}
        if len({"open", "closed"}.intersection(statuses)) == 1 and stored:
            checks.append(lambda market: status_at(market, ctx.now) in statuses)
    keep = (lambda market: all(check(market) for check in checks)) if checks else None
    return await LISTING.page(ctx, request, choice, ranges=ranges, keep=keep, binding=binding)


async def get_market(ctx: Context, request: GetMarket) -> Single[Market]:
    """One proposition. Any of the ids that its provider's names for it lead to works.

    Raises:
        Problem: NOT_FOUND.
    """
    return await LISTING.row(ctx, request.market_id)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "markets list",
        "/markets",
        list_markets,
        scopes=FININT,
        timeless=False,  # a market is closed from its end on
        columns=("id", "question", "status", "closesAt", "provider"),
        summary="List prediction markets",
    ),
    reading(
        "markets show",
        "/markets/{marketId}",
        get_market,
        scopes=FININT,
        timeless=False,
        summary="Read a prediction market",
    ),
)
