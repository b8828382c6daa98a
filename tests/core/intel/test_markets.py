"""Prediction markets: one proposition each, whom they name, and what every filter finds."""

import json
from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import pytest

from svc_core.base import instants
from svc_core.base.unset import UNSET
from svc_core.contract import problem
from svc_core.intel.economy import market_lists
from svc_core.intel.economy.market import MARKETS
from svc_core.intel.economy.market_lists import has_share
from tests.core import demo

TICKERS = {
    "0": {"cik_str": 1, "ticker": "QLD", "title": "Quillard Systems Inc"},
    "1": {"cik_str": 2, "ticker": "QLB", "title": "Quillard Beverage Co"},
    "2": {"cik_str": 3, "ticker": "PYLN", "title": "Pylon Harbour Corp"},
}


def gamma(number: int, **members: Any) -> dict[str, Any]:
    """A market of Polymarket's Gamma API."""
    return {
        "id": str(number),
        "question": f"Will it happen {number} times?",
        "conditionId": f"0x{number}",
        "slug": f"m-{number}",
        "outcomes": '["Yes", "No"]',
        "outcomePrices": '["0.25", "0.75"]',
        "volume": "10",
        "active": True,
        "closed": False,
        "endDate": "2030-01-01T00:00:00Z",
        "updatedAt": "2026-01-01T00:00:00Z",
        **members,
    }


@pytest.fixture
def take_markets(house: Any) -> Callable[..., list[Any]]:
    """Takes in markets beside some companies, and gives the rows of a query."""

    def take(*rows: dict[str, Any]) -> None:
        demo.take(house, "tickers.json", TICKERS)
        demo.take(house, "markets.json", list(rows))

    return take


def questions(house: Any, query: str = "") -> set[str]:
    return {row["question"] for row in house.rows("listMarkets", f"limit=100&{query}")}


FILTERS = {
    "status": "open",
    "provider": "kalshi,manifold",
    "category": "politics",
    "minVolume": "1000",
    "closesBefore": "2031-01-01T00:00:00Z",
    "label": "yes",
    "minProbability": "0.3",
    "maxProbability": "0.3",
    "q": "ransom",
}


@pytest.mark.parametrize(("name", "value"), FILTERS.items())
def test_each_filter_finds_some_rows_of_the_demo_and_leaves_some_out(
    demo_house: Any, name: str, value: str
) -> None:
    matches, every = questions(demo_house, f"{name}={value}"), questions(demo_house)
    assert 0 < len(matches) < len(every)


def test_what_is_asked_by_entity_names_it(demo_house: Any) -> None:
    rows = demo_house.rows("listMarkets", "limit=100")
    with_entities = [row for row in rows if row["entities"]]
    assert 0 < len(with_entities) < len(rows)
    for row in with_entities:
        id_ = row["entities"][0]["entityId"]
        matches = demo_house.rows("listMarkets", f"limit=100&entityId={id_}")
        assert row["id"] in {match["id"] for match in matches}
        assert len(matches) < len(rows)
        for match in matches:
            assert id_ in {entity["entityId"] for entity in match["entities"]}


def test_a_market_names_the_company_and_none_that_shares_a_word(
    house: Any, take_markets: Any
) -> None:
    take_markets(
        gamma(1, question="Will Quillard Systems report a breach by March?"),
        gamma(2, question="Will Quillard be fined?"),
        gamma(3, question="Will shares of (NYSE: PYLN) fall below 3?"),
        gamma(4, question="Will a pylon of the harbour bridge fall?"),
    )
    rows = {row["providerMarketId"]: row for row in house.rows("listMarkets")}
    names = {id_: [item["name"] for item in row["entities"]] for id_, row in rows.items()}
    assert names == {"1": ["Quillard Systems"], "2": [], "3": ["PYLN"], "4": []}
    for id_ in "13":
        entity = rows[id_]["entities"][0]["entityId"]
        matches = house.rows("listMarkets", f"entityId={entity}")
        assert [match["providerMarketId"] for match in matches] == [id_]
        market = json.loads(house.send("getMarket", path={"marketId": rows[id_]["id"]}).body)
        assert market["data"] == rows[id_]


@pytest.mark.parametrize(
    ("label", "least", "high", "is_kept"),
    [
        (None, 0.25, UNSET, True),
        (None, 0.26, UNSET, False),
        (None, UNSET, 0.25, True),
        (None, UNSET, 0.24, False),
        ("no", 0.75, 0.75, True),
        ("No", 0.76, UNSET, False),
        ("maybe", 0.0, UNSET, False),
        ("unknown", 0.0, 1.0, False),
    ],
)
def test_a_share_is_that_of_the_label_or_of_the_first_outcome(
    house: Any, take_markets: Any, label: Any, least: Any, high: Any, is_kept: bool
) -> None:
    take_markets(gamma(1))
    market = MARKETS.decode(json.dumps(house.rows("listMarkets")[0]).encode())
    assert has_share(label, least, high, market) is is_kept


def test_a_market_that_nobody_quotes_has_no_share(house: Any, take_markets: Any) -> None:
    take_markets(gamma(1, outcomePrices=None))
    assert house.rows("listMarkets")[0]["outcomes"][0]["probability"] is None
    assert house.rows("listMarkets", "minProbability=0") == []
    assert house.rows("listMarkets", "maxProbability=1") == []
    assert len(house.rows("listMarkets", "label=Yes")) == 1


def test_a_rare_share_is_found_however_many_rows_are_passed_over(
    house: Any, take_markets: Any
) -> None:
    rare = (gamma(n, outcomePrices='["0.9", "0.1"]') for n in (998, 999))
    take_markets(*(gamma(n) for n in range(300)), *rare)
    for sort in ("", "&sort=closesAt"):
        assert sorted(_walk(house, f"minProbability=0.9&limit=1{sort}")) == ["998", "999"]


def _walk(house: Any, query: str) -> list[str]:
    return [row["providerMarketId"] for row in house.every("listMarkets", query)]


def test_lists_are_sorted_and_their_pages_join(demo_house: Any) -> None:
    def value(row: Any, sort: str) -> Any:
        return (row["volume"] or {}).get("value") if sort == "volume" else row["closesAt"]

    for sort in ("volume", "closesAt"):
        rows = demo_house.rows("listMarkets", f"sort={sort}&limit=100")
        keys = [value(row, sort) for row in rows if value(row, sort) is not None]
        assert keys == sorted(keys, reverse=True)
        assert len(keys) > 2


def test_ids_by_other_names_answer(house: Any, take_markets: Any) -> None:
    nameless = {name: value for name, value in gamma(7).items() if name != "id"}
    take_markets(nameless)
    [market] = house.rows("listMarkets")
    take_markets(gamma(7))
    [row] = house.rows("listMarkets")
    for id_ in (market["id"], row["id"], *row["mergedIds"]):
        body = json.loads(house.send("getMarket", path={"marketId": id_}).body)
        assert body["data"]["id"] == row["id"]
    refusal = house.refusal("getMarket", path={"marketId": "mkt_" + "0" * 24})
    assert refusal.type is problem.NOT_FOUND


def test_two_outcomes_sum_to_one(demo_house: Any) -> None:
    rows = demo_house.rows("listMarkets", "limit=100")
    shares = [[outcome["probability"] for outcome in row["outcomes"] or ()] for row in rows]
    whole = [pair for pair in shares if len(pair) == 2 and None not in pair]
    assert len(whole) > 3
    assert all(abs(sum(pair) - 1) <= 0.01 for pair in whole)
    assert any(row["outcomes"] is None for row in rows)


# -- what is open now --------------------------------------------------------------------------

ENDS = {"ended": "2026-01-02T00:00:00Z", "open": "2030-01-01T00:00:00Z", "endless": None}
STATES = {"open": {}, "closed": {"active": False, "closed": True}}


@pytest.mark.parametrize("days", [0, 1, 9_000])
@pytest.mark.parametrize(
    "statuses",
    [
        *combinations(("open", "closed", "resolved", "cancelled"), 1),
        *combinations(("open", "closed", "resolved"), 2),
        ("open", "closed", "resolved"),
    ],
    ids=",".join,
)
def test_a_market_past_its_end_is_closed_wherever_it_is_seen(
    house: Any, take_markets: Any, statuses: tuple[str, ...], days: int
) -> None:
    rows = [
        gamma(number, endDate=end, **state)
        for number, (end, state) in enumerate(product(ENDS.values(), STATES.values()))
    ]
    prices = {"outcomePrices": '["1", "0"]', "umaResolutionStatus": "resolved"}
    take_markets(*rows, gamma(9, **prices, **STATES["closed"]))
    house.clock.advance(days * 86_400)
    now = instants.render(house.clock.now())
    every = house.rows("listMarkets", "limit=100")
    for row in every:
        assert row["status"] != "open" or row["closesAt"] is None or row["closesAt"] >= now
        answer = house.send("getMarket", path={"marketId": row["id"]})
        assert json.loads(answer.body)["data"]["status"] == row["status"]
    expected = [row["id"] for row in every if row["status"] in statuses]
    query = f"limit=2&status={','.join(statuses)}"
    assert [row["id"] for row in house.every("listMarkets", query)] == expected
    some = house.every("listMarkets", f"{query}&minProbability=0.5&label=no")
    assert {row["id"] for row in some} <= {*expected}
    assert len({row["status"] for row in every}) > 1
    assert not any(operation.timeless for operation in market_lists.OPERATIONS)
