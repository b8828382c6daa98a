"""No operation asks its store more often because there are more rows."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import attrs

from svc_core import catalog
from svc_core.operation.inputs import inputs_of
from svc_core.operation.ports import Transaction

WRITES = {"put", "delete", "append", "save"}
"""One call for each row that is written, or removed with its tombstone."""

ROUNDS = 6


class CountingStore:
    """A store that counts what its units ask."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[Any]]) -> Any:
        return await self._storage.read(tenant, lambda tx: unit(Part(tx, self.calls)))

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[Any]]) -> Any:
        return await self._storage.write(tenant, lambda tx: unit(Part(tx, self.calls)))


class Part:
    """A transaction, or one of its rooms."""

    def __init__(self, inner: Any, calls: Counter[str], room: str = "") -> None:
        self._inner, self._calls, self._room = inner, calls, room

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if name == "beside":
            return lambda tenant: Part(attribute(tenant), self._calls)
        if not self._room:
            return attribute if name == "tenant" else Part(attribute, self._calls, name)
        if name not in WRITES:
            self._calls[f"{self._room}.{name}"] += 1
        return attribute


def calls_of(world: Any, store: CountingStore, operation: Any) -> Counter[str]:
    """The calls that one good request makes, for as many rows as it may ask for."""
    ask = world.ask_of(operation)
    if any(item.name == "limit" for item in inputs_of(operation.request)):
        ask = ask.asking(("limit", "100"))
    if operation.id == "getReport":
        ask = ask.asking(("include", "content,sources,signals,graph,audio"))
    store.calls.clear()
    answer = world.send(ask)
    assert answer.status_code == operation.success, answer.text
    return Counter(store.calls)


def test_no_operation_asks_more_often_as_rows_grow(make_world: Callable[..., Any]) -> None:
    world = make_world()
    store = world.app.runtime.storage = CountingStore(world.storage)
    operations = [op for op in catalog.OPERATIONS if "text/event-stream" not in _kinds(op)]
    for operation in operations:
        calls_of(world, store, operation)  # what is looked up once for all is looked up now
    before = {operation.id: calls_of(world, store, operation) for operation in operations}
    world.take_news(range(30, 120))
    for _ in range(ROUNDS):
        world.plant("a")
    after = {operation.id: calls_of(world, store, operation) for operation in operations}

    growth = {
        id_: {name: (before[id_][name], count) for name, count in calls.items()
              if count > before[id_][name]}
        for id_, calls in after.items()
    }  # fmt: skip
    assert {id_: calls for id_, calls in growth.items() if calls} == {}


def test_no_worker_asks_more_often_as_rows_grow(make_world: Callable[..., Any]) -> None:
    world = make_world()
    store = CountingStore(world.storage)
    world.hands = attrs.evolve(world.hands, storage=store)

    def calls(work: Callable[[], object]) -> Counter[str]:
        store.calls.clear()
        work()
        return Counter(store.calls)

    few = calls(lambda: world.take_news(range(30, 32)))
    assert calls(lambda: world.take_news(range(40, 140))) == few
    world.take_news(range(200, 300))
    # Of 202 items; each word of the topic is counted once in each of four collections.
    assert sum(calls(lambda: world.make_report("a")).values()) < 66


def _kinds(operation: Any) -> set[str]:
    return {offer.media_type for offer in operation.media}
