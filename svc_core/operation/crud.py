"""Create, read, replace, patch and delete: what all rows that people write share.

`Crud` declares such rows: their collection, the class of their bodies, their bounds, and the rules
by which they differ. Requests, use cases and operations follow from it (Spec: Representation 4).

Rule 1: PUT resets what it leaves out, PATCH changes only what it names (RFC 7396).
Rule 2: what changes nothing writes nothing: same version, no change record.
Rule 3: a list in a body is a set: a repeated item counts once, at its first position.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

import attrs
from attrs import field, frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Created, Empty, Page, Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import BODY, PATH, Operation, Target, Unit, declare
from svc_core.operation.merge_patch import patch_of, sent_members
from svc_core.operation.ports import Collection, StoredRow
from svc_core.wire import camel

T = TypeVar("T")

RowUseCase = Callable[[Context, Any], Awaitable[Any]]
"""Runs an operation on rows in one unit of work."""


def update_row(row: T, now: datetime, **members: Any) -> T:
    """The row with these members and a new `updated_at`; the same row where nothing changes."""
    after: Any = attrs.evolve(row, **_once(members))  # type: ignore[misc]
    return row if after == row else attrs.evolve(after, updated_at=now)


def new_row(ctx: Context, collection: Collection[T], **members: Any) -> T:
    """A new row with these members; in a collection with owners it belongs to the caller."""
    owner = {collection.owner: ctx.actor.user_id or ""} if collection.owner else {}
    stamps = {"created_at": ctx.now, "updated_at": ctx.now}
    model: Any = collection.model
    row: T = model(id=ctx.ids.new(collection.prefix), **owner, **stamps, **_once(members))
    return row


def _once(members: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(dict.fromkeys(value)) if isinstance(value, tuple) else value
        for name, value in members.items()
    }


@frozen
class RowEdit(Generic[T]):
    """A row before and after a change; before its creation there is none.

    `members` are those that were sent, also those that the row does not hold itself.
    """

    before: T | None
    after: T
    members: Mapping[str, Any]

    def former(self, name: str) -> Any:
        """A member of the row as it was before; () for a new row."""
        return getattr(self.before, name, ())


async def _complete(ctx: Context, change: RowEdit[T]) -> T:  # noqa: ARG001
    return change.after


async def _follow(ctx: Context, change: RowEdit[Any]) -> None:
    """Nothing else is written."""


_VERBS: Mapping[str, tuple[str, str, str]] = {
    "create": ("POST", "Create", "new_body"),
    "show": ("GET", "Read", ""),
    "replace": ("PUT", "Replace", "body"),
    "update": ("PATCH", "Change", "patch"),
    "delete": ("DELETE", "Delete", ""),
}
"""The method of a verb, the word for it in a summary, and the member of `Crud` that is its body."""


@frozen
class Crud(Generic[T]):
    """Declares rows that people write, with the use cases and operations on them.

    Reading needs one of the scopes `read`, writing one of `write`, which are named after the
    collection unless others are given. `list_model` is the model of rows in lists, where these have
    more members than the answer for one row; `foreign` is a collection of rows that may be read and
    not changed.

    `body` is the class of a whole row as it is sent, `new_body` that of a new one and `patch` that
    of a change in part, where these have other members. A new row has the `initial` members too.
    A workspace has `rows_max` of them at most, or as many as `bound` reads, before a new one is
    written, of what the workspace may have; `cure` says what to do then. `example` is a body for
    the documents.

    What differs: `complete` judges a change and returns the row to write, the same object where
    nothing is to be written; `follow` writes what depends on the row; `view` gives the `answer`
    where that is not the row itself.
    """

    collection: Collection[T]
    read: frozenset[str] = field(kw_only=True)
    write: frozenset[str] = field(kw_only=True)
    body: type[Any] = field(kw_only=True)
    new_body: type[Any] = field(kw_only=True)
    patch: Any = field(kw_only=True)
    idempotency: Literal["optional", "none"] = "none"
    list_model: type[Any] | None = None
    foreign: Collection[Any] | None = None
    initial: Mapping[str, Any] = field(factory=dict)
    rows_max: int | None = None
    bound: Callable[[Context], Awaitable[int]] | None = None
    cure: str = ""
    example: Mapping[str, Any] = field(factory=dict)
    complete: Callable[[Context, RowEdit[T]], Awaitable[T]] = _complete
    follow: Callable[[Context, RowEdit[T]], Awaitable[None]] = _follow
    view: Callable[[Context, T], Awaitable[bytes]] | None = None
    answer: Any = field(kw_only=True)

    @property
    def param(self) -> str:
        """The path parameter that names a row, after its kind."""
        return f"{self.collection.kind}_id"

    @read.default
    def _read_scope(self) -> frozenset[str]:
        return frozenset({f"{self.collection.name}:read"})

    @write.default
    def _write_scope(self) -> frozenset[str]:
        return frozenset({f"{self.collection.name}:write"})

    @new_body.default
    def _default_new_body(self) -> type[Any]:
        return self.body

    @patch.default
    def _default_patch(self) -> Any:
        return patch_of(self.body)

    @answer.default
    def _default_answer(self) -> Any:
        return self.collection.model

    # -- use cases -----------------------------------------------------------------------------

    async def create_row(self, ctx: Context, body: Any) -> Created[Any]:
        """Write the row that a body describes.

        Raises:
            Problem: RESOURCE_CONFLICT where there are as many already as there may be.
        """
        members = sent_members(body, self.body)
        row = new_row(ctx, self.collection, **self.initial, **self._stored(members))
        after = await self.complete(ctx, RowEdit(None, row, members))
        await self._check_count(ctx)
        document = await ctx.create(self.collection, row.id, after)  # type: ignore[attr-defined]
        await self.follow(ctx, RowEdit(None, after, members))
        location = str(self.collection.address(document.id))
        return Created(await self._shown(ctx, document.raw), document.tag, location)

    async def change_row(self, ctx: Context, body: Any) -> Single[Any]:
        """Change the members of the target row that are sent; a replacement sends its defaults.

        Raises:
            Problem: RESOURCE_CONFLICT when the row was written meanwhile.
        """
        before = self.collection.decode(ctx.row.raw)
        return await self._write(ctx, before, sent_members(body, self.body, before))

    async def set_members(self, ctx: Context, **members: Any) -> Single[Any]:
        """Set these members of the target row.

        Raises:
            Problem: RESOURCE_CONFLICT when the row was written meanwhile.
        """
        return await self._write(ctx, self.collection.decode(ctx.row.raw), members)

    async def _write(self, ctx: Context, before: T, members: Mapping[str, Any]) -> Single[Any]:
        document = ctx.row
        after = update_row(before, ctx.now, **self._stored(members))
        after = await self.complete(ctx, RowEdit(before, after, members))
        if after is not before:
            version = document.version
            document = await ctx.save(self.collection, document.id, after, expect=version)
        await self.follow(ctx, RowEdit(before, after, members))
        return await self.answer_of(ctx, document)

    async def answer_of(self, ctx: Context, document: StoredRow[T] | Single[T]) -> Single[Any]:
        """The row as it is shown; its ETag covers what is stored of it and nothing else."""
        return Single(await self._shown(ctx, document.raw), document.tag)

    async def _shown(self, ctx: Context, raw: bytes) -> bytes:
        return raw if self.view is None else await self.view(ctx, self.collection.decode(raw))

    def _stored(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """The members that the row itself holds."""
        model: Any = self.collection.model
        names = attrs.fields_dict(model)
        return {name: member for name, member in members.items() if name in names}

    async def _check_count(self, ctx: Context) -> None:
        limit = self.rows_max if self.bound is None else ctx.ahead
        if limit is None or await ctx.tx.documents.count(self.collection, limit=limit + 1) < limit:
            return
        holder = "A workspace" if self.bound is None else "The plan of this workspace"
        detail = f"{holder} has at most {limit} {self.collection.name}."
        raise Problem(problem.RESOURCE_CONFLICT, detail, resolution=self.cure)

    # -- operations ----------------------------------------------------------------------------

    def operation(
        self, command: str, address: str, summary: str, run: RowUseCase, **members: Any
    ) -> Operation[Any, Any]:
        """Declare one operation; what writes to one row honours `If-Match`."""
        defaults: dict[str, Any] = {"personal": bool(self.collection.owner)}
        if address.startswith("GET "):
            defaults |= {"scopes": self.read, "timeless": True}
        else:
            target = Target(self.collection, self.param, self.list_model, self.foreign)
            defaults |= {"scopes": self.write, "idempotency": self.idempotency}
            defaults["target"] = target if "{" in address else None
        return declare(command, address, summary, run, **{**defaults, **members})

    def listing(
        self, request: type[Any], purpose: str | RowUseCase, **members: Any
    ) -> Operation[Any, Any]:
        """Declare the list of rows, described by `purpose` with the inputs of `request` as filters.

        A `purpose` that is a use case of its own is described by its docstring.
        """
        names = {item.name for item in attrs.fields(request)} - {"limit", "cursor"}

        async def page(ctx: Context, inputs: Any) -> Page[T]:
            filters = {name: _key(getattr(inputs, name)) for name in names}
            after, limit = inputs.cursor, inputs.limit
            return await ctx.page(self.collection, where=filters, after=after, limit=limit)

        name, whose = self.collection.name, "your " if self.collection.owner else ""
        defaults: dict[str, Any] = {
            "id_": f"list{name.capitalize()}",
            "summary": f"List {whose}{name}",
        }
        run: RowUseCase = page
        if isinstance(purpose, str):
            response = Page[self.collection.model]  # type: ignore[name-defined]
            defaults |= {"request": request, "response": response, "description": purpose}
        else:
            run = purpose
        return self.operation(f"{name} list", f"GET /{name}", run=run, **{**defaults, **members})

    def declare(self, verb: str, purpose: str | RowUseCase, **members: Any) -> Operation[Any, Any]:
        """Declare the operation of a verb.

        `purpose` describes the use case that all rows have, or is one of its own, whose docstring
        describes it. Id, address and summary follow from the verb; one that is not of all rows is
        posted to an address below the row.
        """
        method, word, body = _VERBS.get(verb, ("POST", verb.capitalize(), ""))
        group, noun = self.collection.name, str(self.collection.kind)
        path = f"/{group}" if verb == "create" else f"/{group}/{{{camel(self.param)}}}"
        defaults: dict[str, Any] = {
            "id_": f"{'get' if verb == 'show' else verb}{noun.capitalize()}",
            "summary": f"{word} {'an' if noun[0] in 'aeiou' else 'a'} {noun}",
        }
        if isinstance(purpose, str):
            run = self._use_cases[verb]
            defaults |= {"request": self._request(verb, body), "response": self._response(verb)}
            defaults["description"] = purpose
        else:
            run = purpose
        if body in {"new_body", "body"}:
            defaults["examples"] = {"body": self.example}
        if verb == "create" and (self.rows_max is not None or self.bound is not None):
            members["fails"] = (*members.get("fails", ()), problem.RESOURCE_CONFLICT)
            defaults["unit"] = Unit("write", lambda _: self.bound)
        address = f"{method} {path}" if verb in _VERBS else f"{method} {path}/{verb}"
        return self.operation(f"{group} {verb}", address, run=run, **{**defaults, **members})

    def switch(
        self, verb: str, description: str, changes: Mapping[str, Any]
    ) -> Operation[Any, Any]:
        """Declare an operation that sets members of a row, and writes nothing where they are so."""

        async def run(ctx: Context, request: Any) -> Single[T]:  # noqa: ARG001
            return await self.set_members(ctx, **changes)

        types = {"request": self._request(verb, ""), "response": self._response(verb)}
        return self.declare(verb, run, description=description, **types)

    def _request(self, verb: str, body: str) -> type[Any]:
        """The request class of a verb: which row, and the body that the declaration names."""
        model: Any = self.collection.model
        types: dict[str, Any] = {}
        if verb != "create":
            types[self.param] = Annotated[(attrs.fields(model).id.type, PATH)]
        if body:
            types["body"] = Annotated[(getattr(self, body), BODY)]
        fields = {name: attrs.field(type=type_) for name, type_ in types.items()}
        return attrs.make_class(f"{verb}_{self.collection.kind}", fields, frozen=True)

    def _response(self, verb: str) -> Any:
        """The class of the result of a verb."""
        if verb == "delete":
            return Empty
        return (Created if verb == "create" else Single)[self.answer]

    @property
    def _use_cases(self) -> Mapping[str, RowUseCase]:
        """The use cases that all rows have, by verb."""
        return {
            "create": self._create,
            "show": self._show,
            "replace": self._change,
            "update": self._change,
            "delete": self._delete,
        }

    async def _create(self, ctx: Context, request: Any) -> Created[T]:
        return await self.create_row(ctx, request.body)

    async def _show(self, ctx: Context, request: Any) -> Single[T]:
        document = await ctx.load(self.collection, getattr(request, self.param))
        return await self.answer_of(ctx, document)

    async def _change(self, ctx: Context, request: Any) -> Single[T]:
        return await self.change_row(ctx, request.body)

    async def _delete(self, ctx: Context, request: Any) -> Empty:
        await ctx.remove(self.collection, getattr(request, self.param))
        return Empty()


def _key(value: Any) -> Any:
    """The value of a filter as rows store it in their keys."""
    return str(value).lower() if isinstance(value, bool) else value
