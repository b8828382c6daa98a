"""Webhooks are told of every event: signed, at least once, and a dead one five times at most."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

import anyio
import attrs
import httpcore2
import pytest
import standardwebhooks
from cloudevents.v1.http import from_http

from svc_core import catalog
from svc_core.access import plans
from svc_core.base.seals import Keyring
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from svc_core.operation.ports import Collection, StorageUnavailable
from svc_core.outbox.cloud_events import publish
from svc_core.outbox.model import (
    DELIVERIES,
    EVENTS,
    QUEUES,
    WEBHOOKS,
    Delivery,
    OutboxEvent,
    Webhook,
    delivery_id,
)
from svc_core.testing.clock import FrozenClock
from svc_core.webhooks import delivery_queue as delivering
from svc_core.webhooks import operations
from svc_core.webhooks.rules import trial_event
from svc_core.webhooks.signing import secret_text
from svc_core.wire import from_bytes
from svc_http import system
from svc_http.exchange.fair_shares import BOUNDS, Bound
from svc_http.outside.fetch import resolver as names
from svc_http.outside.fetch.webhook_poster import BODY_BYTES, DeliveryFailure, Poster
from svc_http.service.commits import Commits
from svc_http.service.service_units import Service
from svc_http.service.workers import deliveries as deliver
from svc_http.service.workers.deliveries import DeliveryRounds, purge_deliveries
from tests.backends import NAMES, make_store, store_of
from tests.core.base.test_egress import HOSTILE_HOSTS, HOSTILE_URLS
from tests.late import Late

pytestmark = pytest.mark.anyio

SVIX = Late("svix.webhooks")
TENANT = "wsp_" + "a" * 24
OTHER_TENANT = "wsp_" + "b" * 24
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PATIENCE_SECONDS = 60.0
"""What takes longer hangs; everything here takes less than a second where the machine is free."""
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


# -- a receiver --------------------------------------------------------------------------------


@attrs.frozen
class Received:
    path: str
    fields: dict[str, str]
    body: bytes


class Sink:
    """A receiver in this loop that notes every request and answers as a test tells it to."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.connections = 0
        self.answers: dict[str, bytes | Answer] = {}
        self.server: Any = None
        self.serving: set[asyncio.Task[Any]] = set()

    async def open(self, **how: Any) -> "Sink":
        self.server = await asyncio.start_server(self._serve, "0.0.0.0", 0, **how)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    def url(self, path: str = "/hook") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def at(self, path: str) -> list[Received]:
        return [request for request in self.requests if request.path == path]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            line, *lines = head.strip().split("\r\n")
            fields = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines)}
            body = await reader.readexactly(int(fields["content-length"]))
            path = line.split(" ")[1]
            self.requests.append(Received(path, fields, body))
            answer = self.answers.get(path, OK)
            if isinstance(answer, bytes):
                writer.write(answer)
            else:
                await answer(reader, writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the sender has had enough, which is what some tests are about
        finally:
            self.serving.discard(task)
            writer.close()

    async def close(self) -> None:
        self.server.close()
        for task in tuple(self.serving):
            task.cancel()
        await asyncio.gather(*self.serving, return_exceptions=True)
        await asyncio.sleep(0)  # the transports close in the next step of the loop


@pytest.fixture
async def sink(anyio_backend: str) -> Any:
    sink_ = await Sink().open()
    yield sink_
    await sink_.close()


# -- a sender ----------------------------------------------------------------------------------


class Mortal:
    """A store as a process has it; one that `is_dead` does nothing more to it.

    It refuses the writes of the first unit that comes after `refuses` is set, so many times.
    """

    def __init__(self, storage: Any) -> None:
        self._storage = storage
        self.is_dead = False
        self.refuses = 0
        self._refused_task: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)

    async def write(self, tenant: str, unit: Any) -> Any:
        if self.is_dead:
            raise StorageUnavailable("the process is dead")
        if self.refuses and self._refused_task in {None, asyncio.current_task()}:
            self._refused_task, self.refuses = asyncio.current_task(), self.refuses - 1
            raise StorageUnavailable("not now")
        return await self._storage.write(tenant, unit)


class Desk:
    """A service over one store with loops that deliver, and a look into its books."""

    def __init__(self, storage: Any, now: Any = system.now) -> None:
        self.storage = storage
        self.process = Mortal(storage)
        self.service = Service(
            storage=self.process,  # type: ignore[arg-type]
            ids=system.SystemIds(),
            now=now,
            keyring=Keyring({1: b"k" * 32}, 1),
            plans=plans.PRESETS["default"],
            host=Host("http://127.0.0.1:8000", is_development=True),
        )
        # Far longer than anything here takes, so that no attempt fails on a busy machine.
        self.poster: Any = Poster(loopback=True, total_seconds=PATIENCE_SECONDS)
        self.failures: list[BaseException] = []
        self.loops: list[asyncio.Task[None]] = []

    def start(self, workers: int = 1) -> None:
        for _ in range(workers):
            loop = self.rounds().run(Commits(self.storage))
            self.loops.append(asyncio.create_task(loop))

    def rounds(self) -> DeliveryRounds:
        return DeliveryRounds(self.service, self.poster, self.failures.append)

    async def stop(self) -> None:
        """Have the loops end, with no time for what is under way."""
        for loop in self.loops:
            loop.cancel()
        await asyncio.sleep(0)
        for loop in self.loops:
            loop.cancel()
        await asyncio.gather(*self.loops, return_exceptions=True)
        self.loops.clear()

    async def die(self) -> None:
        """End as a process does that is killed: nothing is written any more, nor told."""
        self.process.is_dead = True
        count = len(self.failures)
        await self.stop()
        del self.failures[count:]
        self.process.is_dead = False

    async def webhook(self, url: str, tenant: str = TENANT) -> tuple[str, str]:
        """The id and the secret of a new webhook."""
        secret = secret_text(system.SystemIds().random(32))
        body = operations.NewWebhook(url, secret=secret)
        creation = await self.service.write(
            tenant, lambda ctx: operations.WEBHOOK_ROWS.create_row(ctx, body)
        )
        return json.loads(creation.raw)["id"], secret

    async def publish(self, *ids: str, tenant: str = TENANT) -> OutboxEvent:
        """Queue an event for these webhooks, in one unit of work."""

        async def unit(ctx: Context) -> OutboxEvent:
            hooks = [WEBHOOKS.decode((await ctx.load(WEBHOOKS, id_)).raw) for id_ in ids]
            event = trial_event(ctx.ids.new("evt"), hooks[0], ctx.host.origin, ctx.now)
            await publish(ctx, event, hooks)
            return event

        return await self.service.write(tenant, unit)

    async def read(self, id_: str, tenant: str = TENANT) -> Webhook:
        async def unit(ctx: Context) -> Webhook:
            answer = await operations.WEBHOOK_ROWS.answer_of(ctx, await ctx.load(WEBHOOKS, id_))
            return from_bytes(Webhook, answer.raw)

        return await self.service.read(tenant, unit)

    async def deliveries(self, id_: str, tenant: str = TENANT) -> list[Delivery]:
        filters = {"webhook_id": (id_,)}
        rows = await self.service.read(
            tenant, lambda ctx: ctx.tx.documents.scan(DELIVERIES, where=filters, limit=1_000)
        )
        return [DELIVERIES.decode(row.raw) for row in rows.rows]

    async def outcomes(self, id_: str, tenant: str = TENANT) -> list[Delivery]:
        """Its deliveries, once none of them is on its way."""
        commits = Commits(self.storage)
        with anyio.fail_after(PATIENCE_SECONDS):
            while True:
                version = commits.version
                deliveries = await self.deliveries(id_, tenant)
                if not {delivery.status for delivery in deliveries} & {"pending", "delivering"}:
                    return deliveries
                await commits.after(version, 1.0)

    async def close(self) -> None:
        await self.stop()
        await self.poster.aclose()
        await self.storage.close()


@pytest.fixture
async def desk(anyio_backend: str) -> Any:
    desk_ = Desk(make_store(catalog.COLLECTIONS))
    yield desk_
    await desk_.close()


@pytest.fixture(params=NAMES)
async def any_desk(request: Any, anyio_backend: str) -> Any:
    desk_ = Desk(store_of(request.param, catalog.COLLECTIONS))
    yield desk_
    await desk_.close()


# -- what arrives ------------------------------------------------------------------------------


async def test_every_delivery_is_one_that_the_usual_libraries_accept(
    any_desk: Desk, sink: Sink
) -> None:
    id_, secret = await any_desk.webhook(sink.url())
    any_desk.start()
    events = [await any_desk.publish(id_) for _ in range(12)]
    await any_desk.outcomes(id_)
    assert {request.fields["idempotency-key"] for request in sink.requests} == {
        event.id for event in events
    }
    bodies = {event.id: event.body for event in events}
    for request in sink.requests:
        text = request.body.decode()
        standardwebhooks.Webhook(secret).verify(text, request.fields)
        SVIX.Webhook(secret).verify(text, request.fields)
        event_ = from_http(request.fields, request.body)
        assert text == bodies[event_["id"]]
        assert (event_["type"], event_["source"]) == (
            "dev.svc.webhook.test.v1",
            "http://127.0.0.1:8000",
        )
        assert request.fields["content-type"] == "application/cloudevents+json"
        assert request.fields["x-svc-event-id"] == event_["id"]
        assert request.fields["x-svc-attempt"] == "1"
        assert re.fullmatch("att_[0-9a-f]{24}", request.fields["x-svc-attempt-id"])
        assert re.fullmatch("sha256=[0-9a-f]{64}", request.fields["x-svc-signature"])
    assert len({request.fields["x-svc-attempt-id"] for request in sink.requests}) == 12


async def test_nothing_but_what_is_told_travels(desk: Desk, sink: Sink) -> None:
    sink.answers["/hook"] = (
        b"HTTP/1.1 204 No Content\r\nSet-Cookie: a=b\r\nConnection: keep-alive\r\n\r\n"
    )
    id_, _ = await desk.webhook(sink.url())
    desk.start()
    await desk.publish(id_)
    await desk.publish(id_)
    await desk.outcomes(id_)
    assert sink.connections == 2  # none is kept
    for request in sink.requests:
        assert set(request.fields) == {
            *("host", "user-agent", "connection", "content-length", "content-type"),
            *("idempotency-key", "x-svc-event-id", "x-svc-attempt-id", "x-svc-attempt"),
            *("x-svc-timestamp", "x-svc-signature"),
            *("webhook-id", "webhook-timestamp", "webhook-signature"),
        }
        assert request.fields["connection"] == "close"


async def test_a_redelivery_sends_the_same_bytes_in_another_attempt(desk: Desk, sink: Sink) -> None:
    id_, _ = await desk.webhook(sink.url())
    desk.start()
    event = await desk.publish(id_)
    await desk.outcomes(id_)
    request = operations.RedeliverEvent(id_, event.id)

    async def unit(ctx: Context) -> None:
        target = await ctx.load(WEBHOOKS, id_)
        await operations.redeliver(attrs.evolve(ctx, target=target), request)

    await desk.service.write(TENANT, unit)
    [delivery] = await desk.outcomes(id_)
    first, second = sink.requests
    assert first.body == second.body
    assert first.fields["webhook-id"] == second.fields["webhook-id"] == event.id
    assert first.fields["x-svc-attempt-id"] != second.fields["x-svc-attempt-id"]
    assert [attempt.number for attempt in delivery.attempts] == [1, 2]
    assert second.fields["x-svc-attempt"] == "2"


async def test_what_is_queued_here_is_sent_at_once(
    desk: Desk, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        DeliveryRounds, "look_seconds", 3_600.0
    )  # so that only a commit wakes the loop
    id_, _ = await desk.webhook(sink.url())
    desk.start()
    await asyncio.sleep(0)  # the loop has looked, found nothing and waits
    await desk.publish(id_)
    assert [delivery.status for delivery in await desk.outcomes(id_)] == ["delivered"]


# -- how often ---------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 8])
async def test_a_dead_address_sees_five_attempts_and_a_healthy_one_everything(
    any_desk: Desk, sink: Sink, workers: int
) -> None:
    sink.answers["/dead"] = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"
    dead, _ = await any_desk.webhook(sink.url("/dead"))
    healthy, secret = await any_desk.webhook(sink.url("/healthy"))
    any_desk.start(workers)
    events = [await any_desk.publish(dead, healthy) for _ in range(30)]
    to_healthy = await any_desk.outcomes(healthy)
    to_dead = await any_desk.outcomes(dead)

    assert [delivery.status for delivery in to_healthy] == ["delivered"] * 30
    assert len(sink.at("/dead")) == 5
    after = await any_desk.read(dead)
    assert (after.status, after.consecutive_failures) == ("disabled", 5)
    statuses = sorted(delivery.status for delivery in to_dead)
    assert statuses == ["failed"] * 5 + ["skipped"] * 25

    bodies = {event.id: event.body.encode() for event in events}
    assert {request.fields["webhook-id"]: request.body for request in sink.at("/healthy")} == bodies
    assert all(bodies[request.fields["webhook-id"]] == request.body for request in sink.at("/dead"))
    assert len(sink.at("/healthy")) == 30
    for request in sink.at("/healthy"):
        standardwebhooks.Webhook(secret).verify(request.body.decode(), request.fields)
    assert any_desk.failures == []


async def test_gone_is_one_failure_of_five(desk: Desk, sink: Sink) -> None:
    sink.answers["/hook"] = b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"
    id_, _ = await desk.webhook(sink.url())
    await desk.publish(id_)
    desk.start()
    [delivery] = await desk.outcomes(id_)
    after = await desk.read(id_)
    assert (after.status, after.consecutive_failures) == ("enabled", 1)
    assert delivery.attempts[0].response_status == 410
    for _ in range(6):
        await desk.publish(id_)
    assert (
        sorted(delivery.status for delivery in await desk.outcomes(id_))
        == ["failed"] * 5 + ["skipped"] * 2
    )
    assert (await desk.read(id_)).status == "disabled"


async def test_more_than_a_turn_is_sent_turn_by_turn(
    desk: Desk, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver, "TURN_SECONDS", 0.0)
    id_, _ = await desk.webhook(sink.url())
    for _ in range(12):
        await desk.publish(id_)
    desk.start()
    deliveries = await desk.outcomes(id_)
    assert {delivery.status for delivery in deliveries} == {"delivered"}
    assert len(sink.requests) == 12


@pytest.mark.parametrize("place", ["hosts of its own", "the host of others"])
async def test_no_workspace_waits_for_the_slow_addresses_of_another(
    any_desk: Desk, sink: Sink, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """More of them than two workers have places, each with more waiting than may be under way."""
    monkeypatch.setitem(BOUNDS, "webhooks", Bound(4))
    monkeypatch.setitem(BOUNDS, "webhooks of a host", Bound(4))
    stall = Stall(sink)
    hosts = [f"127.0.1.{at if place == 'hosts of its own' else 1}" for at in range(1, 11)]
    slow = [
        (await any_desk.webhook(sink.url().replace("127.0.0.1", host), OTHER_TENANT))[0]
        for host in hosts
    ]
    for _ in range(6):
        await any_desk.publish(*slow, tenant=OTHER_TENANT)
    any_desk.start(workers=2)
    with anyio.fail_after(PATIENCE_SECONDS):
        for _ in range(2 * 5):
            await stall.starts.acquire()
    quick, _ = await any_desk.webhook(sink.url("/quick").replace("127.0.0.1", hosts[0]))
    for _ in range(3):
        await any_desk.publish(quick)
        assert (await any_desk.outcomes(quick))[0].status == "delivered"
    assert any_desk.failures == []
    stall.go_on.set()


async def test_one_host_has_few_webhooks_told_at_a_time_and_others_do_not_wait(
    desk: Desk, sink: Sink
) -> None:
    letting, starts = asyncio.Event(), asyncio.Semaphore(0)
    open_now: list[int] = [0, 0]

    async def slow(reader: Any, writer: Any) -> None:
        open_now[0] += 1
        open_now[1] = max(open_now)
        starts.release()
        await letting.wait()
        open_now[0] -= 1
        writer.write(OK)

    sink.answers["/slow"] = slow
    slow_ids = [(await desk.webhook(sink.url("/slow")))[0] for _ in range(7)]
    quick, _ = await desk.webhook(sink.url("/quick").replace("127.0.0.1", "localhost"))
    await desk.publish(*slow_ids, quick)
    desk.start()
    await desk.outcomes(quick)
    share = BOUNDS["webhooks of a host"].places // 2
    with anyio.fail_after(PATIENCE_SECONDS):
        for _ in range(share):
            await starts.acquire()
    letting.set()
    for id_ in slow_ids:
        assert [delivery.status for delivery in await desk.outcomes(id_)] == ["delivered"]
    assert open_now[1] == share


async def test_broken_books_of_one_webhook_leave_the_others_alone(desk: Desk, sink: Sink) -> None:
    broken_id, _ = await desk.webhook(sink.url("/broken"))
    sound, _ = await desk.webhook(sink.url("/sound"), OTHER_TENANT)

    event = await desk.publish(broken_id)
    await desk.service.write(TENANT, lambda ctx: ctx.remove(EVENTS, event.id))
    desk.start()
    for _ in range(3):
        await desk.publish(sound, tenant=OTHER_TENANT)
    assert {delivery.status for delivery in await desk.outcomes(sound, OTHER_TENANT)} == {
        "delivered"
    }
    assert [type(failure) for failure in desk.failures] == [Problem]
    assert sink.at("/broken") == []


async def test_a_broken_delivery_undoes_the_end_of_none_before_it(desk: Desk, sink: Sink) -> None:
    id_, _ = await desk.webhook(sink.url())
    for _ in range(6):
        event = await desk.publish(id_)
    await desk.service.write(TENANT, lambda ctx: ctx.remove(EVENTS, event.id))
    desk.start()
    commits = Commits(desk.storage)
    with anyio.fail_after(PATIENCE_SECONDS):
        while Counter(delivery.status for delivery in await desk.deliveries(id_))["delivered"] < 5:
            await commits.after(commits.version, 0.1)
    assert len(sink.requests) == 5


@pytest.mark.parametrize("times", [1, 2])
async def test_an_attempt_whose_end_cannot_be_written_takes_no_other_along(
    desk: Desk, sink: Sink, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """The first end is refused once, and written later, or twice, and then not at all."""
    monkeypatch.setattr(deliver, "STORAGE_PAUSE_SECONDS", 0.0)
    id_, _ = await desk.webhook(sink.url())
    for _ in range(5):
        await desk.publish(id_)
    stall = Stall(sink)
    desk.start()
    for _ in range(5):
        await stall.starts.acquire()
    desk.process.refuses = times
    stall.go_on.set()
    with anyio.fail_after(PATIENCE_SECONDS):
        while len(desk.failures) == 0:  # noqa: ASYNC110 - nobody is told of a failure
            await anyio.sleep(0.005)
    states = Counter(delivery.status for delivery in await desk.deliveries(id_))
    assert states == ({"delivered": 5} if times == 1 else {"delivered": 4, "delivering": 1})
    assert len(sink.requests) == 5


async def test_a_deleted_webhook_is_told_nothing(desk: Desk, sink: Sink) -> None:
    id_, _ = await desk.webhook(sink.url())
    await desk.publish(id_)
    await desk.service.write(
        TENANT, lambda ctx: operations.delete_webhook(ctx, operations.WebhookRequest(id_))
    )
    desk.start()
    commits = Commits(desk.storage)
    with anyio.fail_after(PATIENCE_SECONDS):
        while await desk.storage.across(QUEUES, limit=1):
            await commits.after(commits.version, 0.1)
    assert sink.requests == []


# -- how it ends -------------------------------------------------------------------------------


class Stall:
    """A receiver that answers when it is told to."""

    def __init__(self, sink: Sink) -> None:
        self.starts, self.go_on = asyncio.Semaphore(0), asyncio.Event()
        sink.answers["/hook"] = self

    async def __call__(self, reader: Any, writer: Any) -> None:
        self.starts.release()
        await self.go_on.wait()
        writer.write(OK)


async def test_a_loop_that_is_told_to_end_finishes_what_is_under_way_and_begins_nothing(
    sink: Sink,
) -> None:
    desk = Desk(make_store(catalog.COLLECTIONS))
    stall = Stall(sink)
    id_, _ = await desk.webhook(sink.url())
    for _ in range(7):
        await desk.publish(id_)
    desk.start()
    for _ in range(5):
        await stall.starts.acquire()
    (loop,) = desk.loops
    loop.cancel()
    await asyncio.sleep(0)
    stall.go_on.set()
    with anyio.fail_after(PATIENCE_SECONDS / 2), pytest.raises(asyncio.CancelledError):
        await loop
    states = Counter(delivery.status for delivery in await desk.deliveries(id_))
    assert states == {"delivered": 5, "pending": 2}
    assert len(sink.requests) == 5
    assert desk.failures == []


async def test_a_loop_that_is_told_to_end_attends_to_no_webhook_that_waits_for_its_turn(
    sink: Sink,
) -> None:
    desk = Desk(make_store(catalog.COLLECTIONS))
    stall = Stall(sink)
    share = BOUNDS["webhooks of a host"].places // 2
    hooks = [(await desk.webhook(sink.url()))[0] for _ in range(share + 2)]
    for id_ in hooks:
        await desk.publish(id_)
    desk.start()
    for _ in range(share):
        await stall.starts.acquire()
    (loop,) = desk.loops
    loop.cancel()
    await asyncio.sleep(0)
    stall.go_on.set()
    with anyio.fail_after(PATIENCE_SECONDS / 2), pytest.raises(asyncio.CancelledError):
        await loop
    states = Counter([delivery.status for id_ in hooks for delivery in await desk.deliveries(id_)])
    assert states == {"delivered": share, "pending": 2}


async def test_what_a_loop_has_no_time_to_finish_is_sent_again_at_once(sink: Sink) -> None:
    desk = Desk(make_store(catalog.COLLECTIONS))
    stall = Stall(sink)
    id_, _ = await desk.webhook(sink.url())
    event = await desk.publish(id_)
    desk.start()
    await stall.starts.acquire()
    with anyio.fail_after(PATIENCE_SECONDS / 2):  # before the attempt would end by itself
        await desk.stop()
    [delivery] = await desk.deliveries(id_)
    assert delivery.status == "pending"

    sink.answers["/hook"] = OK
    desk.start()
    [delivery] = await desk.outcomes(id_)
    assert [attempt.number for attempt in delivery.attempts] == [1, 2]
    assert [request.fields["webhook-id"] for request in sink.requests] == [event.id, event.id]
    assert (await desk.read(id_)).consecutive_failures == 0
    stall.go_on.set()
    await desk.close()


async def test_what_a_killed_worker_had_under_way_is_sent_again(sink: Sink) -> None:
    clock = FrozenClock(system.now())
    desk = Desk(make_store(catalog.COLLECTIONS), clock.now)
    stall = Stall(sink)
    id_, _ = await desk.webhook(sink.url())
    event = await desk.publish(id_)
    desk.start()
    await stall.starts.acquire()
    await desk.die()
    [delivery] = await desk.deliveries(id_)
    assert delivery.status == "delivering"

    sink.answers["/hook"] = OK
    clock.advance(31)
    desk.start()
    [delivery] = await desk.outcomes(id_)
    assert delivery.status == "delivered"
    assert [attempt.number for attempt in delivery.attempts] == [1, 2]
    assert [request.fields["webhook-id"] for request in sink.requests] == [event.id, event.id]
    assert (await desk.read(id_)).consecutive_failures == 0
    stall.go_on.set()
    await desk.close()


@pytest.mark.parametrize("has_begun", [False, True])
async def test_a_store_that_was_away_keeps_no_webhook_waiting_once_it_is_back(
    sink: Sink, monkeypatch: pytest.MonkeyPatch, has_begun: bool
) -> None:
    monkeypatch.setattr(deliver, "STORAGE_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(deliver, "PAUSE_SECONDS", 2 * PATIENCE_SECONDS)
    clock = FrozenClock(system.now())
    desk = Desk(make_store(catalog.COLLECTIONS), clock.now)
    stall = Stall(sink)
    id_, _ = await desk.webhook(sink.url())
    await desk.publish(id_)

    desk.process.is_dead = not has_begun
    desk.start()
    if has_begun:
        await stall.starts.acquire()
        desk.process.is_dead = True
    stall.go_on.set()
    with anyio.fail_after(PATIENCE_SECONDS):
        while not desk.failures:  # noqa: ASYNC110 - nobody is told of a failure
            await anyio.sleep(0.005)
    desk.process.is_dead = False
    clock.advance(31)  # the hold of what had begun is over

    assert [delivery.status for delivery in await desk.outcomes(id_)] == ["delivered"]
    assert len(sink.requests) == 1 + has_begun
    await desk.close()


async def test_the_next_server_sends_at_once_what_the_one_before_it_had_under_way(
    any_desk: Desk, sink: Sink
) -> None:
    stall = Stall(sink)
    hooks = [
        ((await any_desk.webhook(sink.url(), tenant))[0], tenant)
        for tenant in (TENANT, OTHER_TENANT, OTHER_TENANT)
    ]
    events = [await any_desk.publish(id_, tenant=tenant) for id_, tenant in hooks]
    any_desk.start(workers=8)
    with anyio.fail_after(PATIENCE_SECONDS):
        for _ in hooks:
            await stall.starts.acquire()
        await any_desk.die()
    stall.go_on.set()

    sink.answers["/hook"] = OK
    rounds = any_desk.rounds()
    rounds.takeover_rows = 2
    assert await rounds.take_over() == 3
    any_desk.start(workers=8)
    for id_, tenant in hooks:
        [delivery] = await any_desk.outcomes(id_, tenant)
        assert delivery.status == "delivered"
        assert [attempt.number for attempt in delivery.attempts] == [1, 2]
        assert (await any_desk.read(id_, tenant)).consecutive_failures == 0
    event_ids = [request.fields["webhook-id"] for request in sink.requests]
    assert sorted(event_ids) == sorted([event.id for event in events] * 2)
    assert await any_desk.rounds().take_over() == 0
    assert any_desk.failures == []


UNREADABLE: Collection[str] = Collection(
    name=DELIVERIES.name,
    model=str,
    prefix=DELIVERIES.prefix,
    order=lambda _: 0,
    keys=dict.fromkeys(DELIVERIES.keys, lambda _: None),
)


async def test_broken_books_of_one_webhook_keep_no_other_from_being_taken_over(
    desk: Desk, sink: Sink
) -> None:
    hooks = [(await desk.webhook(sink.url(path)))[0] for path in ("/broken", "/sound")]
    for id_ in hooks:
        await desk.publish(id_)
        await desk.service.write(TENANT, partial(delivering.take_deliveries, webhook_id=id_))
    spoilt = next(delivery for delivery in await desk.deliveries(hooks[0]))
    row = delivery_id(spoilt.webhook_id, spoilt.event_id)
    await desk.service.write(TENANT, lambda ctx: ctx.tx.documents.put(UNREADABLE, row, "broken"))
    assert await desk.rounds().take_over() == 1
    assert desk.failures
    desk.start()
    assert [delivery.status for delivery in await desk.outcomes(hooks[1])] == ["delivered"]
    assert [request.path for request in sink.requests] == ["/sound"]


async def test_old_deliveries_are_forgotten_with_their_events(sink: Sink) -> None:
    clock = FrozenClock(system.now())
    desk = Desk(make_store(catalog.COLLECTIONS), clock.now)
    own_id, _ = await desk.webhook(sink.url())
    foreign_id, _ = await desk.webhook(sink.url(), OTHER_TENANT)
    await desk.publish(own_id)
    await desk.publish(foreign_id, tenant=OTHER_TENANT)
    assert await purge_deliveries(desk.service) == 0
    clock.advance(delivering.DELIVERY_RETENTION.total_seconds() + 1)
    event = await desk.publish(own_id)
    assert await purge_deliveries(desk.service) == 2
    assert [delivery.event_id for delivery in await desk.deliveries(own_id)] == [event.id]
    assert await desk.deliveries(foreign_id, OTHER_TENANT) == []
    events = await desk.storage.across(EVENTS, limit=10)
    assert [row.document.id for row in events] == [event.id]
    assert await purge_deliveries(desk.service, timedelta(days=60)) == 0
    await desk.close()


# -- hostile receivers -------------------------------------------------------------------------


async def post_once(url: str, **how: Any) -> int | str:
    """The status of one POST, or the word for why there is none."""
    poster = Poster(**{"loopback": True, "total_seconds": PATIENCE_SECONDS, **how})
    try:
        return await poster.post(url, {"Content-Type": "text/plain"}, b"body")
    except DeliveryFailure as error:
        return error.reason
    finally:
        await poster.aclose()


async def slow_head(_reader: Any, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while not writer.is_closing():
        writer.write(b"X-A: b\r\n")
        await writer.drain()
        await asyncio.sleep(0.05)


async def endless_body(_reader: Any, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"a" * 10_000)
        await writer.drain()


async def stalled_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nabc")
    await writer.drain()
    await reader.read()


async def huge_head(_reader: Any, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(10_000):
        writer.write(b"X-A: " + b"b" * 1_000 + b"\r\n")
        await writer.drain()


async def reset(_reader: Any, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def endless_hints(_reader: Any, writer: asyncio.StreamWriter) -> None:
    while not writer.is_closing():
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await writer.drain()


METADATA = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (slow_head, "timeout"),
        (endless_hints, "timeout"),
        (endless_body, 200),
        (stalled_body, 201),
        (huge_head, "protocol"),
        (METADATA, 302),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab", "protocol"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "protocol"),
        (b"", "protocol"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 200),
        (b"HTTP/1.1 500 Down\r\n\r\n", 500),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_no_answer_does_harm(sink: Sink, answer: Any, outcome: int | str) -> None:
    sink.answers["/hook"] = answer
    patience = 1.0 if outcome == "timeout" else PATIENCE_SECONDS
    with anyio.fail_after(PATIENCE_SECONDS * 2):
        assert await post_once(sink.url(), total_seconds=patience) == outcome
    assert sink.connections == 1


async def test_a_reset_is_a_connection_that_broke_off(sink: Sink) -> None:
    sink.answers["/hook"] = reset
    assert await post_once(sink.url()) in {"brokeOff", "protocol"}


async def test_of_an_answer_no_more_is_read_than_its_bound(sink: Sink) -> None:
    size = [0]

    async def pour(_reader: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.transport.set_write_buffer_limits(0)
        while not writer.is_closing():
            writer.write(b"a" * 1_000)
            await writer.drain()
            size[0] += 1_000

    sink.answers["/hook"] = pour
    assert await post_once(sink.url()) == 200
    # The kernel's buffers between the two hold the rest.
    assert size[0] < BODY_BYTES + 16 * 2**20


async def test_nobody_at_the_address_is_said_in_a_word(sink: Sink) -> None:
    await sink.close()
    await sink.server.wait_closed()
    assert await post_once(sink.url()) == "refused"


class Astray(httpcore2.AsyncNetworkBackend):
    """A network in which every address is one port of this machine."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._backend = httpcore2.AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, *rest: Any, **how: Any) -> Any:
        return await self._backend.connect_tcp("127.0.0.1", self._port)


@pytest.mark.parametrize(("name", "outcome"), [("feeds.host.org", 200), ("a.host.org", "tls")])
async def test_tls_is_with_the_name_or_not_at_all(
    secure_publisher: Any, name: str, outcome: int | str
) -> None:
    publisher, trusting = secure_publisher
    network = Astray(publisher.port)
    publisher.greeting = OK  # its answer comes first, which is all that this needs
    status = await post_once(f"https://{name}/hook", tls=trusting, network=network)
    assert status == outcome


async def test_a_certificate_of_nobody_known_is_refused(secure_publisher: Any) -> None:
    publisher, _ = secure_publisher
    outcome = await post_once("https://feeds.host.org/hook", network=Astray(publisher.port))
    assert outcome == "tls"


async def test_what_is_no_tls_at_all_is_refused(anyio_backend: str) -> None:
    async def answer(_reader: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as plain:
        network = Astray(plain.sockets[0].getsockname()[1])
        assert await post_once("https://feeds.host.org/hook", network=network) == "tls"


# -- where it goes -----------------------------------------------------------------------------

HOSTILE = [*(f"https://{host}/hook" for host in HOSTILE_HOSTS), *HOSTILE_URLS]


class Counting(httpcore2.AsyncNetworkBackend):
    """A network that counts who wants to be connected, and lets nobody."""

    def __init__(self) -> None:
        self.attempts = 0

    async def connect_tcp(self, *_: Any, **__: Any) -> Any:
        self.attempts += 1
        raise httpcore2.ConnectError("nobody is let through")


async def test_no_hostile_address_is_connected_to() -> None:
    assert len(HOSTILE) >= 105
    network = Counting()
    for url in HOSTILE:
        assert await post_once(url, loopback=False, network=network) == "badAddress", url
    assert network.attempts == 0
    assert await post_once("https://example.com/", network=network) == "unreachable"
    assert network.attempts == 1


async def test_this_machine_is_for_developers(sink: Sink) -> None:
    assert await post_once(sink.url(), loopback=False) == "badAddress"
    assert await post_once(sink.url()) == 200
    assert sink.connections == 1


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"])
async def test_a_name_that_turns_to_the_inside_is_a_failure_without_a_connection(
    desk: Desk, sink: Sink, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    hosts: list[str] = []

    async def resolve(host: str, port: int, **_: Any) -> list[Any]:
        hosts.append(host)
        return [(2, 1, 6, "", (address, sink.port))]

    monkeypatch.setattr(names, "look_up", resolve)
    id_, _ = await desk.webhook("https://hooks.host.org/svc")
    await desk.publish(id_)
    desk.start()
    [delivery] = await desk.outcomes(id_)
    assert hosts == ["hooks.host.org"]
    assert (delivery.status, delivery.attempts[0].error) == ("failed", "deniedAddress")
    assert (await desk.read(id_)).consecutive_failures == 1
    assert sink.connections == 0


async def test_proxies_of_the_environment_have_no_part(
    sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert await post_once(sink.url()) == 200


async def test_an_unknown_name_is_said_in_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(host: str, port: int, **_: Any) -> list[Any]:
        raise OSError("no such name")

    monkeypatch.setattr(names, "look_up", resolve)
    assert await post_once("https://nobody.host.org/") == "unknownHost"
