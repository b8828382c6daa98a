"""A model behind an address that says what a test tells it to, over a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from attrs import frozen


@frozen
class Play:
    """One answer: its status, fields and parts; None is a silence until the client leaves.

    An answer that `is_cut` ends without the end of its body.
    """

    status: int = 200
    fields: tuple[tuple[str, str], ...] = ()
    parts: tuple[bytes | None, ...] = ()
    is_cut: bool = False


class Upstream:
    """The model; `plays` are its answers in order, of which the last goes on; `request` is kept."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.plays: list[Play] = []
        self.requests: list[tuple[dict[str, str], Any]] = []
        self.departure = asyncio.Event()
        self.is_asked = asyncio.Event()

    def says(self, *parts: Any, **how: Any) -> None:
        """Answer the next request with these frames: objects, or bytes as they are."""
        raw = tuple(
            part if isinstance(part, bytes) or part is None else frame(part) for part in parts
        )
        self.plays.append(Play(parts=raw, **how))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            fields = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            body = await reader.readexactly(int(fields.get("content-length", "0")))
            request = json.loads(body) if body else None
            self.requests.append(({":path": head[0].split()[1], **fields}, request))
            play = self.plays.pop(0) if len(self.plays) > 1 else self.plays[0]
            self.is_asked.set()
            try:
                await self._answer(play, reader, writer)
            except ConnectionError:  # it left in the middle of what it was told
                self.departure.set()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _answer(
        self, play: Play, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = "".join(f"{name}: {value}\r\n" for name, value in play.fields)
        if play.parts[:1] != (None,):
            writer.write(
                f"HTTP/1.1 {play.status} x\r\ntransfer-encoding: chunked\r\n{head}\r\n".encode()
            )
        for part in play.parts:
            if part is None:
                await reader.read()
                self.departure.set()
                return
            writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            await writer.drain()
        if not play.is_cut:
            writer.write(b"0\r\n\r\n")
            await writer.drain()


@asynccontextmanager
async def upstream() -> AsyncIterator[Upstream]:
    """The model on a port of this machine."""
    servers: list[Upstream] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await servers[0].serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    servers.append(Upstream(server.sockets[0].getsockname()[1]))
    async with server:
        yield servers[0]


# -- frames ------------------------------------------------------------------------------------

END = b"data: [DONE]\n\n"


def frame(chunk: Any) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    message = {"id": "chatcmpl-secret", "object": "chat.completion.chunk", "model": "secret-model"}
    return {**message, "choices": [choice]}


def words(*texts: str, finish: str | None = "stop") -> list[dict[str, Any]]:
    chunks = [chunk(content=text) for text in texts]
    return chunks if finish is None else [*chunks, chunk(finish)]


def call(name: str | None = None, arguments: Any = None, **ids: Any) -> dict[str, Any]:
    """A fragment of a call as a delta: `index` and `id` only where they are given."""
    function = {"name": name, "arguments": arguments}
    members = {key: value for key, value in function.items() if value is not None}
    return chunk(tool_calls=[{"type": "function", "function": members, **ids}])
