"""What runs beside the requests, or without any: the background workers that the settings choose.

Rule 1: each claims what it does in the store, so that any number of processes may run each.
Rule 2: whoever has workers looks after the store as well: old answers, deliveries and
        conversations are forgotten, secrets sealed anew, files without a row and reports without a
        profile removed, reports and signals indexed, subscribers told.
Rule 3: only who has the store alone may take over what was under way before it began. Over a store
        of several processes, what a dead one held is free when its time is over.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

from attrs import frozen

from svc_core.contract import idempotency
from svc_core.operation.ports import SYSTEM, SharedUnavailable, Transaction
from svc_http import system
from svc_http.outside.embeddings.model import Embeddings
from svc_http.outside.facilitators.x402 import check_paying, paying
from svc_http.outside.fetch import Fetcher
from svc_http.outside.fetch.post import Poster, Undelivered
from svc_http.outside.speech.port import Speech
from svc_http.run.server import hypercorn
from svc_http.run.server.restarts import Read, Restarts
from svc_http.service.equipment import (
    chat,
    checked,
    embedder,
    fetcher,
    open_shared,
    open_store,
    poster,
    recorder,
    speech,
)
from svc_http.service.journal import LogFile
from svc_http.service.key_uses import uses_loop
from svc_http.service.metrics import Metrics
from svc_http.service.runtime import Runtime, Worker
from svc_http.service.secret import secured
from svc_http.service.service import Service
from svc_http.service.workers import automations as automate
from svc_http.service.workers import (
    deliver_loop,
    forget_loop,
    forget_threads,
    ingest_loop,
    purge_deliveries,
    renew_secrets,
    schedule_loop,
    take_over,
)
from svc_http.service.workers import recordings as speak
from svc_http.service.workers.deliveries import Sender
from svc_http.service.workers.indexes import index_loop
from svc_http.service.workers.payments import forget_paid, reconcile_loop
from svc_http.service.workers.recordings import speak_loop, sweep_loop
from svc_http.service.workers.subscribers import follow_loop
from svc_http.service.workers.vectors import embed_loop
from svc_http.settings import Settings, SettingsError
from svc_http.stores import Store, StoreBusy, Unusable
from svc_http.stores.counters import Shared
from svc_http.stores.media.places import media_of

PATIENCE_SECONDS = 1.0
"""How long a start waits for a command to give the file back: a few of them, one after another."""

LOOK_SECONDS = 0.05
"""How often it looks."""

PURGE_SECONDS = 600.0
"""How often answers and deliveries that nobody may ask for any more are forgotten."""

PURGE_ROWS_MAX = 1_000  # in one transaction, so that no request waits long for it


def _check_log(given: Settings) -> None:
    if given.log_file is None:
        return
    try:
        LogFile(given.log_file)().close()
    except OSError as refused:
        why = f"{given.log_file} cannot be written: {refused.strerror}"
        raise SettingsError(f"setting 'log_file': {why}; choose another") from refused


async def own_store(given: Settings, shared: Shared) -> Store:
    """The store, once a command that has it gives it back; a server keeps it longer than this.

    Raises:
        StoreBusy, Unusable: as `open_store`.
        SettingsError: the log cannot be written.
    """
    _check_log(given)
    deadline = system.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return await open_store(given, shared)
        except StoreBusy:
            if system.monotonic() > deadline:
                raise
        await asyncio.sleep(LOOK_SECONDS)


async def check_media(runtime: Runtime) -> None:
    """Refuse media that can never be kept; those that cannot be now are tried again.

    Raises:
        SettingsError: the setting cannot be meant.
    """
    try:
        if runtime.media is not None:
            await runtime.media.check()
    except OSError as failure:
        runtime.journal.failure("media", failure)


@frozen
class Equipment:
    """A store and what works on it; `lent` is handed on by name to whoever runs it."""

    settings: Settings
    store: Store
    reader: Fetcher
    lent: Mapping[str, Any]


@asynccontextmanager
async def equipped(given: Settings) -> AsyncIterator[Equipment]:
    """What the settings choose, opened; closed again at the end.

    Raises:
        SettingsError, StoreBusy, Newer, Unusable, DriverMissing: it cannot be, and why.
    """
    voice, model, asked = speech(given), embedder(given), chat(given)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_close, model, asked)
        shared = open_shared(given)
        stack.push_async_callback(shared.close)
        store = await own_store(given, shared)
        stack.push_async_callback(store.close)
        given = secured(given)
        reader = await stack.enter_async_context(fetcher(given))
        sender = poster(given)
        stack.push_async_callback(sender.aclose)
        paid = paying(given)
        stack.push_async_callback(_close, paid)
        lent = {"speech": voice, "embedder": model, "chat": asked, "shared": shared, "paying": paid}
        workers = chosen(given, reader, sender, voice, model)
        yield Equipment(given, store, reader, {**lent, "workers": workers})


async def _close(*parts: Any) -> None:
    for part in filter(None, parts):
        await part.aclose()


# -- without a server --------------------------------------------------------------------------


def run(given: Settings, on_ready: Callable[[], None], read: Read | None = None) -> None:
    """Run the workers of the settings until SIGTERM or SIGINT; SIGHUP begins anew with those read.

    Raises:
        SettingsError, Unusable: they cannot start, and why.
    """
    ready = iter((on_ready,))  # it is told once

    def work(settings: Settings, restarts: Restarts) -> None:
        with asyncio.Runner(loop_factory=hypercorn.loop_factory()) as runner:
            runner.run(_work(settings, next(ready, lambda: None), restarts))

    with suppress(KeyboardInterrupt), system.sigterm_interrupts():
        Restarts(checked(given), read or (lambda: given)).run(work)


async def _work(given: Settings, on_ready: Callable[[], None], restarts: Restarts) -> None:
    async with AsyncExitStack() as stack:
        try:
            made = await stack.enter_async_context(equipped(given))
        except StoreBusy as busy:
            raise Unusable(
                f"a SQLite file has one process, and {busy}; a server runs its own workers "
                "(SVC_WORKERS), or let both use PostgreSQL"
            ) from busy
        media, ids = media_of(made.settings, made.store), system.SystemIds()
        runtime = Runtime(
            made.settings, made.store, now=system.now, ids=ids, media=media, **made.lent
        )
        stack.push_async_callback(runtime.stop)
        await check_paying(made.lent["paying"], partial(runtime.journal.failure, "payments"))
        hypercorn.drain_on_signals(runtime)
        await check_media(runtime)
        await runtime.start()
        on_ready()
        with restarts.heeds(runtime):
            await runtime.drain.wait()


# -- the workers -------------------------------------------------------------------------------


def chosen(
    given: Settings,
    reader: Fetcher,
    sender: Poster,
    voice: Speech | None,
    model: Embeddings | None = None,
) -> tuple[Worker, ...]:
    """The workers that the settings choose, and what goes with any of them."""
    if not given.workers:
        return ()
    named: dict[str, Worker] = {
        "ingest": lambda runtime: ingest_loop(runtime.service, reader),
        "schedule": lambda runtime: schedule_loop(runtime.service),
        "deliver": partial(_deliver, sender),
        "automations": _automate,
    }
    if voice is not None:
        named["speak"] = _speak
    if model is not None:
        named["embed"] = partial(_embed, model)
    return (
        *(work for name, work in named.items() if given.runs(name)),
        _purge,
        _renew,
        _sweep,
        _forget,
        _follow,
        _reconcile,
        partial(_index, model),
    )


async def count_uses(runtime: Runtime) -> None:
    """Keep when keys were used: of every process that serves, whoever works."""
    await uses_loop(runtime.service, runtime.gate.uses)


class _Tallied:
    """The way out, whose attempts are counted by what came of them."""

    def __init__(self, sender: Sender, metrics: Metrics) -> None:
        self._sender = sender
        text = "Attempts to deliver to a webhook, by what came of them."
        self._count = metrics.tally("svc_delivery_attempts", text, "outcome")
        self._count.update(dict.fromkeys(("taken", "refused", "unanswered"), 0))

    async def post(self, address: str, fields: dict[str, str], body: bytes, /) -> int:
        try:
            status = await self._sender.post(address, fields, body)
        except Undelivered:
            self._count["unanswered"] += 1
            raise
        self._count["taken" if 200 <= status < 300 else "refused"] += 1
        return status


async def _deliver(sender: Sender, runtime: Runtime) -> None:
    failed = partial(runtime.journal.failure, "webhook")
    sender = _Tallied(sender, runtime.metrics)
    if runtime.settings.dsn is None:
        await take_over(runtime.service, failed)
    await deliver_loop(runtime.service, sender, runtime.commits, failed)


async def _automate(runtime: Runtime) -> None:
    failed = partial(runtime.journal.failure, "automation")
    counters = runtime.shared.counters if runtime.settings.rate_limits else None
    if runtime.settings.dsn is None:
        await automate.take_over(runtime.service)
    await automate.automate_loop(runtime.service, counters, runtime.commits, failed)


async def _speak(runtime: Runtime) -> None:
    failed = partial(runtime.journal.failure, "speech")
    recording = recorder(runtime.settings, runtime.storage, runtime.media)
    if runtime.settings.dsn is None:
        await speak.take_over(runtime.service)
    await speak_loop(runtime.service, recording, runtime.commits, failed)


async def _embed(model: Embeddings, runtime: Runtime) -> None:
    await embed_loop(runtime.service, model, runtime.commits, runtime.shared.leases)


async def _index(model: Embeddings | None, runtime: Runtime) -> None:
    await index_loop(runtime.service, model, runtime.commits, runtime.shared.leases)


async def _sweep(runtime: Runtime) -> None:
    if runtime.media is not None:
        await sweep_loop(runtime.service, runtime.media, runtime.commits)


async def _forget(runtime: Runtime) -> None:
    failed = partial(runtime.journal.failure, "reports")
    await forget_loop(runtime.service, runtime.commits, failed)


async def _follow(runtime: Runtime) -> None:
    failed = partial(runtime.journal.failure, "subscribers")
    await follow_loop(runtime.service, runtime.commits, failed)


async def _reconcile(runtime: Runtime) -> None:
    if runtime.till is not None:
        failed = partial(runtime.journal.failure, "payments")
        await reconcile_loop(runtime.till.checkout, failed)


async def _renew(runtime: Runtime) -> None:
    failed = partial(runtime.journal.failure, "webhook secrets")
    await renew_secrets(runtime.service, failed)


async def _purge(runtime: Runtime) -> None:
    """Forget what nobody may ask for any more: one process of all at a time."""
    holder, leases = system.new_request_id(), runtime.shared.leases
    while True:
        with suppress(SharedUnavailable):
            if await leases.take("purge", holder, 2 * PURGE_SECONDS):
                await purge_answers(runtime.service)
                await purge_deliveries(runtime.service)
                await forget_threads(runtime.service)
                if runtime.till is not None:
                    await forget_paid(runtime.till.checkout)
        await asyncio.sleep(PURGE_SECONDS)


async def purge_answers(service: Service) -> int:
    """Forget the idempotent answers that are past their day (Spec: Limits); how many went."""
    before, went = service.now() - idempotency.RETENTION, 0

    async def unit(tx: Transaction) -> int:
        return await tx.answers.purge(before, limit=PURGE_ROWS_MAX)

    while some := await service.storage.write(SYSTEM, unit):
        went += some
    return went
