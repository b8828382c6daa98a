"""What had been filed by a day is the same on every store, whatever was read before."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from svc_core import catalog
from tests.backends import NAMES, store_of
from tests.core.conftest import House
from tests.core.intel.intake.test_statements import (
    EQUITY,
    FIRST,
    WITH_OTHERS,
    Fact,
    companyfacts,
    rows_of,
    take,
)
from tests.storage.test_settling import StoredHouse

FACTS = [
    *(Fact("SalesRevenueNet", 2015 + year, 0, False, year) for year in range(3)),
    *(Fact("Revenues", 2015 + year, 3, False, 2 * year) for year in range(3)),
    *(Fact("Goodwill", 2016, filing, filing == 4, filing % 3) for filing in range(6)),
    Fact(EQUITY, 2017, 2, False, 7),
    Fact(WITH_OTHERS, 2017, 2, False, 8),
    Fact(WITH_OTHERS, 2016, 2, False, 9),
    Fact(EQUITY, 2016, 5, False, 7),
]


@pytest.fixture(params=NAMES)
def house_store(request: pytest.FixtureRequest) -> Iterator[StoredHouse]:
    with asyncio.Runner() as runner:
        house = StoredHouse(store_of(request.param, catalog.COLLECTIONS), runner)
        yield house
        runner.run(house.store.close())


def test_a_store_keeps_the_order_of_filing_as_every_other_does(house_store: Any) -> None:
    house = House()
    earlier = [fact for fact in FACTS if fact.filing_date <= FIRST + timedelta(days=1)]
    for store in (house_store, house):
        take(store, companyfacts(FACTS), "/a", [slice(5, None), slice(0, 5)])
        take(store, companyfacts(earlier), "/b", [slice(None)])
    assert rows_of(house_store) == rows_of(house)
    assert len(rows_of(house_store)) == len(FACTS)
    for store in (house_store, house):
        store.withdraw("/a")
    assert rows_of(house_store) == rows_of(house)
    assert len(rows_of(house_store)) == len(earlier)
