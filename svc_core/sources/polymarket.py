"""Markets of Polymarket's Gamma API: lists of markets, events with theirs, a search's answer.

An event is a group of propositions. Outcomes and prices are JSON written into JSON strings.
"""

import json
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.market import Row, amounts, market, market_format, pairs, resolved
from svc_core.sources.model import Given, Record, Told, Unusable
from svc_core.sources.values import moment, number, records, text

SITE = "https://polymarket.com"
FINAL = 0.99  # a price at which a market that was decided has paid, dust of old ones aside
SPREAD_MAX = 0.01  # by which two prices may miss one in sum
TICK = 0.0006  # prices are published in steps of 0.001

_AMOUNTS = {"volume": "volume", "volume24h": "volume24hr", "liquidity": "liquidity"}


def _recognise(body: Body) -> bool:
    first, event = next(pairs(body.json), (None, {}))
    is_market = isinstance(first, dict) and ("conditionId" in first or "outcomePrices" in first)
    return is_market or "negRisk" in event or body.has("events", "pagination")


def _parse(body: Body, _: Given) -> Told:
    yield from records(pairs(body.whole_json()), _record, lambda pair: pair[0]["id"])


def _listed(value: Any) -> list[Any] | None:
    told = json.loads(value) if value and isinstance(value, str) else value
    return told if isinstance(told, list) else None


def _prices(row: Row, labels: list[Any]) -> list[float | int | None]:
    """A probability for each outcome; none where nobody quoted, or where they make no whole."""
    told = [number(price) for price in _listed(row.get("outcomePrices")) or [None] * len(labels)]
    if len(told) != len(labels):
        raise Unusable("has prices that do not match its outcomes")
    known = [price for price in told if price is not None and 0 <= price <= 1]
    is_whole = len(known) == len(told) and any(known)
    if not is_whole or (len(known) == 2 and abs(sum(known) - 1) > SPREAD_MAX):
        return [None] * len(labels)
    return told


def _basis(row: Row, prices: list[Any]) -> str | None:
    """What an open price is: between the quotes, the last trade, or of an automatic maker."""
    bid, ask = number(row.get("bestBid")) or 0, number(row.get("bestAsk"))
    last = number(row.get("lastTradePrice"))
    if not prices or prices[0] is None:
        return None
    if abs(prices[0] - (bid + (1 if ask is None else ask)) / 2) < TICK:
        return "mid"
    if last is not None and abs(prices[0] - last) < TICK:
        return "last"
    return "amm" if row.get("enableOrderBook") is False else None


def _record(pair: tuple[Row, Row]) -> Record:
    row, event = pair
    group = event if "id" in event else next(iter(row.get("events") or ()), {})
    labels = [str(label) for label in _listed(row.get("outcomes")) or ()]
    prices, tokens = _prices(row, labels), _listed(row.get("clobTokenIds")) or []
    is_final = bool(row.get("closed")) and (
        row.get("umaResolutionStatus") == "resolved" or 1 in prices
    )
    won = [label for label, price in zip(labels, prices, strict=True) if (price or 0) >= FINAL]
    winner = won[0] if is_final and len(won) == 1 else None
    if winner is not None:
        prices = [int(label == winner) for label in labels]
    is_open = not row.get("closed") and not row.get("archived") and row.get("active") is not False
    tags = group.get("tags") or row.get("tags") or [{}]
    ended = moment(row.get("closedTime")) or moment(row.get("umaEndDate"))
    path = f"{group['slug']}/{row.get('slug')}" if group.get("slug") else row.get("slug")
    said = {
        "question": row["question"],
        "category": row.get("category") or group.get("category") or tags[0].get("label"),
        "status": "resolved" if is_final else "open" if is_open else "closed",
        "outcomes": [
            {"label": label, "probability": price}
            | ({"tokenId": str(tokens[place])} if place < len(tokens) else {})
            for place, (label, price) in enumerate(zip(labels, prices, strict=True))
        ]
        or None,
        "mutuallyExclusive": row.get("negRisk", group.get("negRisk")),
        "priceBasis": "resolved" if is_final else _basis(row, prices),
        "resolution": resolved(winner, ended) if is_final else None,
        **amounts(row, _AMOUNTS, unit="USDC", provider="polymarket"),
        "rules": row.get("description"),
        "url": f"{SITE}/event/{path}" if group.get("slug") else f"{SITE}/market/{path}",
        "groupId": group.get("id"),
    }
    ends = moment(row.get("endDate")) or moment(row.get("endDateIso"))
    times = {"opensAt": moment(row.get("startDate")), "closesAt": ends}
    condition = text(row.get("conditionId"))  # a search may leave out the id
    own_id, stamp = row.get("id") or condition, moment(row.get("updatedAt"))
    return market("polymarket", own_id, said, times, stamp, other_id=condition)


POLYMARKET = market_format(
    id="polymarket",
    title="Polymarket Gamma",
    provider="polymarket",
    recognise=_recognise,
    parse=_parse,
    attribution="Polymarket",
)
