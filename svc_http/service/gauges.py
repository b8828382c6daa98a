"""Measures the store for `/metrics`: sources, deliveries, the lag of workers, the database size.

Rule 1: the store is read when metrics are requested, at most once in `LOOK_SECONDS`.
Rule 2: when the store does not answer, its metrics are left out and `svc_storage_up` is 0; the
        counts of the process itself are reported all the same.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, get_args

from attrs import frozen
from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric

from svc_core.intel.folding.model import SOURCES, HealthStatus, Source
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Collection, Overloaded, StorageUnavailable
from svc_core.outbox.model import QUEUED_DELIVERIES, QUEUES
from svc_core.reports.audio import SPEECH_REQUESTS
from svc_core.reports.profiles.model import DUE
from svc_http import system
from svc_http.service.process_metrics import Metrics
from svc_http.service.service_units import Service
from svc_http.settings import Settings
from svc_http.stores.errors import StoreUnusable

REUSE_SECONDS: Final = 5.0
"""How long a measurement is reused: Prometheus asks every 15 seconds, people in between."""
SIZE_SECONDS: Final = 60.0
"""A database does not grow by much in a minute, and PostgreSQL opens every file to say how much."""
ROWS_MAX: Final = 1_000
"""Sources and waiting deliveries that are counted; a larger number is reported as this one."""
ANSWER_SECONDS: Final = 10.0
"""How long the metrics thread waits for a measurement: as long as Prometheus waits for it."""

WORK_QUEUES: Final[dict[str, Collection[Any]]] = {
    "ingest": SOURCES,
    "schedule": DUE,
    "deliver": QUEUES,
    "speak": SPEECH_REQUESTS,
}
"""Worker name -> the collection that it takes work from, ordered by due time."""

STATUSES: Final[tuple[HealthStatus, ...]] = get_args(HealthStatus)


@frozen
class _Snapshot:
    """Metrics that were measured, and until when they are reused (monotonic seconds)."""

    families: Sequence[Metric]
    until: float


class StoreGauges:
    """Measures the store of one service; used in its event loop.

    `is_whole` is false for a service of other operations, whose store has other collections.
    """

    def __init__(
        self, service: Service, settings: Settings, metrics: Metrics, *, is_whole: bool = True
    ) -> None:
        self._service = service
        self._settings = settings
        self._metrics = metrics
        self._is_whole = is_whole
        self._lock = asyncio.Lock()
        self._snapshot = _Snapshot((), 0.0)
        self._size = _Snapshot((), 0.0)

    async def families(self) -> list[Metric]:
        """All metric families of the service."""
        async with self._lock:
            if self._snapshot.until <= system.monotonic():
                families = await self._measure()
                self._snapshot = _Snapshot(families, system.monotonic() + REUSE_SECONDS)
        return [*self._metrics.collect(), *self._snapshot.families]

    async def exposition(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        families = await self.families()
        return generate_latest(_Registry(lambda: families))

    async def _measure(self) -> Sequence[Metric]:
        if not self._is_whole:
            return []
        try:
            families = [*await self._sources(), *await self._queues(), *await self._sizes()]
        except (StorageUnavailable, Overloaded):
            return [_gauge("svc_storage_up", "Whether the store answers.", 0)]
        return [*families, _gauge("svc_storage_up", "Whether the store answers.", 1)]

    async def _sources(self) -> Iterator[Metric]:
        rows = await self._service.storage.read(
            SYSTEM, lambda tx: tx.documents.scan(SOURCES, limit=ROWS_MAX)
        )
        return _of_sources([SOURCES.decode(row.raw) for row in rows.rows], self._service.now())

    async def _queues(self) -> Sequence[Metric]:
        storage, now = self._service.storage, micros(self._service.now())
        lags = GaugeMetricFamily(
            "svc_worker_lag_seconds",
            "How long the work that is due longest has waited for a worker.",
            labels=("worker",),
        )
        for worker, collection in WORK_QUEUES.items():
            due = await storage.across(collection, end=now, limit=1)
            lags.add_metric((worker,), (now - due[0].document.order) / 1e6 if due else 0.0)
        waiting = await storage.across(QUEUED_DELIVERIES, limit=ROWS_MAX)
        text = f"Deliveries that wait for an attempt; {ROWS_MAX} stands for as many or more."
        return [lags, _gauge("svc_deliveries_pending", text, len(waiting))]

    async def _sizes(self) -> Sequence[Metric]:
        if self._size.until <= system.monotonic():
            size = await _size(self._settings.file, self._settings.dsn)
            text = "What the database takes on its disk."
            families = [] if size is None else [_gauge("svc_database_bytes", text, size)]
            self._size = _Snapshot(families, system.monotonic() + SIZE_SECONDS)
        return self._size.families


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def _of_sources(sources: Sequence[Source], now: datetime) -> Iterator[Metric]:
    by_status = GaugeMetricFamily(
        "svc_sources", f"Sources by health; {ROWS_MAX} are counted at most.", labels=("status",)
    )
    count = Counter(source.health.status for source in sources)
    for status in STATUSES:
        by_status.add_metric((status,), count[status])
    yield by_status
    ages = [
        (now - (row.health.last_success_at or row.created_at)).total_seconds() for row in sources
    ]
    text = "How long ago the source that was read longest ago was read."
    yield _gauge("svc_source_age_seconds_max", text, max(ages, default=0.0))
    failures = [row.health.consecutive_failures for row in sources]
    text = "Failures in a row of the source that has the most."
    yield _gauge("svc_source_failures_max", text, max(failures, default=0))
    yield _gauge("svc_sources_failing", "Sources whose last run failed.", sum(map(bool, failures)))


async def _size(file: str | None, dsn: str | None) -> int | None:
    """The bytes of a file with its log, or of a PostgreSQL database; None for memory."""
    if dsn is not None:
        from svc_http.stores import postgres  # noqa: PLC0415 - of an extra

        return await postgres.database_bytes(dsn)
    if file is None:
        return None
    paths = (Path(file), Path(f"{file}-wal"))
    return sum(path.stat().st_size for path in paths if path.exists())


# -- a port of their own -----------------------------------------------------------------------


@asynccontextmanager
async def serve_metrics(
    gauges: StoreGauges, settings: Settings, number: int | None
) -> AsyncIterator[None]:
    """Serve the metrics at `metrics_host` and `metrics_port` inside the block, if a port is set.

    Of several processes the first has that port, the second the next one, and so on.

    Raises:
        StoreUnusable: the address cannot be listened on.
    """
    if settings.metrics_port is None:
        yield
        return
    port = settings.metrics_port + (number or 1) - 1
    loop = asyncio.get_running_loop()

    def ask() -> list[Metric]:
        return asyncio.run_coroutine_threadsafe(gauges.families(), loop).result(ANSWER_SECONDS)

    try:
        server, thread = start_http_server(port, settings.metrics_host, _Registry(ask))
    except OSError as error:
        raise StoreUnusable(
            f"metrics_port {port} on {settings.metrics_host} cannot be listened on: "
            f"{error.strerror}; choose another"
        ) from error
    try:
        yield
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        thread.join()


class _Registry(CollectorRegistry):
    """The metrics that `ask` gives."""

    def __init__(self, ask: Callable[[], list[Metric]]) -> None:
        super().__init__()
        self._ask = ask

    def collect(self) -> Sequence[Metric]:
        return self._ask()
