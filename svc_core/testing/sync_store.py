"""Calls an asynchronous store from synchronous tests."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from svc_core.operation.ports import (
    Change,
    ChangeSlice,
    Collection,
    FeedPosition,
    Slice,
    Storage,
    StoredRow,
    TenantRow,
    Transaction,
)
from svc_core.testing.clock import START
from svc_core.testing.sealed_lines import Growth

T = TypeVar("T")
R = TypeVar("R")


class Store(Storage, Protocol):
    """A store that can be closed."""

    async def close(self) -> None:
        """Finish the work that was handed in, then release all resources."""


class Run(Protocol):
    """Runs a coroutine to its end: `asyncio.Runner().run`, or `drive.run` where none suspends."""

    def __call__(self, coroutine: Coroutine[Any, Any, R], /) -> R:
        """The coroutine's result."""


class SyncStore:
    """A store whose methods need no `await`; each call is one unit of work.

    Keyword arguments are those of the port, with a default `limit` of 100.
    """

    def __init__(self, store: Store, run: Run) -> None:
        """Wrap `store`; `run` runs its coroutines."""
        self.store = store
        self._run = run

    def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Runs a unit that reads and returns its result."""
        return self._run(self.store.read(tenant, unit))

    def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Runs a unit that writes and returns its result."""
        return self._run(self.store.write(tenant, unit))

    def get(self, tenant: str, collection: Collection[T], id_: str) -> StoredRow[T] | None:
        """The row with this identifier, None where there is none."""
        return self.read(tenant, lambda tx: tx.documents.get(collection, id_))

    def get_many(
        self, tenant: str, collection: Collection[T], ids: Sequence[str]
    ) -> dict[str, StoredRow[T]]:
        """The rows with these identifiers that exist."""
        return self.read(tenant, lambda tx: tx.documents.get_many(collection, ids))

    def put(
        self, tenant: str, collection: Collection[T], id_: str, value: T, **options: Any
    ) -> StoredRow[T]:
        """Writes a row and returns it."""
        return self.write(tenant, lambda tx: tx.documents.put(collection, id_, value, **options))

    def delete(
        self, tenant: str, collection: Collection[T], id_: str, **options: Any
    ) -> StoredRow[T] | None:
        """Deletes a row and returns it, None where there was none."""
        return self.write(tenant, lambda tx: tx.documents.delete(collection, id_, **options))

    def scan(self, tenant: str, collection: Collection[T], **query: Any) -> Slice[T]:
        """One page of rows."""
        return self.read(
            tenant, lambda tx: tx.documents.scan(collection, **{"limit": 100, **query})
        )

    def count(self, tenant: str, collection: Collection[T], **query: Any) -> int:
        """The number of rows, at most `limit`."""
        return self.read(
            tenant, lambda tx: tx.documents.count(collection, **{"limit": 100, **query})
        )

    def search(
        self, tenant: str, collection: Collection[T], terms: Mapping[str, int], **query: Any
    ) -> Slice[T]:
        """One page of the rows that hold any of the terms."""
        return self.read(
            tenant, lambda tx: tx.documents.search(collection, terms, **{"limit": 100, **query})
        )

    def append(self, tenant: str, change: Change) -> None:
        """Appends a change to the feed."""
        self.write(tenant, lambda tx: tx.changes.append(change))

    def feed(
        self,
        tenant: str,
        after: FeedPosition = FeedPosition(),  # noqa: B008 - a frozen value
        **query: Any,
    ) -> ChangeSlice:
        """One page of changes."""
        return self.read(tenant, lambda tx: tx.changes.read(after, **{"limit": 100, **query}))

    def head(self, tenant: str) -> FeedPosition:
        """The position at the end of the feed."""
        return self.read(tenant, lambda tx: tx.changes.head())

    def across(self, collection: Collection[T], **query: Any) -> tuple[TenantRow[T], ...]:
        """One page of the rows of every tenant, as workers read them."""
        return self._run(self.store.across(collection, **{"limit": 100, **query}))

    def seal(self, tenant: str, growth: Growth) -> None:
        """Appends lines to the ledger."""
        lines, nodes, head, expect = growth
        self.write(tenant, lambda tx: tx.ledger.append(lines, nodes, head, expect=expect))

    def reopen(self, again: Callable[[Store], Store]) -> None:
        """Closes the store and continues with the one that `again` opens over the same rows."""
        self.close()
        self.store = again(self.store)

    def close(self) -> None:
        """Closes the store."""
        self._run(self.store.close())


@contextmanager
def raises(kind: type[BaseException], **expected: object) -> Iterator[None]:
    """Checks that a block raises `kind`, with the attributes `expected`.

    Raises:
        AssertionError: the block does not raise it, or an attribute differs.
    """
    try:
        yield
    except kind as error:
        actual = {name: getattr(error, name) for name in expected}
    else:
        raise AssertionError(f"{kind.__name__} was not raised")
    if actual != expected:
        raise AssertionError(f"{kind.__name__} said {actual}, not {expected}")


def a_change(id_: str, *, kind: str = "note", version: int = 1, everybody: bool = False) -> Change:
    """The change record of a row that was just created."""
    return Change(
        id=id_,
        change_type="created",
        resource_type=kind,
        resource_id=f"row-{id_}",
        version=version,
        occurred_at=START,
        path=None if everybody else f"/notes/row-{id_}",
        everybody=everybody,
    )
