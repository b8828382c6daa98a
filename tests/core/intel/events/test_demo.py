"""In the demo every filter finds something and leaves something out."""

from typing import Any

import pytest

from svc_core.catalog import OPERATIONS
from svc_core.operation.inputs import inputs_of
from tests.core import demo


@pytest.fixture(scope="module")
def demo_house(house_factory: Any) -> Any:
    """A house with the documents of the demo, and a source that could not be read."""
    house = house_factory()
    demo.take_all(house)
    house.add("https://demo.example/never.json")
    return house


QUERIES = {
    "listOsintEvents": {
        "provider": "usgs",
        "type": "earthquake",
        "category": "conflict",
        "country": "{country}",
        "severity": "high,critical",
        "minSeverity": "medium",
        "minConfidence": "0.5",
        "bbox": "-180,-60,0,80",
        "datetime": "{occurredAt}/..",
        "updatedSince": "2000-01-01T00:00:00Z",
        "sort": "severity",
        "include": "raw",
    },
    "listRegionalOsint": {
        "bbox": "-180,-60,0,80",
        "datetime": "../{occurredAt}",
        "since": "{millis}",
        "until": "{millis}",
        "provider": "gdacs",
        "type": "flood",
        "country": "{country}",
        "minSeverity": "high",
    },
    "listCountries": {
        "region": "europe,Oceania",
        "subregion": "Western Europe",
        "q": "ger",
        "sort": "population",
        "include": "risk",
    },
    "listIndicators": {
        "indicator": "GDP",
        "provider": "fred,ecb",
        "area": "DEU",
        "country": "de",
        "frequency": "M,Q",
        "periodFrom": "2024-Q3",
        "periodTo": "2024-06",
        "vintage": "2024-06-01",
        "latest": "true",
        "updatedSince": "2000-01-01T00:00:00Z",
        "sort": "updatedAt",
        "include": "change",
    },
    "listOsintFeeds": {"provider": "usgs", "sourceFormat": "usgs,eonet"},
    "listOsintSources": {"status": "neverRun", "provider": "cisa-kev", "sourceFormat": "rss,atom"},
}
WHOLE = {"sort", "include", "updatedSince"}
"""What orders, adds, or cannot tell documents apart that came at one moment."""


def test_every_filter_is_asked_for() -> None:
    for operation in OPERATIONS:
        names = {field.name for field in inputs_of(operation.request) if field.place == "query"}
        if operation.id in QUERIES:
            assert names - {"limit", "cursor"} == QUERIES[operation.id].keys()


def every(house: Any, operation: str, query: str = "") -> list[str]:
    """The ids of all rows."""
    rows = house.every(operation, f"{query}&limit=100")
    return [row.get("id") or row["countryCode"] for row in rows]


@pytest.mark.parametrize(
    ("operation", "name", "value"),
    [(operation, *item) for operation, filters in QUERIES.items() for item in filters.items()],
)
def test_it_finds_some_rows_and_leaves_some_out(
    demo_house: Any, operation: str, name: str, value: str
) -> None:
    rows = demo_house.rows("listOsintEvents", "limit=100")
    with_date = [row for row in rows if row["occurredAt"]]
    middle = with_date[len(with_date) // 2]["occurredAt"]
    country = next(
        row["place"]["countryCode"] for row in rows if (row["place"] or {}).get("countryCode")
    )
    text = value.format(occurredAt=middle, country=country, millis=demo.millis(middle))
    matches, whole = every(demo_house, operation, f"{name}={text}"), every(demo_house, operation)
    assert len(matches) == len({*matches})
    assert {*matches} == {*whole} if name in WHOLE else 0 < len(matches) < len(whole)
