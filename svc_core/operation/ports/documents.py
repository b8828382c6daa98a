"""The document port: versioned rows with compare-and-swap, declared filters and text search."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypedDict, TypeVar, Unpack

from attrs import field, frozen

from svc_core import wire
from svc_core.base.instants import micros

T = TypeVar("T")

BASE_V1 = "/api/v1"
BASE_V2 = "/api/v2"

Scope = Literal["tenant", "global", "system"]
"""The readers of a row: its tenant, everybody (only the system writes), or the system alone."""


NO_NUMBER: Final = -(2**63)
"""Stored in place of a missing number: lower than every number, and outside every range."""

DEGREE: Final = 10_000_000
"""Coordinates are stored in whole ten-millionths of a degree, about a centimetre."""

LONGITUDE: Final = "longitude"
LATITUDE: Final = "latitude"
"""The names of the two numbers in which a place is stored."""


@frozen
class IndexedRow:
    """One value as a backend stores it: its wire bytes, and the keys and numbers of its indexes.

    A number that the row lacks is `NO_NUMBER`.
    """

    raw: bytes
    order: int
    keys: Mapping[str, str | None]
    facets: Mapping[str, tuple[str, ...]]
    search: str | None
    numbers: Mapping[str, int] = field(factory=dict)


def attribute_keys(*names: str) -> dict[str, Callable[[Any], Any]]:
    """The indexes of a collection that are attributes of its rows, by these names."""
    return {name: attrgetter(name) for name in names}


def _creation(row: Any) -> int:
    return micros(row.created_at)


@frozen
class Layout:
    """How the rows of a large collection are kept in less space, which a store may do otherwise.

    `is_compressed` says that rows are many and alike, so that a store may compress their bytes.
    Where it `is_filtered`, it is never listed without a filter, and its order alone needs no index.
    Nor do the filters `beside`, which only ever narrow others. `distinctive` are keys of which a
    value has few rows, so that these can be sorted when they are read, and a digest of the value
    will do.
    """

    is_compressed: bool = False
    is_filtered: bool = False
    beside: tuple[str, ...] = ()
    distinctive: tuple[str, ...] = ()


@frozen(eq=False)
class Collection(Generic[T]):
    """The one declaration from which every backend makes its tables and indexes.

    `order` gives the sort key (microseconds since 1970 for times), the instant of creation unless
    another is given; lists run from the highest to the lowest `(order, id)`. `keys` are single-
    valued filters, `facets` many-valued ones; each gets an index that ends in the sort key.
    `numbers` are further sort keys, which are also ranges that a list is narrowed to; `place` is
    where the row lies, as longitude and latitude in degrees (WGS 84). `rankings` names numbers by
    which rows of one value of a key are often sorted, so that a store may keep an index of both.
    `search` gives the space-joined tokens of the text index. `form` counts how often what these
    give has changed under an unchanged name: where it rises, a store fills its indexes anew from
    its rows.
    `kind` is the `resourceType` of its changes, or None where changes are not published; what is
    published can be read, under `base` at `path`, which is the collection's name unless another is
    given. Rows that are part of another have its identifier for the `*` in their path, which
    `parent` gives. `owner` names the key that says whose a row is: it is shown to that person alone
    of the tenant.
    """

    name: str
    model: type[T]
    prefix: str
    order: Callable[[T], int] = _creation
    scope: Scope = "tenant"
    keys: Mapping[str, Callable[[T], str | None]] = field(factory=dict)
    facets: Mapping[str, Callable[[T], Iterable[str]]] = field(factory=dict)
    numbers: Mapping[str, Callable[[T], int | None]] = field(factory=dict)
    rankings: Mapping[str, tuple[str, ...]] = field(factory=dict)
    place: Callable[[T], tuple[float, float] | None] | None = None
    search: Callable[[T], str] | None = None
    form: int = 1
    kind: str | None = None
    base: str = BASE_V1
    path: str = ""
    parent: Callable[[T], str] | None = None
    owner: str = ""
    layout: Layout = Layout()

    @property
    def number_names(self) -> tuple[str, ...]:
        """The numbers that are kept beside a row: those declared, then those of its place."""
        return (*self.numbers, *(() if self.place is None else (LONGITUDE, LATITUDE)))

    def record(self, value: T, raw: bytes | None = None) -> IndexedRow:
        """The stored form of `value`; `raw` are its bytes, where the caller has them."""
        return IndexedRow(
            raw=wire.to_bytes(value) if raw is None else raw,
            order=self.order(value),
            keys={name: read(value) for name, read in self.keys.items()},
            facets={name: tuple(dict.fromkeys(read(value))) for name, read in self.facets.items()},
            search=None if self.search is None else self.search(value),
            numbers=self._numbers(value) if self.numbers or self.place else {},
        )

    def _numbers(self, value: T) -> dict[str, int]:
        values = {name: read(value) for name, read in self.numbers.items()}
        numbers = {name: NO_NUMBER if number is None else number for name, number in values.items()}
        if self.place is not None:
            point = self.place(value) or (None, None)
            for name, degrees in zip((LONGITUDE, LATITUDE), point, strict=True):
                numbers[name] = NO_NUMBER if degrees is None else round(degrees * DEGREE)
        return numbers

    def address(self, id_: str) -> str | None:
        """The path of the row `id_` under the origin; None where changes are not published."""
        return None if self.kind is None else f"{self.base}{self.path or '/' + self.name}/{id_}"

    def row_path(self, value: T, id_: str) -> str | None:
        """The path of the row `id_` that holds `value`."""
        path = self.address(id_)
        if path is None or self.parent is None:
            return path
        return path.replace("*", self.parent(value), 1)

    def owner_of(self, value: T) -> str | None:
        """The one person who may see the row; None where the whole tenant may."""
        return self.keys[self.owner](value) if self.owner else None

    def decode(self, raw: bytes) -> T:
        """The value behind stored bytes."""
        return wire.from_bytes(self.model, raw)


class StoredRow(NamedTuple, Generic[T]):
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
    """A place between two rows of a list: the sort key and identifier of the row before it.

    `rank` is what the terms that row holds weigh together, in a list that is ranked.
    """

    order: int
    id: str
    rank: int = 0


@frozen
class Slice(Generic[T]):
    """A run of rows in list order; `end` is the position after the last one, None at the end.

    Of a search, `ranks` has what the terms that each row holds weigh together.
    """

    rows: tuple[StoredRow[T], ...]
    end: Position | None = None
    ranks: tuple[int, ...] = ()

    @property
    def has_more(self) -> bool:
        """Whether at least one row follows."""
        return self.end is not None


class GeoBox(NamedTuple):
    """A part of the world in degrees, its edges included; a `west` beyond `east` crosses 180."""

    west: float
    south: float
    east: float
    north: float


class RowBounds(TypedDict, total=False):
    """The bounds that rows must satisfy, all of them; None or a missing key bounds nothing.

    `start` and `end` bound `order`, and `ranges` the declared numbers, from the lowest to the
    highest, both included and None for open; `box` is where the place must lie; `words` are tokens
    that must all be held.
    """

    start: int | None
    end: int | None
    ranges: Mapping[str, tuple[int | None, int | None]] | None
    box: GeoBox | None
    words: tuple[str, ...] | None


class Filters(RowBounds, total=False):
    """Bounds and equality filters: `where` has the accepted values of keys and facets."""

    where: Mapping[str, tuple[str, ...]] | None


class CrossTenantFilters(TypedDict, total=False):
    """Filters over the rows of all tenants; `after` is the last (order, tenant, id) read.

    `heads_after` takes the place of all others: it asks for the lowest row of each tenant beyond
    this one, by tenant, however many rows each has.
    """

    where: Mapping[str, tuple[str, ...]] | None
    after: tuple[int, str, str] | None
    end: int | None
    heads_after: str | None


class StaleVersionError(Exception):
    """A compare-and-swap met another version; `current` is the stored one, 0 when absent."""

    def __init__(self, current: int) -> None:
        """Say which version is stored."""
        super().__init__(f"stored version is {current}")
        self.current = current


NO_SPACE: Final = "no space is left on the disk of the database"


class StorageUnavailable(Exception):  # noqa: N818 - said as the state that it is
    """The store cannot answer now: disk full, input/output error, waited too long, closed.

    `is_full` and `is_damaged` tell causes that whoever looks after it mends.
    """

    exit_code = 1

    def __init__(self, why: str, *, is_full: bool = False, is_damaged: bool = False) -> None:
        super().__init__(why)
        self.is_full = is_full
        self.is_damaged = is_damaged

    def __str__(self) -> str:
        return f"the database cannot be used now: {super().__str__()}"


class Overloaded(Exception):  # noqa: N818 - said as the state that it is
    """The queue of units of work is full; nothing of this unit ran."""


class Documents(Protocol):
    """Versioned rows with compare-and-swap, keyset paging, declared filters and text search."""

    async def get(self, collection: Collection[T], id_: str) -> StoredRow[T] | None:
        """The row, or None when this tenant has no such row."""

    async def get_many(
        self, collection: Collection[T], ids: Sequence[str]
    ) -> dict[str, StoredRow[T]]:
        """The rows that are there, by their identifiers, in the order in which these are given."""

    async def put(
        self, collection: Collection[T], id_: str, value: T, *, expect: int | None = None
    ) -> StoredRow[T]:
        """Write the row; its version becomes the stored one plus one.

        `expect` is the version that must be stored now: 0 means the row must not exist, None
        writes whatever is there.

        Raises:
            StaleVersionError: the stored version is another.
        """

    async def delete(
        self, collection: Collection[T], id_: str, *, expect: int | None = None
    ) -> StoredRow[T] | None:
        """Remove the row and return what it was; None when it did not exist.

        Raises:
            StaleVersionError: `expect` is given and the stored version is another.
        """

    async def scan(
        self,
        collection: Collection[T],
        *,
        order: str | None = None,
        after: Position | None = None,
        limit: int,
        **filters: Unpack[Filters],
    ) -> Slice[T]:
        """At most `limit` rows in descending `(order, id)`, strictly after `after`.

        `order` names a declared number to be the sort key instead of the collection's own; rows
        without it come last.
        """

    async def count(
        self, collection: Collection[T], *, limit: int, **filters: Unpack[Filters]
    ) -> int:
        """How many rows there are; `limit` where there are more."""

    async def search(
        self,
        collection: Collection[T],
        terms: Mapping[str, int],
        *,
        after: Position | None = None,
        limit: int,
        **filters: Unpack[Filters],
    ) -> Slice[T]:
        """At most `limit` rows that hold any of `terms` (whole tokens), strictly after `after`.

        Each term has its weight, from 1 to a billion. Rows whose terms weigh most come first, and
        of equal ones the one that a list has first: so a row's place depends on nothing but
        itself, and pages join while rows come in.
        """
