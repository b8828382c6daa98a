"""Rows: versioned documents with compare-and-swap, declared filters and text search."""

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

from attrs import field, frozen

from svc_core import wire

T = TypeVar("T")

BASE_V1 = "/api/v1"
BASE_V2 = "/api/v2"

Scope = Literal["tenant", "global", "system"]
"""Who may read: its tenant alone, everybody (only the system writes), or the system alone."""


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
    index. `kind` is the `resourceType` of its changes, or None where changes are not published;
    what is published can be read, at the collection's name under `base`.
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
    base: str = BASE_V1

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
        """The path of the row `id_` under the origin; None where changes are not published."""
        return None if self.kind is None else f"{self.base}/{self.name}/{id_}"

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
