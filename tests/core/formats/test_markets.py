"""Prediction markets: Polymarket, Kalshi, Manifold."""

import json
from typing import Any

import pytest

from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import Document, read_document, recognise_format

Json = dict[str, Any]


def document(content: object) -> Document:
    body = Body(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_document(body, recognise_format(body), Origin())


def members(content: object) -> Json:
    records = document(content).records
    assert len(records) == 1
    return dict(records[0].members)


def shares(row: Json) -> list[float | None] | None:
    """The probabilities, which sum to one where there are two of them."""
    if row["outcomes"] is None:
        return None
    actual = [item["probability"] for item in row["outcomes"]]
    if len(actual) == 2 and actual[0] is not None:
        assert abs(sum(actual) - 1) <= 0.01
    return actual


# -- Polymarket --------------------------------------------------------------------------------

POLY = {
    "id": "7",
    "question": "Will the quay open?",
    "conditionId": "0x7",
    "slug": "quay",
    "outcomes": '["Yes", "No"]',
    "outcomePrices": '["0.51", "0.49"]',
    "clobTokenIds": '["1", "2"]',
    "bestBid": 0.5,
    "bestAsk": 0.52,
    "active": True,
    "closed": False,
}
RESOLUTION = {"closed": True, "umaResolutionStatus": "resolved"}


@pytest.mark.parametrize(
    ("change", "status", "share", "basis", "label"),
    [
        ({}, "open", [0.51, 0.49], "mid", None),
        ({"outcomePrices": ["0.51", "0.49"]}, "open", [0.51, 0.49], "mid", None),
        (
            {"outcomePrices": '["0.3", "0.7"]', "lastTradePrice": 0.3},
            "open",
            [0.3, 0.7],
            "last",
            None,
        ),
        ({"outcomePrices": '["0.3", "0.7"]'}, "open", [0.3, 0.7], None, None),
        (
            {"outcomePrices": '["0.3", "0.7"]', "enableOrderBook": False},
            "open",
            [0.3, 0.7],
            "amm",
            None,
        ),
        (
            {"outcomePrices": '["0.0005", "0.9995"]', "bestBid": None, "bestAsk": 0.001},
            "open",
            [0.0005, 0.9995],
            "mid",
            None,
        ),
        ({"outcomePrices": '["0", "0"]'}, "open", [None, None], None, None),
        ({"outcomePrices": '["0.2", "0.5"]'}, "open", [None, None], None, None),
        ({"outcomePrices": '["1.2", "-0.2"]'}, "open", [None, None], None, None),
        ({"outcomePrices": None}, "open", [None, None], None, None),
        ({"outcomes": None, "outcomePrices": None}, "open", None, None, None),
        ({"active": False}, "closed", [0.51, 0.49], "mid", None),
        ({"closed": True}, "closed", [0.51, 0.49], "mid", None),
        ({"outcomePrices": '["0", "1"]', **RESOLUTION}, "resolved", [0, 1], "resolved", "No"),
        ({"outcomePrices": '["1", "0"]', "closed": True}, "resolved", [1, 0], "resolved", "Yes"),
        (
            {"outcomePrices": '["0.9999995", "0.0000005"]', **RESOLUTION},
            "resolved",
            [1, 0],
            "resolved",
            "Yes",
        ),
        (
            {"outcomePrices": '["0.5", "0.5"]', **RESOLUTION},
            "resolved",
            [0.5, 0.5],
            "resolved",
            None,
        ),
        (
            {
                "outcomes": '["A", "B", "C"]',
                "outcomePrices": '["0.2", "0.3", "0.5"]',
                "clobTokenIds": None,
            },
            "open",
            [0.2, 0.3, 0.5],
            None,
            None,
        ),
    ],
)
def test_a_price_of_polymarket_says_what_it_is(
    change: Json,
    status: str,
    share: list[float | None] | None,
    basis: str | None,
    label: str | None,
) -> None:
    row = members([POLY | change])
    assert (row["status"], shares(row), row["priceBasis"]) == (status, share, basis)
    assert (row["resolution"] or {}).get("label") == label
    assert (row["resolution"] is None) == (status != "resolved")


# -- Kalshi ------------------------------------------------------------------------------------

KALSHI = {
    "ticker": "KXQUAY-26-A",
    "event_ticker": "KXQUAY-26",
    "title": "Will the quay open?",
    "status": "active",
    "result": "",
    "market_type": "binary",
}


def quotes(bid: str, ask: str, last: str) -> Json:
    names = ("yes_bid_dollars", "yes_ask_dollars", "last_price_dollars")
    return dict(zip(names, (bid, ask, last), strict=True))


@pytest.mark.parametrize(
    ("change", "status", "share", "basis", "label"),
    [
        (quotes("0.4500", "0.5500", "0.9000"), "open", [0.5, 0.5], "mid", None),
        (quotes("0.4500", "0.5600", "0.9000"), "open", [0.9, 0.1], "last", None),
        (quotes("0.0000", "0.0100", "0.0100"), "open", [0.01, 0.99], "last", None),
        (quotes("0.9900", "1.0000", "0.0000"), "open", [None, None], None, None),
        (quotes("0.0000", "0.0000", "0.0000"), "open", [None, None], None, None),
        (quotes("0.0000", "1.0000", "0.0000"), "open", [None, None], None, None),
        ({"yes_bid": 45, "yes_ask": 47, "last_price": 40}, "open", [0.46, 0.54], "mid", None),
        ({"status": "initialized"}, "closed", [None, None], None, None),
        ({"status": "closed", **quotes("0.2", "0.3", "0")}, "closed", [0.25, 0.75], "mid", None),
        ({"status": "determined", "result": "yes"}, "resolved", [1, 0], "resolved", "Yes"),
        (
            {"status": "finalized", "result": "no", **quotes("0.2", "0.3", "0.2")},
            "resolved",
            [0, 1],
            "resolved",
            "No",
        ),
        (
            {"status": "finalized", "result": "scalar", "settlement_value_dollars": "0.3500"},
            "resolved",
            [0.35, 0.65],
            "resolved",
            None,
        ),
        ({"status": "amended", "result": "no"}, "resolved", [0, 1], "resolved", "No"),
        ({"status": "disputed", "result": "no"}, "closed", [None, None], None, None),
        ({"status": "inactive"}, "open", [None, None], None, None),
        ({"status": "finalized"}, "closed", [None, None], None, None),
        ({"status": "finalized", "result": "void"}, "cancelled", [None, None], None, None),
        ({"market_type": "scalar", **quotes("0.2", "0.3", "0")}, "open", None, "mid", None),
    ],
)
def test_a_price_of_kalshi_says_what_it_is(
    change: Json,
    status: str,
    share: list[float | None] | None,
    basis: str | None,
    label: str | None,
) -> None:
    row = members({"markets": [KALSHI | change], "cursor": ""})
    assert (row["status"], shares(row), row["priceBasis"]) == (status, share, basis)
    assert (row["resolution"] or {}).get("label") == label
    assert (row["resolution"] is None) == (status != "resolved")


# -- Manifold ----------------------------------------------------------------------------------

MANI = {
    "id": "m7",
    "question": "Will the quay open?",
    "outcomeType": "BINARY",
    "probability": 0.25,
    "createdTime": 1_700_000_000_000,
    "lastUpdatedTime": 1_700_000_100_000,
    "closeTime": 1_800_000_000_000,
    "creatorUsername": "joan",
    "slug": "quay",
}
MULTI = {
    "outcomeType": "MULTIPLE_CHOICE",
    "shouldAnswersSumToOne": True,
    "answers": [
        {"id": "a", "text": "North", "probability": 0.3},
        {"id": "b", "text": "South", "probability": 0.7},
    ],
}
CHOICE = {"isResolved": True, "resolution": "b"}
SHARED = {"isResolved": True, "resolution": "MKT", "resolutions": {"a": 25, "b": 75}}


@pytest.mark.parametrize(
    ("change", "status", "share", "basis", "label"),
    [
        ({}, "open", [0.25, 0.75], "amm", None),
        ({"closeTime": 1_700_000_050_000}, "closed", [0.25, 0.75], "amm", None),
        ({"closeTime": None}, "open", [0.25, 0.75], "amm", None),
        ({"isResolved": True, "resolution": "YES"}, "resolved", [1, 0], "resolved", "Yes"),
        ({"isResolved": True, "resolution": "NO"}, "resolved", [0, 1], "resolved", "No"),
        (
            {"isResolved": True, "resolution": "MKT", "resolutionProbability": 0.4},
            "resolved",
            [0.4, 0.6],
            "resolved",
            None,
        ),
        ({"isResolved": True, "resolution": "CANCEL"}, "cancelled", [None, None], None, None),
        ({"outcomeType": "PSEUDO_NUMERIC"}, "open", None, None, None),
        ({"outcomeType": "MULTIPLE_CHOICE"}, "open", None, None, None),
        (MULTI, "open", [0.3, 0.7], "amm", None),
        (MULTI | CHOICE, "resolved", [0, 1], "resolved", "South"),
        (MULTI | SHARED, "resolved", [0.25, 0.75], "resolved", None),
    ],
)
def test_a_probability_of_manifold_is_that_of_an_outcome(
    change: Json,
    status: str,
    share: list[float | None] | None,
    basis: str | None,
    label: str | None,
) -> None:
    row = members([MANI | change])
    assert (row["status"], shares(row), row["priceBasis"]) == (status, share, basis)
    assert (row["resolution"] or {}).get("label") == label
    assert row["mutuallyExclusive"] is (True if "answers" in change else None)
