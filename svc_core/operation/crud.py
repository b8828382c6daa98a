"""Create, read, replace and patch: what all rows that people write share (Spec: Representation 4).

Rule 1: PUT resets what it leaves out, PATCH changes only what it names (RFC 7396).
Rule 2: what changes nothing writes nothing: same version, no change record.
Rule 3: a list in a body is a set: a repeated item counts once, at its first position.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

import attrs
from attrs import frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Created, Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation, Target
from svc_core.operation.ports import Collection
from svc_core.wire import camel

T = TypeVar("T")


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


async def create_own(ctx: Context, collection: Collection[T], row: Any, limit: int) -> Created[T]:
    """Write a new row that belongs to the caller.

    Raises:
        Problem: RESOURCE_CONFLICT where the owner has `limit` rows already.
    """
    filters = {collection.owner: (ctx.actor.user_id or "",)}
    if await ctx.tx.documents.count(collection, where=filters, limit=limit) == limit:
        detail = f"A person has at most {limit} {collection.name}."
        raise Problem(problem.RESOURCE_CONFLICT, detail)
    return await create_row(ctx, collection, row)


async def create_row(ctx: Context, collection: Collection[T], row: Any) -> Created[T]:
    """Write a new row; the result of an operation that creates it."""
    document = await ctx.create(collection, row.id, row)
    return Created(document.raw, document.tag, str(collection.address(row.id)))


@frozen
class RowOperations(Generic[T]):
    """Declares the operations on the rows of one collection.

    `param` is the path parameter that names a row. Reading needs one of the scopes `read`, writing
    one of `write`. `list_model` is the model of rows in lists, where these have more members
    than the answer for one row; `foreign` is a collection of rows that may be read and not changed.
    """

    collection: Collection[T]
    param: str
    read: frozenset[str]
    write: frozenset[str]
    idempotency: Literal["optional", "none"] = "none"
    list_model: type[Any] | None = None
    foreign: Collection[Any] | None = None

    def operation(
        self,
        command: str,
        address: str,
        summary: str,
        run: Callable[[Context, Any], Awaitable[Any]],
        *,
        id_: str = "",
        **members: Any,
    ) -> Operation[Any, Any]:
        """Declare one operation: `command` is its group and verb, `address` its method and path.

        Its id is the name of `run`, unless another is given.

        Its request class and its response are those that `run` is annotated with. What writes to
        one row honours `If-Match`.
        """
        _, request, response = run.__annotations__.values()
        group, _, verb = command.partition(" ")
        method, _, path = address.partition(" ")
        address_members: Any = {"method": method, "path": path, "group": group, "verb": verb}
        defaults: dict[str, Any] = {
            "request": request,
            "response": response,
            "personal": bool(self.collection.owner),
        }
        if method == "GET":
            defaults |= {"scopes": self.read, "timeless": True}
        else:
            defaults |= {"scopes": self.write, "idempotency": self.idempotency}
            target = Target(self.collection, self.param, self.list_model, self.foreign)
            defaults["target"] = target if "{" in path else None
        address_members["id"] = id_ or camel(run.__name__)
        return Operation(summary=summary, run=run, **address_members, **{**defaults, **members})

    def show(
        self, id_: str, command: str, address: str, summary: str, request: type[Any], **members: Any
    ) -> Operation[Any, Any]:
        """Declare the operation that reads one row."""
        response: Any = Single[self.collection.model]  # type: ignore[name-defined]

        async def run(ctx: Context, request: Any) -> Single[T]:
            document = await ctx.load(self.collection, getattr(request, self.param))
            return Single(document.raw, document.tag)

        overrides = {"request": request, "response": response, **members}
        return self.operation(command, address, summary, run, id_=id_, **overrides)
