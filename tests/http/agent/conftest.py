"""A real server whose agent does what a test says, and clients that speak in bytes."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import attrs
import pytest

from svc_core import catalog
from svc_core.access.chat_credits import CREDITS
from svc_core.agent.agent_ports import Backend, Toolbox, Turn
from svc_core.agent.answer_events import Event
from svc_core.agent.threads import THREAD_TURNS, THREADS
from svc_http.stores import MemoryStorage

SOON = 60.0
"""What has not come by then never comes: a busy machine takes its time."""

NATIVE, CHAT = "/api/v1/agent-svc/chat/stream", "/api/v1/chat/completions"

Run = Callable[[Turn], Awaitable[AsyncIterator[Event]]]


class Stage:
    """A backend that plays what it is given; it tells when it began and when it was over."""

    def __init__(self) -> None:
        self.play: Run
        self.turns: list[Turn] = []
        self.starts = threading.Semaphore(0)
        self.over = threading.Semaphore(0)

    async def open(self, turn: Turn, tools: Toolbox) -> AsyncIterator[Event]:
        self.turns.append(turn)
        self.starts.release()
        try:
            events = await self.play(turn)
        except BaseException:
            self.over.release()
            raise
        return self._events(events)

    async def _events(self, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        try:
            async for event in events:
                yield event
        finally:
            self.over.release()

    def plays(self, run: Callable[[Turn], AsyncIterator[Event]]) -> None:
        """Answer with these events."""

        async def play(turn: Turn) -> AsyncIterator[Event]:
            return run(turn)

        self.play = play


def question_body(path: str, text: str = "Who?", **members: Any) -> bytes:
    """The body of a question in the shape of a path."""
    if path == NATIVE:
        message: Any = {"role": "user", "parts": [{"type": "text", "text": text}]}
        return json.dumps({"messages": [message], **members}).encode()
    message = {"role": "user", "content": text}
    return json.dumps({"messages": [message], "stream": True, **members}).encode()


class Asker:
    """One request over a socket of its own."""

    def __init__(self, port: int, key: str, path: str, body: bytes, **fields: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), SOON)
        self.received = b""
        own = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        head = (
            f"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Length: {len(body)}\r\n{own}\r\n"
        )
        self.socket.sendall(head.encode() + body)

    def ask_again(self) -> None:
        """Send a further request, before this one is answered."""
        self.socket.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")

    def until(self, text: bytes) -> bytes:
        """What came, up to the first read that brought `text`."""
        while text not in self.received:
            came = self.socket.recv(65_536)
            assert came, self.received
            self.received += came
        return self.received

    def whole(self) -> bytes:
        """Everything up to the end of the body."""
        return self.until(b"\r\n0\r\n\r\n")

    def leave(self) -> None:
        self.socket.close()

    @property
    def frames(self) -> list[Any]:
        """The data of what came, in order."""
        lines = self.received.partition(b"\r\n\r\n")[2].split(b"\n")
        data = [line[6:] for line in lines if line.startswith(b"data: ")]
        return [item.decode() if item == b"[DONE]" else json.loads(item) for item in data]

    @property
    def fields(self) -> dict[str, str]:
        lines = self.received.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
        return dict(line.split(": ", 1) for line in lines)


class Scene:
    """The server, its agent and its store."""

    def __init__(self, wire: Any, stage: Stage) -> None:
        self.wire, self.stage = wire, stage
        self._askers: list[Asker] = []
        self.is_over = False

    def ask(self, path: str = NATIVE, text: str = "Who?", **members: Any) -> Asker:
        return self.send(path, question_body(path, text, **members))

    def send(self, path: str, body: bytes, **fields: str) -> Asker:
        self._askers.append(Asker(self.wire.port, self.wire.key, path, body, **fields))
        return self._askers[-1]

    def drain(self) -> None:
        """End the server; it closes its port and then its loop."""
        self.is_over = True
        self.wire.loop.call_soon_threadsafe(self.wire.service.drain)

    def close(self) -> None:
        for asker in self._askers:
            asker.leave()
        if not self.is_over:
            self.drain()
        self.wire.join()

    def on_loop(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Run work on the loop of the server."""
        return asyncio.run_coroutine_threadsafe(_call(work), self.wire.loop).result(SOON)

    @property
    def tasks(self) -> int:
        async def count() -> int:
            return len(asyncio.all_tasks())

        count_: int = self.on_loop(count)
        return count_

    def quiet(self) -> None:
        """Wait until the server works on nothing."""
        self.wire.log_lines()

    def account(self) -> dict[str, int]:
        """How the account stands: credits used and held, threads and turns."""
        service = self.wire.service.runtime.service

        async def count(ctx: Any) -> dict[str, int]:
            rows = [CREDITS.decode(row.raw) async for row in ctx.every(CREDITS)]
            documents = ctx.tx.documents
            return {
                "used": sum(row.used for row in rows),
                "held": sum(len(row.held) for row in rows),
                "threads": await documents.count(THREADS, limit=9_999),
                "turns": await documents.count(THREAD_TURNS, limit=9_999),
            }

        async def go() -> dict[str, int]:
            totals: dict[str, int] = {}
            for tenant in await service.tenants():
                for name, number in (await service.read(tenant, count)).items():
                    totals[name] = totals.get(name, 0) + number
            return totals

        counts: dict[str, int] = self.on_loop(go)
        return counts

    def turns(self) -> list[Any]:
        """The turns of every thread, in the order in which they ended."""
        service = self.wire.service.runtime.service

        async def read(ctx: Any) -> list[Any]:
            return [THREAD_TURNS.decode(row.raw) async for row in ctx.every(THREAD_TURNS)]

        async def go() -> list[Any]:
            rows = [await service.read(tenant, read) for tenant in await service.tenants()]
            return [turn for turns in rows for turn in reversed(turns)]

        turns: list[Any] = self.on_loop(go)
        return turns


async def _call(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


@pytest.fixture
def scene(wire_server: Any) -> Iterator[Scene]:
    stage = Stage()

    def parts() -> dict[str, Any]:
        storage = MemoryStorage(catalog.COLLECTIONS)
        return {"operations": catalog.OPERATIONS, "storage": storage}

    wire = type(wire_server)(parts=parts)
    wire.start()
    runtime = wire.service.runtime
    lends = {**runtime.host.providers, Backend: stage}
    runtime.host = attrs.evolve(runtime.host, providers=lends)
    scene = Scene(wire, stage)
    yield scene
    scene.close()
