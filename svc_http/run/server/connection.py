"""Serves one HTTP/1 connection under Hypercorn, with refusals of our own.

Rule 1: h11 decides what a request is, how an answer is framed and whether the connection stays.
Rule 2: what h11 would examine anew for every answer is examined once, or in a cheaper way that
        refuses no less.
Rule 3: an answer leaves in one write, and no task is made for the time between two requests.
Rule 4: requests of a connection are worked on one after another, and read only then. What a client
        has sent that leaves is forgotten, and its request under way hears of it.
Rule 5: no other protocol is ever spoken here: neither an upgrade nor the first bytes of HTTP/2
        lead to one.

Some of what is overridden here Hypercorn and h11 do not promise to keep, so `pyproject.toml` names
the versions of both that this was made for.
"""

import asyncio
import math
import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import h11
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.config import Config
from hypercorn.events import Closed, RawData, Updated
from hypercorn.protocol.events import Body, EndBody, Event, Request, Response, StreamClosed
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import ASGIHTTPState, HTTPStream
from hypercorn.typing import WorkerContext

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http import system
from svc_http.exchange.fair_shares import BOUNDS
from svc_http.exchange.http_exchange import (
    LINGER_BYTES,
    LINGER_SECONDS,
    SLOW_SECONDS,
    V1,
    VOUCH,
    Header,
)
from svc_http.run.server.configuration import Listening, drop

_REFUSALS = {
    400: problem.BAD_REQUEST,
    431: problem.HEADERS_TOO_LARGE,
    501: problem.NOT_IMPLEMENTED,
    505: problem.HTTP_VERSION_NOT_SUPPORTED,
}


class WaitingConnections:
    """The idle connections of one server, which are closed when they have waited too long.

    Hypercorn gives each of them a task with a timer of its own, cancelled and made again around
    every request. One task for all of them does the same: it closes whoever waited too long,
    and all of them once the server ends.
    """

    def __init__(
        self, context: WorkerContext, patience_seconds: float, connections_max: float = math.inf
    ) -> None:
        self._context = context
        self._patience = patience_seconds
        self._connections_max = connections_max
        self._clock = asyncio.get_running_loop().time
        # Everybody waits equally long, so the order of coming is that of the deadlines.
        self._deadlines: dict[Protocol, float] = {}
        self._task = asyncio.create_task(self._watch())

    def __len__(self) -> int:
        return len(self._deadlines)

    def add(self, connection: "Protocol") -> None:
        """A connection has nothing else to do from now on.

        Where it is one too many, the one that has waited longest is closed for it.
        """
        self._deadlines[connection] = self._clock() + self._patience
        if len(self._deadlines) > self._connections_max:
            self._close(next(iter(self._deadlines.values())))

    def discard(self, connection: "Protocol") -> None:
        """A connection has something to do, or is gone."""
        self._deadlines.pop(connection, None)

    async def _watch(self) -> None:
        while not self._context.terminated.is_set():
            # Who comes while this waits has a later deadline, so nobody is overlooked.
            until = next(iter(self._deadlines.values()), self._clock() + self._patience)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._context.terminated.wait()
            self._close(self._clock())
        self._close(math.inf)

    def _close(self, now: float) -> None:
        for connection in [link for link, until in self._deadlines.items() if until <= now]:
            del self._deadlines[connection]
            connection.close_soon()


class Requests(h11.Connection):
    """h11 as a server, with three rules of RFC 9112 that it leaves to others, until `has_left`.

    2.2: empty lines before a request are overlooked. 6.3: a length that is said twice is refused,
    which h11 would make one of. 9.6: what follows a request that ends its connection is neither
    kept nor processed, and harms the answer to that request as little.
    """

    has_left = False

    def receive_data(self, data: bytes) -> None:
        """Take bytes, unless nobody is going to read them."""
        if not self._is_over:
            super().receive_data(data)

    def next_event(self) -> Any:
        """What the client has said next.

        Raises:
            h11.RemoteProtocolError: that it is no HTTP, with the status to answer with.
        """
        if self._is_over:
            return h11.NEED_DATA
        if self.their_state is not h11.IDLE:
            return super().next_event()
        buffer = self._receive_buffer
        before = bytes(buffer)
        while before.startswith(b"\r\n"):
            buffer.maybe_extract_at_most(2)
            before = before[2:]
        if before == b"\r":
            return h11.NEED_DATA
        event = super().next_event()
        if isinstance(event, h11.Request) and b"content-length" in dict(event.headers):
            head = before[: len(before) - len(buffer)]
            if len(_LENGTH_LINE.findall(head)) > 1:
                raise h11.RemoteProtocolError("more than one Content-Length", 400)
        return event

    @property
    def _is_over(self) -> bool:
        return self.has_left or self.their_state is h11.MUST_CLOSE


_LENGTH_LINE = re.compile(rb"^content-length[ \t]*:", re.IGNORECASE | re.MULTILINE)


class _Stream(HTTPStream):
    """A request and its answer, whose fields the protocol examines and nobody before it."""

    is_last: Callable[[], bool] = staticmethod(lambda: False)

    async def handle(self, event: Any) -> None:
        """Take what the client says; its end comes behind a request that was read after it."""
        await super().handle(event)
        if isinstance(event, EndBody) and self.is_last():
            await super().handle(StreamClosed(stream_id=self.stream_id))

    async def app_send(self, message: Any) -> None:
        """Take a message of the application, or its end, for which what was asked behind waits."""
        if message is None and self.closed and self.state is not ASGIHTTPState.CLOSED:
            await self.send(StreamClosed(stream_id=self.stream_id))
            return
        if message is not None and isinstance(message.get("body"), memoryview):
            await self.send(Body(stream_id=self.stream_id, data=message["body"]))
            message = {**message, "body": b""}
        if (
            message is None
            or message["type"] != "http.response.start"
            or self.state is not ASGIHTTPState.REQUEST
        ):
            await super().app_send(message)
            return
        self.response = message
        await self.send(
            Response(
                stream_id=self.stream_id,
                headers=list(message.get("headers", ())),
                status_code=int(message["status"]),
            )
        )
        self.state = ASGIHTTPState.RESPONSE


def head(encode: Callable[[Any], bytes], status: int, headers: list[Header]) -> bytes:
    """The head of an answer; `headers` are those of the application and of the server.

    h11 examines every field of every answer by a regular expression, which costs more than all
    of this service's own work. So it is shown the one field that framing depends on, and writes
    the status line and that field; the others are added here, under two conditions. Their names
    have passed h11 before, and all of their values together hold no CR, LF or NUL (RFC 9112 2.2:
    what would split an answer in two). Any other answer takes h11's way as a whole.
    """
    framing = [pair for pair in headers if pair[0] in _FRAMING]
    fields = [pair for pair in headers if pair[0] not in _FRAMING]
    names = {name for name, _ in fields}
    if len(framing) == 1 and framing[0][0] == b"content-length" and names <= _examined:
        lines = b"\r\n".join(map(b": ".join, fields))
        breaks = max(len(fields) - 1, 0)
        if (
            lines.count(b"\r\n") == lines.count(b"\n") == lines.count(b"\r") == breaks
            and b"\0" not in lines
        ):
            head_bytes = encode(h11.Response(headers=framing, status_code=status))
            # It ends in an empty line, unless the connection is beyond answering.
            return (
                b"%b%b\r\n\r\n" % (head_bytes[:-2], lines) if head_bytes and lines else head_bytes
            )
    whole = encode(h11.Response(headers=headers, status_code=status))
    if len(_examined) < EXAMINED_MAX:
        _examined.update(name for name in names if name == name.lower())
    return whole


_FRAMING = frozenset({b"content-length", b"transfer-encoding", b"connection"})
_examined: set[bytes] = set()

EXAMINED_MAX = 200
"""Names of fields remembered: this service has some fifty, the rest is for a host's own."""


_waiting: WeakKeyDictionary[WorkerContext, tuple[WaitingConnections, WaitingConnections]] = (
    WeakKeyDictionary()
)
"""The idle connections of each server in this process, and those that are at their end."""


class Protocol(H11Protocol):
    """One connection.

    It ends in two steps (RFC 9112 9.6): its own half at once, the whole of it when the client
    has ended as well, or has had its time. A socket that is closed over bytes which nobody
    read resets the connection, and the client may lose the answer that it was sent.
    """

    config: Listening
    connection: Requests

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.connection = Requests(
            h11.SERVER, max_incomplete_event_size=self.config.h11_max_incomplete_size
        )
        self._head = b""
        self._pass_on = self.send
        self.send = self._send
        # The socket behind the function that Hypercorn gives a protocol; a test has none.
        self._writer = getattr(getattr(self._pass_on, "__self__", None), "writer", None)
        self._is_new = True
        self._is_parting = False
        self._says_no_more = False
        self._spilt = 0
        if self.context not in _waiting:
            _waiting[self.context] = (
                WaitingConnections(self.context, self.config.keep_alive_timeout),
                WaitingConnections(self.context, LINGER_SECONDS, BOUNDS["lingering"].places),
            )
        self._idle, self._ending = _waiting[self.context]

    async def _send(self, event: Any) -> None:
        """Pass on an event, but for the beginnings and ends of idleness and the end of all.

        The very first idleness is Hypercorn's own affair: it has begun before the protocol.
        """
        if isinstance(event, Closed):
            await self._part()
        elif not isinstance(event, Updated):
            await self._pass_on(event)
        elif event.idle:
            if not self.connection.has_left:  # its answer was the last thing that went on
                self._idle.add(self)
        elif self._is_new:
            self._is_new = False
            await self._pass_on(event)
        else:
            self._idle.discard(self)

    async def _part(self) -> None:
        """End our half of the connection, and all of it where that is all there is."""
        self._idle.discard(self)
        has_ended = self._says_no_more or self.connection.has_left
        is_over = has_ended or self.context.terminated.is_set()
        if is_over or self._writer is None or not self._writer.can_write_eof():
            await self._pass_on(Closed())
        elif not self._is_parting:
            self._is_parting = True
            self._ending.add(self)
            with suppress(OSError, RuntimeError):  # the client has ended it already
                self._writer.write_eof()

    def close_soon(self) -> None:
        """Close the connection, which has waited long enough."""
        self._soon(self._pass_on(Closed()))

    def lose(self, *, is_whole: bool) -> None:
        """Tell the request under way that its client says no more and, where `is_whole`, hears no
        more either. It may not learn that else: nobody reads while it is worked on."""
        self._says_no_more = True
        self.connection.has_left |= is_whole
        if is_whole:
            self._soon(self.can_read.set())  # what waits for the answer under way need not any more
        if self.stream is not None:
            exchange: Any = self.stream.scope.get("svc")
            if exchange is not None:
                exchange.has_left |= is_whole
            self._soon(self.stream.handle(StreamClosed(stream_id=STREAM_ID)))

    def _soon(self, work: Any) -> None:
        try:
            self.task_group.spawn(lambda: work)
        except RuntimeError:  # the connection has just ended by itself
            work.close()

    async def handle(self, event: Any) -> None:
        """Take bytes or the end of the connection."""
        if isinstance(event, Closed):
            self.connection.has_left = True
            self._idle.discard(self)
            self._ending.discard(self)
        elif self._is_parting:
            self._spilt += len(event.data)
            if self._spilt > LINGER_BYTES:
                self._ending.discard(self)
                await self._pass_on(Closed())
            return
        await super().handle(event)

    async def _check_protocol(self, event: h11.Request) -> None:
        """No upgrade is made: the answer is HTTP/1.1, whatever it says."""

    async def _create_stream(self, request: h11.Request) -> None:
        if request.http_version not in {b"1.1", b"1.0"}:
            await self._send_error_response(505)
            await self.send(Closed())
            return
        headers = list(request.headers)
        stream = self.stream = _Stream(
            self.app,
            self.config,
            self.context,
            self.task_group,
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            STREAM_ID,
        )
        stream.is_last = lambda: self._says_no_more
        await stream.handle(
            Request(
                stream_id=STREAM_ID,
                headers=headers,
                http_version=request.http_version.decode(),
                method=request.method.decode("ascii").upper(),
                raw_path=request.target,
                state=self.connection_state,
            )
        )
        self.keep_alive_requests += 1
        await self.context.mark_request()

    async def stream_send(self, event: Event) -> None:
        """Hold the head back until the first part of the body, as ASGI has it.

        One write instead of three for the usual answer.
        """
        if isinstance(event, Response) and event.status_code >= 200:
            headers = [*event.headers, *self._own_headers()]
            self._head = head(self._encode, event.status_code, headers)
        elif isinstance(event, Body):
            await self._send_body(event.data)
        elif isinstance(event, EndBody):
            await self._write(self._encode(h11.EndOfMessage()))
        else:
            await super().stream_send(event)

    async def _send_body(self, body: bytes | memoryview) -> None:
        """Send a part of the body; a view is not copied, so it does not share a write either."""
        if not isinstance(body, memoryview):
            await self._write(self._encode(h11.Data(data=body)))
            return
        await self._write(b"")
        part: Any = h11.Data(data=body)  # type: ignore[arg-type]  # what it need not look into
        for piece in self.connection.send_with_data_passthrough(part) or ():
            await self._pass_on(RawData(data=piece))

    def _own_headers(self) -> list[Header]:
        own = _own_fields(self.config, int(system.timestamp()))
        # Whoever has no key is a stranger to the end; a host's own application knows no keys.
        requests_max = self.config.keep_alive_max_requests
        if VOUCH in self.connection_state:
            requests_max = min(requests_max, self.config.keyless_requests_max)
        if self.keep_alive_requests >= requests_max:
            return [*own, (b"connection", b"close")]
        return own

    def _encode(self, event: Any) -> bytes:
        try:
            return self.connection.send(event) or b""
        except h11.LocalProtocolError:
            if self.connection.their_state is not h11.ERROR:
                raise
            return b""

    async def _write(self, data: bytes) -> None:
        data, self._head = self._head + data, b""
        if data:
            await self._pass_on(RawData(data=data))

    async def _send_error_response(self, status_code: int) -> None:
        request_id = system.new_request_id()
        kind = _REFUSALS.get(status_code, problem.BAD_REQUEST)
        self.config.unread(request_id, kind.status)
        body = problem.body(Problem(kind), base_url=self.config.origin, request_id=request_id)
        headers = [
            *V1,
            (b"content-type", problem.MEDIA_TYPE.encode()),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
            (b"x-request-id", request_id.encode()),
            (b"connection", b"close"),
            *self.config.response_headers("h11"),
        ]
        self._head = self._encode(h11.Response(status_code=kind.status, headers=headers))
        await self._write(self._encode(h11.Data(data=body)))
        await self._write(self._encode(h11.EndOfMessage()))


class Socket(TCPServer):
    """One connection as bytes, whose end is an end whatever the client did before.

    A socket that is closed after its client has reset it fails, in words of the operating system
    that Hypercorn does not expect; a server that ends at that moment would fail with it.
    """

    def lose(self, *, is_whole: bool) -> None:
        """The client says no more; where `is_whole`, it cannot be reached any more either."""
        protocol = getattr(getattr(self, "protocol", None), "protocol", None)
        if isinstance(protocol, Protocol):  # else it had not begun
            protocol.lose(is_whole=is_whole)

    async def _read_data(self) -> None:
        await super()._read_data()
        await self.idle_task.stop()  # nobody is there to be waited for

    async def _close(self) -> None:
        # What was written stays with the socket until it is read, which may be never.
        with suppress(OSError):
            async with asyncio.timeout(SLOW_SECONDS) as limit:
                await super()._close()
        if limit.expired():
            drop(self.writer)


@lru_cache(maxsize=4)
def _own_fields(config: Config, _second: int) -> list[Header]:
    """Hypercorn's fields, of which the date changes once a second."""
    return list(config.response_headers("h11"))
