"""The context of a use case: one call within one unit of work, and the verbs for its rows.

Rows are read and written through the context (`load`, `create`, `save`, `remove`, `page`) and not
through the store, so that every write leaves its change record.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypedDict, TypeVar, Unpack, cast

from attrs import field, frozen

from svc_core.base.differences import changed_fields
from svc_core.base.unset import UNSET, Maybe, Unset
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.operation.caller import CallContext
from svc_core.operation.ports import (
    Change,
    ChangeType,
    Collection,
    RowBounds,
    StaleVersionError,
    StoredRow,
    Transaction,
)
from svc_core.wire import InputFault

T = TypeVar("T")
R = TypeVar("R")

_RAW = attrgetter("raw")

ROWS_AT_ONCE = 500  # in one read of the store


class Details(TypedDict, total=False):
    """The optional members of a change record; see `Change`."""

    changed_fields: tuple[str, ...] | None
    last_state: bytes | None
    merged_into_id: str | None
    owner: str | None


@frozen
class Rest:
    """The rest of a reading use case that takes more than one unit of work."""

    run: Callable[[Any], Awaitable[Any]]


@frozen
class Context(CallContext):
    """A call within one unit of work, and the verbs for its rows.

    `committed` are called once the unit is committed, if it ever is.
    """

    tx: Transaction = field(kw_only=True)
    committed: list[Callable[[], None]] = field(factory=list, kw_only=True)

    def later(self, rest: Callable[[Any], Awaitable[R]]) -> R:
        """What a reading use case returns where its result takes more than this unit of work.

        The executor runs the rest with a `WorkContext`, for units of its own, when this unit has
        ended.
        """
        return cast(R, Rest(rest))

    async def load(self, collection: Collection[T], id_: str) -> StoredRow[T]:
        """The row with this identifier, if the caller may see it.

        Raises:
            Problem: NOT_FOUND, whether it is absent or belongs to another tenant or person.
        """
        document = await self.tx.documents.get(collection, id_)
        if document is None or not self.is_visible(collection, document):
            raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
        return document

    def is_visible(self, collection: Collection[T], document: StoredRow[T]) -> bool:
        """Whether the caller may see the row: rows with an owner are for that person alone."""
        if not collection.owner:
            return True
        return collection.owner_of(collection.decode(document.raw)) == self.actor.user_id

    async def load_by_key(self, collection: Collection[T], id_: str) -> StoredRow[T]:
        """The row that an id names, where the id may also be a former one (the facet `key`).

        Raises:
            Problem: NOT_FOUND.
        """
        page = await self.tx.documents.scan(collection, where={"key": (id_,)}, limit=1)
        return page.rows[0] if page.rows else await self.load(collection, id_)

    async def value(self, collection: Collection[T], id_: str) -> T:
        """The decoded value of a row.

        Raises:
            Problem: NOT_FOUND.
        """
        return collection.decode((await self.load(collection, id_)).raw)

    async def find(self, collection: Collection[T], id_: str) -> T | None:
        """The decoded value of a row; None where it is absent."""
        document = await self.tx.documents.get(collection, id_)
        return None if document is None else collection.decode(document.raw)

    async def find_many(self, collection: Collection[T], ids: Iterable[str]) -> dict[str, T]:
        """The decoded values of those rows that exist, by identifier."""
        rows = await self.tx.documents.get_many(collection, list(dict.fromkeys(ids)))
        return {id_: collection.decode(document.raw) for id_, document in rows.items()}

    async def every(
        self, collection: Collection[T], rows_max: int | None = None, **filters: Any
    ) -> AsyncIterator[StoredRow[T]]:
        """Iterate over the rows that match the filters of `Documents.scan`, `rows_max` at most."""
        remaining, after = rows_max, None
        while remaining is None or remaining > 0:
            limit = ROWS_AT_ONCE if remaining is None else min(remaining, ROWS_AT_ONCE)
            page = await self.tx.documents.scan(collection, after=after, limit=limit, **filters)
            for row in page.rows:
                yield row
            after = page.end
            if after is None:
                return
            remaining = None if remaining is None else remaining - len(page.rows)

    async def if_unchanged(self, collection: Collection[T], snapshot: StoredRow[T]) -> T | None:
        """The value of a row that a worker has read before; None if it has changed since."""
        document = await self.tx.documents.get(collection, snapshot.id)
        if document is None or document.version != snapshot.version:
            return None
        return collection.decode(document.raw)

    async def missing_faults(
        self,
        collection: Collection[Any],
        ids: Sequence[str],
        *,
        pointer: str,
        earlier: Sequence[str] = (),
    ) -> list[InputFault]:
        """A fault for every id that names no visible row, by `pointer` and position.

        Ids in `earlier` were accepted earlier and stay valid although their rows may be gone.
        """
        rows = await self.tx.documents.get_many(collection, ids)
        visible = {id_ for id_, document in rows.items() if self.is_visible(collection, document)}
        return [
            InputFault(f"{pointer}/{index}", f"is no {collection.kind} of this workspace")
            for index, id_ in enumerate(ids)
            if id_ not in earlier and id_ not in visible
        ]

    async def create(self, collection: Collection[T], id_: str, value: T) -> StoredRow[T]:
        """Write a new row with its change record.

        Raises:
            Problem: RESOURCE_CONFLICT when the identifier is taken.
        """
        return await self.save(collection, id_, value, expect=0)

    async def save(
        self,
        collection: Collection[T],
        id_: str,
        value: T,
        *,
        expect: int | None = None,
        before: Maybe[StoredRow[T] | None] = UNSET,
    ) -> StoredRow[T]:
        """Write a row with its change record.

        `before` is the row as it is stored, None where there is none: a caller who knows it saves
        the reading of it, which the change record of a published row needs.

        Raises:
            Problem: RESOURCE_CONFLICT when `expect` is no longer the stored version.
        """
        if isinstance(before, Unset):
            before = await self._before(collection, id_, expect)
        try:
            document = await self.tx.documents.put(collection, id_, value, expect=expect)
        except StaleVersionError as stale:
            raise Problem(
                problem.RESOURCE_CONFLICT, "The resource has changed meanwhile."
            ) from stale
        kind: ChangeType = "created" if document.version == 1 else "updated"
        fields = None if before is None else changed_fields(before.raw, document.raw)
        await self.record(
            collection, id_, kind, document.version, value=value, changed_fields=fields
        )
        return document

    async def _before(
        self, collection: Collection[T], id_: str, expect: int | None
    ) -> StoredRow[T] | None:
        """The stored row before a write, read only where the collection publishes changes."""
        if collection.kind is None or expect == 0:
            return None
        target = self.target
        if target is not None and (target.id, target.version) == (id_, expect):
            return target
        return await self.tx.documents.get(collection, id_)

    async def rewrite(self, collection: Collection[T], value: T) -> Single[T]:
        """Replace the value of the target row; an equal value writes nothing.

        Raises:
            Problem: RESOURCE_CONFLICT when the row was written meanwhile.
        """
        document = self.row
        if collection.decode(document.raw) != value:
            document = await self.save(collection, document.id, value, expect=document.version)
        return Single(document.raw, document.tag)

    async def remove(self, collection: Collection[T], id_: str) -> StoredRow[T]:
        """Delete a row and write its tombstone to the change feed.

        Raises:
            Problem: NOT_FOUND.
        """
        document = await self.tx.documents.delete(collection, id_)
        if document is None:
            raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
        state = document.raw if collection.scope == "global" else None
        value = collection.decode(document.raw) if collection.owner else None
        await self.record(
            collection, id_, "deleted", document.version + 1, value=value, last_state=state
        )
        return document

    async def record(
        self,
        collection: Collection[T],
        id_: str,
        change_type: ChangeType,
        version: int,
        *,
        value: T | None = None,
        **details: Unpack[Details],
    ) -> None:
        """Write the change record of one row, where its collection publishes changes.

        `value` is what the row holds, or held, where the record depends on it.
        """
        if collection.kind is None:
            return
        path = collection.address(id_)
        if collection.owner and value is not None:
            path = collection.row_path(value, id_)
            details["owner"] = collection.owner_of(value)
        change = Change(
            id=self.ids.new("chg"),
            change_type=change_type,
            resource_type=collection.kind,
            resource_id=id_,
            version=version,
            occurred_at=self.now,
            path=path,
            everybody=collection.scope == "global",
            **details,
        )
        await self.tx.changes.append(change)

    async def page(
        self,
        collection: Collection[T],
        *,
        where: Mapping[str, Maybe[str | tuple[str, ...]]] | None = None,
        order: str | None = None,
        after: Maybe[str] = UNSET,
        limit: int,
        raw_filters: Mapping[str, tuple[str, ...]] | None = None,
        **bounds: Unpack[RowBounds],
    ) -> Page[T]:
        """One page of a list, continued from the cursor `after`, with the cursor to the next.

        In a collection with owners it has the caller's own rows only. An unset filter in `where`
        filters nothing. `order` names a declared number to sort by, and `bounds` are those of
        `Documents.scan`. `raw_filters` are the raw values of filters whose values in `where` were
        looked up: the cursor is bound to the raw ones, as a later look-up may give others.

        Raises:
            Problem: INVALID_CURSOR when the cursor is not one of this list with these filters.
        """
        filters = {
            name: (value,) if isinstance(value, str) else value
            for name, value in (where or {}).items()
            if not isinstance(value, Unset)
        }
        if collection.owner:
            filters[collection.owner] = (self.actor.user_id or "",)
        identity, form = {**filters, **(raw_filters or {})}, collection.form
        binding = self.list_binding(identity, order, form=form, **bounds)
        rows = await self.tx.documents.scan(
            collection,
            where=filters,
            order=order,
            after=self.open_cursor(after, binding),
            limit=limit,
            **bounds,
        )
        return Page(tuple(map(_RAW, rows.rows)), self.seal_cursor(rows.end, binding))


async def scan_values(
    ctx: Context, collection: Collection[T], *, limit: int, **filters: Any
) -> list[T]:
    """The decoded values of the first rows that match the filters of `Documents.scan`."""
    page = await ctx.tx.documents.scan(collection, limit=limit, **filters)
    return [collection.decode(row.raw) for row in page.rows]
