"""What a price says, on each prediction market: the states of a market, and their probabilities."""

import json
from typing import Any

import pytest

from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import read_document, recognise_format

Json = dict[str, Any]

POLY = {
    "id": "7", "question": "Will the quay open?", "conditionId": "0x7", "slug": "quay",
    "outcomes": '["Yes", "No"]', "outcomePrices": '["0.51", "0.49"]',
    "clobTokenIds": '["1", "2"]', "bestBid": 0.5, "bestAsk": 0.52, "active": True, "closed": False,
}  # fmt: skip
KALSHI = {
    "ticker": "KXQUAY-26-A", "event_ticker": "KXQUAY-26", "title": "Will the quay open?",
    "status": "active", "result": "", "market_type": "binary",
}  # fmt: skip
MANI = {
    "id": "m7", "question": "Will the quay open?", "outcomeType": "BINARY", "probability": 0.25,
    "createdTime": 1_700_000_000_000, "lastUpdatedTime": 1_700_000_100_000,
    "closeTime": 1_800_000_000_000, "creatorUsername": "joan", "slug": "quay",
}  # fmt: skip
MULTI = {
    "outcomeType": "MULTIPLE_CHOICE", "shouldAnswersSumToOne": True,
    "answers": [{"id": "a", "text": "North", "probability": 0.3},
                {"id": "b", "text": "South", "probability": 0.7}],
}  # fmt: skip
DECIDED = {"closed": True, "umaResolutionStatus": "resolved"}
THREE = {"outcomes": '["A", "B", "C"]', "outcomePrices": '["0.2", "0.3", "0.5"]'}
SHARED = {"isResolved": True, "resolution": "MKT", "resolutions": {"a": 25, "b": 75}}


def prices(*texts: str, **members: Any) -> Json:
    return {"outcomePrices": json.dumps(texts), **members}


def quotes(bid: str, ask: str, last: str, **members: Any) -> Json:
    names = ("yes_bid_dollars", "yes_ask_dollars", "last_price_dollars")
    return dict(zip(names, (bid, ask, last), strict=True)) | members


def resolved(resolution: str, **members: Any) -> Json:
    return {"isResolved": True, "resolution": resolution, **members}


# What differs from an open market, and what is said of it: its status, the probabilities of its
# outcomes, what these are based on, and the outcome that won.
CASES: list[tuple[Json, Json, str]] = [
    (POLY, {}, "open 0.51/0.49 mid"),
    (POLY, {"outcomePrices": ["0.51", "0.49"]}, "open 0.51/0.49 mid"),
    (POLY, prices("0.3", "0.7", lastTradePrice=0.3), "open 0.3/0.7 last"),
    (POLY, prices("0.3", "0.7"), "open 0.3/0.7 ?"),
    (POLY, prices("0.3", "0.7", enableOrderBook=False), "open 0.3/0.7 amm"),
    (POLY, prices("0.0005", "0.9995", bestBid=None, bestAsk=0.001), "open 0.0005/0.9995 mid"),
    (POLY, prices("0", "0"), "open ?/? ?"),
    (POLY, prices("0.2", "0.5"), "open ?/? ?"),
    (POLY, prices("1.2", "-0.2"), "open ?/? ?"),
    (POLY, {"outcomePrices": None}, "open ?/? ?"),
    (POLY, {"outcomes": None, "outcomePrices": None}, "open none ?"),
    (POLY, {"active": False}, "closed 0.51/0.49 mid"),
    (POLY, {"closed": True}, "closed 0.51/0.49 mid"),
    (POLY, prices("0", "1", **DECIDED), "resolved 0/1 resolved: No"),
    (POLY, prices("1", "0", closed=True), "resolved 1/0 resolved: Yes"),
    (POLY, prices("0.9999995", "0.0000005", **DECIDED), "resolved 1/0 resolved: Yes"),
    (POLY, prices("0.5", "0.5", **DECIDED), "resolved 0.5/0.5 resolved: ?"),
    (POLY, THREE | {"clobTokenIds": None}, "open 0.2/0.3/0.5 ?"),
    (KALSHI, quotes("0.4500", "0.5500", "0.9000"), "open 0.5/0.5 mid"),
    (KALSHI, quotes("0.4500", "0.5600", "0.9000"), "open 0.9/0.1 last"),
    (KALSHI, quotes("0.0000", "0.0100", "0.0100"), "open 0.01/0.99 last"),
    (KALSHI, quotes("0.9900", "1.0000", "0.0000"), "open ?/? ?"),
    (KALSHI, quotes("0.0000", "0.0000", "0.0000"), "open ?/? ?"),
    (KALSHI, quotes("0.0000", "1.0000", "0.0000"), "open ?/? ?"),
    (KALSHI, {"yes_bid": 45, "yes_ask": 47, "last_price": 40}, "open 0.46/0.54 mid"),
    (KALSHI, {"status": "initialized"}, "closed ?/? ?"),
    (KALSHI, quotes("0.2", "0.3", "0", status="closed"), "closed 0.25/0.75 mid"),
    (KALSHI, {"status": "determined", "result": "yes"}, "resolved 1/0 resolved: Yes"),
    (KALSHI, quotes("0.2", "0.3", "0.2", status="finalized", result="no"),
     "resolved 0/1 resolved: No"),
    (KALSHI, {"status": "finalized", "result": "scalar", "settlement_value_dollars": "0.3500"},
     "resolved 0.35/0.65 resolved: ?"),
    (KALSHI, {"status": "amended", "result": "no"}, "resolved 0/1 resolved: No"),
    (KALSHI, {"status": "disputed", "result": "no"}, "closed ?/? ?"),
    (KALSHI, {"status": "inactive"}, "open ?/? ?"),
    (KALSHI, {"status": "finalized"}, "closed ?/? ?"),
    (KALSHI, {"status": "finalized", "result": "void"}, "cancelled ?/? ?"),
    (KALSHI, quotes("0.2", "0.3", "0", market_type="scalar"), "open none mid"),
    (MANI, {}, "open 0.25/0.75 amm"),
    (MANI, {"closeTime": 1_700_000_050_000}, "closed 0.25/0.75 amm"),
    (MANI, {"closeTime": None}, "open 0.25/0.75 amm"),
    (MANI, resolved("YES"), "resolved 1/0 resolved: Yes"),
    (MANI, resolved("NO"), "resolved 0/1 resolved: No"),
    (MANI, resolved("MKT", resolutionProbability=0.4), "resolved 0.4/0.6 resolved: ?"),
    (MANI, resolved("CANCEL"), "cancelled ?/? ?"),
    (MANI, {"outcomeType": "PSEUDO_NUMERIC"}, "open none ?"),
    (MANI, {"outcomeType": "MULTIPLE_CHOICE"}, "open none ?"),
    (MANI, MULTI, "open 0.3/0.7 amm"),
    (MANI, MULTI | resolved("b"), "resolved 0/1 resolved: South"),
    (MANI, MULTI | SHARED, "resolved 0.25/0.75 resolved: ?"),
]  # fmt: skip


def shown(value: object) -> str:
    return "?" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize(("market", "change", "expected"), CASES)
def test_a_price_says_what_it_is(market: Json, change: Json, expected: str) -> None:
    body = Body(json.dumps([market | change]).encode())
    (record,) = read_document(body, recognise_format(body), Origin()).records
    row, outcomes = record.members, record.members["outcomes"]
    odds = "none" if outcomes is None else "/".join(shown(o["probability"]) for o in outcomes)
    winner = row["resolution"] and f": {shown(row['resolution']['label'])}"
    assert f"{row['status']} {odds} {shown(row['priceBasis'])}{winner or ''}" == expected
