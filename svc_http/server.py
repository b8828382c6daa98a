"""Serving with Hypercorn in this process, with answers of our own on every path.

Rule 1: what Hypercorn refuses by itself is problem+json with a request id as well.
Rule 2: no upgrade to HTTP/2 on the clear-text port: behind a proxy it is a smuggling surface.
Rule 3: SIGTERM drains first (readiness false, streams told to end), then Hypercorn stops; its
        own lifespan.shutdown comes only after it has cut streams.
"""

import asyncio
import errno
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import h11
import hypercorn.protocol
from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.config import Config
from hypercorn.events import Closed, RawData
from hypercorn.protocol.events import Body, EndBody, Event, Response
from hypercorn.protocol.h11 import H11Protocol

from svc_core import problem
from svc_core.problem import Problem
from svc_http import system
from svc_http.app import Service
from svc_http.exchange import V1

HEAD_BYTES_MAX = 40_960
"""The request line and fields that are read before 431: our 32 KiB and a target."""

KEEP_ALIVE_SECONDS = 5
KEEP_ALIVE_REQUESTS_MAX = 1_000_000  # reconnecting costs more than it frees
STREAMS_MAX = 100
QUEUE_MAX = 10
"""Parts of a body that wait for the application: 10 of 64 KiB hold a slow reader's sender back."""

BACKLOG = 1_024

OnReady = Callable[[str, int], None]
"""Told the address once connections are answered."""


class PortBusy(Exception):  # noqa: N818 - said as the state that it is
    """Another process listens on the address; the message is one line with the way out."""

    exit_code = 2

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"port {port} on {host} is in use; try --port {port + 1}")


_REFUSALS = {
    400: problem.BAD_REQUEST,
    431: problem.HEADERS_TOO_LARGE,
    501: problem.NOT_IMPLEMENTED,
    505: problem.HTTP_VERSION_NOT_SUPPORTED,
}


def _protocol(origin: str) -> type[H11Protocol]:
    """Hypercorn's HTTP/1 protocol with our refusals and one write for each answer."""

    class Protocol(H11Protocol):
        """One connection."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._head = b""

        async def _check_protocol(self, event: h11.Request) -> None:
            """Upgrades are ignored: the answer is HTTP/1.1."""

        async def _create_stream(self, request: h11.Request) -> None:
            if request.http_version in {b"1.1", b"1.0"}:
                await super()._create_stream(request)
                return
            await self._send_error_response(505)
            await self.send(Closed())

        async def stream_send(self, event: Event) -> None:
            """Hold the head back until the first part of the body, as ASGI has it.

            One write instead of three for the usual answer.
            """
            if isinstance(event, Response) and event.status_code >= 200:
                self._head = self._encode(
                    h11.Response(
                        headers=[*event.headers, *self.config.response_headers("h11")],
                        status_code=event.status_code,
                    )
                )
            elif isinstance(event, Body):
                await self._write(self._encode(h11.Data(data=event.data)))
            elif isinstance(event, EndBody):
                await self._write(self._encode(h11.EndOfMessage()))
            else:
                await super().stream_send(event)

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
                await self.send(RawData(data=data))

        async def _send_error_response(self, status_code: int) -> None:
            request_id = system.new_request_id()
            kind = _REFUSALS.get(status_code, problem.BAD_REQUEST)
            body = problem.body(Problem(kind), base_url=origin, request_id=request_id)
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

    return Protocol


def install(origin: str) -> None:
    """Make Hypercorn speak with our protocol in this process; links are under `origin`."""
    hypercorn.protocol.H11Protocol = _protocol(origin)  # type: ignore[attr-defined]


def config(descriptor: int, graceful_seconds: int) -> Config:
    """Hypercorn's settings; each differs from its default for a reason given above."""
    made = Config()
    made.bind = [f"fd://{descriptor}"]
    made.include_server_header = False
    made.h11_max_incomplete_size = HEAD_BYTES_MAX
    made.keep_alive_timeout = KEEP_ALIVE_SECONDS
    made.keep_alive_max_requests = KEEP_ALIVE_REQUESTS_MAX
    made.read_timeout = None  # it would cut quiet streams; bodies have their own deadline
    made.graceful_timeout = graceful_seconds
    made.h2_max_concurrent_streams = STREAMS_MAX
    made.max_app_queue_size = QUEUE_MAX
    made.backlog = BACKLOG
    made.accesslog = None
    made.loglevel = "WARNING"
    return made


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any that is free.

    Raises:
        PortBusy: another process listens there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as refused:
        listening.close()
        if refused.errno == errno.EADDRINUSE:
            raise PortBusy(host, port) from refused
        raise
    listening.setblocking(False)
    return listening


async def serve(
    service: Service,
    listening: socket.socket,
    on_ready: OnReady | None = None,
    *,
    signals: bool = True,
) -> None:
    """Serve on a listening socket until the service is drained, which SIGTERM and SIGINT do.

    The socket is closed at the end. A second signal ends the process at once. `signals` is false
    where another part of the process handles them.
    """
    settings = service.runtime.settings
    install(settings.origin)
    if signals:
        _on_signals(service)

    host, port = listening.getsockname()[:2]

    async def until_drained() -> None:
        # Hypercorn awaits this once it answers connections, and shuts down when it returns.
        if on_ready is not None:
            on_ready(host, port)
        await service.runtime.drain.wait()
        with suppress(TimeoutError):
            await asyncio.wait_for(service.edge.quiet(), settings.graceful_seconds)

    # Detached, because Hypercorn owns and closes it from here on.
    made = config(listening.detach(), settings.graceful_seconds)
    await hypercorn_serve(service, made, shutdown_trigger=until_drained)  # type: ignore[arg-type]


def _on_signals(service: Service) -> None:
    loop = asyncio.get_running_loop()

    def first(number: int) -> None:
        service.drain()
        loop.remove_signal_handler(number)  # the next one has its default effect

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, first, number)


def run(service: Service, on_ready: OnReady | None = None) -> None:
    """Serve at the address of the settings until a signal, with uvloop where there is one.

    Raises:
        PortBusy: another process listens there.
    """
    settings = service.runtime.settings
    listening = listen(settings.host, settings.port)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(service, listening, on_ready))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # noqa: PLC0415 - optional: there is none on Windows
    except ImportError:
        return None
    return uvloop.new_event_loop
