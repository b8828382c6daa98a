"""No question about a collection becomes dearer by rows that it does not return."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from svc_core import catalog
from svc_core.testing.outline_rows import outline_of
from svc_core.testing.promises.cost_promises import CostLaw
from svc_core.testing.sync_store import SyncStore
from svc_http.stores.postgres import PostgresStorage
from tests.backends import BACKEND, NAMES, store_of
from tests.postgres import EPOCH
from tests.storage.efforts import ONE_READER, lines_run, postgres_pages, sqlite_steps


@pytest.fixture(scope="module", params=NAMES)
def measured(request: pytest.FixtureRequest) -> Iterator[tuple[SyncStore, Callable[..., int]]]:
    with asyncio.Runner() as runner:
        if request.param == "postgres":
            # One that was lent before has pages of dead rows, by which plans are made.
            dsn = BACKEND.server.made_for(catalog.COLLECTIONS)
            opening = PostgresStorage.open(dsn, catalog.COLLECTIONS, epoch=EPOCH, limits=ONE_READER)
            sync = SyncStore(runner.run(opening), runner.run)
        else:
            sync = SyncStore(store_of(request.param, catalog.COLLECTIONS), runner.run)
        efforts = {
            "memory": lines_run,
            "sqlite": lambda work: sqlite_steps(runner.run(sync.store._open()), work),
            "postgres": postgres_pages,
        }
        yield sync, efforts[request.param]
        sync.close()


def shape_of(collection: Any) -> tuple[Any, ...]:
    """What a store makes its tables and indexes from, but for the names."""
    layout = collection.layout
    return (
        collection.scope,
        *map(len, (collection.keys, collection.facets, collection.numbers)),
        collection.place is None,
        collection.search is None,
        layout.is_compressed,
        layout.is_filtered,
        len(layout.beside),
        len(layout.distinctive),
    )


ALIKE = {shape_of(collection): collection for collection in catalog.COLLECTIONS}
"""A collection for each of those whose declarations differ in their names alone."""


@pytest.mark.parametrize("collection", ALIKE.values(), ids=lambda collection: collection.name)
def test_rows_that_a_question_does_not_return_make_it_no_dearer(
    measured: tuple[SyncStore, Callable[..., int]], collection: Any
) -> None:
    CostLaw(outline_of(collection)).check(*measured)
