"""Markets of Kalshi's API v2: lists of markets, one market, events with theirs nested.

Prices are text in dollars (`yes_bid_dollars`), quantities text in contracts (`volume_fp`). A market
that nobody quoted has a bid of 0, an ask of 1 or 0 and a last trade of 0, and no probability.
"""

from collections.abc import Iterator
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.market import YES_NO, amounts, binary, market, resolved
from svc_core.sources.model import Format, Given, Record, Told
from svc_core.sources.values import moment, number, records, required, text

SITE = "https://kalshi.com/markets"
SPREAD_MAX = 0.10  # wider quotes say little: the last trade says more

Row = dict[str, Any]

_STATUSES = {
    **dict.fromkeys(("active", "open"), "open"),
    **dict.fromkeys(("initialized", "unopened", "inactive", "paused"), "closed"),
    **dict.fromkeys(("closed", "disputed", "amended"), "closed"),
    **dict.fromkeys(("determined", "finalized", "settled"), "resolved"),
}
_CONTRACTS = {
    "volume": ("volume_fp", "volume"),
    "volume24h": ("volume_24h_fp", "volume_24h"),
    "openInterest": ("open_interest_fp", "open_interest"),
}


_RESULTS = {"yes": 1, "no": 0}
_LABELS = dict(zip(("yes", "no"), YES_NO, strict=True))
_RULES = ("rules_primary", "rules_secondary")


def _pairs(told: Any) -> Iterator[tuple[Any, Row]]:
    """Every market with the event that it stands in."""
    if isinstance(told, list):
        yield from ((one, {}) for one in told)
    elif isinstance(told, dict):
        events = told["events"] if isinstance(told.get("events"), list) else [told.get("event")]
        for event in events:
            around = event if isinstance(event, dict) else {}
            yield from ((one, around) for one in around.get("markets") or told.get("markets") or ())
        if "market" in told:
            yield told["market"], {}


def _recognise(body: Body) -> bool:
    row, event = next(_pairs(body.json), (None, {}))
    if row is None:
        return body.has("cursor") and (body.has("markets") or body.has("events"))
    is_market = isinstance(row, dict) and {"event_ticker", "ticker"} <= set(row)
    return is_market or "event_ticker" in event


def _parse(body: Body, _: Given) -> Told:
    yield from records(_pairs(body.whole_json()), _record, lambda pair: pair[0]["ticker"])


def _dollars(row: Row, name: str) -> float | None:
    """A price in dollars; the form before 2026 had whole cents."""
    told, cents = number(row.get(f"{name}_dollars")), number(row.get(name))
    return told if told is not None or cents is None else cents / 100


def _price(row: Row) -> tuple[float | None, str | None]:
    """The probability of yes and what it is taken from."""
    bid, ask = _dollars(row, "yes_bid") or 0, _dollars(row, "yes_ask") or 0
    last = _dollars(row, "last_price")
    if 0 < bid <= ask < 1 and round(ask - bid, 6) <= SPREAD_MAX:
        return round((bid + ask) / 2, 6), "mid"
    return (last, "last") if last and 0 < last <= 1 else (None, None)


def _record(pair: tuple[Row, Row]) -> Record:
    row, event = pair
    status = required(_STATUSES.get(str(row.get("status"))), "a status that is known")
    result = str(row.get("result") or "").lower()
    settled = _dollars(row, "settlement_value")
    title, label = (
        text(row.get("title")) or text(event.get("title")),
        text(row.get("yes_sub_title")),
    )
    probability, basis = _price(row)
    if result in _RESULTS:
        status, probability, basis = "resolved", _RESULTS[result], "resolved"
    elif result == "void":
        status, probability, basis = "cancelled", None, None
    elif status == "resolved":
        status, basis = ("closed", None) if settled is None else (status, "resolved")
        probability = settled
    name = row.get("event_ticker") or event.get("event_ticker")
    series = str(event.get("series_ticker") or name or row["ticker"]).partition("-")[0]
    ends = row.get("expected_expiration_time") or row.get("expiration_time")
    ended = moment(row.get("settlement_ts")) or moment(row.get("determination_ts"))
    said = {
        "question": _question(title, label),
        "category": row.get("category") or event.get("category"),
        "status": status,
        "outcomes": binary(probability) if row.get("market_type") != "scalar" else None,
        "mutuallyExclusive": event.get("mutually_exclusive"),
        "priceBasis": basis,
        "resolution": resolved(_LABELS.get(result), ended) if status == "resolved" else None,
        **amounts(row, _CONTRACTS, unit="{contract}", provider="kalshi"),
        **amounts(row, {"liquidity": ("liquidity_dollars",)}, currency="USD", provider="kalshi"),
        "rules": "\n".join(str(row[name]) for name in _RULES if row.get(name)) or None,
        "url": f"{SITE}/{series.lower()}#{row['ticker'].lower()}",
        "groupId": name,
    }
    times = {
        "opensAt": moment(row.get("open_time")),
        "closesAt": moment(row.get("close_time")),
        "resolvesAt": moment(ends),
    }
    return market("kalshi", row["ticker"], said, times, moment(row.get("updated_time")))


def _question(title: str | None, label: str | None) -> str | None:
    """The title, with what is asked of it where the title does not say so."""
    if title is None or label is None or label.casefold() in title.casefold():
        return title or label
    return f"{title} ({label})"


KALSHI = Format(
    id="kalshi",
    title="Kalshi",
    kind="window",
    provider="kalshi",
    brings=("market",),
    recognise=_recognise,
    parse=_parse,
    cadence_seconds=300,
    attribution="Kalshi",
)
