"""Prediction markets: Polymarket, Kalshi, Manifold."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.model import DocumentRefused, Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, Document, read_document, recognise_format

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


# -- real documents ----------------------------------------------------------------------------

REAL: list[tuple[str, str, int, str, Json]] = [
    (
        "polymarket",
        "poly_event_mixed_live_and_resolved.json",
        8,
        "949495",
        {
            "question": "Fed rate cut by June 2026 meeting?",
            "status": "resolved",
            "shares": [0, 1],
            "priceBasis": "resolved",
            "resolution": {"label": "No", "resolvedAt": "2026-06-17T20:04:49Z"},
            "volume": {
                "metric": "volume",
                "value": 784968.3769240015,
                "unit": "USDC",
                "provider": "polymarket",
            },
            "volume24h": None,
            "groupId": "106884",
            "mutuallyExclusive": False,
            "category": "Fed",
            "closesAt": "2026-06-17T00:00:00Z",
        },
    ),
    (
        "polymarket",
        "polymarket_markets.json",
        5,
        "540819",
        {
            "status": "open",
            "shares": [0.495, 0.505],
            "priceBasis": "mid",
            "resolution": None,
            "groupId": "23784",
            "opensAt": "2025-05-02T15:48:16.854000Z",
        },
    ),
    (
        "kalshi",
        "kalshi_markets.json",
        5,
        "KXMVESPORTSMULTIGAMEEXTENDED-S202668B6522D873-0DF0229E9FB",
        {
            "question": "yes Brandon Lowe: 1+,yes Byron Buxton: 1+,yes Cal Raleigh: 1+",
            "shares": [None, None],
            "priceBasis": None,
            "rules": None,
        },
    ),
    (
        "kalshi",
        "kalshi_markets_new_fields.json",
        5,
        "KXFEDDECISION-26SEP-H25",
        {
            "question": "Will the Federal Reserve Hike rates by 25bps at their September 2026"
            " meeting? (Hike 25bps)",
            "shares": [0.285, 0.715],
            "priceBasis": "mid",
            "volume": {
                "metric": "volume",
                "value": 2544188.6,
                "unit": "{contract}",
                "provider": "kalshi",
            },
            "groupId": "KXFEDDECISION-26SEP",
            "closesAt": "2026-09-16T17:59:00Z",
            "resolvesAt": "2026-09-16T18:05:00Z",
        },
    ),
    (
        "kalshi",
        "kalshi_markets_new_fields.json",
        5,
        "KXFEDDECISION-26SEP-C25",
        {"shares": [0.01, 0.99], "priceBasis": "last"},
    ),
    (
        "manifold",
        "manifold_search.json",
        3,
        "lqtROphAhp",
        {
            "shares": [0.011657194517287568, 0.988342805483],
            "priceBasis": "amm",
            "status": "open",
            "closesAt": "2026-09-16T18:25:00Z",
            "volume24h": {
                "metric": "volume24h",
                "value": 0,
                "unit": "MANA",
                "provider": "manifold",
            },
        },
    ),
]


@pytest.mark.parametrize(("format_id", "file", "count", "own_id", "values"), REAL)
def test_what_a_real_document_says_is_said(
    format_id: str,
    file: str,
    count: int,
    own_id: str,
    values: Json,
    real_documents: Callable[[str], list[Path]],
) -> None:
    path = next(path for path in real_documents(format_id) if path.name == file)
    body = Body(path.read_bytes())
    assert [format_.id for format_ in FORMATS.values() if format_.recognise(body)] == [format_id]
    document = read_document(body, FORMATS[format_id], Origin())
    assert (len(document.records), document.rejections) == (count, ())
    row = next(dict(record.members) for record in document.records if record.record_id == own_id)
    content = row | {"shares": shares(row)}
    assert {name: content[name] for name in values} == values


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


EVENT = {"id": 9, "slug": "harbour", "negRisk": True, "tags": [{"label": "Ports"}]}


@pytest.mark.parametrize(
    ("content", "group", "exclusive", "url"),
    [
        (POLY, None, None, "https://polymarket.com/market/quay"),
        ([POLY], None, None, "https://polymarket.com/market/quay"),
        ({"markets": [POLY], "next_cursor": "x"}, None, None, "https://polymarket.com/market/quay"),
        ([POLY | {"events": [EVENT]}], "9", True, "https://polymarket.com/event/harbour/quay"),
        (EVENT | {"markets": [POLY]}, "9", True, "https://polymarket.com/event/harbour/quay"),
        ([EVENT | {"markets": [POLY]}], "9", True, "https://polymarket.com/event/harbour/quay"),
        (
            {"events": [EVENT | {"markets": [POLY]}], "pagination": {"hasMore": False}},
            "9",
            True,
            "https://polymarket.com/event/harbour/quay",
        ),
    ],
)
def test_every_answer_of_polymarket_holds_the_same_market(
    content: object, group: str | None, exclusive: bool | None, url: str
) -> None:
    row = members(content)
    assert (row["groupId"], row["mutuallyExclusive"], row["url"]) == (group, exclusive, url)
    assert [item["tokenId"] for item in row["outcomes"]] == ["1", "2"]


def test_a_market_of_a_search_without_an_id_is_known_by_its_condition() -> None:
    nameless = {name: value for name, value in POLY.items() if name != "id"}
    market, actual = document([POLY]).records[0], document([nameless]).records[0]
    assert (market.key, market.other_keys) == ("polymarket:7", ("polymarket:0x7",))
    assert actual.key in market.other_keys


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


KALSHI_EVENT = {
    "event_ticker": "KXQUAY-26",
    "title": "Quays",
    "category": "Ports",
    "mutually_exclusive": True,
}


@pytest.mark.parametrize(
    ("content", "exclusive"),
    [
        ([KALSHI], None),
        ({"market": KALSHI}, None),
        ({"markets": [KALSHI], "cursor": "x"}, None),
        ({"event": KALSHI_EVENT, "markets": [KALSHI]}, True),
        ({"event": KALSHI_EVENT | {"markets": [KALSHI]}}, True),
        ({"events": [KALSHI_EVENT | {"markets": [KALSHI]}], "cursor": ""}, True),
    ],
)
def test_every_answer_of_kalshi_holds_the_same_market(
    content: object, exclusive: bool | None
) -> None:
    assert [
        format_.id
        for format_ in FORMATS.values()
        if format_.recognise(Body(json.dumps(content).encode()))
    ]
    row = members(content)
    assert (row["groupId"], row["mutuallyExclusive"]) == ("KXQUAY-26", exclusive)
    assert row["category"] == ("Ports" if exclusive else None)
    assert row["url"] == "https://kalshi.com/markets/kxquay#kxquay-26-a"


@pytest.mark.parametrize(
    ("change", "question"),
    [
        ({"yes_sub_title": "Before May"}, "Will the quay open? (Before May)"),
        ({"yes_sub_title": "the quay"}, "Will the quay open?"),
        ({"yes_sub_title": ""}, "Will the quay open?"),
        ({"title": "", "yes_sub_title": "Before May"}, "Before May"),
    ],
)
def test_a_question_of_kalshi_says_what_is_asked(change: Json, question: str) -> None:
    assert members([KALSHI | change])["question"] == question


def test_quantities_of_kalshi_are_contracts_in_both_forms() -> None:
    for content in ({"volume_fp": "12.50", "volume": 12}, {"volume": 12.5}):
        assert members([KALSHI | content])["volume"]["value"] == 12.5
    assert members([KALSHI | {"liquidity_dollars": "3.00"}])["liquidity"]["currency"] == "USD"


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


def test_answers_that_are_questions_of_their_own_each_have_their_result() -> None:
    answers = [{"id": "a", "text": "N", "resolution": "YES"}, {"id": "b", "text": "S"}]
    content = MANI | MULTI | CHOICE | {"answers": answers, "resolution": "MKT"}
    assert shares(members(content | {"shouldAnswersSumToOne": False})) == [1, 0]


def test_one_market_in_full_is_the_row_of_the_list() -> None:
    row, full = members([MANI]), members(MANI | {"textDescription": "By the port's word."})
    assert full == row | {"rules": "By the port's word."}
    assert row["url"] == "https://manifold.markets/joan/quay"
    assert members(MANI | {"token": "CASH", "volume": 1})["volume"]["unit"] == "CASH"


def test_a_question_that_never_closes_is_open() -> None:
    row = members([MANI | {"closeTime": 10**15}])
    assert (row["status"], row["closesAt"]) == ("open", None)


# -- what cannot be used -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("good", "change", "reason"),
    [
        (POLY, {"outcomePrices": '["1"]'}, "has prices that do not match its outcomes"),
        (POLY, {"outcomePrices": '["a", "b"]'}, "has a number that is none"),
        (POLY, {"outcomes": "Yes"}, "is not of the form of its kind (JSONDecodeError)"),
        (POLY, {"question": None}, "lacks a question"),
        (POLY, {"volume": "inf"}, "has a number that is none"),
        (KALSHI, {"status": "dreaming"}, "lacks a status that is known"),
        (KALSHI, {"title": None}, "lacks a question"),
        (KALSHI, {"ticker": None}, "is not of the form of its kind (AttributeError)"),
        (MANI, {"outcomeType": None, "id": None}, "lacks an id"),
        (MANI, {"probability": "much"}, "has a number that is none"),
        (MANI | MULTI, {"answers": "many"}, "is not of the form of its kind (AttributeError)"),
    ],
)
def test_a_market_that_cannot_be_used_spoils_no_other(
    good: Json, change: Json, reason: str
) -> None:
    rows = document([good, good | change, None])
    assert len(rows.records) == 1
    assert rows.rejection_count == 2
    assert reason in {rejection.reason for rejection in rows.rejections}


@pytest.mark.parametrize(
    ("content", "format_id"),
    [
        ({"markets": [], "cursor": ""}, "kalshi"),
        ({"events": [], "cursor": ""}, "kalshi"),
        ({"events": [], "pagination": {}}, "polymarket"),
        ([EVENT | {"markets": []}, EVENT | {"markets": [POLY]}], "polymarket"),
    ],
)
def test_an_answer_without_markets_is_an_empty_window(content: object, format_id: str) -> None:
    assert document(content).format.id == format_id


@pytest.mark.parametrize(
    "content", [[], [5], {"markets": 5}, {"event": "x"}, {"events": 5}, {"question": "Why?"}]
)
def test_what_only_looks_like_markets_is_recognised_as_none(content: object) -> None:
    with pytest.raises(DocumentRefused, match="unrecognised"):
        document(content)
