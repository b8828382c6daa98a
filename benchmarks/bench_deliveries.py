"""Webhook deliveries a second to a receiver on this machine, beside raw posts of the same bytes.

A delivery is the whole of it: taken from the store with its attempt written, signed, its address
checked, a connection of its own made, posted, answered, its end written and flushed to disk. The
rival posts the same bodies and fields with httpx2 and writes nothing; once over connections of
their own, as deliveries are made, and once over connections that are kept. The receiver is a
process of its own. All work in turn, as many at once; the ratio is the median of the turns.

Then how long a stranger's event is on its way while another workspace has slow addresses, each with
more waiting than may be under way: at hosts of their own, and at the stranger's host.

    python benchmarks/bench_deliveries.py [--quick] [--slow-only]
"""

import asyncio
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from outcome import close_run, is_quick

from svc_core.access import plans
from svc_core.base.seals import Keyring
from svc_core.catalog import COLLECTIONS
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from svc_core.outbox.cloud_events import publish
from svc_core.outbox.model import DELIVERIES, WEBHOOKS, OutboxEvent, StoredWebhook
from svc_core.webhooks import operations, rules
from svc_http import system
from svc_http.outside.fetch.webhook_poster import Poster
from svc_http.run.server import hypercorn
from svc_http.service.commits import Commits
from svc_http.service.service_units import Service
from svc_http.service.workers.deliveries import DeliveryRounds
from svc_http.stores import SqliteStorage

GOAL = 1 / 3
SECRET = "whsec_" + "QUJD" * 8
"""Of the rate of raw posts over connections of their own: what is judged, signed and written, eight
rows of it, costs at most twice what is sent."""
WEBHOOKS_TOLD = 10
AT_ONCE = 5 * WEBHOOKS_TOLD
TENANT = "wsp_" + "a" * 24
SLOW_TENANT = "wsp_" + "b" * 24
SLOW_ADDRESSES = 32
SLOW_SECONDS = 9.0
"""Just short of what an attempt may take, so that none fails and no webhook is disabled."""
SLOW_GOAL_SECONDS = 2.0
STRANGER_EVENTS_SECONDS = 0.1

SINK = """
import asyncio, sys
class Sink(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, b""
    def data_received(self, data):
        self.data += data
        head, end, body = self.data.partition(b"\\r\\n\\r\\n")
        if not end:
            return
        size = int(head.lower().split(b"content-length: ")[1].split(b"\\r\\n")[0])
        if len(body) >= size:
            self.data = b""
            slow = float(sys.argv[2]) if head.startswith(b"POST /slow") else 0.0
            closes = b"connection: close" in head.lower()
            asyncio.get_running_loop().call_later(slow, self.answer, closes)
    def answer(self, closes):
        if self.transport.is_closing():
            return
        self.transport.write(b"HTTP/1.1 204 No Content\\r\\n\\r\\n")
        if closes:
            self.transport.close()
async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Sink, "0.0.0.0", int(sys.argv[1]), backlog=1024)
    print("ready", flush=True)
    await server.serve_forever()
import uvloop
uvloop.run(main())
"""


async def register(service: Service, address: str, tenant: str = TENANT) -> StoredWebhook:
    """A new webhook."""
    body = operations.NewWebhook(address, secret=SECRET)
    creation = await service.write(
        tenant, lambda ctx: operations.WEBHOOK_ROWS.create_row(ctx, body)
    )
    return WEBHOOKS.decode(creation.raw)


async def tell(
    service: Service, webhooks: list[StoredWebhook], tenant: str = TENANT
) -> OutboxEvent:
    """An event on its way to them."""

    async def unit(ctx: Context) -> OutboxEvent:
        event = rules.trial_event(ctx.ids.new("evt"), webhooks[0], ctx.host.origin, ctx.now)
        await publish(ctx, event, webhooks)
        return event

    return await service.write(tenant, unit)


def open_service(folder: Path) -> Service:
    """A service over a file of its own."""
    return Service(
        SqliteStorage.open(folder / "svc.db", COLLECTIONS, epoch=bytes(8)),
        system.SystemIds(),
        system.now,
        Keyring({1: b"a key of the benchmark: 32 bytes"}, 1),
        plans=plans.PRESETS["default"],
        host=Host(is_development=True),
    )


async def queue(service: Service, port: int, events_count: int) -> list[tuple[str, str, Any]]:
    """Queue events for ten webhooks; what is to be sent: the webhook, its address, the event."""
    addresses = [f"http://127.0.0.{number + 1}:{port}/hook" for number in range(WEBHOOKS_TOLD)]
    hooks = [await register(service, address) for address in addresses]
    events = []
    for _ in range(events_count):
        event = await tell(service, hooks)
        events += [(webhook.id, webhook.url, event) for webhook in hooks]
    return events


async def deliveries(folder: Path, port: int, events_count: int) -> tuple[float, list[Any]]:
    """Deliveries a second by our loop, and what was sent."""
    service = open_service(folder)
    storage = service.storage
    events = await queue(service, port, events_count)
    poster, commits, failures = Poster(loopback=True), Commits(storage), []
    began = time.perf_counter()
    loop = asyncio.create_task(DeliveryRounds(service, poster, failures.append).run(commits))
    filters = {"status": ("pending", "delivering")}
    while True:
        version = commits.version
        rows_left = await service.read(
            TENANT, lambda ctx: ctx.tx.documents.scan(DELIVERIES, where=filters, limit=1)
        )
        if not rows_left.rows:
            break
        await commits.after(version, 1.0)
        await asyncio.sleep(0.02)
    seconds = time.perf_counter() - began
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    rows_sent = await service.read(
        TENANT,
        lambda ctx: ctx.tx.documents.scan(
            DELIVERIES, where={"status": ("delivered",)}, limit=len(events) + 1
        ),
    )
    assert not failures, failures
    assert len(rows_sent.rows) == len(events)
    await poster.aclose()
    await storage.close()
    return len(events) / seconds, events


async def raw(tasks: list[Any], *, keeps: bool) -> float:
    """Raw posts a second of the same bytes and as many fields."""
    limits = httpx2.Limits(max_keepalive_connections=AT_ONCE if keeps else 0)
    fields = {f"x-field-{number}": "a" * 40 for number in range(9)}
    if not keeps:
        fields["connection"] = "close"
    waiting = iter(tasks)
    async with httpx2.AsyncClient(limits=limits, trust_env=False, timeout=10) as client:

        async def work() -> None:
            for _, url, event in waiting:
                answer = await client.post(url, content=event.body.encode(), headers=fields)
                assert answer.status_code == 204

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        return len(tasks) / (time.perf_counter() - began)


async def turn(port: int, events_count: int) -> tuple[float, float, float]:
    """One turn of all three."""
    with TemporaryDirectory() as folder:
        own_rate, events = await deliveries(Path(folder), port, events_count)
    return own_rate, await raw(events, keeps=False), await raw(events, keeps=True)


async def stranger(port: int, events_count: int, *, shares_host: bool) -> list[float]:
    """How long each event of a stranger took, beside a workspace with slow addresses."""
    with TemporaryDirectory() as folder:
        service = open_service(Path(folder))
        hosts = [f"127.0.1.{1 if shares_host else at + 1}" for at in range(SLOW_ADDRESSES)]
        slow = [
            await register(service, f"http://{host}:{port}/slow/{at}", SLOW_TENANT)
            for at, host in enumerate(hosts)
        ]
        for _ in range(12):
            await tell(service, slow, SLOW_TENANT)
        quick = await register(service, f"http://{hosts[0]}:{port}/quick")
        poster, failures = Poster(loopback=True), []
        commits = Commits(service.storage)
        loop = asyncio.create_task(DeliveryRounds(service, poster, failures.append).run(commits))
        await asyncio.sleep(1.0)  # every place that the slow ones may have is taken
        for _ in range(events_count):
            await tell(service, [quick])
            await asyncio.sleep(STRANGER_EVENTS_SECONDS)
        took = await latencies(service, events_count)
        for _ in range(2):  # the second time they give back what is under way
            loop.cancel()
            await asyncio.sleep(0)
        await asyncio.gather(loop, return_exceptions=True)
        assert not failures, failures
        await poster.aclose()
        await service.storage.close()
        return took


async def latencies(service: Service, events_count: int) -> list[float]:
    """How long each delivery to the stranger took from its event to the end of its attempt."""
    filters = {"status": ("delivered",)}
    while True:
        page = await service.read(
            TENANT,
            lambda ctx: ctx.tx.documents.scan(DELIVERIES, where=filters, limit=events_count),
        )
        if len(page.rows) == events_count:
            deliveries = [DELIVERIES.decode(row.raw) for row in page.rows]
            return sorted(
                (delivery.updated_at - delivery.created_at).total_seconds()
                for delivery in deliveries
            )
        await asyncio.sleep(0.1)


def judge_strangers(runner: asyncio.Runner, port: int, events_count: int) -> float:
    """Print what a stranger waits for; the longer of the two p99, in seconds."""
    longest = 0.0
    for shares_host in (False, True):
        took = runner.run(stranger(port, events_count, shares_host=shares_host))
        p99 = took[max(0, int(len(took) * 0.99) - 1)]
        longest = max(longest, p99)
        host_note = "at the stranger's host" if shares_host else "at hosts of their own"
        print(
            f"beside {SLOW_ADDRESSES} slow addresses {host_note}: a stranger waits "
            f"{median(took):.3f} s, p99 {p99:.3f} s, goal {SLOW_GOAL_SECONDS:g} s"
        )
    return longest


def main() -> int:
    """Measure, print, judge."""
    turns, events_count = (2, 40) if is_quick() else (5, 100)
    with socket.socket() as free:
        free.bind(("0.0.0.0", 0))
        port = free.getsockname()[1]
    sink = subprocess.Popen(
        [sys.executable, "-c", SINK, str(port), str(SLOW_SECONDS)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert sink.stdout is not None
        assert sink.stdout.readline() == "ready\n"
        with asyncio.Runner(loop_factory=hypercorn.loop_factory()) as runner:
            p99 = judge_strangers(runner, port, 2 * events_count)
            if "--slow-only" in sys.argv[1:]:
                return close_run(p99 < SLOW_GOAL_SECONDS, f"p99 {p99:.2f} s")
            runs = [runner.run(turn(port, events_count)) for _ in range(turns)]
    finally:
        sink.kill()
        sink.wait()
    own_rate, own, reused = (median(column) for column in zip(*runs, strict=True))
    ratio = median(a / b for a, b, _ in runs)
    print(f"{events_count * WEBHOOKS_TOLD} deliveries, {AT_ONCE} at once, {turns} turns")
    print(f"deliveries, all written   {own_rate:8.0f} /s")
    print(f"raw, a connection each    {own:8.0f} /s   ratio {ratio:.2f}, goal {GOAL:.2f}")
    print(f"raw, connections kept     {reused:8.0f} /s   ratio {own_rate / reused:.2f}")
    is_met = ratio >= GOAL and p99 < SLOW_GOAL_SECONDS
    return close_run(is_met, f"{ratio:.2f} of their rate; p99 {p99:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
