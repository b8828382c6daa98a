"""A store in dictionaries: the model of the durable backends.

Rule 1: a unit of work runs under one lock from beginning to end and never suspends.
Rule 2: every write records its reversal; an exception applies the reversals in reverse order.
Rule 3: obvious before fast: of the rows that one filter finds, the others are checked row by row.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from itertools import count, islice
from operator import itemgetter
from typing import Any, TypeVar, Unpack

from attrs import define, evolve, field, frozen

from svc_core.base import drive
from svc_core.contract.answer import Answer
from svc_core.operation.ports import (
    PURGED_BYTES,
    Change,
    ChangeSlice,
    Collection,
    CommitListener,
    CrossTenantFilters,
    FeedPosition,
    Filters,
    Position,
    Slice,
    StaleVersionError,
    StoredRow,
    TenantRow,
    Transaction,
)
from svc_core.operation.ports import tenancy as scopes
from svc_core.operation.ports.selection import check_searchable, criteria_of
from svc_core.testing._model_ledger import Log, ModelLedger
from svc_core.testing._sorted_rows import ModelRow, SortedRows, slice_of

T = TypeVar("T")
R = TypeVar("R")
Undo = Callable[[], object]


@frozen(eq=False)
class _StoreState:
    """The contents of the store."""

    epoch: bytes
    numbers: Iterator[int] = field(factory=count)
    rows: dict[tuple[str, str], SortedRows] = field(factory=lambda: defaultdict(SortedRows))
    feeds: dict[tuple[bool, str], list[tuple[int, Change]]] = field(
        factory=lambda: defaultdict(list)
    )
    answers: dict[tuple[str, str, str], Answer] = field(factory=dict)
    logs: dict[str, Log] = field(factory=lambda: defaultdict(Log))

    def feed(self, is_global: bool, tenant: str) -> list[tuple[int, Change]]:
        return self.feeds[is_global, "" if is_global else tenant]


# The objects that are created for every unit are not frozen: freezing costs twice as much as the
# rest of their construction, and nothing outside of this module sees them.


@define(eq=False)
class _Unit:
    """One transaction; its parts are created on demand, because most units need one or two.

    `undo` collects the reversals of writes; it is None in a reading transaction.
    """

    state: _StoreState
    tenant: str
    names: frozenset[str]
    undo: list[Undo] | None
    collections: set[str] = field(factory=set)

    @property
    def documents(self) -> "_Documents":
        return _Documents(self)

    @property
    def changes(self) -> "_Changes":
        return _Changes(self)

    @property
    def answers(self) -> "_Answers":
        return _Answers(self)

    @property
    def ledger(self) -> ModelLedger:
        return ModelLedger(self.state.logs[self.tenant], self.record_undo)

    async def erase(self, limit: int) -> bool:
        state, record = self.state, self.record_undo
        feed = state.feeds[False, self.tenant]
        entries = feed[:limit]
        record(lambda: feed.__setitem__(slice(0, 0), entries))
        del feed[:limit]
        places = [place for place in state.answers if place[0] == self.tenant][:limit]
        answers = {place: state.answers[place] for place in places}
        record(lambda: state.answers.update(answers))
        for place in places:
            del state.answers[place]
        return any([entries, places, self.ledger.drop(limit)])

    def beside(self, tenant: str) -> "_Unit":
        scopes.check_beside(is_reading=self.undo is None)
        return _Unit(self.state, tenant, self.names, None)

    def record_undo(self, undo: Undo, name: str | None = None) -> None:
        """Record the reversal of a write that is about to happen, in the collection `name`."""
        if self.undo is None:
            raise AssertionError("a reading transaction writes")
        self.undo.append(undo)
        if name is not None:
            self.collections.add(name)

    def readable(self, collection: Collection[Any]) -> SortedRows:
        self._check_declared(collection)
        return self.state.rows[collection.name, scopes.read_owner(collection, self.tenant)]

    def writable(self, collection: Collection[Any]) -> SortedRows:
        self._check_declared(collection)
        return self.state.rows[collection.name, scopes.write_owner(collection, self.tenant)]

    def _check_declared(self, collection: Collection[Any]) -> None:
        if collection.name not in self.names:
            raise AssertionError(f"{collection.name} is not declared to this store")


@define(eq=False)
class _Documents:
    unit: _Unit

    async def get(self, collection: Collection[T], id_: str) -> StoredRow[T] | None:
        row = self.unit.readable(collection).rows.get(id_)
        return None if row is None else row.document

    async def get_many(
        self, collection: Collection[T], ids: Sequence[str]
    ) -> dict[str, StoredRow[T]]:
        rows = self.unit.readable(collection).rows
        return {id_: rows[id_].document for id_ in ids if id_ in rows}

    async def put(
        self, collection: Collection[T], id_: str, value: T, *, expect: int | None = None
    ) -> StoredRow[T]:
        rows = self.unit.writable(collection)
        old = _current_row(rows, id_, expect)
        record = collection.record(value)
        version = 1 if old is None else old.document.version + 1
        document: StoredRow[T] = StoredRow(id_, version, record.order, record.raw)
        tokens = frozenset((record.search or "").split(" ")) - {""}
        self.unit.record_undo(lambda: rows.set(id_, old), collection.name)
        rows.set(id_, ModelRow(document, record, tokens))
        return document

    async def delete(
        self, collection: Collection[T], id_: str, *, expect: int | None = None
    ) -> StoredRow[T] | None:
        rows = self.unit.writable(collection)
        old = _current_row(rows, id_, expect)
        self.unit.record_undo(lambda: rows.set(id_, old), collection.name)
        if old is None:
            return None
        rows.set(id_, None)
        return old.document

    async def scan(
        self,
        collection: Collection[T],
        *,
        order: str | None = None,
        after: Position | None = None,
        limit: int,
        **filters: Unpack[Filters],
    ) -> Slice[T]:
        criteria = criteria_of(collection, order, **filters)
        rows = self.unit.readable(collection)
        if order is None:
            documents = [row.document for row in islice(rows.select(criteria, after), limit + 1)]
            return slice_of(documents, limit)
        ranking = rows.select(criteria)
        if criteria.is_all:
            ranking = islice(rows.ranked(order, after), limit + 1)
        candidates = (
            (Position(row.record.numbers[order], row.document.id), row) for row in ranking
        )
        place = None if after is None else evolve(after, rank=0)
        return _slice(_sort(candidates, place), limit)

    async def count(
        self, collection: Collection[T], *, limit: int, **filters: Unpack[Filters]
    ) -> int:
        rows = self.unit.readable(collection).select(criteria_of(collection, **filters))
        return sum(1 for _ in islice(rows, limit))

    async def search(
        self,
        collection: Collection[T],
        terms: Mapping[str, int],
        *,
        after: Position | None = None,
        limit: int,
        **filters: Unpack[Filters],
    ) -> Slice[T]:
        check_searchable(collection)
        rows = self.unit.readable(collection).select(
            criteria_of(collection, **filters), terms=terms
        )
        candidates = (
            (Position(row.document.order, row.document.id, _weight(row, terms)), row)
            for row in rows
        )
        return _slice(_sort(candidates, after), limit, is_ranked=True)


RankedRow = tuple[Position, ModelRow]


def _weight(row: ModelRow, terms: Mapping[str, int]) -> int:
    return sum(terms[term] for term in row.tokens & terms.keys())


def _sort_key(position: Position) -> tuple[int, int, str]:
    return position.rank, position.order, position.id


def _sort(rows: Iterable[RankedRow], after: Position | None) -> Iterable[RankedRow]:
    """The rows strictly after a position, in descending order."""
    ranking = sorted(((_sort_key(row[0]), row) for row in rows), key=itemgetter(0), reverse=True)
    return (row for key, row in ranking if after is None or key < _sort_key(after))


def _slice(rows: Iterable[RankedRow], limit: int, *, is_ranked: bool = False) -> Slice[Any]:
    page = list(islice(rows, limit + 1))
    end = page[limit - 1][0] if len(page) > limit else None
    ranks = tuple(place.rank for place, _ in page[:limit] if is_ranked)
    return Slice(tuple(row.document for _, row in page[:limit]), end, ranks)


def _current_row(rows: SortedRows, id_: str, expect: int | None) -> ModelRow | None:
    old = rows.rows.get(id_)
    current = 0 if old is None else old.document.version
    if expect is not None and expect != current:
        raise StaleVersionError(current)
    return old


@define(eq=False)
class _Changes:
    unit: _Unit

    async def append(self, change: Change) -> None:
        scopes.check_publisher(change, self.unit.tenant)
        feed = self.unit.state.feed(change.everybody, self.unit.tenant)
        self.unit.record_undo(feed.pop)
        feed.append((next(self.unit.state.numbers), change))

    async def read(
        self, after: FeedPosition, *, types: tuple[str, ...] | None = None, limit: int
    ) -> ChangeSlice:
        unread = [*self._entries(True, after.everybody), *self._entries(False, after.own)]
        entries = sorted(
            (row for row in unread if types is None or row[2].resource_type in types),
            key=itemgetter(0),
        )
        if len(entries) <= limit:
            head = await self.head()
            position = FeedPosition(max(head.everybody, after.everybody), max(head.own, after.own))
            return ChangeSlice(tuple(row[2] for row in entries), position, has_more=False)
        position = after
        for _, place, change in entries[:limit]:
            if change.everybody:
                position = evolve(position, everybody=place)
            else:
                position = evolve(position, own=place)
        return ChangeSlice(tuple(row[2] for row in entries[:limit]), position, has_more=True)

    def _entries(self, is_global: bool, after: int) -> Iterable[tuple[int, int, Change]]:
        feed = self.unit.state.feed(is_global, self.unit.tenant)
        for place, (number, change) in enumerate(feed[after:], after + 1):
            yield number, place, change

    async def head(self) -> FeedPosition:
        world, tenant = self.unit.state, self.unit.tenant
        return FeedPosition(len(world.feed(True, tenant)), len(world.feed(False, tenant)))

    async def epoch(self) -> bytes:
        return self.unit.state.epoch


@define(eq=False)
class _Answers:
    unit: _Unit

    async def get(self, operation: str, key: str) -> Answer | None:
        return self.unit.state.answers.get((self.unit.tenant, operation, key))

    async def put(self, operation: str, key: str, answer: Answer) -> None:
        unit = self.unit
        answers, place = unit.state.answers, (unit.tenant, operation, key)
        old = {place: answers[place]} if place in answers else {}
        unit.record_undo(lambda: (answers.pop(place), answers.update(old)))
        answers[place] = answer

    async def purge(self, before: datetime, *, limit: int) -> int:
        scopes.check_purger(self.unit.tenant)
        answers = self.unit.state.answers
        oldest = sorted(
            (answer.at, place) for place, answer in answers.items() if answer.at < before
        )
        batch: dict[tuple[str, str, str], Answer] = {}
        size = 0
        for _, place in oldest[:limit]:
            if size >= PURGED_BYTES:
                break
            batch[place] = answers[place]
            size += len(answers[place].body)
        self.unit.record_undo(lambda: answers.update(batch))
        for place in batch:
            del answers[place]
        return len(batch)


class ModelStorage:
    """The simplest store that keeps all promises, with which the others are compared.

    It lives as long as its process. `epoch` is the epoch of the change feed: pass fresh random
    bytes if watermarks outlive the process. `lock` is held while a unit runs: pass a real one if
    several threads use the store.
    """

    def __init__(
        self,
        collections: Iterable[Collection[Any]],
        *,
        epoch: bytes = bytes(8),
        lock: AbstractContextManager[Any] = nullcontext(),  # noqa: B008 - without state
    ) -> None:
        self._names = frozenset(collection.name for collection in collections)
        self._state = _StoreState(epoch)
        self._lock = lock
        self._version = 0
        self._watchers: tuple[CommitListener, ...] = ()

    @property
    def version(self) -> int:
        """A number that grows with every unit that wrote."""
        return self._version

    def watch(self, listener: CommitListener) -> None:
        """Call `listener` after every unit that wrote."""
        self._watchers = (*self._watchers, listener)

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit`; it may not write."""
        with self._lock:
            return _run(unit, _Unit(self._state, tenant, self._names, None))

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit`; an exception undoes all of it."""
        undo: list[Undo] = []
        collections: set[str] = set()
        with self._lock:
            try:
                answer = _run(unit, _Unit(self._state, tenant, self._names, undo, collections))
            except BaseException:
                for step in reversed(undo):
                    step()
                raise
            self._version += bool(undo)
        for listener in self._watchers if undo else ():
            listener(frozenset(collections))
        return answer

    async def across(
        self, collection: Collection[T], *, limit: int, **bounds: Unpack[CrossTenantFilters]
    ) -> tuple[TenantRow[T], ...]:
        """Rows of every tenant with the lowest `(order, tenant, id)` first."""
        after, place = bounds.get("after"), bounds.get("heads_after")
        if place is not None:
            with self._lock:
                heads = sorted(
                    (tenant, rows.rows[rows.sort_keys[0][1]].document)
                    for (name, tenant), rows in self._state.rows.items()
                    if name == collection.name and tenant > place and rows.sort_keys
                )
            return tuple(TenantRow(*head) for head in heads[:limit])
        criteria = criteria_of(collection, where=bounds.get("where"), end=bounds.get("end"))
        with self._lock:
            matches = sorted(
                ((row.document.order, tenant, row.document.id), row.document)
                for (name, tenant), rows in self._state.rows.items()
                if name == collection.name
                for row in rows.select(criteria)
            )
        page = [TenantRow(key[1], row) for key, row in matches if after is None or key > after]
        return tuple(page[:limit])

    async def close(self) -> None:
        """Do nothing: there are no resources to release."""


def _run(unit: Callable[[Transaction], Awaitable[R]], tx: Transaction) -> R:
    """The result of a unit, which may await nothing but its transaction."""
    coroutine: Any = unit(tx)
    answer: R = drive.run(coroutine)
    return answer
