"""Makes the records of prediction markets: one row is one proposition with its outcomes."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from svc_core.formats.model import Record
from svc_core.formats.reading.values import amount, as_list, require, rfc3339, text_member

Row = dict[str, Any]
Outcomes = list[dict[str, Any]] | None


def market_rows(page: Any) -> Iterator[tuple[Any, Row]]:
    """Yields each market of an answer (a list, an envelope or an event) with its event."""
    if isinstance(page, dict) and "question" not in page and isinstance(page.get("events"), list):
        page = page["events"]
    for item in as_list(page):
        top = item if isinstance(item, dict) else {}
        event = top["event"] if isinstance(top.get("event"), dict) else top
        markets = event.get("markets", top.get("markets"))
        if isinstance(markets, list):
            yield from ((row, event) for row in markets)
        else:
            yield top.get("market", item), {}


def binary(yes: float | None) -> Outcomes:
    """The outcomes Yes and No, whose probabilities sum to one; None where yes is unknown."""
    no = None if yes is None else round(1 - yes, 12)
    return [{"label": "Yes", "probability": yes}, {"label": "No", "probability": no}]


def amounts(row: Row, names: Mapping[str, str], **unit: str) -> Row:
    """Measurements by member name; `names` maps each to its upstream name."""
    return {name: amount(name, row.get(upstream), **unit) for name, upstream in names.items()}


def market_row(
    provider: str,
    own_id: object,
    members: Row,
    *,
    stamp: datetime | None,
    winner: str | None,
    end: datetime | None,
    other_id: object = None,
) -> Record:
    """The record of a market; the times in `members` are datetimes.

    For a resolved market, `winner` is the winning outcome, None where there is none, and `end` the
    instant of the resolution.
    """
    market_id, exclusive = require(text_member(own_id), "an id"), members.get("mutuallyExclusive")
    resolution = {"label": winner, "resolvedAt": rfc3339(end)}
    row = {
        **members,
        "type": "prediction",
        "question": require(text_member(members["question"], 1_000), "a question"),
        "rules": text_member(members.get("rules")),
        "category": text_member(members.get("category"), 200),
        "groupId": text_member(members.get("groupId")),
        "mutuallyExclusive": exclusive if isinstance(exclusive, bool) else None,
        "resolution": resolution if members["status"] == "resolved" else None,
        "provider": provider,
        "providerMarketId": market_id,
        **{name: rfc3339(members.get(name)) for name in ("opensAt", "closesAt", "resolvesAt")},
    }
    key, also = f"{provider}:{market_id}", (f"{provider}:{other_id}",) if other_id else ()
    return Record("market", key, row, stamp, also, record_id=market_id, url=members["url"])
