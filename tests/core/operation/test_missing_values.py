"""What is missing says why (unknown, not asked for, known to be empty), in every row there is.

A member that may be null is always there; one that may be absent is never null; no member is both.
"""

import re
from collections.abc import Iterator
from typing import Any, get_args

import attrs
import pytest

from svc_core.base import drive
from svc_core.base.unset import Unset
from svc_core.catalog import OPERATIONS
from svc_core.contract.result import Page, Single
from svc_core.intel.folding.contributions import CONTRIBUTIONS
from svc_core.intel.news.recaps import recap_new
from svc_core.operation.declaration import Operation
from svc_core.operation.inputs import inputs_of
from svc_core.wire import camel, shapes
from tests.core import demo

DATA = frozenset({"news:read", "osint:read"})
"""The scopes of operations whose rows come from documents."""

DATA_OPERATIONS = [
    operation for operation in OPERATIONS if operation.scopes and operation.scopes <= DATA
]
LISTS = [
    operation
    for operation in DATA_OPERATIONS
    if "{" not in operation.path and any(kind is Page for kind, _ in operation.results)
]
MODELS = {
    model
    for operation in DATA_OPERATIONS
    for kind, model in operation.results
    if kind in (Page, Single) and shapes.is_model(model)
}


@pytest.fixture(scope="module")
def demo_house(house_factory: Any) -> Any:
    """A house with the documents of the demo."""
    house = house_factory()
    demo.take_all(house)
    drive.run(recap_new(OneTurn(house)))
    return house


class OneTurn:
    """Units of work, one after the other."""

    def __init__(self, house: Any) -> None:
        self.house, self.host = house, house.host

    async def read(self, _: str, usecase: Any) -> Any:
        return self.house.run(usecase)

    write = read

    async def aside(self, work: Any) -> Any:
        return work()


def members(model: Any) -> Iterator[tuple[str, Any]]:
    """Every member of a model by its name in JSON."""
    for field in attrs.fields(model):
        yield camel(field.name), shapes.split_annotation(field.type)[0]


def choices(annotation: Any) -> list[Any]:
    """The types that a value may have."""
    inner, _ = shapes.split_annotation(annotation)
    if not shapes.is_union(inner):
        return [inner]
    return [item for part in get_args(inner) for item in choices(part)]


def parts(model: Any, seen: set[Any]) -> set[Any]:
    """The model, and every model in it."""
    if model in seen:
        return seen
    seen.add(model)
    waiting = [annotation for _, annotation in members(model)]
    while waiting:
        for item in choices(waiting.pop()):
            if shapes.is_model(item):
                parts(item, seen)
            elif shapes.is_tuple(item):
                waiting += [item for item in get_args(item) if item is not ...]
    return seen


EVERY = sorted({part for model in MODELS for part in parts(model, set())}, key=str)


ASKED_FOR = frozenset({"previousValue", "change", "changePercent", "match"})
"""What `include` adds: absent where it is not asked for, null where it is and nobody knows."""


@pytest.mark.parametrize("model", EVERY, ids=lambda model: model.__name__)
def test_no_member_may_be_both_absent_and_null(model: Any) -> None:
    values = [
        name
        for name, annotation in members(model)
        if {Unset, type(None)} <= {*choices(annotation)} and name not in ASKED_FOR
    ]
    assert values == []


def faults(model: Any, row: Any, at: str) -> Iterator[str]:
    """What is wrong with a row of this model."""
    for name, annotation in members(model):
        options = choices(annotation)
        if name not in row:
            if Unset not in options:
                yield f"{at}.{name} is missing"
            continue
        value = row[name]
        if value is None:
            if Unset in options and Any not in options:
                yield f"{at}.{name} is null, and would be left out"
            elif type(None) not in options and Any not in options:
                yield f"{at}.{name} is null"
            continue
        for each in options:
            if shapes.is_model(each) and isinstance(value, dict):
                yield from faults(each, value, f"{at}.{name}")
            elif shapes.is_tuple(each) and shapes.is_model(get_args(each)[0]):
                for number, item in enumerate(value):
                    yield from faults(get_args(each)[0], item, f"{at}.{name}.{number}")


def odd(value: Any, at: str) -> Iterator[str]:
    """Measurements without a basis and places that are nowhere, wherever they are."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from odd(item, f"{at}.{number}")
    if not isinstance(value, dict):
        return
    if {"metric", "value"} <= value.keys():
        if not any(value.get(name) for name in ("unit", "currency", "provider")):
            yield f"{at} has no basis"
        if not re.fullmatch("[A-Z]{3}", value.get("currency") or "USD"):
            yield f"{at} is in no currency"
    if {"geometry", "precision", "countryCode"} <= value.keys():
        if not re.fullmatch("[A-Z]{2}", value["countryCode"] or "EC"):
            yield f"{at} is in no country"
        for longitude, latitude in positions((value["geometry"] or {}).get("coordinates", [])):
            if not (abs(longitude) <= 180 and abs(latitude) <= 90):
                yield f"{at} is not on the globe"
    for name, item in value.items():
        yield from odd(item, f"{at}.{name}")


def positions(coordinates: Any) -> Iterator[tuple[float, float]]:
    """The positions of a geometry."""
    if coordinates and not isinstance(coordinates[0], list):
        yield coordinates[0], coordinates[1]
        return
    for part in coordinates:
        yield from positions(part)


@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.id)
def test_every_row_of_the_demo_says_what_it_lacks(
    demo_house: Any, operation: Operation[Any, Any]
) -> None:
    model = next(model for kind, model in operation.results if kind is Page)
    names = {item.name for item in inputs_of(operation.request)}
    rows = demo_house.rows(operation.id, "limit=100" if "limit" in names else "")
    assert rows, "nothing to look at"
    assert [fault for row in rows for fault in (*faults(model, row, ""), *odd(row, ""))] == []


def test_what_waits_for_its_rows_is_in_units_and_on_the_globe(demo_house: Any) -> None:
    page = demo_house.run(lambda ctx: ctx.tx.documents.scan(CONTRIBUTIONS, limit=10_000)).rows
    rows = [CONTRIBUTIONS.decode(row.raw) for row in page]
    assert len({row.resource for row in rows}) > 3
    assert [fault for row in rows for fault in odd(row.said, f"{row.format} {row.key}")] == []
