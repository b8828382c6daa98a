"""Webhook deliveries a second to a receiver on this machine, beside raw posts of the same bytes.

A delivery is the whole of it: taken from the store with its attempt written, signed, its address
checked, a connection of its own made, posted, answered, its end written and flushed to disk. The
rival posts the same bodies and fields with httpx2 and writes nothing; once over connections of
their own, as deliveries are made, and once over connections that are kept. The receiver is a
process of its own. All work in turn, as many at once; the ratio is the median of the turns.

    python benchmarks/bench_deliveries.py [--quick]
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

from svc_core.access import plans
from svc_core.catalog import COLLECTIONS
from svc_core.cursor import Keyring
from svc_core.events import publish
from svc_core.host import Host
from svc_core.operation import Context
from svc_core.resources.webhook import DELIVERIES, WEBHOOKS
from svc_core.webhooks import operations, rules
from svc_http import system
from svc_http.fetch.post import Poster
from svc_http.runtime.commits import Commits
from svc_http.runtime.service import Service
from svc_http.server import hypercorn
from svc_http.storage import SqliteStorage
from svc_http.workers import deliver_loop

GOAL = 1 / 3
"""Of the rate of raw posts over connections of their own: what is judged, signed and written, eight
rows of it, costs at most twice what is sent."""
WEBHOOKS_TOLD = 10
AT_ONCE = 5 * WEBHOOKS_TOLD
TENANT = "wsp_" + "a" * 24

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
            self.transport.write(b"HTTP/1.1 204 No Content\\r\\n\\r\\n")
            if b"connection: close" in head.lower():
                self.transport.close()
async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Sink, "0.0.0.0", int(sys.argv[1]), backlog=1024)
    print("ready", flush=True)
    await server.serve_forever()
import uvloop
uvloop.run(main())
"""


async def queue(service: Service, port: int, events_count: int) -> list[tuple[str, str, Any]]:
    """Queue events for ten webhooks; what is to be sent: the webhook, its address, the event."""
    told = []
    for number in range(WEBHOOKS_TOLD):
        address = f"http://127.0.0.{number + 1}:{port}/hook"
        asked = operations.CreateWebhook(operations.NewWebhook(address))
        made = await service.write(TENANT, lambda ctx, a=asked: operations.create_webhook(ctx, a))
        told.append(WEBHOOKS.decode(made.raw))

    async def unit(ctx: Context) -> list[tuple[str, str, Any]]:
        queued = []
        for _ in range(events_count):
            event = rules.trial(ctx.ids.new("evt"), told[0], ctx.host.origin, ctx.now)
            await publish(ctx, event, told)
            queued += [(webhook.id, webhook.url, event) for webhook in told]
        return queued

    return await service.write(TENANT, unit)


async def deliveries(folder: Path, port: int, events_count: int) -> tuple[float, list[Any]]:
    """Deliveries a second by our loop, and what was sent."""
    storage = SqliteStorage.open(folder / "svc.db", COLLECTIONS, epoch=bytes(8))
    service = Service(
        storage,
        system.SystemIds(),
        system.now,
        Keyring({1: b"a key of the benchmark: 32 bytes"}, 1),
        plans.PRESETS["default"],
        Host(is_development=True),
    )
    queued = await queue(service, port, events_count)
    poster, commits, failures = Poster(loopback=True), Commits(storage), []
    began = time.perf_counter()
    loop = asyncio.create_task(deliver_loop(service, poster, commits, failures.append))
    where = {"status": ("pending", "delivering")}
    while True:
        version = commits.version
        left = await service.read(
            TENANT, lambda ctx: ctx.tx.documents.scan(DELIVERIES, where=where, limit=1)
        )
        if not left.rows:
            break
        await commits.after(version, 1.0)
        await asyncio.sleep(0.02)
    seconds = time.perf_counter() - began
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    sent = await service.read(
        TENANT,
        lambda ctx: ctx.tx.documents.scan(
            DELIVERIES, where={"status": ("delivered",)}, limit=len(queued) + 1
        ),
    )
    assert not failures, failures
    assert len(sent.rows) == len(queued)
    await poster.aclose()
    await storage.close()
    return len(queued) / seconds, queued


async def raw(queued: list[Any], *, keeps: bool) -> float:
    """Raw posts a second of the same bytes and as many fields."""
    limits = httpx2.Limits(max_keepalive_connections=AT_ONCE if keeps else 0)
    fields = {f"x-field-{number}": "a" * 40 for number in range(9)}
    if not keeps:
        fields["connection"] = "close"
    waiting = iter(queued)
    async with httpx2.AsyncClient(limits=limits, trust_env=False, timeout=10) as client:

        async def work() -> None:
            for _, url, event in waiting:
                answer = await client.post(url, content=event.body.encode(), headers=fields)
                assert answer.status_code == 204

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        return len(queued) / (time.perf_counter() - began)


async def turn(port: int, events_count: int) -> tuple[float, float, float]:
    """One turn of all three."""
    with TemporaryDirectory() as folder:
        ours, queued = await deliveries(Path(folder), port, events_count)
    return ours, await raw(queued, keeps=False), await raw(queued, keeps=True)


def main() -> int:
    """Measure, print, judge."""
    turns, events_count = (2, 40) if "--quick" in sys.argv[1:] else (5, 100)
    with socket.socket() as free:
        free.bind(("0.0.0.0", 0))
        port = free.getsockname()[1]
    sink = subprocess.Popen(
        [sys.executable, "-c", SINK, str(port)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert sink.stdout is not None
        assert sink.stdout.readline() == "ready\n"
        with asyncio.Runner(loop_factory=hypercorn.loop_factory()) as runner:
            runs = [runner.run(turn(port, events_count)) for _ in range(turns)]
    finally:
        sink.kill()
        sink.wait()
    ours, own, kept = (median(column) for column in zip(*runs, strict=True))
    ratio = median(a / b for a, b, _ in runs)
    print(f"{events_count * WEBHOOKS_TOLD} deliveries, {AT_ONCE} at once, {turns} turns")
    print(f"deliveries, all written   {ours:8.0f} /s")
    print(f"raw, a connection each    {own:8.0f} /s   ratio {ratio:.2f}, goal {GOAL:.2f}")
    print(f"raw, connections kept     {kept:8.0f} /s   ratio {ours / kept:.2f}")
    print("met" if ratio >= GOAL else "MISSED")
    return 0 if ratio >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
