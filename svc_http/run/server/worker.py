"""Runs the background workers of the settings without a server, for `svc worker`."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from svc_http import system
from svc_http.run.server import hypercorn
from svc_http.run.server.restarts import Read, Restarts
from svc_http.service.equipment import validate_settings
from svc_http.service.runtime.assembly import open_runtime
from svc_http.settings import Settings
from svc_http.stores import StoreBusy, StoreUnusable


def run_workers(settings: Settings, on_ready: Callable[[], None], read: Read | None = None) -> None:
    """Run the workers of the settings until SIGTERM or SIGINT; SIGHUP begins anew with those read.

    Raises:
        SettingsError, StoreUnusable: they cannot start, and why.
    """
    ready = iter((on_ready,))  # it is told once

    def work(settings: Settings, restarts: Restarts) -> None:
        with asyncio.Runner(loop_factory=hypercorn.loop_factory()) as runner:
            runner.run(_work(settings, next(ready, lambda: None), restarts))

    with suppress(KeyboardInterrupt), system.sigterm_interrupts():
        Restarts(validate_settings(settings), read or (lambda: settings)).run(work)


async def _work(settings: Settings, on_ready: Callable[[], None], restarts: Restarts) -> None:
    try:
        async with open_runtime(settings) as runtime:
            hypercorn.drain_on_signals(runtime)
            await runtime.start()
            on_ready()
            with restarts.heeds(runtime):
                await runtime.drain.wait()
    except StoreBusy as busy:
        raise StoreUnusable(
            f"a SQLite file has one process, and {busy}; a server runs its own workers "
            "(SVC_WORKERS), or let both use PostgreSQL"
        ) from busy
