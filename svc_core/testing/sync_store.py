"""A store under test, spoken to without `await`."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from svc_core.operation.ports import (
    Change,
    ChangeSlice,
    Collection,
    Document,
    FeedPosition,
    Owned,
    Slice,
    Storage,
    Transaction,
)
from svc_core.testing.clock import START
from svc_core.testing.sealing import Growth

T = TypeVar("T")
R = TypeVar("R")


class Store(Storage, Protocol):
    """A store that can be given back."""

    async def close(self) -> None:
        """Finish what was handed in, then let go of everything."""


class Run(Protocol):
    """Runs a coroutine to its end: `asyncio.Runner().run`, or `drive.run` where none waits."""

    def __call__(self, coroutine: Coroutine[Any, Any, R], /) -> R:
        """The coroutine's result."""


class SyncStore:
    """One store and the way to run it; each method is a unit of work of its own."""

    def __init__(self, store: Store, run: Run) -> None:
        """Speak to `store` by means of `run`."""
        self.store = store
        self._run = run

    def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """The result of a unit that reads."""
        return self._run(self.store.read(tenant, unit))

    def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """The result of a unit that writes."""
        return self._run(self.store.write(tenant, unit))

    def get(self, tenant: str, collection: Collection[T], id_: str) -> Document[T] | None:
        """The row."""
        return self.read(tenant, lambda tx: tx.documents.get(collection, id_))

    def get_many(
        self, tenant: str, collection: Collection[T], ids: Sequence[str]
    ) -> dict[str, Document[T]]:
        """The rows that are there."""
        return self.read(tenant, lambda tx: tx.documents.get_many(collection, ids))

    def put(
        self, tenant: str, collection: Collection[T], id_: str, value: T, **how: Any
    ) -> Document[T]:
        """The row as written; keywords are those of the port, as in all methods."""
        return self.write(tenant, lambda tx: tx.documents.put(collection, id_, value, **how))

    def delete(
        self, tenant: str, collection: Collection[T], id_: str, **how: Any
    ) -> Document[T] | None:
        """The row that was."""
        return self.write(tenant, lambda tx: tx.documents.delete(collection, id_, **how))

    def scan(self, tenant: str, collection: Collection[T], **how: Any) -> Slice[T]:
        """A run of rows."""
        return self.read(tenant, lambda tx: tx.documents.scan(collection, **{"limit": 100, **how}))

    def count(self, tenant: str, collection: Collection[T], **how: Any) -> int:
        """How many rows there are."""
        return self.read(tenant, lambda tx: tx.documents.count(collection, **{"limit": 100, **how}))

    def search(
        self, tenant: str, collection: Collection[T], terms: Mapping[str, int], **how: Any
    ) -> Slice[T]:
        """The rows that hold any of the terms."""
        return self.read(
            tenant, lambda tx: tx.documents.search(collection, terms, **{"limit": 100, **how})
        )

    def append(self, tenant: str, change: Change) -> None:
        """Write a change."""
        self.write(tenant, lambda tx: tx.changes.append(change))

    def feed(
        self,
        tenant: str,
        after: FeedPosition = FeedPosition(),  # noqa: B008 - a frozen value
        **how: Any,
    ) -> ChangeSlice:
        """A run of changes."""
        return self.read(tenant, lambda tx: tx.changes.read(after, **{"limit": 100, **how}))

    def head(self, tenant: str) -> FeedPosition:
        """The end of the feed."""
        return self.read(tenant, lambda tx: tx.changes.head())

    def across(self, collection: Collection[T], **how: Any) -> tuple[Owned[T], ...]:
        """Rows of every tenant."""
        return self._run(self.store.across(collection, **{"limit": 100, **how}))

    def seal(self, tenant: str, growth: Growth) -> None:
        """Append to the ledger."""
        lines, nodes, head, expect = growth
        self.write(tenant, lambda tx: tx.ledger.append(lines, nodes, head, expect=expect))

    def reopen(self, again: Callable[[Store], Store]) -> None:
        """Give the store back and go on with the one that `again` makes of what it kept."""
        self.close()
        self.store = again(self.store)

    def close(self) -> None:
        """Give the store back."""
        self._run(self.store.close())


@contextmanager
def refused(kind: type[BaseException], **said: object) -> Iterator[None]:
    """The block raises `kind`, whose attributes are as `said`.

    Raises:
        AssertionError: it did not, or said something else.
    """
    try:
        yield
    except kind as error:
        found = {name: getattr(error, name) for name in said}
    else:
        raise AssertionError(f"{kind.__name__} was not raised")
    if found != said:
        raise AssertionError(f"{kind.__name__} said {found}, not {said}")


def a_change(id_: str, *, kind: str = "note", version: int = 1, everybody: bool = False) -> Change:
    """A change record of a row that was just made."""
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
