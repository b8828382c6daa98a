"""Prediction markets: lists, and one of them.

Rule: a market names its entities by references, and the answer those that they mean now.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from attrs import evolve, frozen

from svc_core import directory, searching, wire
from svc_core.constraints import Doc, Example, Ge, Le, MaxLen, MinLen
from svc_core.intel.declared import FININT, reading
from svc_core.operation import PATH, QUERY, Context, Operation
from svc_core.ports import Bounds
from svc_core.resources.filters import Providers, Several, narrowed, sent
from svc_core.resources.market import (
    MARKETS,
    WORDS,
    Market,
    MarketId,
    MarketStatus,
    named,
    references,
    steps,
)
from svc_core.resources.members import Cursor, EntityId, Limit, micros
from svc_core.resources.period import UpdatedSince, after
from svc_core.result import One, Page
from svc_core.searching import Wanted
from svc_core.unset import UNSET, Maybe, Unset, given

Share = Annotated[Maybe[float], QUERY, Ge(0), Le(1)]

_ORDERS = {"volume": "volume", "closesAt": "closes"}


# -- requests ----------------------------------------------------------------------------------


@frozen
class ListMarkets:
    """Prediction markets of every provider."""

    status: Annotated[Several[MarketStatus], Doc("Comma list of statuses."), Example(["open"])] = (
        UNSET
    )
    provider: Providers = UNSET
    category: Annotated[
        Several[Annotated[str, MinLen(1), MaxLen(200)]],
        Doc("Comma list of categories, in either case."),
        Example(["Politics"]),
    ] = UNSET
    entity_id: Annotated[
        Several[EntityId], Doc("Comma list of entities of which the question names one.")
    ] = UNSET
    min_volume: Annotated[
        Maybe[float], QUERY, Ge(0), Doc("Only what was traded as much, in its own unit.")
    ] = UNSET
    closes_before: Annotated[
        Maybe[datetime],
        QUERY,
        Doc("Only those whose trading ends before this instant."),
        Example("2027-01-01T00:00:00Z"),
    ] = UNSET
    label: Annotated[
        Maybe[str],
        QUERY,
        MinLen(1),
        MaxLen(200),
        Doc("Only those with an outcome of this label, in either case."),
        Example("Yes"),
    ] = UNSET
    min_probability: Annotated[
        Share, Doc("Only where that outcome is as probable; without `label` it is the first one.")
    ] = UNSET
    max_probability: Annotated[Share, Doc("Only where it is not more probable.")] = UNSET
    updated_since: UpdatedSince = UNSET
    q: searching.Q = UNSET
    sort: Annotated[
        Maybe[Literal["updatedAt", "volume", "closesAt"]],
        QUERY,
        Doc("What comes first: the row written last, the most traded, or the last to close."),
    ] = UNSET
    include: searching.Include = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class GetMarket:
    """One market."""

    market_id: Annotated[MarketId, PATH]


# -- rules -------------------------------------------------------------------------------------


def has_share(label: str | None, least: Maybe[float], most: Maybe[float], market: Market) -> bool:
    """Whether an outcome is as probable as asked: that of a label, else the first."""
    outcomes = market.outcomes or ()
    asked = [one for one in outcomes if one.label and named(one.label) == named(label or "")]
    shares = [one.probability for one in (outcomes[:1] if label is None else asked)]
    return any(
        share is not None and given(least, 0.0) <= share <= given(most, 1.0) for share in shares
    )


def _with_entities(row: bytes, named_in: Mapping[str, str]) -> bytes:
    told = json.loads(row)
    told["entities"] = [
        {"entityId": id_, "name": name, "role": "mentioned"} for id_, name in named_in.items()
    ]
    return wire.dumps(told)


def _entities(row: bytes) -> list[str]:
    return [one["entityId"] for one in json.loads(row)["entities"]]


def _bounds(request: ListMarkets) -> Bounds:
    least, before = given(request.min_volume, None), given(request.closes_before, None)
    return {
        "start": (after(request.updated_since) or (None,))[0],
        "ranges": narrowed(
            volume=None if least is None else (steps(least), None),
            closes=None if before is None else (None, micros(before) - 1),
        ),
    }


# -- use cases ---------------------------------------------------------------------------------


async def list_markets(ctx: Context, request: ListMarkets) -> Page[Market]:
    """A page of markets."""
    shares = (request.min_probability, request.max_probability)
    has_shares = any(not isinstance(share, Unset) for share in shares)
    label, asked = given(request.label, None), given(request.entity_id, None)
    wanted = Wanted[Market](
        where={
            **sent(request, "status", "provider", "category"),
            "label": UNSET if label is None else named(label),
            "entity": UNSET if asked is None else await directory.references(ctx, asked),
        },
        order=_ORDERS.get(given(request.sort, "")),
        is_sorted=not isinstance(request.sort, Unset),
        keep=partial(has_share, label, *shares) if has_shares else None,
        asked={"entity": asked or (), "shares": tuple(map(str, shares))},
        bounds=_bounds(request),
    )
    page = await searching.page(ctx, MARKETS, WORDS, request, wanted)
    return evolve(page, rows=tuple(await told(ctx, page.rows)))


async def get_market(ctx: Context, request: GetMarket) -> One[Market]:
    """One market; another id of it names it too.

    Raises:
        Problem: NOT_FOUND.
    """
    found = await ctx.answering(MARKETS, request.market_id)
    row, *_ = await told(ctx, [found.raw])
    return One(row, (*found.tag, *_entities(row)))


async def told(ctx: Context, rows: Sequence[bytes]) -> list[bytes]:
    """Rows with the entities that their questions name, as far as they are known now."""
    names = [references(MARKETS.decode(row)) for row in rows]
    meant = await directory.named(ctx, [one for held in names for one in held])
    return [
        _with_entities(
            row, {meant[one].id: name for one, name in reversed(held.items()) if one in meant}
        )
        for row, held in zip(rows, names, strict=True)
    ]


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "listMarkets",
        "markets list",
        "/markets",
        list_markets,
        scopes=FININT,
        columns=("id", "question", "status", "closesAt", "provider"),
        summary="List prediction markets",
        description=(
            "What people bet on: one row is one proposition with its outcomes. The values of one "
            "filter are alternatives; different filters must all match. A filter by probability "
            "may give a page that is short though a next one follows."
        ),
    ),
    reading(
        "getMarket",
        "markets show",
        "/markets/{marketId}",
        get_market,
        scopes=FININT,
        summary="Read a prediction market",
        description="One proposition. Each id that its provider's names for it give names it.",
    ),
)
