"""Runs an operation: the one way from a request to its answer, whoever asks.

    prepare    representation (406) · content type (415) · path, query, header values (404, 400)
               · form of the Idempotency-Key (400)
    authorize  the host has judged the caller, and says who it is · its role, where an operation is
               local (403)
    unit       what is to be read ahead · one that reads, one that writes, or several
    perform    resource visible (404) · preconditions (412) · JSON (400) · idempotency (replay, 409)
               · schema (400) · the use case · the answer kept
    render     the result as status, fields and bytes · preconditions of what was read (304, 412)

The order is fixed, so that a request with several faults always gets the same answer. `prepare`
needs no storage; an `Execution` does the rest with the units of work of its host, which may read
the body in between.

RFC 9110 13.2.1 puts preconditions after the checks that would refuse anyway and before the
content is processed: a missing resource with `If-Match: *` is 404, a stale `If-Match` with an
invalid body is 412.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import attrs
from attrs import frozen

from svc_core.base import seals
from svc_core.contract import etag, idempotency, problem
from svc_core.contract.answer import Answer
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor, CallContext
from svc_core.operation.context import Context
from svc_core.operation.declaration import JSON, Operation
from svc_core.operation.parsing import Prepared, Site
from svc_core.operation.ports import Transaction
from svc_core.operation.reply import Reply, is_unchanged, mismatch, render_result, tag_of
from svc_core.operation.units import Units, WorkContext


@frozen
class Execution:
    """One run of a prepared request: for whom, when, and with the units of work of which host."""

    prepared: Prepared
    actor: Actor
    now: datetime
    units: Units

    async def reply(self) -> Reply:
        """The answer.

        Raises:
            Problem: whatever refuses; the unit of work is then undone.
        """
        operation, storage, tenant = self.prepared.operation, self.units.storage, self.actor.tenant
        if operation.local:
            check_role(operation, self.actor)
        if operation.unit.kind == "several":
            return await _run(self.prepared, WorkContext(**self._call_members(), work=self.units))
        read_ahead, ahead = _ahead(self.prepared), None
        if read_ahead is not None:
            ahead = await storage.read(tenant, lambda tx: read_ahead(self.context(tx)))

        async def unit(tx: Transaction) -> Reply:
            return await _perform(self.prepared, self.context(tx, ahead))

        return await (storage.write if operation.writes else storage.read)(tenant, unit)

    async def examine(self) -> None:
        """Pass where the resource that a write is about is there and as expected.

        A host whose client fails to send the body asks this before it says so: whether there is
        anything to change is judged before what it is to become.

        Raises:
            Problem: NOT_FOUND, or PRECONDITION_FAILED with the current `ETag`.
        """

        async def unit(tx: Transaction) -> Context:
            return await _examine(self.prepared, self.context(tx))

        await self.units.storage.read(self.actor.tenant, unit)

    def context(self, tx: Transaction, ahead: Any = None) -> Context:
        """What the use case is given within one unit of work."""
        return Context(**self._call_members(), tx=tx, ahead=ahead)

    def _call_members(self) -> dict[str, Any]:
        invocation, units = self.prepared, self.units
        return {
            "now": self.now,
            "ids": units.ids,
            "actor": self.actor,
            "operation": invocation.operation.id,
            "keyring": units.keyring,
            "format": invocation.representation.format,
            "aliases": invocation.site.aliases,
            "if_match": invocation.if_match,
            "host": units.host,
            "origin": invocation.site.base_url,
        }


def check_role(operation: Operation[Any, Any], actor: Actor) -> None:
    """Pass who may run a local operation.

    Raises:
        Problem: FORBIDDEN.
    """
    if operation.roles.isdisjoint(actor.roles):
        roles = ", ".join(sorted(operation.roles))
        raise Problem(problem.FORBIDDEN, f"This is for: {roles}.")


# -- within the unit of work -------------------------------------------------------------------


def _ahead(invocation: Prepared) -> Callable[[Context], Awaitable[Any]] | None:
    """What is to be read on a snapshot, as `Context.ahead`; None for nothing.

    Whatever is wrong with the request is said in its turn.
    """
    ahead = invocation.operation.unit.ahead
    if ahead is None:
        return None
    try:
        return ahead(invocation.request)
    except Problem:
        return None


async def _perform(invocation: Prepared, context: Context) -> Reply:
    context = await _examine(invocation, context)
    if invocation.key is not None:
        return await _run_once(invocation, invocation.key, context)
    return await _run(invocation, context)


async def _run(invocation: Prepared, context: CallContext) -> Reply:
    target = context.target
    request = invocation.request if target is None else invocation.request_for(target)
    run: Callable[..., Awaitable[Any]] = invocation.operation.run
    return render_result(invocation, context, await run(context, request))


async def _examine(invocation: Prepared, context: Context) -> Context:
    """The context with the resource that a write is about, where it is about any."""
    target = invocation.operation.target
    if target is None:
        return context
    id_ = invocation.values[target.param]
    if target.foreign is not None and await context.find(target.foreign, id_) is not None:
        raise problem.foreign()
    document = await context.load(target.collection, id_)
    current = tag_of(context, JSON, document.tag)
    stale = invocation.if_match is not None and not etag.matches(invocation.if_match, current)
    if stale or is_unchanged(invocation, current):
        raise mismatch(current)
    return attrs.evolve(context, target=document)


async def _run_once(invocation: Prepared, key: str, context: Context) -> Reply:
    """The answer kept under the key, or the work and its answer, kept from now on."""
    raw = idempotency.raw_digest(invocation.body, invocation.path_values)
    answers, kind = context.tx.answers, _answer_kind(invocation.operation, context)
    previous = await answers.get(kind, key)
    answer = idempotency.repeated(previous, raw, context.now)
    if answer is not None:
        return await _replay(invocation, context, answer, key)
    fingerprint = idempotency.fingerprint(invocation.json, invocation.path_values)
    match idempotency.decide(previous, fingerprint, context.now):
        case idempotency.Replay(answer):
            return await _replay(invocation, context, answer, key)
        case idempotency.Conflict():
            raise Problem(problem.IDEMPOTENCY_CONFLICT, "The key was used for another request.")
    reply = await _run(invocation, context)
    record = Answer(raw + fingerprint, reply.status, reply.headers, reply.body, context.now)
    if invocation.operation.confidential is not None:
        record = _seal(context, key, record)
    await answers.put(kind, key, record)
    return attrs.evolve(reply, headers=(*reply.headers, ("Idempotency-Key", key)))


def _answer_kind(operation: Operation[Any, Any], context: Context) -> str:
    """What keys are told apart by besides the tenant."""
    return f"{operation.id} {context.actor.user_id}" if operation.personal else operation.id


async def _replay(invocation: Prepared, context: Context, answer: Answer, key: str) -> Reply:
    body, confidential = answer.body, invocation.operation.confidential
    if confidential is not None:
        body = _unseal(context, key, answer)
        if confidential.replay is not None:
            body = await confidential.replay(context, body)
    marks = (("Idempotency-Key", key), ("Idempotency-Replayed", "true"))
    media_type = JSON.media_type if body else None
    headers = (_at_site(invocation.site, *pair) for pair in answer.headers)
    return Reply(answer.status, media_type, body, (*headers, *marks))


def _at_site(site: Site, name: str, value: str) -> tuple[str, str]:
    """A field of a kept answer; `Location` leads to the origin that is asked now."""
    if name != "Location":
        return name, value
    return name, site.base_url + value[value.rindex("/api/v") :]


def _seal(context: Context, key: str, answer: Answer) -> Answer:
    """An answer that holds what is shown only once, as it is kept."""
    place, nonce = _seal_place(context, key), context.ids.random(seals.NONCE_BYTES)
    token = seals.lock(context.keyring, answer.body, place, nonce)
    return answer._replace(body=token.encode())


def _unseal(context: Context, key: str, answer: Answer) -> bytes:
    try:
        return seals.unlock(context.keyring, answer.body.decode(), _seal_place(context, key))
    except seals.SealError as error:
        detail = "The answer under this key cannot be opened any more; use another key."
        raise Problem(problem.IDEMPOTENCY_CONFLICT, detail) from error


def _seal_place(context: Context, key: str) -> str:
    return f"answer {context.actor.tenant} {context.operation} {key}"
