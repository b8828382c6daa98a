"""What the core asks of its host: storage, identifiers and nothing else.

A host implements these Protocols; the core never waits for anything but them.

Rule 1: the tenant is bound when a transaction begins and is never an argument, so a use case
        cannot name another tenant.
Rule 2: one unit of work is one function; what it did is committed whole or not at all.
Rule 3: a store that does not suspend lets a use case run without an event loop (`drive.run`).
Rule 4: the order of change numbers is the order of commits, in every backend.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

from attrs import field, frozen

from svc_core import wire

T = TypeVar("T")
R = TypeVar("R")

SYSTEM = ""
"""The tenant of rows that belong to nobody: sources, news items, keys, workspaces."""

Scope = Literal["tenant", "global", "system"]
"""Who may read: its tenant alone, everybody (only the system writes), or the system alone."""


# -- documents ---------------------------------------------------------------------------------


@frozen
class Record:
    """One value as a backend stores it: public bytes beside the keys that find it."""

    raw: bytes
    order: int
    keys: Mapping[str, str | None]
    facets: Mapping[str, tuple[str, ...]]
    search: str | None


@frozen(eq=False)
class Collection(Generic[T]):
    """The one declaration from which every backend makes its tables and indexes.

    `order` gives the sort key (microseconds since 1970 for times); lists run from the highest to
    the lowest `(order, id)`. `keys` are single-valued filters, `facets` many-valued ones; each
    gets an index that ends in the sort key. `search` gives the space-joined tokens of the text
    index. `path` is the address of one row with `{id}`, or None where it has none.
    `kind` is the `resourceType` of its changes, or None where changes are not published.
    """

    name: str
    model: type[T]
    prefix: str
    order: Callable[[T], int]
    scope: Scope = "tenant"
    keys: Mapping[str, Callable[[T], str | None]] = field(factory=dict)
    facets: Mapping[str, Callable[[T], Iterable[str]]] = field(factory=dict)
    search: Callable[[T], str] | None = None
    kind: str | None = None
    path: str | None = None

    def record(self, value: T) -> Record:
        """The stored form of `value`."""
        return Record(
            raw=wire.dumps(value),
            order=self.order(value),
            keys={name: read(value) for name, read in self.keys.items()},
            facets={name: tuple(dict.fromkeys(read(value))) for name, read in self.facets.items()},
            search=None if self.search is None else self.search(value),
        )

    def address(self, id_: str) -> str | None:
        """The path of the row `id_` under the origin; None where rows have none."""
        return None if self.path is None else self.path.format(id=id_)

    def decode(self, raw: bytes) -> T:
        """The value behind stored bytes."""
        return wire.loads(self.model, raw)


class Document(NamedTuple, Generic[T]):
    """One stored row: its identifier, its version (from 1), its sort key and its wire bytes.

    A named tuple, because a page makes many of them: each costs half of what an attrs class costs.
    """

    id: str
    version: int
    order: int
    raw: bytes

    @property
    def tag(self) -> tuple[str | int, ...]:
        """What the ETag of the row is made of."""
        return (self.id, self.version)


@frozen
class Position:
    """A place between two rows of a list: the sort key and identifier of the row before it."""

    order: int
    id: str


@frozen
class Slice(Generic[T]):
    """A run of rows in list order; `more` says that at least one row follows."""

    rows: tuple[Document[T], ...]
    more: bool

    @property
    def end(self) -> Position | None:
        """The position after the last row, or None at the end of the list."""
        if not self.more:
            return None
        last = self.rows[-1]
        return Position(last.order, last.id)


class StaleVersionError(Exception):
    """A compare-and-swap met another version; `current` is the stored one, 0 when absent."""

    def __init__(self, current: int) -> None:
        """Say which version is stored."""
        super().__init__(f"stored version is {current}")
        self.current = current


class Documents(Protocol):
    """Versioned rows with compare-and-swap, keyset paging, declared filters and text search."""

    async def get(self, collection: Collection[T], id_: str) -> Document[T] | None:
        """The row, or None when this tenant has no such row."""
        ...

    async def put(
        self, collection: Collection[T], id_: str, value: T, *, expect: int | None = None
    ) -> Document[T]:
        """Write the row; its version becomes the stored one plus one.

        `expect` is the version that must be stored now: 0 means the row must not exist, None
        writes whatever is there.

        Raises:
            StaleVersionError: the stored version is another.
        """
        ...

    async def delete(
        self, collection: Collection[T], id_: str, *, expect: int | None = None
    ) -> Document[T] | None:
        """Remove the row and return what it was; None when it did not exist.

        Raises:
            StaleVersionError: `expect` is given and the stored version is another.
        """
        ...

    async def scan(
        self,
        collection: Collection[T],
        *,
        where: Mapping[str, tuple[str, ...]] | None = None,
        start: int | None = None,
        end: int | None = None,
        after: Position | None = None,
        limit: int,
    ) -> Slice[T]:
        """At most `limit` rows in descending `(order, id)`, strictly after `after`.

        Each entry of `where` names a key or facet and the values of which one must match; entries
        are joined by AND. `start` and `end` bound `order`, both inclusive.
        """
        ...

    async def search(
        self,
        collection: Collection[T],
        terms: tuple[str, ...],
        *,
        start: int | None = None,
        end: int | None = None,
        limit: int,
    ) -> tuple[Document[T], ...]:
        """At most `limit` rows that hold any of `terms` (whole tokens), best match first.

        Which rows match is the same in every backend; how ties rank is not.
        """
        ...


# -- changes, events, answers ------------------------------------------------------------------

ChangeType = Literal["created", "updated", "deleted"]


@frozen
class Change:
    """One entry to be written to the change feed; the store numbers it at commit."""

    id: str
    change_type: ChangeType
    resource_type: str
    resource_id: str
    version: int
    occurred_at: datetime
    path: str | None
    everybody: bool


@frozen
class FeedPosition:
    """A place in the feed: entries already seen of the global and of the tenant's own scope."""

    everybody: int = 0
    own: int = 0


@frozen
class ChangeSlice:
    """Changes in commit order, the position after the last one, and whether more follow."""

    changes: tuple[Change, ...]
    position: FeedPosition
    more: bool


class Changes(Protocol):
    """The append-only feed of this tenant: global entries and its own."""

    async def append(self, change: Change) -> None:
        """Add an entry; it becomes visible with the commit of this unit of work."""
        ...

    async def read(
        self, after: FeedPosition, *, types: tuple[str, ...] | None = None, limit: int
    ) -> ChangeSlice:
        """At most `limit` entries after the position; skipped types still advance it."""
        ...

    async def head(self) -> FeedPosition:
        """The position after the newest entry that this transaction can see."""
        ...

    async def epoch(self) -> bytes:
        """Eight bytes that name this feed's life; a restore from backup changes them."""
        ...


@frozen
class OutboxEvent:
    """One event whose body bytes are final and are sent verbatim on every attempt."""

    id: str
    type: str
    subject: str
    body: bytes
    occurred_at: datetime


class Outbox(Protocol):
    """Events that are to leave the house, written with the document that caused them."""

    async def add(self, event: OutboxEvent) -> None:
        """Queue an event with this unit of work."""
        ...

    async def pending(self, *, limit: int) -> tuple[OutboxEvent, ...]:
        """The oldest events of this tenant that nobody has taken yet."""
        ...

    async def done(self, id_: str) -> None:
        """Take an event off the queue."""
        ...


@frozen
class Answer:
    """A stored 2xx answer that a repeated request receives again."""

    fingerprint: bytes
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    at: datetime


class Answers(Protocol):
    """Idempotent answers by operation and key, within the tenant."""

    async def get(self, operation: str, key: str) -> Answer | None:
        """The stored answer, however old; the core judges its age."""
        ...

    async def put(self, operation: str, key: str, answer: Answer) -> None:
        """Keep the answer, replacing an older one."""
        ...

    async def purge(self, before: datetime, *, limit: int) -> int:
        """Forget at most `limit` answers of every tenant that are older; how many went."""
        ...


class Transaction(Protocol):
    """One unit of work of one tenant."""

    @property
    def tenant(self) -> str:
        """The tenant bound at the beginning; `SYSTEM` for the system's own work."""
        ...

    @property
    def documents(self) -> Documents:
        """The tenant's rows and the global ones."""
        ...

    @property
    def changes(self) -> Changes:
        """The tenant's change feed."""
        ...

    @property
    def outbox(self) -> Outbox:
        """The tenant's outgoing events."""
        ...

    @property
    def answers(self) -> Answers:
        """The tenant's idempotent answers."""
        ...


@frozen
class Owned(Generic[T]):
    """A row together with the tenant that it belongs to."""

    tenant: str
    document: Document[T]


class Storage(Protocol):
    """Where units of work run. `unit` must wait for nothing but the transaction it is given."""

    @property
    def version(self) -> int:
        """A number that has grown when a commit, by anybody, may have changed an answer."""
        ...

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` on one consistent snapshot; it may not write."""
        ...

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` and commit it durably before returning; an exception undoes all of it.

        What a unit did may be undone and the unit run again before anybody is told, as when
        another unit of the same commit fails. So it keeps nothing but what its transaction holds.
        """
        ...

    async def across(
        self,
        collection: Collection[T],
        *,
        where: Mapping[str, tuple[str, ...]] | None = None,
        end: int | None = None,
        limit: int,
    ) -> tuple[Owned[T], ...]:
        """Rows of every tenant with the lowest `order` first: the workers' view."""
        ...


# -- identifiers -------------------------------------------------------------------------------


class Ids(Protocol):
    """Where identifiers and random bytes come from."""

    def new(self, prefix: str) -> str:
        """A fresh public identifier `<prefix>_<24 hex>` that sorts by age."""
        ...

    def random(self, size: int) -> bytes:
        """`size` unpredictable bytes."""
        ...
