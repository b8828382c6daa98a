"""Serves the application with Hypercorn in this process, with our own answers on every path.

Rule 1: what Hypercorn refuses by itself is problem+json with a request id as well.
Rule 2: HTTP/1.1 is all that is spoken. TLS and HTTP/2 are the work of a proxy in front, and there
        is no upgrade: behind a proxy it is a smuggling surface.
Rule 3: SIGTERM drains first: streams are told to end, workers begin nothing more, and requests
        are turned away while those that run come to their end. Then every connection is closed.
Rule 4: SIGHUP drains too, for a restart: who connects waits in the queue of the socket.
Rule 5: where other processes serve the same socket, it drains in another way: no connection is
        taken any more, what comes over those that are open is answered and ends them, and one
        that is quiet is closed when it always is, after its keep-alive time.
Rule 6: whoever connects is let in. Where that is one connection too many, the oldest is closed of
        the address that has the most. Half of the places are for those over which a key was let
        in, so that no stranger costs a client its connection; there an idle one goes first.
"""

import asyncio
import errno
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

import hypercorn.protocol
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.utils import wrap_app

from svc_core.access.address import AddressRules
from svc_http.exchange.fair_shares import Bound, Shares
from svc_http.exchange.http_exchange import PART_BYTES, VIEWS, VOUCH
from svc_http.exchange.task_ends import end_tasks
from svc_http.run.server.configuration import Listening, drop
from svc_http.run.server.connection import Protocol, Socket
from svc_http.service.runtime.application import Application
from svc_http.service.runtime.runtime_state import Runtime

FILES_BESIDE = 124
"""Files and sockets that are open beside the connections: the store, the control socket, what
workers fetch and send, at most some fifty at once."""

READ_BYTES = 16 * 1024
"""How much of what a client sends is taken before it is worked on, twice at most; the system keeps
the rest. A head may have 40 kB, so that most requests are read at once."""

ACCEPTORS = 8
"""Connections that are taken in one step of the event loop, which takes one for each time that it
knows the socket. Whoever comes would wait else for a step of all requests for each one before."""

OnReady = Callable[[str, int], None]
"""Told the address once connections are answered."""


class PortBusy(Exception):  # noqa: N818 - said as the state that it is
    """Another process listens on the address; the message is one line with the way out."""

    exit_code = 2

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"port {port} on {host} is in use; try --port {port + 1}")


def install() -> None:
    """Have Hypercorn speak with our protocol in this process."""
    hypercorn.protocol.H11Protocol = Protocol  # type: ignore[attr-defined]


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any that is free.

    Raises:
        PortBusy: another process listens there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # What a client does not read is ours to bound, and does not fill the system's buffers.
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, PART_BYTES)
    try:
        listening.bind((host, port))
        listening.listen(Listening.backlog)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise PortBusy(host, port) from error
        raise
    listening.setblocking(False)
    return listening


async def serve(
    service: Application,
    listening: socket.socket,
    on_ready: OnReady | None = None,
    *,
    signals: bool = True,
) -> None:
    """Serve on a listening socket until the service is drained, which SIGTERM and SIGINT do.

    The socket is closed at the end. A second signal ends the process at once. `signals` is false
    where another part of the process handles them.
    """
    runtime = service.runtime
    install()
    if signals:  # the process is ours
        drain_on_signals(runtime)
    loop = asyncio.get_running_loop()
    host, port = listening.getsockname()[:2]
    patience = runtime.settings.graceful_seconds
    config = Listening()
    config.origin, config.unread = runtime.settings.origin, service.edge.unread
    config.keyless_requests_max = runtime.settings.keyless_requests_max
    connections_max = affordable(runtime.settings.connections_max)
    connections = _Connections(service, config, connections_max, runtime.addresses)
    async with service.router.lifespan_context(service):
        acceptors = ExitStack()
        for sock in (listening, *(listening.dup() for _ in range(ACCEPTORS - 1))):
            server = await loop.create_server(
                connections.transmission, sock=sock, backlog=Listening.backlog
            )
            acceptors.callback(server.close)
        try:
            if on_ready is not None:
                on_ready(host, port)
            await runtime.drain.wait()
            await asyncio.sleep(0)  # workers that wait for the drain themselves hear of it first
            runtime.halt()
            if runtime.refuses:
                with suppress(TimeoutError):
                    await asyncio.wait_for(service.edge.quiet(), patience)
            elif runtime.settings.processes is not None:
                acceptors.close()
                await connections.unfinished(config.keep_alive_timeout + patience)
        finally:
            acceptors.close()
            await connections.end(patience)


class _Connections:
    """The connections of one server, each a task of Hypercorn's."""

    def __init__(
        self,
        service: Application,
        listening: Listening,
        connections_max: int,
        addresses: AddressRules,
    ) -> None:
        self._app = wrap_app(service, listening.wsgi_max_body_size, "asgi")  # type: ignore[arg-type]
        self._listening = listening
        self._context = WorkerContext(None)
        self._tasks: set[asyncio.Task[None]] = set()
        self._addresses = addresses
        half = Bound(-(-connections_max // 2))
        self._strangers: Shares[Socket] = Shares(half)
        self._clients: Shares[Socket] = Shares(half, _is_idle)

    def transmission(self) -> asyncio.BaseProtocol:
        """What a new connection's bytes are told to."""
        return _Transmission(asyncio.StreamReader(READ_BYTES), self.take)

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection to its end."""
        task = asyncio.current_task()
        if task is None:
            raise AssertionError("connections are served by tasks")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        loop = asyncio.get_running_loop()
        peer = writer.get_extra_info("peername") or ("",)
        block = self._addresses.block(str(peer[0]))
        state: dict[str, Any] = {VIEWS: True}
        connection = Socket(self._app, loop, self._listening, self._context, state, reader, writer)

        def vouch() -> None:
            if state.pop(VOUCH, None) and connection in self._strangers:
                self._strangers.leave(connection)
                self._part_from(self._clients.enter(connection, block))

        state[VOUCH] = vouch
        transmission: _Transmission = writer.transport.get_protocol()  # type: ignore[assignment]
        transmission.on_end = connection.lose
        self._part_from(self._strangers.enter(connection, block))
        try:
            await connection
        finally:
            self._strangers.leave(connection)
            self._clients.leave(connection)

    def _part_from(self, connection: Socket | None) -> None:
        if connection is not None:
            drop(connection.writer)

    async def unfinished(self, seconds: float) -> None:
        """Wait until all of them have come to their end, at most so long."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    async def end(self, seconds: float) -> None:
        """Close those that are idle, and all of them when the others have had their time."""
        await self._context.terminated.set()
        await end_tasks(self._tasks, seconds)


class _Transmission(asyncio.StreamReaderProtocol):
    """The bytes of a connection, whose end is told at once and not when somebody reads on."""

    on_end: Callable[..., None] = staticmethod(lambda **_: None)

    def eof_received(self) -> bool:
        """The client says no more."""
        self.on_end(is_whole=False)
        return bool(super().eof_received())

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is no more."""
        super().connection_lost(error)
        self.on_end(is_whole=True)


def _is_idle(connection: Socket) -> bool:
    """Whether no request is under way on a connection, as far as Hypercorn's protocol tells."""
    protocol = getattr(getattr(connection, "protocol", None), "protocol", None)
    return not getattr(protocol, "stream", None)


def affordable(connections: int) -> int:
    """So many connections, or as many as this process may have files for, at least one.

    Where the system lets it, the process allows itself as many files as that takes.
    """
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return connections
    files = connections + FILES_BESIDE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < files:
        soft = files if hard == unlimited else min(files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return connections if soft == unlimited else max(1, min(connections, soft - FILES_BESIDE))


def drain_on_signals(runtime: Runtime) -> None:
    """Have SIGTERM and SIGINT drain the service; the second signal ends the process at once.

    SIGHUP does so too where nobody begins anew for it.
    """
    loop = asyncio.get_running_loop()
    numbers = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        numbers.append(signal.SIGHUP)

    def first() -> None:
        runtime.drain.set()
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in numbers:
        loop.add_signal_handler(number, first)


def run_hypercorn(service: Application, on_ready: OnReady | None = None) -> None:
    """Serve at the address of the settings until a signal, with uvloop where there is one.

    Raises:
        PortBusy: another process listens there.
    """
    settings = service.runtime.settings
    listening = listen(settings.host, settings.port)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve(service, listening, on_ready))


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes the event loop: uvloop where it is installed, else what asyncio chooses."""
    try:
        import uvloop  # noqa: PLC0415 - optional: there is none on Windows
    except ImportError:
        return None
    return uvloop.new_event_loop
