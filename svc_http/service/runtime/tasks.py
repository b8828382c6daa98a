"""Chooses the background workers that the settings ask for.

Rule 1: each worker claims its work in the store, so that any number of processes may run each.
Rule 2: a process with workers also maintains the store: it deletes old answers, deliveries and
        conversations, seals secrets anew, removes files without a row and reports without a
        profile, indexes reports and signals, informs subscribers, and tells of new signals.
Rule 3: only a process that has the store alone takes over at its start what the one before it had
        begun. In a store of several processes the claims of a dead one expire.
"""

import asyncio
from contextlib import suppress
from typing import Any

from svc_core.catalog import COLLECTIONS
from svc_core.catalog.workspace_rows import end_workspaces
from svc_core.contract import idempotency
from svc_core.operation.ports import SYSTEM, SharedUnavailable, Transaction
from svc_http import system
from svc_http.outside.embeddings.model import Embeddings
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.outside.fetch.webhook_poster import DeliveryFailure, Poster
from svc_http.outside.voices.speech_port import Speech
from svc_http.service.equipment import recorder_of
from svc_http.service.key_uses import uses_loop
from svc_http.service.process_metrics import Metrics
from svc_http.service.runtime.runtime_state import Runtime, Worker
from svc_http.service.service_units import Service
from svc_http.service.workers.automation_runs import AutomationRounds
from svc_http.service.workers.claim_loop import ClaimLoop
from svc_http.service.workers.deliveries import DeliveryRounds, Sender, purge_deliveries
from svc_http.service.workers.index_turns import IndexWork
from svc_http.service.workers.item_vectors import CveVectorWork, VectorWork
from svc_http.service.workers.payment_recovery import forget_payments, reconcile_loop
from svc_http.service.workers.report_recordings import RecordingRounds, orphan_file_loop
from svc_http.service.workers.retention import (
    forget_acts,
    forget_readings,
    forget_runs,
    forget_threads,
    retention_loop,
)
from svc_http.service.workers.schedules import schedule_loop
from svc_http.service.workers.secrets import renew_secrets
from svc_http.service.workers.signal_announcements import signal_loop
from svc_http.service.workers.source_pulls import ingest_loop
from svc_http.service.workers.subscribers import subscriber_loop
from svc_http.settings import Settings

PURGE_SECONDS = 600.0
"""How often expired answers, deliveries and conversations are deleted."""

PURGE_ROWS_MAX = 1_000  # in one transaction, so that no request waits long for it


def workers_of(
    settings: Settings,
    reader: Fetcher,
    sender: Poster,
    voice: Speech | None,
    model: Embeddings | None = None,
) -> tuple[Worker, ...]:
    """The workers that the settings name, and those that maintain the store; () if all are off."""
    if not settings.workers:
        return ()
    workers: dict[str, Worker] = {
        "ingest": lambda run: ingest_loop(run.service, reader),
        "schedule": lambda run: schedule_loop(run.service),
        "deliver": lambda run: _work_on(_deliveries(run, sender), run),
        "automations": lambda run: _work_on(_automations(run), run),
    }
    if voice is not None:
        workers["speak"] = lambda run: _work_on(_recordings(run), run)
    if model is not None:
        workers["embed"] = lambda run: _embed(run, model)
    return (
        *(work for name, work in workers.items() if settings.runs(name)),
        _purge,
        lambda run: renew_secrets(run.service, run.on_failure("webhook secrets")),
        _remove_files,
        lambda run: retention_loop(run.service, run.commits, run.on_failure("reports")),
        lambda run: signal_loop(run.service, run.commits, run.on_failure("signals")),
        lambda run: subscriber_loop(run.service, run.commits, run.on_failure("subscribers")),
        _reconcile,
        lambda run: IndexWork(run.service, model, run.shared.leases).run(run.commits),
    )


async def count_uses(runtime: Runtime) -> None:
    """Write when keys were used; runs in every process that serves requests."""
    await uses_loop(runtime.service, runtime.gate.uses)


class _CountingSender:
    """Sends to webhooks and counts the attempts by their outcome."""

    def __init__(self, sender: Sender, metrics: Metrics) -> None:
        self._sender = sender
        text = "Attempts to deliver to a webhook, by what came of them."
        self._count = metrics.tally("svc_delivery_attempts", text, "outcome")
        self._count.update(dict.fromkeys(("taken", "refused", "unanswered"), 0))

    async def post(self, address: str, fields: dict[str, str], body: bytes, /) -> int:
        try:
            status = await self._sender.post(address, fields, body)
        except DeliveryFailure:
            self._count["unanswered"] += 1
            raise
        self._count["taken" if 200 <= status < 300 else "refused"] += 1
        return status


async def _work_on(loop: ClaimLoop[Any, Any], runtime: Runtime) -> None:
    if runtime.settings.dsn is None:
        await loop.take_over()
    await loop.run(runtime.commits)


def _deliveries(runtime: Runtime, sender: Sender) -> DeliveryRounds:
    counting = _CountingSender(sender, runtime.metrics)
    return DeliveryRounds(runtime.service, counting, runtime.on_failure("webhook"))


def _automations(runtime: Runtime) -> AutomationRounds:
    counters = runtime.shared.counters if runtime.settings.rate_limits else None
    return AutomationRounds(runtime.service, counters, runtime.on_failure("automation"))


def _recordings(runtime: Runtime) -> RecordingRounds:
    recorder = recorder_of(runtime.settings, runtime.storage, runtime.media)
    return RecordingRounds(runtime.service, recorder, runtime.on_failure("speech"))


async def _remove_files(runtime: Runtime) -> None:
    if runtime.media is not None:
        await orphan_file_loop(runtime.service, runtime.media, runtime.commits)


async def _embed(runtime: Runtime, model: Embeddings) -> None:
    """Compute the vectors of news, and those of vulnerabilities beside them."""
    async with asyncio.TaskGroup() as group:
        for kind in (VectorWork, CveVectorWork):
            work = kind(runtime.service, model, runtime.shared.leases)
            group.create_task(work.run(runtime.commits))


async def _reconcile(runtime: Runtime) -> None:
    if runtime.checkout is not None:
        await reconcile_loop(runtime.checkout.checkout, runtime.on_failure("payments"))


async def _purge(runtime: Runtime) -> None:
    """Delete expired rows every ten minutes; a lease lets one process of all do it."""
    holder, leases = system.new_request_id(), runtime.shared.leases
    while True:
        with suppress(SharedUnavailable):
            if await leases.take("purge", holder, 2 * PURGE_SECONDS):
                await purge_answers(runtime.service)
                ages = runtime.service.host.retention
                await purge_deliveries(runtime.service, ages["delivery"])
                await forget_runs(runtime.service, ages["run"])
                await forget_readings(runtime.service)
                await forget_threads(runtime.service)
                await forget_acts(runtime.service)
                on_failure = runtime.on_failure("erasure")
                await end_workspaces(runtime.service, COLLECTIONS, on_failure)
                if runtime.checkout is not None:
                    await forget_payments(runtime.checkout.checkout)
        await asyncio.sleep(PURGE_SECONDS)


async def purge_answers(service: Service) -> int:
    """Delete idempotency answers older than a day (Spec: Limits); return how many."""
    before, total = service.now() - idempotency.RETENTION, 0

    async def unit(tx: Transaction) -> int:
        return await tx.answers.purge(before, limit=PURGE_ROWS_MAX)

    while count := await service.storage.write(SYSTEM, unit):
        total += count
    return total
