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

import hypercorn.asyncio.run
import hypercorn.protocol
from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.config import Config

from svc_http.app import Service

OnReady = Callable[[str, int], None]
"""Told the address once connections are answered."""


class PortBusy(Exception):  # noqa: N818 - said as the state that it is
    """Another process listens on the address; the message is one line with the way out."""

    exit_code = 2

    def __init__(self, host: str, port: int) -> None:
        super().__init__(f"port {port} on {host} is in use; try --port {port + 1}")


class Listening(Config):
    """Hypercorn's settings for one server, and what our protocol needs to know of it.

    Settings carry it, because all servers of a process share one protocol.
    """

    h11_max_incomplete_size = 40_960
    """The request line and fields that are read before 431: our 32 KiB and a target."""
    keep_alive_timeout = 5.0
    keep_alive_max_requests = 1_000_000  # reconnecting costs more than it frees
    read_timeout = None  # it would cut quiet streams; bodies have their own deadline
    h2_max_concurrent_streams = 100
    max_app_queue_size = 10
    """Parts of a body that wait for the application: 10 of 64 KiB hold a slow reader's sender
    back."""
    backlog = 1_024
    include_server_header = False
    accesslog = None
    loglevel = "WARNING"

    origin = ""
    """Where links begin."""
    unread: Callable[[str, int], None] = staticmethod(lambda _id, _status: None)
    """Hears of what no application gets to see: a request's id and the status of its refusal."""


def install() -> list[str]:
    """Make Hypercorn speak with our protocol in this process.

    What our protocol misses in the installed versions of Hypercorn and h11: where that is
    anything, Hypercorn's own protocol stays, but for its upgrade to HTTP/2.
    """
    try:
        # What they import may be missing as well.
        from svc_http.server import connection, internals  # noqa: PLC0415

        missing = internals.missing()
    except ImportError as gone:
        return [str(gone)]
    if missing:
        hypercorn.protocol.H11Protocol = internals.without_upgrade()  # type: ignore[attr-defined]
    else:
        hypercorn.protocol.H11Protocol = connection.Protocol  # type: ignore[attr-defined]
        hypercorn.asyncio.run.TCPServer = connection.Socket  # type: ignore[attr-defined]
    return missing


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
        listening.listen(Listening.backlog)
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
    if missing := install():
        service.runtime.journal.note("warning", "stock protocol", missing=missing)
    if signals:  # the process is ours
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
    made = Listening()
    made.bind = [f"fd://{listening.detach()}"]
    made.graceful_timeout = settings.graceful_seconds
    made.origin, made.unread = settings.origin, service.edge.unread
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
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve(service, listening, on_ready))


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes the event loop: uvloop where it is installed, else what asyncio chooses."""
    try:
        import uvloop  # noqa: PLC0415 - optional: there is none on Windows
    except ImportError:
        return None
    return uvloop.new_event_loop
