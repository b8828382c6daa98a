"""Parses markets of Polymarket's Gamma API: lists of markets, events with markets, searches.

An event is a group of markets. Outcomes and prices are JSON texts within JSON.
"""

import json
from typing import Any

from svc_core.formats.markets.market_record import Row, amounts, market_row, market_rows
from svc_core.formats.model import Contents, Origin, Record, RecordRefused
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import moment, number, record_list, text_member

SITE = "https://polymarket.com"
FINAL = 0.99  # a price at which a market that was decided has paid, dust of old ones aside
SPREAD_MAX = 0.01  # by which two prices may miss one in sum
TICK = 0.0006  # prices are published in steps of 0.001

_AMOUNTS = {"volume": "volume", "volume24h": "volume24hr", "liquidity": "liquidity"}


def _recognise(body: Body) -> bool:
    first, event = next(market_rows(body.json), ({}, {}))
    is_market = not first.keys().isdisjoint({"conditionId", "outcomePrices"})
    return is_market or "negRisk" in event or body.has("events", "pagination")


def _parse(body: Body, _: Origin) -> Contents:
    yield from record_list(market_rows(body.whole_json()), _record, lambda pair: pair[0]["id"])


def _items(value: Any) -> list[Any] | None:
    items = json.loads(value) if value and isinstance(value, str) else value
    return items if isinstance(items, list) else None


def _prices(row: Row, labels: list[str]) -> list[float | None]:
    """A probability for each outcome; None for all where the prices do not sum to about one."""
    prices = [number(price) for price in _items(row.get("outcomePrices")) or [None] * len(labels)]
    if len(prices) != len(labels):
        raise RecordRefused("has prices that do not match its outcomes")
    odds = [price for price in prices if price is not None and 0 <= price <= 1]
    is_off = len(odds) == 2 and abs(sum(odds) - 1) > SPREAD_MAX
    return prices if any(odds) and len(odds) == len(prices) and not is_off else [None] * len(labels)


def _basis(row: Row, price: float | None) -> str | None:
    """The basis of an open price: the middle of the quotes, the last trade, or a market maker."""
    bid, ask, last = (number(row.get(name)) for name in ("bestBid", "bestAsk", "lastTradePrice"))
    if price is None:
        return None
    bases = {"mid": ((bid or 0) + (1 if ask is None else ask)) / 2, "last": last}
    near = (name for name, base in bases.items() if base is not None and abs(price - base) < TICK)
    return next(near, "amm" if row.get("enableOrderBook") is False else None)


def _outcome(label: str, price: float | None, token: object) -> Row:
    return {"label": label, "probability": price} | ({"tokenId": str(token)} if token else {})


def _record(pair: tuple[Row, Row]) -> Record:
    row, event = pair
    group = event if "id" in event else next(iter(row.get("events") or ()), {})
    labels = [str(label) for label in _items(row.get("outcomes")) or ()]
    prices, tokens = _prices(row, labels), _items(row.get("clobTokenIds")) or []
    is_decided = row.get("umaResolutionStatus") == "resolved" or 1 in prices
    is_final = bool(row.get("closed")) and is_decided
    is_open = not row.get("closed") and not row.get("archived") and row.get("active") is not False
    payouts = [label for label, price in zip(labels, prices, strict=True) if (price or 0) >= FINAL]
    winner = payouts[0] if is_final and len(payouts) == 1 else None
    if winner is not None:
        prices = [int(label == winner) for label in labels]
    outcomes = map(_outcome, labels, prices, [*tokens, *[None] * len(labels)])
    tags = group.get("tags") or row.get("tags") or [{}]
    path = f"event/{group['slug']}" if group.get("slug") else "market"
    condition = text_member(row.get("conditionId"))  # a search may leave out the id
    members = {
        "question": row["question"],
        "category": row.get("category") or group.get("category") or tags[0].get("label"),
        "status": "resolved" if is_final else "open" if is_open else "closed",
        "outcomes": list(outcomes) or None,
        "mutuallyExclusive": row.get("negRisk", group.get("negRisk")),
        "priceBasis": "resolved" if is_final else _basis(row, next(iter(prices), None)),
        **amounts(row, _AMOUNTS, unit="USDC", provider="polymarket"),
        "rules": row.get("description"),
        "url": f"{SITE}/{path}/{row['slug']}" if row.get("slug") else None,
        "groupId": group.get("id"),
        "opensAt": moment(row.get("startDate")),
        "closesAt": moment(row.get("endDate")) or moment(row.get("endDateIso")),
    }
    own_id, stamp = row.get("id") or condition, moment(row.get("updatedAt"))
    end = moment(row.get("closedTime")) or moment(row.get("umaEndDate"))
    return market_row(
        "polymarket", own_id, members, stamp=stamp, winner=winner, end=end, other_id=condition
    )


POLYMARKET = make_format("polymarket", _recognise, _parse)
