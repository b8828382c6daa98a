"""Lists and reads prediction markets.

Rule: a market is stored with references to the entities that its question names; an answer has
the entities that these references mean at the time of reading.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

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
)
from svc_core.intel.entities import directory
from svc_core.intel.folding.read_declarations import FININT, reading
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, Operation
from svc_core.search.lists import Listing

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


# -- use cases ---------------------------------------------------------------------------------


async def with_named_entities(ctx: Context, rows: Sequence[bytes]) -> list[bytes]:
    """The rows of markets with the entities that their questions name, as known now."""
    names = [question_references(MARKETS.decode(row)) for row in rows]
    return await directory.with_mentions(ctx, rows, names, blank=b"[]")


LISTING = Listing(
    MARKETS,
    WORDS,
    look_ups={"entity": directory.entity_references},
    complete=with_named_entities,
)


async def list_markets(ctx: Context, request: ListMarkets) -> Page[Market]:
    """What people bet on: one row is one proposition with its outcomes. The values of one filter
    are alternatives; different filters must all match. By probability, a page may be short though a
    next one follows.
    """
    label, low, high = request.label, request.min_probability, request.max_probability
    if isinstance(low, Unset) and isinstance(high, Unset):
        return await LISTING.page(ctx, request)
    keep = partial(has_share, or_default(label, None), low, high)
    return await LISTING.page(ctx, request, keep=keep, binding={"shares": (str(low), str(high))})


async def get_market(ctx: Context, request: GetMarket) -> Single[Market]:
    """One proposition. Each id that its provider's names for it give names it.

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
        columns=("id", "question", "status", "closesAt", "provider"),
        summary="List prediction markets",
    ),
    reading(
        "markets show",
        "/markets/{marketId}",
        get_market,
        scopes=FININT,
        summary="Read a prediction market",
    ),
)
