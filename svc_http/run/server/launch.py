"""Starts a server: puts settings, store, application, workers and control socket together.

Rule 1: everything that can refuse the start refuses before the first request is taken.
Rule 2: the address is told once connections are answered, never before.
Rule 3: what was opened is closed in the opposite order, whatever ended the run.
"""

import asyncio
import gc
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import attrs
from attrs import field, frozen

from svc_core.access import operations as accounts
from svc_core.access.one_use_links import LinkGrant, issue_link
from svc_core.access.people import is_unclaimed
from svc_core.operation.context import Context
from svc_core.operation.host import ProgressListener, silent
from svc_core.operation.ports import SYSTEM
from svc_core.payments.networks import BURN_ADDRESS
from svc_http import extras
from svc_http.dashboard import security
from svc_http.dashboard.page_markup import compile_pages
from svc_http.run.demo.seed import SeededDemo, seed_demo
from svc_http.run.hosting import controlled
from svc_http.run.server import hypercorn
from svc_http.run.server.restarts import Read, Restarts
from svc_http.service.equipment import fetcher_of, validate_settings
from svc_http.service.journal import Level
from svc_http.service.runtime.assembly import open_application
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.settings import EXAMPLE_DSN, PREFIX, Settings, SettingsError
from svc_http.system import sigterm_interrupts


@frozen
class StartedServer:
    """A server that answers requests: its addresses and whether its store is empty.

    `sign_in` is an address that lets the first person in, once; None where there is none.
    """

    settings: Settings
    admin: str
    is_empty: bool
    demo: SeededDemo | None = None
    sign_in: str | None = field(default=None, repr=False)


OnReady = Callable[[StartedServer], None]


def _silent(_: StartedServer) -> None:
    """Announce nothing: the address was printed before."""


@frozen
class _Manner:
    """How a server serves: the demo with feeds, one of several, or one that begins anew."""

    feeds: Path | None = None
    tell: ProgressListener = silent
    number: int | None = None
    restarts: Restarts | None = None


# -- running -----------------------------------------------------------------------------------


def run_server(settings: Settings, on_ready: OnReady, read: Read | None = None) -> None:
    """Serve the store of the settings until SIGTERM or SIGINT; SIGHUP begins anew with those read.

    Raises:
        SettingsError, PortBusy, StoreBusy, StoreUnusable, Unsafe, OSError: it cannot start, and
        why.
    """
    # Until the server listens for signals itself, they end the run here.
    with (
        suppress(KeyboardInterrupt),
        sigterm_interrupts(),
        _listening(validate_settings(settings)) as listening,
    ):
        ready = iter((on_ready,))  # the address is told once

        def serve(settings: Settings, restarts: Restarts) -> None:
            _run(settings, listening, next(ready, _silent), _Manner(restarts=restarts))

        Restarts(settings, read or (lambda: settings)).run(serve)


def run_demo(settings: Settings, on_ready: OnReady, tell: ProgressListener = silent) -> None:
    """Serve a store in a folder that is made now, filled, and removed at the end.

    `tell` gets the progress of filling it.

    Raises:
        SettingsError, PortBusy, Unsafe, OSError: it cannot start, and why.
    """
    if settings.env == "production":
        raise SettingsError("the demo is not for production; leave --demo out, or SVC_ENV")
    if settings.processes is not None:
        raise SettingsError("the demo has one process; leave --processes out, or --demo")
    if settings.is_open:
        raise SettingsError(
            f"the demo listens on this machine alone, not on {settings.host}; leave --host out"
        )
    with (
        suppress(KeyboardInterrupt),
        sigterm_interrupts(),
        tempfile.TemporaryDirectory(prefix="svc-demo-") as folder,
    ):
        feeds = Path(folder) / "feeds"
        feeds.mkdir()
        demo = attrs.evolve(
            settings,
            log_level=_quiet(settings),
            db=str(Path(folder) / "svc.db"),
            secret=None,
            x402_pay_to=settings.x402_pay_to
            or (None if extras.missing_modules("x402") else BURN_ADDRESS),
        )
        with _listening(validate_settings(demo)) as listening:
            _run(demo, listening, on_ready, _Manner(feeds, tell))


def _quiet(settings: Settings) -> Level:
    """Somebody who reads the demo's key at a terminal is not to lose it among requests."""
    is_seen = settings.log_file is None and sys.stderr.isatty()
    return "warning" if is_seen and settings.log_level == "info" else settings.log_level


def _listening(settings: Settings) -> closing[socket.socket]:
    return closing(hypercorn.listen(settings.host, settings.port))


def run_one_of(
    settings: Settings, listening: socket.socket, number: int, on_ready: OnReady
) -> None:
    """Serve as one of several processes, on a socket that all of them have.

    Raises:
        SettingsError, StoreUnusable, Unsafe, OSError: it cannot start, and why.
    """
    with suppress(KeyboardInterrupt), sigterm_interrupts():
        _run(
            check_shared_database(validate_settings(settings)),
            listening,
            on_ready,
            _Manner(number=number),
        )


def check_shared_database(settings: Settings) -> Settings:
    """Return the settings, if several processes may share their database.

    Raises:
        SettingsError: it is a file, or memory.
    """
    if settings.dsn is None:
        raise SettingsError(
            "setting 'processes' needs PostgreSQL, because a SQLite file has one process; for "
            f"example {PREFIX}DB={EXAMPLE_DSN}"
        )
    return settings


def _run(
    settings: Settings,
    listening: socket.socket,
    on_ready: OnReady,
    manner: _Manner,
) -> None:
    settings = settings_at_port(settings, listening)
    with asyncio.Runner(loop_factory=hypercorn.loop_factory()) as runner:
        runner.run(_serve(settings, listening, on_ready, manner))


def settings_at_port(settings: Settings, listening: socket.socket) -> Settings:
    """The settings with the port of the socket, which matters where `port` was 0."""
    return attrs.evolve(settings, port=listening.getsockname()[1])


async def _serve(
    settings: Settings,
    listening: socket.socket,
    on_ready: OnReady,
    manner: _Manner,
) -> None:
    number = manner.number
    async with open_application(settings, number=number) as service:
        runtime, acting = service.runtime, service.runtime.service
        demo = None if manner.feeds is None else await _seed(runtime, manner.feeds, manner.tell)
        async with controlled(service, number) as admin:
            is_empty = not await acting.read(SYSTEM, accounts.list_workspaces)
            sign_in = None if demo is None else demo.sign_in
            if is_empty and number in {None, 1} and security.cookie_name(runtime.settings):
                sign_in = await acting.system(_first_link)
            server = StartedServer(runtime.settings, admin, is_empty, demo, sign_in)
            with ExitStack() as stack:
                if manner.restarts is not None:
                    listening = listening.dup()  # the one that stays keeps who connects waiting
                    stack.enter_context(manner.restarts.heeds(runtime))
                # What a start makes stays, so full collections need not look at it: they cost a
                # graph answer 100 ms. What an earlier start of this process made may go.
                gc.unfreeze()
                gc.collect()
                gc.freeze()
                # 0.6 s for which neither the start nor a visit waits.
                asyncio.get_running_loop().run_in_executor(None, compile_pages)
                await hypercorn.serve(service, listening, lambda _host, _port: on_ready(server))


async def _first_link(ctx: Context) -> str | None:
    """An address for the first person of all; None where somebody can sign in."""
    if not await is_unclaimed(ctx):
        return None
    link = await issue_link(ctx, "setup", LinkGrant(role="owner", is_operator=True))
    return link.address(ctx.host.origin)


async def _seed(runtime: Runtime, folder: Path, tell: ProgressListener) -> SeededDemo:
    async with fetcher_of(runtime.settings) as reader:
        return await seed_demo(runtime.service, reader, folder, tell)
