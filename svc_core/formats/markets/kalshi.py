"""Parses markets of Kalshi's API v2: lists of markets, one market, events with nested markets.

Prices are text in dollars (`yes_bid_dollars`), quantities text in contracts (`volume_fp`). A market
that nobody quoted has a bid of 0, an ask of 1 or 0 and a last trade of 0, and no probability.
"""

from svc_core.formats.markets.market_record import Row, amounts, binary, market_row, market_rows
from svc_core.formats.model import Contents, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import moment, number, record_list, require, text_member

SITE = "https://kalshi.com/markets"
SPREAD_MAX = 0.10  # wider quotes say little: the last trade says more

_STATUSES = {
    **dict.fromkeys(("active", "open", "inactive"), "open"),  # inactive: paused for a while
    **dict.fromkeys(("initialized", "unopened", "closed", "disputed"), "closed"),
    **dict.fromkeys(("determined", "amended", "finalized", "settled"), "resolved"),
}
_RESULTS: dict[str, tuple[float | None, str | None]] = {"yes": (1, "Yes"), "no": (0, "No")}
_CONTRACTS = {"volume": "volume", "volume24h": "volume_24h", "openInterest": "open_interest"}


def _recognise(body: Body) -> bool:
    first = next(market_rows(body.json), None)
    if first is None:
        return body.has("cursor", "markets") or body.has("cursor", "events")
    return "event_ticker" in first[0]


def _parse(body: Body, _: Origin) -> Contents:
    yield from record_list(market_rows(body.whole_json()), _record, lambda pair: pair[0]["ticker"])


def _dollars(row: Row, name: str) -> float | None:
    """A price in dollars; the API before 2026 had whole cents."""
    dollars = number(row.get(f"{name}_dollars"))
    cents = number(row.get(name)) if dollars is None else None
    return dollars if cents is None else cents / 100


def _quote(row: Row) -> tuple[float | None, str | None]:
    """The probability of yes of an open market, and the price basis of it."""
    bid, ask = _dollars(row, "yes_bid") or 0, _dollars(row, "yes_ask") or 0
    if 0 < bid <= ask < 1 and round(ask - bid, 6) <= SPREAD_MAX:
        return round((bid + ask) / 2, 6), "mid"
    last = _dollars(row, "last_price") or 0
    return (last, "last") if 0 < last <= 1 else (None, None)


def _state(row: Row) -> tuple[str, float | None, str | None, str | None]:
    """Status, probability of yes, price basis, and the winning outcome."""
    status = require(_STATUSES.get(str(row.get("status"))), "a status that is known")
    result, settlement = str(row.get("result")).lower(), _dollars(row, "settlement_value")
    if status != "resolved":
        return status, *_quote(row), None
    if result == "void":
        return "cancelled", None, None, None
    share, label = _RESULTS.get(result, (settlement, None))
    return ("closed", None, None, None) if share is None else (status, share, "resolved", label)


def _question(row: Row, event: Row) -> str | None:
    """The title, followed by the label of yes where the title does not contain it."""
    title, label = (
        text_member(row.get("title") or event.get("title")),
        text_member(row.get("yes_sub_title")),
    )
    if title is None or label is None or label.casefold() in title.casefold():
        return title or label
    return f"{title} ({label})"


def _record(pair: tuple[Row, Row]) -> Record:
    row, event = pair
    ticker, (status, share, basis, winner) = row["ticker"], _state(row)
    suffix = "_fp" if "volume_fp" in row else ""  # the form before 2026 had whole numbers
    contracts = {name: column + suffix for name, column in _CONTRACTS.items()}
    ends = row.get("expected_expiration_time") or row.get("expiration_time")
    members: Row = {
        "question": _question(row, event),
        "category": row.get("category") or event.get("category"),
        "status": status,
        "outcomes": None if row.get("market_type") == "scalar" else binary(share),
        "mutuallyExclusive": event.get("mutually_exclusive"),
        "priceBasis": basis,
        **amounts(row, contracts, unit="{contract}", provider="kalshi"),
        **amounts(row, {"liquidity": "liquidity_dollars"}, currency="USD", provider="kalshi"),
        "rules": " ".join(str(row.get(f"rules_{part}") or "") for part in ("primary", "secondary")),
        "url": f"{SITE}/{ticker.partition('-')[0].lower()}#{ticker.lower()}",
        "groupId": row.get("event_ticker") or event.get("event_ticker"),
        "opensAt": moment(row.get("open_time")),
        "closesAt": moment(row.get("close_time")),
        "resolvesAt": moment(ends),
    }
    stamp, end = moment(row.get("updated_time")), moment(row.get("settlement_ts"))
    return market_row("kalshi", ticker, members, stamp=stamp, winner=winner, end=end)


KALSHI = make_format("kalshi", _recognise, _parse)
