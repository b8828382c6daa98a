"""The ports of the core: the Protocols for storage, shared state and identifiers.

A host implements these Protocols, and the core waits for nothing else. Rules 5 to 8 state what a
unit of work may rely on while other units run, in this process or in others.

Rule 1: the tenant is bound when a transaction begins and is never an argument, so a use case
        cannot name another tenant; what is published is read `beside`, on the same snapshot.
Rule 2: one unit of work is one function; what it did is committed whole or not at all.
Rule 3: a store that does not suspend lets a use case run without an event loop (`drive.run`).
Rule 4: the order of change numbers is the order of commits, in every backend.
Rule 5: writing units of one tenant run as if one after another. What such a unit has read of its
        tenant's rows, feed, answers and ledger still stands when it commits, so that to read, to
        judge and then to write is safe: an answer is kept once for its key, a count of fifty stays
        fifty, a name is taken once, a row is claimed by one worker, the head of a ledger is the
        one that was built on. The system is a tenant in this sense.
Rule 6: rows of the system and of everybody may change while a tenant's unit runs; what must not
        is judged in a unit of the system.
Rule 7: a reading unit sees one snapshot, with all that was acknowledged before it was handed in.
Rule 8: a writing unit may be rolled back and run again before its result is returned, for
        example after a conflict; so it must keep no state outside its transaction.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, Generic, Literal, Protocol, TypeVar, Unpack

from attrs import frozen

from svc_core.contract.answer import Answer
from svc_core.operation.ports.documents import (
    BASE_V1,
    BASE_V2,
    DEGREE,
    LATITUDE,
    LONGITUDE,
    NO_NUMBER,
    NO_SPACE,
    Collection,
    CrossTenantFilters,
    Documents,
    Filters,
    GeoBox,
    IndexedRow,
    Layout,
    Overloaded,
    Position,
    RowBounds,
    Scope,
    Slice,
    StaleVersionError,
    StorageUnavailable,
    StoredRow,
    attribute_keys,
)
from svc_core.operation.ports.ledger_port import (
    LEDGER_LEVELS,
    LEDGER_LINES_MAX,
    DuplicateRecordError,
    Ledger,
    LedgerCheckpoint,
    LedgerEnd,
    LedgerHead,
    LedgerKey,
    LedgerNode,
    SealedLine,
    key_digest,
)
from svc_core.operation.ports.shared import (
    ANY_COLLECTION,
    CommitListener,
    Counters,
    Failures,
    Leases,
    LockedAddress,
    Lockouts,
    Pool,
    PoolUsage,
    SharedUnavailable,
    Signals,
)

T = TypeVar("T")
R = TypeVar("R")

SYSTEM = ""
"""The tenant of rows that belong to nobody: sources, news items, keys, workspaces."""

__all__ = [
    "ANY_COLLECTION",
    "BASE_V1",
    "BASE_V2",
    "DEGREE",
    "LATITUDE",
    "LEDGER_LEVELS",
    "LEDGER_LINES_MAX",
    "LONGITUDE",
    "NO_NUMBER",
    "NO_SPACE",
    "SYSTEM",
    "Answer",
    "Answers",
    "Change",
    "ChangeSlice",
    "ChangeType",
    "Changes",
    "Collection",
    "CommitListener",
    "Counters",
    "CrossTenantFilters",
    "Documents",
    "DuplicateRecordError",
    "Failures",
    "FeedPosition",
    "Filters",
    "GeoBox",
    "Ids",
    "IndexedRow",
    "Layout",
    "Leases",
    "Ledger",
    "LedgerCheckpoint",
    "LedgerEnd",
    "LedgerHead",
    "LedgerKey",
    "LedgerNode",
    "LockedAddress",
    "Lockouts",
    "Overloaded",
    "Pool",
    "PoolUsage",
    "Position",
    "RowBounds",
    "Scope",
    "SealedLine",
    "SharedUnavailable",
    "Signals",
    "Slice",
    "StaleVersionError",
    "Storage",
    "StorageUnavailable",
    "StoredRow",
    "TenantRow",
    "Transaction",
    "attribute_keys",
    "key_digest",
]


# -- changes, events, answers ------------------------------------------------------------------

ChangeType = Literal["created", "updated", "deleted", "merged", "restored"]


@frozen
class Change:
    """One entry to be written to the change feed; the store numbers it at commit.

    `changed_fields` are the members of an updated row that have other values than before, and
    `last_state` is a deleted global row as it was. The resource of a merge is what was taken up,
    `merged_into_id` what it lives on in; it is restored when the merge is undone. One with an
    `owner` is for that person alone of the tenant; whoever shows the feed leaves it out for others.
    """

    id: str
    change_type: ChangeType
    resource_type: str
    resource_id: str
    version: int
    occurred_at: datetime
    path: str | None
    everybody: bool
    changed_fields: tuple[str, ...] | None = None
    last_state: bytes | None = None
    merged_into_id: str | None = None
    owner: str | None = None


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
    has_more: bool


class Changes(Protocol):
    """The append-only feed of this tenant: global entries and its own."""

    async def append(self, change: Change) -> None:
        """Add an entry; it becomes visible with the commit of this unit of work."""

    async def read(
        self, after: FeedPosition, *, types: tuple[str, ...] | None = None, limit: int
    ) -> ChangeSlice:
        """At most `limit` entries after the position; skipped types still advance it."""

    async def head(self) -> FeedPosition:
        """The position after the newest entry that this transaction can see."""

    async def epoch(self) -> bytes:
        """Eight bytes that name this feed's life; a restore from backup changes them."""


PURGED_BYTES: Final = 2 * 1024 * 1024
"""The bytes of stored bodies after which one purge of answers stops."""


class Answers(Protocol):
    """Idempotent answers by operation and key, within the tenant."""

    async def get(self, operation: str, key: str) -> Answer | None:
        """The stored answer, however old; the core judges its age."""

    async def put(self, operation: str, key: str, answer: Answer) -> None:
        """Keep the answer, replacing an older one."""

    async def purge(self, before: datetime, *, limit: int) -> int:
        """Delete the oldest answers of all tenants stored before `before`; the number deleted.

        At most `limit`, and no more after `PURGED_BYTES`: removing a megabyte takes ten
        milliseconds.
        """


class Transaction(Protocol):
    """One unit of work of one tenant."""

    @property
    def tenant(self) -> str:
        """The tenant bound at the beginning; `SYSTEM` for the system's own work."""

    @property
    def documents(self) -> Documents:
        """The tenant's rows and the global ones."""

    @property
    def changes(self) -> Changes:
        """The tenant's change feed."""

    @property
    def answers(self) -> Answers:
        """The tenant's idempotent answers."""

    @property
    def ledger(self) -> Ledger:
        """The tenant's ledger."""

    async def erase(self, limit: int) -> bool:
        """Erase the end of a ledger and the rest of what no collection has, of a tenant that ends.

        At most `limit` entries of its feed, as many of its answers and as many lines of its ledger
        go, the newest lines first, with all that is stored beside them; the content of lines leaves
        the files as `Ledger.erase` says. False where nothing was left. Rows of collections are
        deleted one by one.
        """

    def beside(self, tenant: str) -> "Transaction":
        """Another tenant's view of the same snapshot, in a unit that reads.

        It is for what that tenant has published (`svc_core.reports.publications`), for the system's
        reading of its audit log, and for nothing else.
        """


@frozen
class TenantRow(Generic[T]):
    """A row together with the tenant that it belongs to."""

    tenant: str
    document: StoredRow[T]


class Storage(Protocol):
    """The store: runs units of work. A unit must wait for nothing but its transaction."""

    @property
    def version(self) -> int:
        """A number that has grown when a commit, by anybody, may have changed an answer."""

    def watch(self, listener: CommitListener) -> None:
        """Have `listener` called after every commit that wrote, once `version` has grown.

        It is called on whatever thread commits, before whoever wrote is told, and must neither
        wait nor raise. Of a commit in another process it hears soon after, and within a second
        even where the news was lost; then, and where there is no telling, the names are those of
        all collections.
        """

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` on one consistent snapshot; it may not write."""

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit` and commit it durably before returning; an exception undoes all of it."""

    async def across(
        self, collection: Collection[T], *, limit: int, **bounds: Unpack[CrossTenantFilters]
    ) -> tuple[TenantRow[T], ...]:
        """Rows of all tenants, the lowest `(order, tenant, id)` first; for workers."""


# -- identifiers -------------------------------------------------------------------------------


class Ids(Protocol):
    """The source of identifiers and random bytes."""

    def new(self, prefix: str) -> str:
        """A fresh public identifier `<prefix>_<24 hex>` that sorts by age."""

    def random(self, size: int) -> bytes:
        """`size` unpredictable bytes."""
