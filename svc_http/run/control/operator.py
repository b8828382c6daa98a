"""Carries out one operation for the operator, whether it came over the socket or in this process.

A request is `{"operation": ID, "path": {...}, "query": {...}, "headers": {...}, "body": ...,
"account": ..., "author": ...}`, all but the first optional; an answer is `{"ok": {"server",
"status", "mediaType", "headers", "failed", "encoding", "body"}}` or `{"problem": {...}}` with the
eight members of every problem (Spec: Errors). A body is JSON, a text, or, where `encoding` says so,
base64.

Rule 1: an operation passes the same checks here as over HTTP, from its inputs to its commit; only
        keys, counters and payments are not asked for.
Rule 2: `account` is a workspace by id or name, or a person by id. Without it the one is meant that
        has the resource which the operation names, else the only workspace there is.
"""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Final, cast
from urllib.parse import urlencode

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.access import operations as accounts
from svc_core.access.audit import AuditCaller
from svc_core.access.audit_witness import witness_of
from svc_core.base.compact import compact_text
from svc_core.catalog import COLLECTIONS, LOCAL_OPERATIONS, OPERATIONS
from svc_core.contract import problem
from svc_core.contract.problem import Problem, describe
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.declaration import JSON, OPERATOR, Operation, Trait
from svc_core.operation.executor import Execution
from svc_core.operation.host import ProgressListener
from svc_core.operation.inputs import inputs_of
from svc_core.operation.parsing import Call, Site, prepare, read_json, request_shape
from svc_core.operation.ports import (
    SYSTEM,
    Collection,
    Overloaded,
    SharedUnavailable,
    StorageUnavailable,
)
from svc_core.operation.reply import Reply
from svc_core.operation.stream import Stream, Watch
from svc_core.wire import Json, WireError
from svc_http import system
from svc_http.service.service_units import Service

PassOn = Callable[[bytes], Awaitable[None]]
"""Takes a part of a stream; whoever gives it is cancelled once nobody is there."""

OPERATIONS_BY_ID: Final[Mapping[str, Operation[Any, Any]]] = {
    operation.id: operation for operation in (*OPERATIONS, *LOCAL_OPERATIONS)
}

_TENANT_COLLECTIONS: Final = {
    collection.prefix: collection
    for collection in COLLECTIONS
    if collection.scope == "tenant" and collection.kind
}
"""The collections of tenants by the prefix of their identifiers."""


@frozen
class OperatorRequest:
    """A request of the operator: the operation, its inputs, and whom it acts for."""

    operation: str
    path: Mapping[str, str] = field(factory=dict)
    query: Mapping[str, str] = field(factory=dict)
    headers: Mapping[str, str] = field(factory=dict)
    body: Json = field(factory=dict)
    account: str | None = None
    author: str | None = None


@frozen(eq=False)
class Operator:
    """Carries out requests; `site` gives answers their addresses, `failed` receives defects.

    `server` is where its server listens, as HTTP addresses it.
    """

    service: Service
    site: Callable[[], Site]
    failed: Callable[[BaseException], None]
    server: str = ""

    async def answer(
        self, line: bytes, tell: ProgressListener, pass_on: PassOn | None = None
    ) -> bytes:
        """The answer to one request, whatever it is: one line of JSON.

        One that comes as a stream is passed on in its parts, and the answer is that it is over.

        Raises:
            ConnectionError: nobody takes the parts.
        """
        try:
            reply = await self._run(_read(line), tell)
            if reply.stream is not None and reply.stream.seconds_max and pass_on is not None:
                reply = await _passed_on(reply, reply.stream, pass_on)
            return _reply_line(reply, self.server)
        except ConnectionError:
            raise
        except Problem as refusal:
            return self.refuse(refusal)
        except StorageUnavailable as failure:
            self.failed(failure)
            step = "Make room on that disk, then repeat the command." * failure.is_full
            step += "Look with svc db check, then restore a backup." * failure.is_damaged
            detail = f"{str(failure)[0].upper()}{str(failure)[1:]}."
            return self.refuse(Problem(problem.STORAGE_UNAVAILABLE, detail, resolution=step))
        except SharedUnavailable as failure:
            detail = f"The counters cannot be reached now: {failure}"
            return self.refuse(Problem(problem.SERVICE_UNAVAILABLE, detail))
        except Overloaded:
            return self.refuse(Problem(problem.OVERLOADED))
        except Exception as failure:  # The boundary: whatever escaped is a defect of ours.
            self.failed(failure)
            return self.refuse(
                Problem(problem.INTERNAL_ERROR, "The operation could not be completed.")
            )

    def refuse(self, refusal: Problem) -> bytes:
        """A refusal as an answer."""
        origin = self.site().base_url
        body = problem.body(refusal, base_url=origin, request_id=system.new_request_id())
        return b'{"problem":' + body + b"}\n"

    async def _run(self, request: OperatorRequest, tell: ProgressListener) -> Reply:
        operation = _operation(request.operation)
        path = {item.name for item in inputs_of(operation.request) if item.place == "path"}
        if request.path.keys() != path:
            raise Problem(problem.VALIDATION_FAILED, f"/path: must have {sorted(path)}")
        site, now = self.site(), self.service.now()
        headers = {"content-type": "application/json", **request.headers}
        if operation.idempotency == "required":
            headers.setdefault("idempotency-key", f"svc-{system.SystemIds().random(16).hex()}")
        body = compact_text(request.body).encode()
        call = Call(request.path, urlencode(request.query), headers.get, body)
        invocation = prepare(operation, call, site)
        actor = await self._actor(operation, request)
        units = attrs.evolve(self.service, tell=tell)
        caller = AuditCaller(who="operator", request_id=system.new_request_id())
        # What the operator is refused is told at the terminal, and nobody else needs to know.
        witness = witness_of(caller, takes_refusals=False)
        try:
            return await Execution(invocation, actor, now, units, witness).reply()
        except ExceptionGroup as group:
            raise _cause(group) from group

    async def _actor(self, operation: Operation[Any, Any], request: OperatorRequest) -> Actor:
        if operation.binding == "system":
            return Actor(SYSTEM, roles=OPERATOR)
        account = request.account or await self._owner(operation, request)

        async def unit(ctx: Context) -> Actor:
            return await accounts.operator_actor(
                ctx, account, request.author, is_personal=operation.personal
            )

        actor = await self.service.read(SYSTEM, unit)
        if operation.binding == "workspace" and actor.workspace_id is None:
            raise Problem(problem.WORKSPACE_KEY_REQUIRED)
        return actor

    async def _owner(self, operation: Operation[Any, Any], request: OperatorRequest) -> str | None:
        """The tenant that has the resource which the operation names; None where it names none.

        Raises:
            Problem: NOT_FOUND.
        """
        body = request.body if isinstance(request.body, dict) else {}
        members = {**body, **request.query, **request.path}
        for item in inputs_of(operation.request):
            id_ = members.get(item.name)
            if item.id_of is not None and isinstance(id_, str):
                public = item.id_of.public(id_)
                collection = _TENANT_COLLECTIONS.get(public.partition("_")[0])
                if collection is not None:
                    return await self._tenant(collection, public)
        return None

    async def _tenant(self, collection: Collection[Any], id_: str) -> str:
        async def has_row(ctx: Context) -> bool:
            return await ctx.tx.documents.get(collection, id_) is not None

        for tenant in await self.service.tenants():
            if await self.service.read(tenant, has_row):
                return tenant
        raise Problem(problem.NOT_FOUND, f"There is no {collection.kind} {id_}.")


def _cause(group: ExceptionGroup[Exception]) -> Exception:
    """The store that failed under tasks which ran side by side, or else the group itself."""
    cause: Exception | None = group.subgroup((StorageUnavailable, SharedUnavailable))
    while isinstance(cause, ExceptionGroup):
        cause = cause.exceptions[0]
    return cause or group


def _read(line: bytes, *, exact: bool = False) -> OperatorRequest:
    """The request; once more, with exact numbers, where its operation asks for them."""
    try:
        request = wire.structure(OperatorRequest, read_json(line, exact=exact))
    except WireError as wrong:
        raise Problem(problem.VALIDATION_FAILED, describe(wrong.faults)) from wrong
    is_exact = request_shape(_operation(request.operation)).has(Trait.EXACT)
    return _read(line, exact=True) if is_exact and not exact else request


def _operation(id_: str) -> Operation[Any, Any]:
    if id_ in OPERATIONS_BY_ID:
        return OPERATIONS_BY_ID[id_]
    raise Problem(problem.VALIDATION_FAILED, f"/operation: there is no {id_!r}")


async def _passed_on(reply: Reply, stream: Stream, pass_on: PassOn) -> Reply:
    """The answer without its stream, once that has come to its end."""
    try:
        async with asyncio.timeout(stream.seconds_max):
            await pass_on(b"")  # from here on somebody has to listen
            async with aclosing(stream.parts(_NOTHING_NEW)) as parts:  # type: ignore[type-var]
                async for part in parts:
                    await pass_on(part)
                    await asyncio.sleep(0)  # neither of them need have waited for anything
    except TimeoutError:
        await pass_on(stream.farewell(None))
    finally:
        await asyncio.shield(stream.settle())
    return attrs.evolve(reply, stream=None, media_type=JSON.media_type)


_NOTHING_NEW: Final = cast(Watch, None)
"""What waits for commits is not asked for here: only streams with an end are passed on."""


def _reply_line(reply: Reply, server: str) -> bytes:
    if reply.stream is not None:
        raise Problem(problem.NOT_ACCEPTABLE, "Streams are given over HTTP alone.")
    kind, body, encoding = reply.media_type or "", reply.body, None
    if kind.partition(";")[0] != "application/json":
        encoding = None if kind.startswith(("text/", "image/svg")) or "json" in kind else "base64"
        body = compact_text((b64encode(body) if encoding else body).decode()).encode()
    head = {"server": server, "status": reply.status, "mediaType": kind, "failed": reply.failed}
    line = compact_text({**head, "encoding": encoding, "headers": dict(reply.headers)}).encode()
    return b'{"ok":' + line[:-1] + b',"body":' + (body or b"null") + b"}}\n"
