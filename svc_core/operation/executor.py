"""The executor: the steps by which every request, whatever its host, becomes a reply.

    prepare    representation (406) · content type (415) · path, query, header values (404, 400)
               · form of the Idempotency-Key (400)
    authorize  the host has judged the caller, and says who it is · its role, where an operation is
               local (403)
    unit       what is to be read or prepared ahead · one that reads, one that writes, or several
    perform    resource visible (404) · preconditions (412) · JSON (400) · idempotency (replay, 409)
               · schema (400) · the use case · the act witnessed · the answer kept
    render     the result as status, fields and bytes · preconditions of what was read (304, 412)

The order is fixed, so that a request with several faults always gets the same answer. `prepare`
needs no storage; an `Execution` does the rest with the units of work of its host, which may read
the body in between.

RFC 9110 13.2.1 puts preconditions after the checks that would refuse anyway and before the
content is processed: a missing resource with `If-Match: *` is 404, a stale `If-Match` with an
invalid body is 412.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any

import attrs
from attrs import frozen

from svc_core.base import seals
from svc_core.contract import etag, idempotency, problem
from svc_core.contract.answer import Answer
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor, CallContext
from svc_core.operation.context import Context, Rest
from svc_core.operation.declaration import JSON, Operation, Trait
from svc_core.operation.parsing import Invocation, Site, request_shape
from svc_core.operation.ports import Transaction
from svc_core.operation.reply import Reply, is_unchanged, mismatch, render_result, tag_of
from svc_core.operation.units import Units, WorkContext
from svc_core.wire import InputFault


@frozen
class Witness:
    """Writes down acts (`Operation.audited`).

    `record` is called in the unit of work of an act that was done, in the end; about a refusal,
    where it `takes_refusals`, and about an operation of several units, or one that only reads, in a
    unit of its own.
    """

    record: "Callable[[Context, Invocation, Reply | Problem], Awaitable[None]]"
    takes_refusals: bool = True


@frozen
class Execution:
    """One run of a parsed request for an actor, with the units of work of its host."""

    invocation: Invocation
    actor: Actor
    now: datetime
    units: Units
    witness: Witness | None = None

    async def reply(self) -> Reply:
        """Run the operation and render its result.

        Raises:
            Problem: a check or the use case refuses; the unit of work is then rolled back.
        """
        witness = self.witness if self.invocation.operation.audited else None
        try:
            reply = await self._reply(witness)
        except Problem as refusal:
            if witness is not None and witness.takes_refusals:
                await self._record(witness, refusal)
            raise
        if witness is not None and not self.invocation.operation.writes:
            await self._record(witness, reply)
        return reply

    async def _record(self, witness: Witness, outcome: Reply | Problem) -> None:
        async def unit(tx: Transaction) -> None:
            await witness.record(self.context(tx), self.invocation, outcome)

        await self.units.storage.write(self.actor.tenant, unit)

    async def _reply(self, witness: Witness | None) -> Reply:
        operation = self.invocation.operation
        if operation.local:
            check_role(operation, self.actor)
            check_members(self.invocation, self.actor)
        work = WorkContext(**self._call_members(), work=self.units)
        is_one_unit = operation.unit.kind != "several"
        reply = await (self._unit_reply(witness) if is_one_unit else _run(self.invocation, work))
        if not isinstance(reply, Rest):
            return reply
        async with self.units.turn(self.actor.tenant):
            return render_result(self.invocation, work, await reply.run(work))

    async def _unit_reply(self, witness: Witness | None) -> Reply | Rest:
        operation, storage = self.invocation.operation, self.units.storage
        if operation.unit.prepared is not None:
            return await self._prepared_reply(operation.unit.prepared, witness)
        read_ahead, ahead = _ahead(self.invocation), None
        if read_ahead is not None:
            ahead = await storage.read(self.actor.tenant, lambda tx: read_ahead(self.context(tx)))
        if operation.writes:
            return await self._commit(witness, ahead)
        return await storage.read(
            self.actor.tenant, lambda tx: _perform(self.invocation, self.context(tx, ahead), None)
        )

    async def _commit(self, witness: Witness | None, ahead: Any) -> Reply | Rest:
        async def unit(tx: Transaction, committed: list[Callable[[], None]]) -> Reply | Rest:
            context = attrs.evolve(self.context(tx, ahead), committed=committed)
            return await _perform(self.invocation, context, witness)

        return await self.units.commit(self.actor.tenant, unit)

    async def _prepared_reply(
        self, prepare: Callable[..., AbstractAsyncContextManager[Any]], witness: Witness | None
    ) -> Reply | Rest:
        """The reply of an operation that prepares; what it would refuse is refused before."""

        async def replayed(tx: Transaction) -> Reply | None:
            return await _replayed(
                self.invocation, await _examine(self.invocation, self.context(tx))
            )

        reply = await self.units.storage.read(self.actor.tenant, replayed)
        if reply is not None:
            return reply
        work = WorkContext(**self._call_members(), work=self.units)
        async with prepare(work, self.invocation.request) as ahead:
            return await self._commit(witness, ahead)

    async def examine(self) -> None:
        """Check that the target of a write exists and meets the preconditions.

        A host whose client fails to send the body runs this check before it reports that failure:
        a missing or changed target is reported before anything about the body.

        Raises:
            Problem: NOT_FOUND, or PRECONDITION_FAILED with the current `ETag`.
        """

        async def unit(tx: Transaction) -> Context:
            return await _examine(self.invocation, self.context(tx))

        await self.units.storage.read(self.actor.tenant, unit)

    def context(self, tx: Transaction, ahead: Any = None) -> Context:
        """The context of the use case within one unit of work."""
        return Context(**self._call_members(), tx=tx, ahead=ahead)

    def _call_members(self) -> dict[str, Any]:
        invocation, units = self.invocation, self.units
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
    """Check that the actor has a role which may run a local operation.

    Raises:
        Problem: FORBIDDEN.
    """
    if operation.roles.isdisjoint(actor.roles):
        roles = ", ".join(sorted(operation.roles))
        raise Problem(problem.FORBIDDEN, f"This is for: {roles}.")


def check_members(invocation: Invocation, actor: Actor) -> None:
    """Check that nobody but the operator sends what is the operator's to say (`Trait.OPERATOR`).

    Raises:
        Problem: VALIDATION_FAILED; or the body is not JSON.
    """
    names, body = request_shape(invocation.operation).traits[Trait.OPERATOR], invocation.json
    if "operator" in actor.roles or not isinstance(body, dict):
        return
    reason = f"{Trait.OPERATOR.value}; leave it out"
    problem.refuse([InputFault(f"/{name}", reason) for name in body if name in names])


# -- within the unit of work -------------------------------------------------------------------


def _ahead(invocation: Invocation) -> Callable[[Context], Awaitable[Any]] | None:
    """The reader whose result becomes `Context.ahead`; None where there is nothing to read.

    A fault of the request gives None, too: it is reported later, at its place in the order.
    """
    ahead = invocation.operation.unit.ahead
    if ahead is None:
        return None
    try:
        return ahead(invocation.request)
    except Problem:
        return None


async def _perform(
    invocation: Invocation, context: Context, witness: Witness | None
) -> Reply | Rest:
    context = await _examine(invocation, context)
    if invocation.key is not None:
        replay = await _replayed(invocation, context)
        return replay or await _run_once(invocation, invocation.key, context, witness)
    run = _act(invocation, context, witness) if witness else _run(invocation, context)
    return await run


async def _act(invocation: Invocation, context: Context, witness: Witness | None) -> Reply:
    reply = await _run(invocation, context)
    if isinstance(reply, Rest):
        raise AssertionError("what is kept or witnessed is done in one unit")
    if witness is not None:
        await witness.record(context, invocation, reply)
    return reply


async def _run(invocation: Invocation, context: CallContext) -> Reply | Rest:
    target = context.target
    request = invocation.request if target is None else invocation.request_for(target)
    run: Callable[..., Awaitable[Any]] = invocation.operation.run
    outcome = await run(context, request)
    return outcome if isinstance(outcome, Rest) else render_result(invocation, context, outcome)


async def _examine(invocation: Invocation, context: Context) -> Context:
    """Load the target of a write and check its preconditions; the context with that target."""
    target = invocation.operation.target
    if target is None:
        return context
    id_ = invocation.values[target.param]
    if target.foreign is not None and await context.find(target.foreign, id_) is not None:
        raise problem.foreign_resource()
    document = await context.load(target.collection, id_)
    current = tag_of(context, JSON, document.tag)
    stale = invocation.if_match is not None and not etag.matches(invocation.if_match, current)
    if stale or is_unchanged(invocation, current):
        raise mismatch(current)
    return attrs.evolve(context, target=document)


async def _replayed(invocation: Invocation, context: Context) -> Reply | None:
    """The answer stored under the request's idempotency key; None where the work is to be done.

    Raises:
        Problem: IDEMPOTENCY_CONFLICT.
    """
    key = invocation.key
    if key is None:
        return None
    kind = _answer_kind(invocation.operation, context)
    previous = await context.tx.answers.get(kind, key)
    if previous is None:
        return None
    raw = idempotency.raw_digest(invocation.body, invocation.path_values)
    answer = idempotency.byte_replay(previous, raw, context.now)
    if answer is not None:
        return await _replay(invocation, context, answer, key)
    match idempotency.decide(
        previous,
        idempotency.request_fingerprint(invocation.json, invocation.path_values),
        context.now,
    ):
        case idempotency.Replay(answer):
            return await _replay(invocation, context, answer, key)
        case idempotency.Conflict():
            raise Problem(problem.IDEMPOTENCY_CONFLICT, "The key was used for another request.")
    return None


async def _run_once(
    invocation: Invocation, key: str, context: Context, witness: Witness | None
) -> Reply:
    """Run the operation and store its answer under a key that has none.

    The theory of idempotent replay. A client that gets no answer cannot know whether its request
    was done, so it sends the request again with the same key. The answer is written in the unit of
    work that does the work, so either both are stored or neither; and writing units of one tenant
    run one after another (`ports`, rule 5), so of two requests with one key the second finds the
    answer of the first. Stored with the answer are two digests: one of the raw bytes, which settles
    nearly every repetition without parsing, and one of the parsed body, for a client that writes
    the same JSON in another way. Another body under the key is a conflict. Refusals are not stored,
    because a raised problem rolls the unit back: the client mends the request and keeps its key.
    The weak spot is time: after `idempotency.RETENTION` a repetition is done again.
    """
    reply = await _act(invocation, context, witness)
    raw = idempotency.raw_digest(invocation.body, invocation.path_values)
    fingerprint = idempotency.request_fingerprint(invocation.json, invocation.path_values)
    record = Answer(raw + fingerprint, reply.status, reply.headers, reply.body, context.now)
    if invocation.operation.confidential is not None:
        record = _seal(context, key, record)
    await context.tx.answers.put(_answer_kind(invocation.operation, context), key, record)
    return attrs.evolve(reply, headers=(*reply.headers, ("Idempotency-Key", key)))


def _answer_kind(operation: Operation[Any, Any], context: Context) -> str:
    """The scope of an idempotency key in its tenant: the operation, and the person if personal."""
    return f"{operation.id} {context.actor.user_id}" if operation.personal else operation.id


async def _replay(invocation: Invocation, context: Context, answer: Answer, key: str) -> Reply:
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
    """A header field of a stored answer; `Location` is rewritten for the origin of this request."""
    if name != "Location":
        return name, value
    return name, site.base_url + value[value.rindex("/api/v") :]


def _seal(context: Context, key: str, answer: Answer) -> Answer:
    """The answer with its body encrypted, for storage."""
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
