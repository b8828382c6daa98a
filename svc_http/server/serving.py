"""What `svc serve` runs: settings, store, application, workers and control socket, put together.

Rule 1: everything that can refuse the start refuses before the first request is taken.
Rule 2: the address is told once connections are answered, never before.
Rule 3: what was opened is closed in the opposite order, whatever ended the run.
"""

import asyncio
import ipaddress
import socket
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path

import attrs
from attrs import frozen

from svc_core import accounts, idempotency
from svc_core.ports import SYSTEM
from svc_http import app, system
from svc_http.control.channel import Control, address
from svc_http.control.lends import operator
from svc_http.demo.seed import Seeded, seed
from svc_http.fetch import Fetcher
from svc_http.fetch.post import Poster
from svc_http.providers import espeak
from svc_http.providers.speech import Speech
from svc_http.runtime.opening import (
    Store,
    checked,
    fetcher,
    open_store,
    poster,
    recorder,
    service_of,
    speech,
)
from svc_http.runtime.runtime import Runtime, Worker
from svc_http.runtime.secret import secured
from svc_http.runtime.service import Service
from svc_http.runtime.uses import uses_loop
from svc_http.server import hypercorn
from svc_http.settings import Settings, SettingsError
from svc_http.storage import StoreBusy
from svc_http.system import sigterm_interrupts
from svc_http.workers import (
    deliver_loop,
    ingest_loop,
    purge_deliveries,
    renew_secrets,
    schedule_loop,
    take_over,
)
from svc_http.workers.deliver import PURGE_ROWS_MAX as PURGE_DELIVERIES_MAX
from svc_http.workers.speak import Recorder, speak_loop, sweep_loop

PATIENCE_SECONDS = 1.0
"""How long a start waits for a command to give the file back: a few of them, one after another."""

LOOK_SECONDS = 0.05
"""How often it looks."""

PURGE_SECONDS = 600.0
"""How often answers and deliveries that nobody may ask for any more are forgotten."""

PURGE_ROWS_MAX = 1_000  # in one transaction, so that no request waits long for it


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
        demo = attrs.evolve(_voiced(given), db=str(Path(folder) / "svc.db"), secret=None)
        _loop(checked(demo), on_ready, feeds)


def _voiced(given: Settings) -> Settings:
    """The settings with a voice, where one is installed and none was chosen."""
    if given.speech == "none" and espeak.is_installed():
        return attrs.evolve(given, speech="espeak")
    return given


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
        with asyncio.Runner(loop_factory=hypercorn.loop_factory()) as runner:
            runner.run(_serve(_at(given, listening), listening, on_ready, feeds))
    finally:
        listening.close()


def _at(given: Settings, listening: socket.socket) -> Settings:
    """The settings with the port that was found where any would do."""
    return attrs.evolve(given, port=listening.getsockname()[1])


async def _serve(
    given: Settings, listening: socket.socket, on_ready: OnReady, feeds: Path | None
) -> None:
    voice = speech(given)
    async with AsyncExitStack() as stack:
        store = await _own_store(given)
        stack.push_async_callback(store.close)
        given = secured(given)
        reader = await stack.enter_async_context(fetcher(given))
        sender = poster(given)
        stack.push_async_callback(sender.aclose)
        built = app.build(
            given,
            store,
            workers=(*_workers(reader, sender), *_speakers(voice)),
            speech=voice,
        )
        await built.runtime.unlock()
        await _check_media(built.runtime)
        service = service_of(built.runtime)
        seeded = None if feeds is None else await seed(service, reader, feeds)
        control = await Control.open(
            address(given.file),
            operator(built.runtime, partial(built.runtime.journal.failure, "command")),
            built.runtime.principals.forget_all,
        )
        stack.push_async_callback(control.close, given.graceful_seconds)
        is_empty = not await service.read(SYSTEM, accounts.list_workspaces)
        opened = Opened(given, control.text, is_empty, seeded)
        await hypercorn.serve(built, listening, lambda _host, _port: on_ready(opened))


async def _check_media(runtime: Runtime) -> None:
    """Refuse media that can never be kept; those that cannot be now are tried again."""
    try:
        if runtime.media is not None:
            await runtime.media.check()
    except OSError as failure:
        runtime.journal.failure("media", failure)


async def _own_store(given: Settings) -> Store:
    """The store, once a command that has it gives it back; a server keeps it longer than this."""
    deadline = system.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return open_store(given)
        except StoreBusy:
            if system.monotonic() > deadline:
                raise
        await asyncio.sleep(LOOK_SECONDS)


# -- workers -----------------------------------------------------------------------------------


def _workers(reader: Fetcher, sender: Poster) -> tuple[Worker, ...]:
    async def deliver(runtime: Runtime) -> None:
        failed = partial(runtime.journal.failure, "webhook")
        await take_over(service_of(runtime), failed)
        await deliver_loop(service_of(runtime), sender, runtime.commits, failed)

    async def purge(runtime: Runtime) -> None:
        while True:
            answers = await purge_answers(service_of(runtime))
            deliveries = await purge_deliveries(service_of(runtime))
            if answers < PURGE_ROWS_MAX and deliveries < PURGE_DELIVERIES_MAX:
                await asyncio.sleep(PURGE_SECONDS)

    return (
        lambda runtime: ingest_loop(service_of(runtime), reader),
        lambda runtime: schedule_loop(service_of(runtime)),
        deliver,
        purge,
        lambda runtime: renew_secrets(
            service_of(runtime), partial(runtime.journal.failure, "webhook secrets")
        ),
        lambda runtime: uses_loop(service_of(runtime), runtime.gate.uses),
    )


def _speakers(voice: Speech | None) -> tuple[Worker, ...]:
    """What speaks, where there is a voice, and what tidies up behind it, voice or not."""

    async def speak(runtime: Runtime) -> None:
        failed = partial(runtime.journal.failure, "speech")
        await speak_loop(service_of(runtime), _recorder(runtime), runtime.commits, failed)

    async def sweep(runtime: Runtime) -> None:
        if runtime.media is not None:
            await sweep_loop(service_of(runtime), runtime.media, runtime.commits)

    return (sweep,) if voice is None else (speak, sweep)


def _recorder(runtime: Runtime) -> Recorder:
    """The voice of the settings, with the media that are served."""
    return recorder(runtime.settings, runtime.storage, runtime.media)


async def purge_answers(service: Service) -> int:
    """Forget some idempotent answers that are past their day (Spec: Limits); how many went."""
    before = service.now() - idempotency.RETENTION
    return await service.storage.write(
        SYSTEM, lambda tx: tx.answers.purge(before, limit=PURGE_ROWS_MAX)
    )
