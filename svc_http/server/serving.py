"""What `svc serve` runs: settings, store, application, workers and control socket, put together.

Rule 1: everything that can refuse the start refuses before the first request is taken.
Rule 2: the address is told once connections are answered, never before.
Rule 3: what was opened is closed in the opposite order, whatever ended the run.
"""

import asyncio
import ipaddress
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path

import attrs
from attrs import frozen

from svc_core import accounts
from svc_core.payments import NOBODY
from svc_core.ports import SYSTEM
from svc_http import app
from svc_http.control.channel import Control, address
from svc_http.control.lends import operator
from svc_http.demo.seed import Seeded, seed
from svc_http.providers import espeak
from svc_http.runtime.journal import Level
from svc_http.runtime.opening import (
    checked,
    fetcher,
    open_shared,
    poster,
    service_of,
    speech,
)
from svc_http.runtime.secret import secured
from svc_http.runtime.uses import write_last_uses
from svc_http.server import hypercorn
from svc_http.server.working import check_media, chosen, count_uses, own_store
from svc_http.settings import EXAMPLE_DSN, PREFIX, Settings, SettingsError
from svc_http.system import sigterm_interrupts


@frozen
class Opened:
    """A server that answers: where it is and what its store holds."""

    settings: Settings
    admin: str
    is_empty: bool
    seeded: Seeded | None = None


OnReady = Callable[[Opened], None]


# -- running -----------------------------------------------------------------------------------


def run(given: Settings, on_ready: OnReady) -> None:
    """Serve the store of the settings until SIGTERM or SIGINT.

    Raises:
        SettingsError, PortBusy, StoreBusy, Unusable, Unsafe, OSError: it cannot start, and why.
    """
    # Until the server listens for signals itself, they end the run here.
    with suppress(KeyboardInterrupt), sigterm_interrupts():
        _loop(checked(given), on_ready)


def run_demo(given: Settings, on_ready: OnReady) -> None:
    """Serve a store in a folder that is made now, filled, and removed at the end.

    Raises:
        SettingsError, PortBusy, Unsafe, OSError: it cannot start, and why.
    """
    if given.env == "production":
        raise SettingsError("the demo is not for production; leave --demo out, or SVC_ENV")
    if given.processes is not None:
        raise SettingsError("the demo has one process; leave --processes out, or --demo")
    if not _is_loopback(given.host):
        raise SettingsError(
            f"the demo listens on this machine alone, not on {given.host}; leave --host out"
        )
    with (
        suppress(KeyboardInterrupt),
        sigterm_interrupts(),
        tempfile.TemporaryDirectory(prefix="svc-demo-") as folder,
    ):
        feeds = Path(folder) / "feeds"
        feeds.mkdir()
        demo = attrs.evolve(
            _voiced(given),
            log_level=_quiet(given),
            db=str(Path(folder) / "svc.db"),
            secret=None,
            x402_pay_to=given.x402_pay_to or NOBODY,
        )
        _loop(checked(demo), on_ready, feeds)


def _voiced(given: Settings) -> Settings:
    """The settings with a voice, where one is installed and none was chosen."""
    if given.speech == "none" and espeak.is_installed():
        return attrs.evolve(given, speech="espeak")
    return given


def _quiet(given: Settings) -> Level:
    """Somebody who reads the demo's key at a terminal is not to lose it among requests."""
    is_seen = given.log_file is None and sys.stderr.isatty()
    return "warning" if is_seen and given.log_level == "info" else given.log_level


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _loop(given: Settings, on_ready: OnReady, feeds: Path | None = None) -> None:
    listening = hypercorn.listen(given.host, given.port)
    try:
        _run(given, listening, on_ready, feeds=feeds)
    finally:
        listening.close()


def run_one_of(given: Settings, listening: socket.socket, number: int, on_ready: OnReady) -> None:
    """Serve as one of several processes, on a socket that all of them have.

    Raises:
        SettingsError, Unusable, Unsafe, OSError: it cannot start, and why.
    """
    with suppress(KeyboardInterrupt), sigterm_interrupts():
        _run(shared(checked(given)), listening, on_ready, number=number)


def shared(given: Settings) -> Settings:
    """The settings, once it is clear that several processes may have their database.

    Raises:
        SettingsError: it is a file, or memory.
    """
    if given.dsn is None:
        raise SettingsError(
            "setting 'processes' needs PostgreSQL, because a SQLite file has one process; for "
            f"example {PREFIX}DB={EXAMPLE_DSN}"
        )
    return given


def _run(
    given: Settings,
    listening: socket.socket,
    on_ready: OnReady,
    *,
    feeds: Path | None = None,
    number: int | None = None,
) -> None:
    given = at(given, listening)
    with asyncio.Runner(loop_factory=hypercorn.loop_factory()) as runner:
        runner.run(_serve(given, listening, on_ready, feeds, number))


def at(given: Settings, listening: socket.socket) -> Settings:
    """The settings with the port that was found where any would do."""
    return attrs.evolve(given, port=listening.getsockname()[1])


async def _serve(
    given: Settings,
    listening: socket.socket,
    on_ready: OnReady,
    feeds: Path | None,
    number: int | None,
) -> None:
    voice = speech(given)
    async with AsyncExitStack() as stack:
        shared = open_shared(given)
        stack.push_async_callback(shared.close)
        store = await own_store(given, shared)
        stack.push_async_callback(store.close)
        given = secured(given)
        reader = await stack.enter_async_context(fetcher(given))
        sender = poster(given)
        stack.push_async_callback(sender.aclose)
        built = app.build(
            given,
            store,
            workers=(*chosen(given, reader, sender, voice), count_uses),
            speech=voice,
            number=number,
            shared=shared,
        )
        await built.runtime.unlock()
        await check_media(built.runtime)
        service = service_of(built.runtime)
        stack.push_async_callback(write_last_uses, service, built.runtime.gate.uses)
        seeded = None if feeds is None else await seed(service, reader, feeds)
        control = await Control.open(
            address(given.file, number),
            operator(built.runtime, partial(built.runtime.journal.failure, "command")),
        )
        stack.push_async_callback(control.close, given.graceful_seconds)
        is_empty = not await service.read(SYSTEM, accounts.list_workspaces)
        opened = Opened(given, control.text, is_empty, seeded)
        await hypercorn.serve(built, listening, lambda _host, _port: on_ready(opened))
