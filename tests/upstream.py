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
    """The model; `plays` are its answers in order, of which the last goes on; `asked` is kept."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.plays: list[Play] = []
        self.asked: list[tuple[dict[str, str], Any]] = []
        self.left = asyncio.Event()
        self.is_asked = asyncio.Event()

    def says(self, *parts: Any, **how: Any) -> None:
        """Answer the next request with these frames: objects, or bytes as they are."""
        raw = tuple(one if isinstance(one, bytes) or one is None else frame(one) for one in parts)
        self.plays.append(Play(parts=raw, **how))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            fields = dict(line.lower().split(": ", 1) for line in head[1:] if line)
            body = await reader.readexactly(int(fields.get("content-length", "0")))
            asked = json.loads(body) if body else None
            self.asked.append(({":path": head[0].split()[1], **fields}, asked))
            play = self.plays.pop(0) if len(self.plays) > 1 else self.plays[0]
            self.is_asked.set()
            try:
                await self._answer(play, reader, writer)
            except ConnectionError:  # it left in the middle of what it was told
                self.left.set()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _answer(
        self, play: Play, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        told = "".join(f"{name}: {value}\r\n" for name, value in play.fields)
        if play.parts[:1] != (None,):
            writer.write(
                f"HTTP/1.1 {play.status} x\r\ntransfer-encoding: chunked\r\n{told}\r\n".encode()
            )
        for part in play.parts:
            if part is None:
                await reader.read()
                self.left.set()
                return
            writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            await writer.drain()
        if not play.is_cut:
            writer.write(b"0\r\n\r\n")
            await writer.drain()


@asynccontextmanager
async def upstream() -> AsyncIterator[Upstream]:
    """The model on a port of this machine."""
    made: list[Upstream] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await made[0].serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made.append(Upstream(server.sockets[0].getsockname()[1]))
    async with server:
        yield made[0]


# -- frames ------------------------------------------------------------------------------------

DONE = b"data: [DONE]\n\n"


def frame(chunk: Any) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    told = {"id": "chatcmpl-secret", "object": "chat.completion.chunk", "model": "secret-model"}
    return {**told, "choices": [choice]}


def words(*texts: str, finish: str | None = "stop") -> list[dict[str, Any]]:
    said = [chunk(content=text) for text in texts]
    return said if finish is None else [*said, chunk(finish)]


def call(name: str | None = None, arguments: Any = None, **ids: Any) -> dict[str, Any]:
    """A fragment of a call as a delta: `index` and `id` only where they are given."""
    function = {"name": name, "arguments": arguments}
    kept = {key: value for key, value in function.items() if value is not None}
    return chunk(tool_calls=[{"type": "function", "function": kept, **ids}])
