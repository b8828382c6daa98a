"""An operation, declared once: what it takes, what it promises, who may call it.

Routing, parsing, security, the OpenAPI documents, the reference pages and the test matrix are
read from `Operation`. No fact (path, scope, price, bound, status) stands twice.

A use case receives a `Context` and its request object, and returns one of the classes of
`svc_core.operation.result`; it loads, asks a rule, saves. The verbs for that (`load`, `create`,
`save`, `remove`, `page`) are the context's, so that a change record is never forgotten.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any, Generic, Literal, Protocol, TypedDict, TypeVar, Unpack, get_args, get_origin

from attrs import Factory, field, frozen

from svc_core.base.differences import changed_fields
from svc_core.base.unset import UNSET, Maybe, Unset
from svc_core.contract import cursor, problem
from svc_core.contract.media import Representation
from svc_core.contract.problem import Problem, ProblemType
from svc_core.operation.host import Host, Tell
from svc_core.operation.ports import (
    BASE_V1,
    BASE_V2,
    Bounds,
    Change,
    ChangeType,
    Collection,
    Document,
    Ids,
    Lowest,
    Owned,
    Position,
    StaleVersionError,
    Transaction,
)
from svc_core.operation.result import Accepted, Created, Empty, One, Page
from svc_core.wire import Fault, camel
from svc_core.wire.shapes import is_union

T = TypeVar("T")
R = TypeVar("R")
Req = TypeVar("Req")
Res = TypeVar("Res")

_RAW = attrgetter("raw")

ROWS_AT_ONCE = 500  # that are read of a store

JSON = Representation("json", "application/json")
NDJSON = Representation("ndjson", "application/x-ndjson")
GEOJSON = Representation("geojson", "application/geo+json")
MARKDOWN = Representation("markdown", "text/markdown")
HTML = Representation("html", "text/html")
TEXT = Representation("text", "text/plain")
UTF8_TEXT = f"{TEXT.media_type}; charset=utf-8"
"""What plain text is sent as: without a charset some readers would take it for Latin-1."""
STIX = Representation("stix", "application/stix+json;version=2.1")
SSE = Representation("sse", "text/event-stream")
OCTETS = Representation("octets", "application/octet-stream")


# -- inputs ------------------------------------------------------------------------------------


@frozen
class In:
    """Where an input travels; `name` overrides the camelCase of the attribute."""

    place: Literal["path", "query", "header", "body", "member"]
    name: str | None = None


PATH = In("path")
QUERY = In("query")
BODY = In("body")
MEMBER = In("member")
"""A member of the body, which is the request class itself."""


@frozen
class Refused:
    """The problem that answers an input which does not have its form, in place of the usual one."""

    kind: ProblemType


def header(name: str) -> In:
    """An input that travels in the header field `name`."""
    return In("header", name)


# -- the caller and the context ----------------------------------------------------------------


@frozen
class Actor:
    """Who calls. `tenant` is the workspace, the user of a personal key, or "" for nobody.

    `roles` are what a person is in the workspace, or `operator`; a key has none.
    """

    tenant: str
    workspace_id: str | None = None
    user_id: str | None = None
    key_id: str | None = None
    scopes: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()


class Details(TypedDict, total=False):
    """What a change says besides; see `Change`."""

    changed_fields: tuple[str, ...] | None
    last_state: bytes | None
    merged_into_id: str | None
    owner: str | None


class Units(Protocol):
    """What an operation of several units of work is run with, in place of one transaction.

    `tell` takes the news of its work.
    """

    @property
    def tell(self) -> Tell:
        """Takes the news of the work."""

    async def read(self, tenant: str, usecase: Callable[["Context"], Awaitable[R]]) -> R:
        """Run a use case for `tenant` on one snapshot."""

    async def write(self, tenant: str, usecase: Callable[["Context"], Awaitable[R]]) -> R:
        """Run a use case for `tenant` and commit it durably."""

    async def tenants(self) -> Sequence[str]:
        """The workspaces and people that there are, by their ids."""

    async def across(
        self, collection: Collection[T], *, limit: int, **bounds: Unpack[Lowest]
    ) -> Sequence[Owned[T]]:
        """Rows of every tenant; see `Storage.across`."""

    async def aside(self, work: Callable[[], R]) -> R:
        """Run work that takes long and waits for nothing, beside everything else."""


@frozen
class Context:
    """What a use case may know besides its request. `now` is read once per request.

    `format` is the representation that was negotiated, `aliases` whether deprecated members are
    still given, `target` the row that a mutation is about, `if_match` the precondition of an
    operation without such a row, `ahead` what its operation had read on a snapshot before. An
    operation of several units has `units` and no transaction. `origin` is the one that was asked:
    that of the host, or its secondary one, which has no v2.
    """

    tx: Transaction
    now: datetime
    ids: Ids
    actor: Actor
    operation: str
    keyring: cursor.Keyring
    format: str = "json"
    aliases: bool = True
    target: Document[Any] | None = None
    if_match: str | None = None
    host: Host = field(factory=Host)
    units: Units | None = None
    ahead: Any = None
    origin: str = field(default=Factory(lambda self: self.host.origin, takes_self=True))

    def located(self, url: str | None) -> str | None:
        """An address under the origin of the host as whoever asks may follow it.

        At another origin it stays there, so that no key is led elsewhere; None where it is not.
        """
        own = f"{self.host.origin}/"
        if url is None or self.origin == self.host.origin or not url.startswith(own):
            return url
        path = url.removeprefix(self.host.origin)
        return None if path.startswith(f"{BASE_V2}/") else self.origin + path

    @property
    def work(self) -> Units:
        """The units of work of an operation that is declared to have several."""
        if self.units is None:
            raise AssertionError("the operation declares several units")
        return self.units

    def borrow(self, port: type[T]) -> T:
        """What the host lends under this Protocol.

        Raises:
            Problem: SERVICE_UNAVAILABLE where it lends nothing.
        """
        lent = self.host.lends.get(port)
        if lent is None:
            wanted = (port.__doc__ or port.__name__).partition(".")[0]
            raise Problem(problem.SERVICE_UNAVAILABLE, f"This host does not have it: {wanted}.")
        return lent  # type: ignore[no-any-return]

    @property
    def row(self) -> Document[Any]:
        """The row that the running mutation is about, where its operation declares a target."""
        if self.target is None:
            raise AssertionError("the operation declares its target")
        return self.target

    async def load(self, collection: Collection[T], id_: str) -> Document[T]:
        """The row.

        Raises:
            Problem: NOT_FOUND; whether another tenant, or another person of this one, has it is
                not told.
        """
        document = await self.tx.documents.get(collection, id_)
        if document is None or not self.shows(collection, document):
            raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
        return document

    def shows(self, collection: Collection[T], document: Document[T]) -> bool:
        """Whether the row is one that the caller is shown."""
        if not collection.owner:
            return True
        return collection.owner_of(collection.decode(document.raw)) == self.actor.user_id

    async def answering(self, collection: Collection[T], id_: str) -> Document[T]:
        """The row of a collection with the facet `key` that an id names, its own or a former one.

        Raises:
            Problem: NOT_FOUND.
        """
        found = await self.tx.documents.scan(collection, where={"key": (id_,)}, limit=1)
        return found.rows[0] if found.rows else await self.load(collection, id_)

    async def value(self, collection: Collection[T], id_: str) -> T:
        """What the row holds.

        Raises:
            Problem: NOT_FOUND.
        """
        return collection.decode((await self.load(collection, id_)).raw)

    async def find(self, collection: Collection[T], id_: str) -> T | None:
        """What the row holds; None where it is not there."""
        document = await self.tx.documents.get(collection, id_)
        return None if document is None else collection.decode(document.raw)

    async def find_many(self, collection: Collection[T], ids: Iterable[str]) -> dict[str, T]:
        """What the rows hold that are there, by their identifiers."""
        found = await self.tx.documents.get_many(collection, list(dict.fromkeys(ids)))
        return {id_: collection.decode(document.raw) for id_, document in found.items()}

    async def every(
        self, collection: Collection[T], most: int | None = None, **filters: Any
    ) -> AsyncIterator[Document[T]]:
        """All rows that the filters of `Documents.scan` leave, or the first of them."""
        left, after = most, None
        while left is None or left > 0:
            limit = ROWS_AT_ONCE if left is None else min(left, ROWS_AT_ONCE)
            page = await self.tx.documents.scan(collection, after=after, limit=limit, **filters)
            for row in page.rows:
                yield row
            after = page.end
            if after is None:
                return
            left = None if left is None else left - len(page.rows)

    async def unchanged(self, collection: Collection[T], seen: Document[T]) -> T | None:
        """What a row holds that a worker acted on; None once anybody has changed it since."""
        document = await self.tx.documents.get(collection, seen.id)
        if document is None or document.version != seen.version:
            return None
        return collection.decode(document.raw)

    async def missing(
        self,
        collection: Collection[Any],
        ids: Sequence[str],
        *,
        pointer: str,
        known: Sequence[str] = (),
    ) -> list[Fault]:
        """The ids that name no row, by `pointer` and position.

        `known` ones were accepted before and may be gone since.
        """
        found = await self.tx.documents.get_many(collection, ids)
        there = {id_ for id_, document in found.items() if self.shows(collection, document)}
        return [
            Fault(f"{pointer}/{at}", f"is no {collection.kind} of this workspace")
            for at, id_ in enumerate(ids)
            if id_ not in known and id_ not in there
        ]

    async def create(self, collection: Collection[T], id_: str, value: T) -> Document[T]:
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
        before: Maybe[Document[T] | None] = UNSET,
    ) -> Document[T]:
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
    ) -> Document[T] | None:
        """The row that is about to be written over, where its changes are published."""
        if collection.kind is None or expect == 0:
            return None
        target = self.target
        if target is not None and (target.id, target.version) == (id_, expect):
            return target
        return await self.tx.documents.get(collection, id_)

    async def rewrite(self, collection: Collection[T], value: T) -> One[T]:
        """Give the row that the running mutation is about this value; the same writes nothing.

        Raises:
            Problem: RESOURCE_CONFLICT when the row was written meanwhile.
        """
        document = self.row
        if collection.decode(document.raw) != value:
            document = await self.save(collection, document.id, value, expect=document.version)
        return One(document.raw, document.tag)

    async def remove(self, collection: Collection[T], id_: str) -> Document[T]:
        """Delete a row and leave a tombstone in the feed.

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
            path, details["owner"] = collection.home(value, id_), collection.owner_of(value)
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
        asked: Mapping[str, tuple[str, ...]] | None = None,
        **bounds: Unpack[Bounds],
    ) -> Page[T]:
        """One page of a list, continued from the cursor `after`, with the cursor to the next.

        Of rows that have an owner there are the caller's own. A filter in `where` that was not
        sent filters nothing; `order` names a declared number to
        sort by, and `bounds` are those of `Documents.scan`. `asked` are filters as they were sent
        whose values in `where` were looked up, and may be others when the next page is read.

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
        binding = self.list_binding({**filters, **(asked or {})}, order, **bounds)
        rows = await self.tx.documents.scan(
            collection,
            where=filters,
            order=order,
            after=self.open_cursor(after, binding),
            limit=limit,
            **bounds,
        )
        return Page(tuple(map(_RAW, rows.rows)), self.seal_cursor(rows.end, binding))

    def list_binding(
        self,
        where: Mapping[str, tuple[str, ...]],
        order: str | None = None,
        **bounds: Unpack[Bounds],
    ) -> bytes:
        """What the cursors of one list are bound to: tenant, operation, filters and order."""
        filters = sorted((name, tuple(sorted(values))) for name, values in where.items())
        ranges, words = bounds.get("ranges") or {}, bounds.get("words") or ()
        narrowed = (tuple(sorted(ranges.items())), bounds.get("box"), tuple(sorted(words)))
        limits = (bounds.get("start"), bounds.get("end"), narrowed)
        return _binding(self.actor.tenant, self.operation, tuple(filters), limits, order)

    def open_cursor(self, token: Maybe[str], binding: bytes) -> Position | None:
        """The position that a cursor seals; None when there is no cursor.

        Raises:
            Problem: INVALID_CURSOR, one code for every reason, so that it is no oracle.
        """
        if isinstance(token, Unset):
            return None
        order, id_, *_ = self.unsealed(token, binding)
        return Position(order, id_)

    def unsealed(self, token: str, binding: bytes) -> list[Any]:
        """What a cursor seals.

        Raises:
            Problem: INVALID_CURSOR, one code for every reason, so that it is no oracle.
        """
        try:
            return list(cursor.unseal(self.keyring, token, binding))
        except cursor.CursorError as refused:
            raise Problem(
                problem.INVALID_CURSOR, "The cursor is not one that this listing gave out."
            ) from refused

    def seal_cursor(
        self, position: Position | None, binding: bytes, more: Sequence[int] = ()
    ) -> str | None:
        """The opaque token of a position, and of what its list needs `more`."""
        if position is None:
            return None
        sealed = [position.order, position.id, *more]
        return cursor.seal(self.keyring, sealed, binding, self.ids.random(12))


@lru_cache(maxsize=1024)  # lists being walked at once; a digest costs more than to remember it
def _binding(
    tenant: str,
    operation: str,
    filters: tuple[tuple[str, tuple[str, ...]], ...],
    limits: tuple[object, ...],
    order: str | None,
) -> bytes:
    bound = dict(zip(("start", "end", "narrowed"), limits, strict=True))
    return cursor.binding(tenant, operation, {**dict(filters), **bound}, order or "desc")


# -- the declaration ---------------------------------------------------------------------------


Counting = Literal["account", "agent", "address", "none"]
"""What requests are counted in."""


@frozen
class Tier:
    """An x402 price class: its name and the price of one request in US cents."""

    name: str
    cents: int

    @property
    def price_usd(self) -> str:
        """The price in US dollars, with two decimals."""
        return f"{self.cents // 100}.{self.cents % 100:02}"


T3_ENRICHED = Tier("T3_ENRICHED", 1)
T4_PREMIUM_LIST = Tier("T4_PREMIUM_LIST", 5)
T4_PREMIUM_SINGLE = Tier("T4_PREMIUM_SINGLE", 25)
T4_PREMIUM_AUDIO = Tier("T4_PREMIUM_AUDIO", 50)
TIERS = (T3_ENRICHED, T4_PREMIUM_LIST, T4_PREMIUM_SINGLE, T4_PREMIUM_AUDIO)


@frozen
class Target:
    """The row that a mutation is about: loaded and compared with `If-Match` before the body.

    `shows` is the model of its rows in lists, where these show more than the answer does. `foreign`
    says of an id without such a row whether the caller may read what it names: then he is told
    that he may not change it.
    """

    collection: Collection[Any]
    param: str
    shows: type[Any] | None = None
    foreign: Collection[Any] | None = None


@frozen(eq=False)
class Operation(Generic[Req, Res]):
    """One operation: a route, a command, a form, and the tests of all three.

    `path` is relative to the base of its `version`, `BASE_V1` or `BASE_V2`. `scopes` is an any-of
    set; an empty one with `auth="public"` needs no key. A `tier` makes it payable.
    `pool` is what its requests are counted in: those of the key and its account, those of the
    agent as well, that of the address where there is no key, or none.
    `idempotency` says whether an `Idempotency-Key` is required, optional or ignored.
    `timeless` promises that the answer depends on nothing but caller, request and stored rows,
    so a page of it may be kept until the next commit. `conditional` says that it honours
    `If-Match` though it has no target row: its use case compares `Context.if_match`.
    `fields` names the header fields that a success has beside the usual ones.
    One that `signs` needs the signer of its host. An `exact` one refuses numbers in its body that
    could not be written again as they were sent.
    The answers of a `confidential` one are kept sealed, as they hold what is shown once.
    `replay` makes the body of a kept answer what may be shown of it now; without it, it is as kept.
    `live` names the query parameter that, when true, has its answer as an event stream and as
    nothing else; without it the others are offered.
    A `lenient` one is for clients that were not made for this service: it takes any `Accept` and
    any content type, and says 400 where others say 408 or 413 of a body.
    A path may end in `{+name}`: the rest of the path with its slashes (RFC 6570, 3.2.3).

    `ahead` says of a request what is to be read on a snapshot before its unit of work, so that no
    other writer waits for that; what it read, or None, is `Context.ahead` then.

    A `personal` one works on rows of one person: its answers are kept for that person alone, and
    the operator, who says nothing else, runs it for the owner of the workspace.

    `unit` says what it runs in: one unit of work that reads, one that writes, or several of its
    own; one that is `queued`, for its work is long, runs once at a time for each tenant.
    `svc GROUP VERB` runs it, and documents show it under the `tag` of its group; one without a
    verb is run by a command that stands by hand. What cannot be undone `foresees`, by the local
    operation of that name, what it takes with it: a person at a terminal is told, and asked.
    `columns` are the members of a row that a table shows, as paths with dots, those of most weight
    first: a narrow terminal leaves out the last. `notes` are those that say what is wrong with a
    row; they are told below it.
    A `local` one has no route: the control socket, the command line and the dashboard run it, for
    the operator and for those of its `roles`; its request class is its JSON object itself.
    One that is bound to the `system` works on what belongs to no tenant.
    """

    id: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    summary: str
    description: str
    request: type[Req]
    response: Any
    run: Callable[[Context, Req], Awaitable[Res]]
    version: Literal["1.0", "2.0"] = "1.0"
    scopes: frozenset[str] = frozenset()
    auth: Literal["bearer", "bearer-or-x402", "public"] = "bearer"
    tier: Tier | None = None
    binding: Literal["any", "workspace", "system"] = "any"
    pool: Counting = "account"
    media: tuple[Representation, ...] = (JSON,)
    live: str | None = None
    ahead: Callable[[Req], Callable[[Context], Awaitable[Any]] | None] | None = None
    target: Target | None = None
    conditional: bool = False
    idempotency: Literal["required", "optional", "none"] = "none"
    confidential: bool = False
    replay: Callable[[Context, bytes], Awaitable[bytes]] | None = None
    exact: bool = False
    signs: bool = False
    fields: tuple[str, ...] = ()
    fails: tuple[ProblemType, ...] = ()
    timeless: bool = False
    lenient: bool = False
    queued: bool = False
    deprecated: frozenset[str] = frozenset()
    examples: Mapping[str, Any] = field(factory=dict)
    group: str = ""
    tag: str = field()
    verb: str = ""
    foresees: str = ""
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    local: bool = False
    roles: frozenset[str] = frozenset()
    personal: bool = False
    unit: Literal["read", "write", "several"] = field()

    @tag.default
    def _of_the_group(self) -> str:
        return self.group.capitalize()

    @unit.default
    def _one_unit(self) -> Literal["read", "write"]:
        return "read" if self.method == "GET" else "write"

    @property
    def results(self) -> tuple[tuple[Any, Any], ...]:
        """The classes of its results, each with the model inside it or None."""
        members = get_args(self.response) if is_union(self.response) else (self.response,)
        return tuple(
            (get_origin(each) or each, next(iter(get_args(each)), None)) for each in members
        )

    @property
    def success(self) -> int:
        """The status of its success, which follows from its results."""
        kinds = {kind for kind, _ in self.results}
        if Accepted in kinds:
            return 202
        return 201 if Created in kinds else 204 if kinds == {Empty} else 200

    @property
    def writes(self) -> bool:
        """Whether it runs in a transaction that may write."""
        return self.unit == "write"

    def offers(self, given: Mapping[str, str]) -> tuple[Representation, ...]:
        """The representations that a request with this query may choose from."""
        if self.live is None:
            return self.media
        is_live = given.get(self.live) == "true"
        return tuple(offer for offer in self.media if (offer == SSE) == is_live)

    @property
    def takes_if_match(self) -> bool:
        """Whether it honours `If-Match`."""
        return self.conditional or self.target is not None

    @property
    def address(self) -> str:
        """The full path under the origin, with its values in braces."""
        return self.route.replace("{+", "{")

    @property
    def route(self) -> str:
        """The full path as the dispatcher takes it, with `{+name}` where it is the rest."""
        return (BASE_V1 if self.version == "1.0" else BASE_V2) + self.path


OPERATOR = frozenset({"operator"})
MANAGERS = frozenset({"operator", "owner", "admin"})
"""Who runs what is bound to one workspace: its owners and admins, and the operator for them."""


def local(
    command: str,
    summary: str,
    run: Callable[[Context, Req], Awaitable[Res]],
    *,
    id_: str = "",
    unit: Literal["read", "write", "several"] = "write",
    roles: frozenset[str] = OPERATOR,
    description: str = "",
    **members: Any,
) -> Operation[Req, Res]:
    """An operation without a route; `command` is its group and verb, or its group alone.

    Its request class and its response are those that `run` is annotated with, and its id is the
    name of `run` unless another is given.
    """
    _, request, response = run.__annotations__.values()
    group, _, verb = command.partition(" ")
    return Operation(
        id=id_ or camel(run.__name__.strip("_")),
        path="",
        summary=summary,
        description=description,
        request=request,
        response=response,
        run=run,
        group=group,
        verb=verb,
        local=True,
        unit=unit,
        roles=roles,
        **{"method": "GET" if unit == "read" else "POST", **members},
    )
