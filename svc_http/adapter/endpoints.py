"""Serves a declared operation over HTTP: admits the caller, reads the inputs, runs it, answers.

The steps come in this order:

1. The gate decides whether the caller may run the operation, so that a stranger learns nothing
   about its inputs (`svc_http.guard.gate`).
2. An operation without a key, but with a price, goes to the checkout.
3. An answer that was cached since the last commit is sent at once.
4. Path, query and header fields are parsed; then the body is read.
5. One unit of work runs the operation, or several where the operation asks for them.
6. The reply is sent whole, or as a stream.
"""

from collections.abc import Awaitable, Hashable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Any, NamedTuple

import attrs

from svc_core.access.authorization import ANONYMOUS, Facts, Grant, OperationAccess
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation, Trait
from svc_core.operation.executor import Execution
from svc_core.operation.parsing import Call, Invocation, Site, prepare, request_shape
from svc_core.operation.ports import Transaction
from svc_core.operation.stream import Stream
from svc_core.payments.payment_rows import HeldAnswer
from svc_core.payments.steps import PaidReply
from svc_http.adapter.paywall import Paywall
from svc_http.adapter.surroundings import Surroundings
from svc_http.exchange import sending as answers
from svc_http.exchange.flow import Flow
from svc_http.exchange.http_exchange import Exchange, Header
from svc_http.exchange.resource import Resource
from svc_http.exchange.sending import Ready


class _Case(NamedTuple):
    """What is known of a request before its inputs are parsed: grant, time, and its site."""

    grant: Grant
    now: datetime
    site: Site


class Endpoint:
    """The HTTP handler of one operation in one running service."""

    def __init__(self, operation: Operation[Any, Any], runtime: Surroundings) -> None:
        settings = runtime.settings
        declared_inputs = request_shape(operation)
        self._operation = operation
        self._runtime = runtime
        self._paywall = Paywall.of(operation, settings)
        self._access = OperationAccess(
            scopes=operation.scopes,
            auth=operation.auth,
            binding=operation.binding,
            pool=operation.pool if settings.rate_limits else "none",
        )
        self._recheck_access = attrs.evolve(self._access, pool="none")
        self._inputs = declared_inputs
        self._is_cached = operation.timeless and not operation.writes
        self._id = operation.id
        self._varying = tuple(name.encode() for name in declared_inputs.fields)
        self._deprecation = answers.deprecation(settings)

    def __call__(self, exchange: Exchange, values: Mapping[str, str]) -> Awaitable[None]:
        """Admits the caller and returns the awaitable that sends the answer.

        A caller without a key, or with one whose record and counters are in memory, is judged
        before this returns: another coroutine would cost as much as finding the cached answer.

        Raises:
            Problem: whatever refuses, now or when it is awaited.
        """
        now, gate = self._runtime.now(), self._runtime.gate
        site = self._runtime.site(now, exchange)
        facts = gate.facts(exchange)
        if facts.bearer is not None and (gate.waits or facts.principal is None):
            return self._admit_later(exchange, values, facts, now)
        try:
            grant = gate.admit(self._access, exchange, facts, now)
        except Problem as refusal:
            if self._paywall is not None and refusal.type is problem.PAYMENT_REQUIRED:
                return self._keyless(exchange, values, self._paywall, now)
            raise
        return self._answer(exchange, values, _Case(grant, now, site))

    def _keyless(
        self, exchange: Exchange, values: Mapping[str, str], paywall: Paywall, now: datetime
    ) -> Awaitable[None]:
        till, block = self._runtime.checkout, self._runtime.gate.block(exchange)
        if till is not None and paywall.is_paid(exchange):
            case = _Case(ANONYMOUS, now, self._runtime.site(now, exchange))
            purchase = paywall.purchase(exchange)

            async def work() -> HeldAnswer:
                with exchange.working():
                    execution = await self._execution(exchange, values, case)
                    return answers.stored_answer(await self._run(exchange, execution))

            return self._sell(exchange, till.serve(exchange, block, purchase, work))
        if till is not None:
            till.note_challenge(block)
        raise paywall.ask(exchange, takes=till is not None)

    async def _sell(self, exchange: Exchange, sale: Awaitable[PaidReply]) -> None:
        exchange.fields.pop(b"if-none-match", None)  # nobody should pay for a 304
        await answers.send_sale(exchange, await sale)

    async def _admit_later(
        self, exchange: Exchange, values: Mapping[str, str], facts: Facts, now: datetime
    ) -> None:
        grant = await self._runtime.gate.let_in(self._access, exchange, facts, now)
        site = self._runtime.site(now, exchange)
        await self._answer(exchange, values, _Case(grant, now, site))

    def _answer(
        self, exchange: Exchange, values: Mapping[str, str], case: _Case
    ) -> Awaitable[None]:
        """Sends the cached answer if there is one.

        The caller has asked for the site already: that clears the cache when a window ends.
        """
        if not self._is_cached:
            return self._run_fresh(exchange, values, case)
        key = self._key(exchange, case)
        # Read before the answer is made: a commit in between makes it stale at once.
        version = self._runtime.storage.version
        answer = self._runtime.pages.get(key, version)
        if answer is None:
            return self._run_fresh(exchange, values, case, (key, version))
        return answers.send(exchange, answer)

    async def _run_fresh(
        self,
        exchange: Exchange,
        values: Mapping[str, str],
        case: _Case,
        keep: tuple[Hashable, int] | None = None,
    ) -> None:
        execution = await self._execution(exchange, values, case)
        answer = await self._run(exchange, execution)
        if keep is not None and not answer.is_fleeting:
            self._runtime.pages.put(*keep, answer)
        if answer.stream is None or exchange.is_head:
            await answers.send(exchange, answer)
        else:
            # The request body is not kept in memory for as long as the stream lasts.
            read = attrs.evolve(execution.invocation, body=b"")
            execution = attrs.evolve(execution, invocation=read)
            await self._flow(exchange, execution, answer, answer.stream)

    async def _flow(
        self, exchange: Exchange, execution: Execution, answer: Ready, stream: Stream
    ) -> None:
        """Answer with a stream; the rate limits counted it once, on admission."""
        runtime, actor = self._runtime, execution.actor
        limits = exchange.limit_headers  # as they were when it was counted
        facts = runtime.gate.facts(exchange)

        def context(tx: Transaction, now: datetime) -> Context:
            return attrs.evolve(execution, now=now).context(tx)

        async def still() -> None:
            gate = runtime.gate
            if not gate.is_unchanged(facts):
                current = gate.facts(exchange)
                await gate.let_in(self._recheck_access, exchange, current, runtime.now())

        streams, block = runtime.streams[self._operation.pool], runtime.gate.block(exchange)
        holders = {"key": actor.key_id or "", "address": block, "workspace": actor.tenant}
        flow = Flow(
            exchange=exchange,
            stream=stream,
            watch=runtime.watch(actor.tenant, context),
            begin=lambda: answers.begin_stream(exchange, answer, limits),
            room=streams.room(**holders),
            check_access=still,
            drain=runtime.drain,
            origin=runtime.settings.origin,
        )
        await flow.run()

    def _key(self, exchange: Exchange, case: _Case) -> Hashable:
        actor = case.grant.actor
        return (
            self._id,
            actor.tenant,
            actor.user_id if self._operation.personal else None,
            actor.scopes,
            exchange.path,
            exchange.query,
            # The site holds the origin and the deprecation windows: an answer that is being made
            # when a window ends is stored under a key that nobody asks for again.
            case.site,
            *map(exchange.fields.get, self._varying),
        )

    async def _run(self, exchange: Exchange, execution: Execution) -> Ready:
        async with self._lock(exchange, execution):
            reply = await execution.reply()
        return answers.ready(self._operation, reply, self._deprecation_fields(execution.invocation))

    async def _execution(
        self, exchange: Exchange, values: Mapping[str, str], case: _Case
    ) -> Execution:
        """The parsed request with its caller and its body, ready to run."""
        if self._access.pool == "address":
            await self._runtime.count_keyless(exchange, case.now)
        call = Call(values, exchange.query.decode("ascii"), exchange.header)
        request = prepare(self._operation, call, case.site)
        execution = Execution(request, case.grant.actor, case.now, self._runtime.service)
        if not self._inputs.reads_body:
            return execution
        try:
            body = await exchange.body(self._runtime.settings.body_seconds_max)
        except Problem:
            # A fault of the body is reported only after the faults of what it is sent to.
            await execution.examine()
            raise
        return attrs.evolve(execution, invocation=attrs.evolve(request, body=body))

    def _lock(self, exchange: Exchange, execution: Execution) -> AbstractAsyncContextManager[None]:
        """A lock for requests with the same Idempotency-Key, or for all of a queued operation."""
        turns, tenant, key = self._runtime.locks, execution.actor.tenant, execution.invocation.key
        if key is not None:
            return turns.take((tenant, self._id, key), exchange)
        if self._operation.unit.is_queued:
            return turns.take((tenant, self._id), exchange, problem.OVERLOADED)
        return nullcontext()

    def _deprecation_fields(self, request: Invocation) -> tuple[Header, ...]:
        names = self._inputs.traits[Trait.DEPRECATED]
        return () if names.isdisjoint(request.query.parameters) else self._deprecation


def resources(operations: Iterable[Operation[Any, Any]], runtime: Surroundings) -> list[Resource]:
    """The resources of the operations: one for each path, with an endpoint for each method."""
    paths: dict[str, dict[str, Endpoint]] = {}
    for operation in operations:
        handlers = paths.setdefault(operation.route, {})
        handlers[operation.method] = Endpoint(operation, runtime)
    return [Resource(path, handlers) for path, handlers in paths.items()]
