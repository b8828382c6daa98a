"""What had been filed by a day is the same on every store, whatever was read before."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from svc_core import catalog
from svc_core.intel.intake import documents
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
def stored(request: pytest.FixtureRequest) -> Iterator[StoredHouse]:
    with asyncio.Runner() as runner:
        house = StoredHouse(store_of(request.param, catalog.COLLECTIONS), runner)
        yield house
        runner.run(house.store.close())


def test_a_store_keeps_the_order_of_filing_as_every_other_does(stored: Any) -> None:
    house = House()
    earlier = [one for one in FACTS if one.filed <= FIRST + timedelta(days=1)]
    for each in (stored, house):
        take(each, companyfacts(FACTS), "/a", [slice(5, None), slice(0, 5)])
        take(each, companyfacts(earlier), "/b", [slice(None)])
    assert rows_of(stored) == rows_of(house)
    assert len(rows_of(stored)) == len(FACTS)
    for each in (stored, house):
        id_ = each.add("/a").id
        gone = each.run(lambda ctx, id_=id_: documents.absent(ctx, id_, set()))[0]
        each.run(lambda ctx, gone=gone: documents.withdraw(ctx, gone))
    assert rows_of(stored) == rows_of(house)
    assert len(rows_of(stored)) == len(earlier)
