"""Opens everything that the settings name and joins it: for a server, a worker process or a host.

Rule 1: every check that can refuse the start runs before any work begins.
Rule 2: resources are closed in the opposite order of their opening, whatever ended the run.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from starlette.routing import BaseRoute

from svc_http import system
from svc_http.outside.facilitators.x402 import check_payment_provider, payment_provider
from svc_http.service.equipment import (
    chat_of,
    embedder_of,
    fetcher_of,
    open_shared,
    open_store,
    passkey_judge,
    poster_of,
    voice_of,
)
from svc_http.service.gauges import serve_metrics
from svc_http.service.journal import LogFile
from svc_http.service.key_uses import write_last_uses
from svc_http.service.runtime import application
from svc_http.service.runtime.runtime_state import Providers, Runtime, Worker
from svc_http.service.runtime.tasks import count_uses, workers_of
from svc_http.service.secret import with_secret
from svc_http.service.workers.payment_recovery import lapse_payments
from svc_http.settings import Settings, SettingsError
from svc_http.stores import ClosableStore, StoreBusy
from svc_http.stores.counters.in_process import Coordination

STORE_WAIT_SECONDS = 1.0
"""How long a start waits for commands that have the database file open, one after another."""

STORE_POLL_SECONDS = 0.05
"""How often it tries again to open the store."""


@asynccontextmanager
async def open_application(
    settings: Settings, *, number: int | None = None, routes: Iterable[BaseRoute] = ()
) -> AsyncIterator[application.Application]:
    """Open the application of the settings, not yet started and without a control socket.

    Raises:
        SettingsError, StoreBusy, StoreNewer, StoreUnusable, DriverMissing: it cannot be, and why.
    """
    async with open_runtime(settings, count_uses, number=number) as runtime:
        payments = runtime.providers.payments
        own_routes = payments.routes if payments else ()
        service = application.build(runtime, routes=(*routes, *own_routes))
        if runtime.checkout is not None and settings.dsn is None:
            await lapse_payments(runtime.checkout.checkout, runtime.on_failure("payments"))
        await runtime.unlock()
        try:
            async with serve_metrics(service.gauges, settings, number):
                yield service
        finally:
            await write_last_uses(runtime.service, runtime.gate.uses)


@asynccontextmanager
async def open_runtime(
    settings: Settings, *workers: Worker, number: int | None = None
) -> AsyncIterator[Runtime]:
    """Open the runtime of the settings, with its workers and the given ones; it is not started.

    Raises:
        SettingsError, StoreBusy, StoreNewer, StoreUnusable, DriverMissing: it cannot be, and why.
    """
    voice, model, language_model = voice_of(settings), embedder_of(settings), chat_of(settings)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_close, model, language_model)
        shared = open_shared(settings)
        stack.push_async_callback(shared.close)
        store = await _claim_store(settings, shared)
        stack.push_async_callback(store.close)
        settings = with_secret(settings)
        reader = await stack.enter_async_context(fetcher_of(settings))
        sender = poster_of(settings)
        stack.push_async_callback(sender.aclose)
        payments = payment_provider(settings)
        stack.push_async_callback(_close, payments)
        runtime = Runtime(
            settings,
            store,
            providers=Providers(voice, model, language_model, payments, passkey_judge()),
            shared=shared,
            workers=(*workers_of(settings, reader, sender, voice, model), *workers),
            number=number,
        )
        stack.push_async_callback(runtime.stop)
        await check_payment_provider(payments, runtime.on_failure("payments"))
        await check_media(runtime)
        yield runtime


@asynccontextmanager
async def open_command_runtime(settings: Settings) -> AsyncIterator[Runtime]:
    """Open a runtime for one command: without workers, and without outside services.

    Raises:
        SettingsError, StoreBusy, StoreNewer, StoreUnusable, DriverMissing: it cannot be, and why.
    """
    shared = open_shared(settings)
    store = await open_store(settings, shared)
    try:
        runtime = Runtime(with_secret(settings), store, media=None, shared=shared)
        await runtime.unlock()
        yield runtime
        runtime.signed_heads.write()
    finally:
        await store.close()
        await shared.close()


async def _close(*parts: Any) -> None:
    for part in filter(None, parts):
        await part.aclose()


async def _claim_store(settings: Settings, shared: Coordination) -> ClosableStore:
    """Open the store; wait for a command that has it, but not as long as a server would keep it."""
    _check_log(settings)
    deadline = system.monotonic() + STORE_WAIT_SECONDS
    while True:
        try:
            return await open_store(settings, shared)
        except StoreBusy:
            if system.monotonic() > deadline:
                raise
        await asyncio.sleep(STORE_POLL_SECONDS)


def _check_log(settings: Settings) -> None:
    if settings.log_file is None:
        return
    try:
        LogFile(settings.log_file)().close()
    except OSError as error:
        reason = f"{settings.log_file} cannot be written: {error.strerror}"
        raise SettingsError(f"setting 'log_file': {reason}; choose another") from error


async def check_media(runtime: Runtime) -> None:
    """Check the media store: a wrong setting stops the start, a failure now is only logged.

    Raises:
        SettingsError: the media setting is wrong.
    """
    try:
        if runtime.media is not None:
            await runtime.media.check()
    except OSError as failure:
        runtime.journal.failure("media", failure)
