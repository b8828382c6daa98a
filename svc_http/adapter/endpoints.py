"""Operations as endpoints: admit, prepare, run, answer.

The order is that of the executor: the gate judges first, so that a stranger learns nothing about
inputs; then what needs no storage; then the body is read; then one unit of work does the rest, or
several of an operation's own.
"""

from collections.abc import Awaitable, Hashable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Any, NamedTuple

import attrs

from svc_core.access.authorize import ANONYMOUS, Facts, Grant, OperationAccess
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation, Trait
from svc_core.operation.executor import Execution
from svc_core.operation.parsing import Call, Prepared, Site, declaration, prepare
from svc_core.operation.ports import Transaction
from svc_core.operation.stream import Stream
from svc_core.payments.records import KeptAnswer
from svc_core.payments.steps import Served
from svc_http.adapter.paywall import Paywall
from svc_http.adapter.surroundings import Surroundings
from svc_http.exchange import answers
from svc_http.exchange.answers import Ready
from svc_http.exchange.exchange import Exchange, Header
from svc_http.exchange.flow import Flow
from svc_http.exchange.resource import Resource


class _Case(NamedTuple):
    """What was settled about one request before its inputs were looked at."""

    grant: Grant
    now: datetime
    site: Site


class Endpoint:
    """One operation under one runtime."""

    def __init__(self, operation: Operation[Any, Any], runtime: Surroundings) -> None:
        settings = runtime.settings
        declared_inputs = declaration(operation)
        self._operation = operation
        self._runtime = runtime
        self._paywall = Paywall.of(operation, settings)
        self._access = OperationAccess(
            scopes=operation.scopes,
            auth=operation.auth,
            binding=operation.binding,
            pool=operation.pool if settings.rate_limits else "none",
        )
        self._access_again = attrs.evolve(self._access, pool="none")
        self._inputs = declared_inputs
        self._is_remembered = operation.timeless and not operation.writes
        self._id = operation.id
        self._varying = tuple(name.encode() for name in declared_inputs.fields)
        self._deprecation = answers.deprecation(settings)

    def __call__(self, exchange: Exchange, values: Mapping[str, str]) -> Awaitable[None]:
        """The answer to one exchange, to be awaited.

        Who shows no key, or one that is known and counted in memory, is judged here and now: a
        coroutine between the two would cost as much as finding the kept answer.

        Raises:
            Problem: whatever refuses, now or when it is awaited.
        """
        now, gate = self._runtime.now(), self._runtime.gate
        site = self._runtime.site(now, exchange)
        facts = gate.facts(exchange)
        if facts.bearer is not None and (gate.waits or facts.principal is None):
            return self._when_let_in(exchange, values, facts, now)
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
        till, block = self._runtime.till, self._runtime.gate.block(exchange)
        if till is not None and paywall.is_paid(exchange):
            case = _Case(ANONYMOUS, now, self._runtime.site(now, exchange))
            purchase = paywall.purchase(exchange)

            async def work() -> KeptAnswer:
                with exchange.working():
                    execution = await self._execution(exchange, values, case)
                    return answers.stored_answer(await self._run(exchange, execution))

            return self._sell(exchange, till.serve(exchange, block, purchase, work))
        if till is not None:
            till.note_challenge(block)
        raise paywall.ask(exchange, takes=till is not None)

    async def _sell(self, exchange: Exchange, sale: Awaitable[Served]) -> None:
        exchange.fields.pop(b"if-none-match", None)  # nobody pays to be told that nothing changed
        await answers.send_sale(exchange, await sale)

    async def _when_let_in(
        self, exchange: Exchange, values: Mapping[str, str], facts: Facts, now: datetime
    ) -> None:
        grant = await self._runtime.gate.let_in(self._access, exchange, facts, now)
        site = self._runtime.site(now, exchange)
        await self._answer(exchange, values, _Case(grant, now, site))

    def _answer(
        self, exchange: Exchange, values: Mapping[str, str], case: _Case
    ) -> Awaitable[None]:
        """Its site was asked for before: at the end of a window that clears the kept pages."""
        if not self._is_remembered:
            return self._make(exchange, values, case)
        key = self._key(exchange, case)
        # Read before the answer is made: a commit in between makes it stale at once.
        version = self._runtime.storage.version
        answer = self._runtime.pages.get(key, version)
        if answer is None:
            return self._make(exchange, values, case, (key, version))
        return answers.send(exchange, answer)

    async def _make(
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
            # What was sent is not held for as long as its answer goes on.
            read = attrs.evolve(execution.prepared, body=b"")
            execution = attrs.evolve(execution, prepared=read)
            await self._flow(exchange, execution, answer, answer.stream)

    async def _flow(
        self, exchange: Exchange, execution: Execution, answer: Ready, stream: Stream
    ) -> None:
        """Answer with a stream; it was counted when it was let in, and is not counted again."""
        runtime, actor = self._runtime, execution.actor
        limits = exchange.limit_headers  # as they were when it was counted
        facts = runtime.gate.facts(exchange)

        def context(tx: Transaction, now: datetime) -> Context:
            return attrs.evolve(execution, now=now).context(tx)

        async def still() -> None:
            gate = runtime.gate
            if not gate.is_unchanged(facts):
                current = gate.facts(exchange)
                await gate.let_in(self._access_again, exchange, current, runtime.now())

        streams, block = runtime.streams[self._operation.pool], runtime.gate.block(exchange)
        holders = {"key": actor.key_id or "", "address": block, "workspace": actor.tenant}
        flow = Flow(
            exchange=exchange,
            stream=stream,
            watch=runtime.watch(actor.tenant, context),
            begin=lambda: answers.begin_stream(exchange, answer, limits),
            room=streams.room(**holders),
            still=still,
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
            # Its origin, and its windows: an answer under way when one ends is kept for nobody.
            case.site,
            *map(exchange.fields.get, self._varying),
        )

    async def _run(self, exchange: Exchange, execution: Execution) -> Ready:
        async with self._turn(exchange, execution):
            reply = await execution.reply()
        return answers.ready(self._operation, reply, self._deprecation_fields(execution.prepared))

    async def _execution(
        self, exchange: Exchange, values: Mapping[str, str], case: _Case
    ) -> Execution:
        """The request, counted and read, with who asks."""
        if self._access.pool == "address":
            await self._runtime.count_stranger(exchange, case.now)
        call = Call(values, exchange.query.decode("ascii"), exchange.header)
        request = prepare(self._operation, call, case.site)
        execution = Execution(request, case.grant.actor, case.now, self._runtime.service)
        if not self._inputs.reads_body:
            return execution
        try:
            body = await exchange.body(self._runtime.settings.body_seconds_max)
        except Problem:
            # It is read before the unit of work begins, and judged after what it is for.
            await execution.examine()
            raise
        return attrs.evolve(execution, prepared=attrs.evolve(request, body=body))

    def _turn(self, exchange: Exchange, execution: Execution) -> AbstractAsyncContextManager[None]:
        """The turn of a request, where others with the same key, or all, are to wait for it."""
        turns, tenant, key = self._runtime.turns, execution.actor.tenant, execution.prepared.key
        if key is not None:
            return turns.take((tenant, self._id, key), exchange)
        if self._operation.unit.is_queued:
            return turns.take((tenant, self._id), exchange, problem.OVERLOADED)
        return nullcontext()

    def _deprecation_fields(self, request: Prepared) -> tuple[Header, ...]:
        names = self._inputs.traits[Trait.DEPRECATED]
        return () if names.isdisjoint(request.query.given) else self._deprecation


def resources(operations: Iterable[Operation[Any, Any]], runtime: Surroundings) -> list[Resource]:
    """One resource for each path, with the endpoints of all its methods."""
    paths: dict[str, dict[str, Endpoint]] = {}
    for operation in operations:
        handlers = paths.setdefault(operation.route, {})
        handlers[operation.method] = Endpoint(operation, runtime)
    return [Resource(path, handlers) for path, handlers in paths.items()]
