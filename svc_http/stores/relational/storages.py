"""What a store with tables does alike, whichever threads or connections run its units of work."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, Unpack, cast

from svc_core.operation.ports import (
    SYSTEM,
    Collection,
    CommitListener,
    CrossTenantFilters,
    TenantRow,
    Transaction,
)

T = TypeVar("T")
R = TypeVar("R")


class RelationalStorage(ABC):
    """A store with tables: it counts its commits, and reads across tenants in one unit."""

    def __init__(self) -> None:
        self._version = 0
        self._watchers: tuple[CommitListener, ...] = ()
        self.renewals: list[str] = []
        """Why new epochs of the change feed were begun here; whoever logs them takes them out."""

    @property
    def version(self) -> int:
        """A number that grows with every commit that wrote.

        A commit of another process counts when its notice arrives, at most a second later.
        """
        return self._version

    def watch(self, listener: CommitListener) -> None:
        """Call `listener` after every commit that wrote, where the store runs: on the event loop of
        PostgreSQL's connections, or on the writer thread of a file."""
        self._watchers = (*self._watchers, listener)

    async def across(
        self, collection: Collection[T], *, limit: int, **bounds: Unpack[CrossTenantFilters]
    ) -> tuple[TenantRow[T], ...]:
        """Rows of every tenant with the lowest `(order, tenant, id)` first."""
        unit: Any = lambda tx: tx.documents.across(collection, limit, bounds)  # noqa: E731
        return cast(tuple[TenantRow[T], ...], await self.read(SYSTEM, unit))

    @abstractmethod
    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` on one consistent snapshot; it may not write.

        Raises:
            Overloaded: too many units wait.
            StorageUnavailable: the disk or the server fails, or the wait was too long.
        """

    def _note_commit(self, names: frozenset[str]) -> None:
        """Count a commit that wrote to these collections, and call the listeners."""
        self._version += 1
        for listener in self._watchers:
            listener(names)
