"""Delivers queued events to webhooks.

Rule 1: the store decides, attempt by attempt, what may be sent, so that any number of loops may
        run: a dead address sees five attempts, however many loops there are.
Rule 2: an attempt is stored before it is made. If its process dies in between, it is made again: by
        another loop when the hold expires, or at the start of the next server that has the store
        alone. So every event is sent at least once, and every attempt is listed.
Rule 3: a slow address delays nobody else: workspaces have fair shares of the places for webhooks,
        in total and at each host, for a short turn at a time; a webhook whose rows are broken is
        paused.
Rule 4: a failure of one attempt does not end the others that are running.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Final, Protocol
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from svc_core.operation.context import Context
from svc_core.operation.ports import Overloaded, StorageUnavailable, TenantRow
from svc_core.outbox.model import DELIVERIES, QUEUES, WEBHOOKS, Queue
from svc_core.webhooks import delivery_queue as delivering
from svc_core.webhooks import rules
from svc_core.webhooks.delivery_queue import DELIVERY_RETENTION, DeliveryTask
from svc_core.webhooks.rules import AttemptOutcome
from svc_http import system
from svc_http.exchange.fair_shares import BOUNDS, Shares
from svc_http.outside.fetch.webhook_poster import DeliveryFailure
from svc_http.service.service_units import OnFailure, Service
from svc_http.service.workers.claim_loop import ClaimLoop
from svc_http.service.workers.retention import remove_old

TURN_SECONDS: Final = 1.0
"""How long one webhook's turn begins attempts. The last of them end within eleven seconds."""
PAUSE_SECONDS: Final = 30.0
"""How long a webhook is paused whose rows could not be read or written."""
STORAGE_PAUSE_SECONDS: Final = 5.0
"""How long it is paused when the store was unavailable, which is not the fault of its rows."""


Line = Shares[asyncio.Future[None]]


class Sender(Protocol):
    """Posts a body to an address (`svc_http.outside.fetch` implements it)."""

    async def post(self, address: str, fields: dict[str, str], body: bytes, /) -> int:
        """The status that the address answers with.

        Raises:
            DeliveryFailure: no status was received.
        """


class DeliveryRounds(ClaimLoop[Queue, None]):
    """One delivery loop, and the webhooks that have a turn in it.

    When cancelled, it finishes the attempts that are running; cancelled again, it gives them back,
    to be made again by another process.
    """

    queue = QUEUES
    look_seconds = 1.0
    """Also for events that other processes queued, and attempts whose worker died."""
    gather_seconds = 0.01
    window = BOUNDS["webhooks"].places
    takeover_rows = 100
    finishes = True

    def __init__(self, service: Service, sender: Sender, on_failure: OnFailure) -> None:
        super().__init__(service, on_failure)
        self._sender = sender
        self._shares: Line = Shares(BOUNDS["webhooks"])
        self._hosts: WeakValueDictionary[str, Line] = WeakValueDictionary()

    async def free(self, ctx: Context, id_: str) -> None:
        """Queue again the attempts that a process was making which has ended."""
        await delivering.requeue_all(ctx, id_)

    def pause_seconds(self, failure: BaseException) -> float:
        """How long a webhook is paused after this failure."""
        return STORAGE_PAUSE_SECONDS if _is_storage_failure(failure) else PAUSE_SECONDS

    async def attend(self, row: TenantRow[Queue]) -> None:
        """Deliver the waiting events of one webhook, for one turn.

        Its attempts are taken only when they can be made, because a hold does not wait.
        """
        host = await self._host(row.tenant, row.document.id)
        shares = self._hosts.setdefault(host, Shares(BOUNDS["webhooks of a host"]))
        async with shares.turn(row.tenant), self._shares.turn(row.tenant):
            if self.is_ending:
                return
            take = partial(
                delivering.take_deliveries, webhook_id=row.document.id, snapshot=row.document
            )
            tasks = await self._service.write(row.tenant, take)
            turn = _Turn(self._service, self._sender, row, lambda: self.is_ending)
            await turn.run(tasks)

    async def _host(self, tenant: str, webhook_id: str) -> str:
        """The host of the webhook; empty when it was deleted."""

        async def unit(ctx: Context) -> str:
            row = await ctx.find(WEBHOOKS, webhook_id)
            return "" if row is None else row.url

        return urlsplit(await self._service.read(tenant, unit)).hostname or ""


def _is_storage_failure(failure: BaseException) -> bool:
    """Whether the only cause is that the store was unavailable or overloaded."""
    if isinstance(failure, BaseExceptionGroup):
        return all(map(_is_storage_failure, failure.exceptions))
    return isinstance(failure, StorageUnavailable | Overloaded)


class _Turn:
    """The turn of one webhook: whenever an attempt ends, the next ones that may begin do so."""

    def __init__(
        self, service: Service, sender: Sender, row: TenantRow[Queue], is_over: Callable[[], bool]
    ) -> None:
        self._service = service
        self._sender = sender
        self._tenant = row.tenant
        self._webhook_id = row.document.id
        self._is_ending = is_over
        self._until = system.monotonic() + TURN_SECONDS
        self._attempt_ids: set[str] = set()
        self._failures: list[Exception] = []

    async def run(self, tasks: tuple[DeliveryTask, ...]) -> None:
        """Make the attempts, and those that may follow them.

        Raises:
            ExceptionGroup: what went wrong with some of them.
        """
        try:
            async with asyncio.TaskGroup() as group:
                self._start(tasks, group)
        except asyncio.CancelledError:
            release = partial(
                delivering.requeue, webhook_id=self._webhook_id, attempt_ids=self._attempt_ids
            )
            await self._service.write(self._tenant, release)
            raise
        if self._failures:
            raise ExceptionGroup("attempts", self._failures)

    def _start(self, tasks: tuple[DeliveryTask, ...], group: asyncio.TaskGroup) -> None:
        for task in tasks:
            self._attempt_ids.add(task.attempt_id)
            group.create_task(self._attempt(task, group))

    async def _attempt(self, task: DeliveryTask, group: asyncio.TaskGroup) -> None:
        try:
            result = await attempt(self._service, self._sender, task)
            tasks = await self._conclude(task, result)
        except Exception as failure:  # its own: it must not end the others
            self._failures.append(failure)
        else:
            self._start(tasks, group)

    async def _conclude(
        self, task: DeliveryTask, result: AttemptOutcome
    ) -> tuple[DeliveryTask, ...]:
        """Write how an attempt ended, and begin what may be begun now."""
        continues = (
            system.monotonic() < self._until and not self._failures and not self._is_ending()
        )

        async def unit(ctx: Context) -> tuple[DeliveryTask, ...]:
            await delivering.conclude(ctx, task, result)
            return await delivering.take_deliveries(ctx, task.webhook_id) if continues else ()

        try:
            return await self._service.write(self._tenant, unit)
        except Exception as failure:
            self._failures.append(failure)
            if _is_storage_failure(failure):
                await asyncio.sleep(STORAGE_PAUSE_SECONDS)
        # By itself, and while it is still held: else the receiver would get it twice.
        conclusion = partial(delivering.conclude, task=task, result=result)
        await self._service.write(self._tenant, conclusion)
        return ()


async def attempt(service: Service, sender: Sender, task: DeliveryTask) -> AttemptOutcome:
    """Make one attempt; every fault of the receiver becomes its outcome."""
    start_time = system.monotonic()
    try:
        status = await sender.post(task.url, task.fields(service.now()), task.event.body.encode())
    except DeliveryFailure as failure:
        return AttemptOutcome(None, failure.reason, _milliseconds_since(start_time))
    return rules.attempt_outcome(status, _milliseconds_since(start_time))


def _milliseconds_since(start_time: float) -> int:
    return round((system.monotonic() - start_time) * 1_000)


async def purge_deliveries(service: Service, age: timedelta = DELIVERY_RETENTION) -> int:
    """Delete deliveries past their retention; return how many."""
    return await remove_old(service, DELIVERIES, age, delivering.purge)
