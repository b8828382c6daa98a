"""Every filter of every list of the demo finds something, so that whoever tries it sees what it is.

A filter goes by an index of its list's collection: some row has to have a value there.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from svc_core import catalog
from svc_core.intel.entities.model import ENTITIES
from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.incidents.model import INCIDENTS
from svc_core.operation.filters import ORDER, filters_of
from tests.golden.house import House

LISTS = [operation for operation in catalog.OPERATIONS if filters_of(operation.request)]
BY_ENTITY = [
    operation
    for operation in LISTS
    if "{" not in operation.path and "entity_id" in dict(filters_of(operation.request))
]


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    demo = House()
    yield demo
    demo.close()


def _collection(operation: Any) -> Any:
    """The collection that has all indexes of a list."""
    indexes = [(f.kind, f.index) for _, f in filters_of(operation.request) if f.index != ORDER]
    return next(
        collection
        for collection in catalog.COLLECTIONS
        if all(index in getattr(collection, kind) for kind, index in indexes)
    )


@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.id)
def test_every_filter_of_a_list_finds_something(house: House, operation: Any) -> None:
    collection = _collection(operation)
    rows = house.rows(collection)
    for name, filter_ in filters_of(operation.request):
        read = getattr(collection, filter_.kind).get(filter_.index)  # the order has none
        assert read is None or any(read(row) not in (None, (), []) for row in rows), name


@pytest.mark.parametrize("collection", [INCIDENTS, OSINT_EVENTS], ids=lambda rows: rows.name)
def test_a_severity_says_what_it_follows_from(house: House, collection: Any) -> None:
    rows = house.rows(collection)
    assert all((row.severity is None) == (row.severity_basis is None) for row in rows)
    assert {None, "low", "medium", "high", "critical"} <= {row.severity for row in rows}


@pytest.mark.parametrize("operation", BY_ENTITY, ids=lambda operation: operation.id)
def test_a_list_is_found_by_an_entity_that_the_demo_knows(house: House, operation: Any) -> None:
    path = f"/api/v{operation.version[0]}{operation.path}"
    ids = [row.id for row in house.rows(ENTITIES)]
    parts = [",".join(ids[start : start + 20]) for start in range(0, len(ids), 20)]
    answers = [house.ask("GET", f"{path}?entityId={part}").json()["data"] for part in parts]
    assert any(answers)
