"""The order of every list is that of its declaration, on every store, page after page."""

import asyncio
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from svc_core import catalog
from svc_core.operation.ports import NO_NUMBER, SYSTEM, Collection, Transaction
from tests.backends import NAMES, store_of
from tests.core import demo
from tests.core.conftest import House

PAGE, ROWS_MAX = 7, 60


@cache
def demo_rows() -> dict[str, list[tuple[str, Any]]]:
    """The first rows of every collection that all tenants read, with their ids, after the demo."""
    house = House()
    demo.take_all(house)
    rows: dict[str, list[tuple[str, Any]]] = {}
    for collection in LISTED:
        scan = house.run(lambda ctx, each=collection: ctx.tx.documents.scan(each, limit=ROWS_MAX))
        rows[collection.name] = [(row.id, collection.decode(row.raw)) for row in scan.rows]
    return rows


LISTED = [each for each in catalog.COLLECTIONS if each.scope == "global" and each.prefix]


@pytest.fixture(scope="module", params=NAMES)
def filled_store(request: pytest.FixtureRequest) -> Iterator[Any]:
    with asyncio.Runner() as runner:
        store = store_of(request.param, catalog.COLLECTIONS)

        async def fill(tx: Transaction) -> None:
            for collection in LISTED:
                for id_, row in demo_rows()[collection.name]:
                    await tx.documents.put(collection, id_, row)

        runner.run(store.write(SYSTEM, fill))
        yield lambda unit: runner.run(store.read(SYSTEM, unit))
        runner.run(store.close())


def _place(collection: Collection[Any], order: str | None, id_: str, row: Any) -> tuple[int, str]:
    number = collection.order(row) if order is None else collection.numbers[order](row)
    return (NO_NUMBER if number is None else number), id_


@pytest.mark.parametrize("collection", LISTED, ids=lambda each: each.name)
def test_every_list_has_the_order_of_its_declaration(
    filled_store: Any, collection: Collection[Any]
) -> None:
    rows = demo_rows()[collection.name]
    beside = collection.layout.beside
    for order in (None, *(name for name in collection.numbers if name not in beside)):
        places = sorted((_place(collection, order, *row) for row in rows), reverse=True)
        assert len({*places}) == len(places)

        async def pages(tx: Transaction, order: str | None = order) -> list[str]:
            ids, after = list[str](), None
            while True:
                page = await tx.documents.scan(collection, order=order, after=after, limit=PAGE)
                ids += [row.id for row in page.rows]
                after = page.end
                if after is None:
                    return ids

        assert filled_store(pages) == [id_ for _, id_ in places]


def test_the_demo_has_rows_of_most_lists() -> None:
    empty = {name for name, rows in demo_rows().items() if not rows}
    assert len(empty) < len(LISTED) / 2
