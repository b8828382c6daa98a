"""What `/metrics` tells beside requests, where it tells it, and what it does without a store."""

import asyncio
import socket
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from attrs import evolve

from svc_core import catalog
from svc_core.intel.folding.model import SOURCES
from svc_core.intel.intake.registry import SourceWish, register_source
from svc_core.operation.ports import StorageUnavailable
from svc_core.outbox.model import QUEUED_DELIVERIES, QUEUES, Queue, QueuedDelivery
from svc_http.outside.fetch.webhook_poster import DeliveryFailure
from svc_http.run import hosting
from svc_http.service import gauges as looks
from svc_http.service.process_metrics import Metrics
from svc_http.service.runtime.tasks import _CountingSender
from svc_http.settings import Settings
from svc_http.stores import StoreUnusable

SECRET = "0123456789abcdef" * 4


def _value(text: str, name: str) -> float:
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


async def _fill(runtime: Any) -> None:
    """A source that failed twice, and a webhook with a delivery that is due for a minute."""
    service, now = runtime.service, runtime.now()

    async def source(ctx: Any) -> None:
        source = await register_source(ctx, SourceWish("https://feeds.example/a"))
        health = evolve(source.health, status="error", consecutive_failures=2)
        late = now - timedelta(seconds=90)
        bad = evolve(source, created_at=late, health=evolve(health, next_attempt_at=late))
        await ctx.save(SOURCES, source.id, bad)

    async def delivery(ctx: Any) -> None:
        at = now - timedelta(seconds=60)
        await ctx.save(QUEUED_DELIVERIES, "att_1", QueuedDelivery("att_1", "whk_1", at))
        await ctx.save(QUEUES, "whk_1", Queue("whk_1", wake_at=at))

    await service.system(source)
    await service.write("wsp_1", delivery)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_metrics_tell_of_the_store_on_a_port_of_their_own(
    kind: str, tmp_path: Any, request: pytest.FixtureRequest
) -> None:
    db = str(tmp_path / "svc.db")
    if kind == "postgres":
        server = request.getfixturevalue("postgres")
        db = server.made_for(catalog.COLLECTIONS)
    port = _free()
    settings = Settings(db=db, secret=SECRET, metrics_port=port, workers=(), counters="memory")

    async def ask() -> str:
        async with hosting.opened(settings) as service:
            await _fill(service.runtime)
            transport = httpx2.ASGITransport(service)
            async with httpx2.AsyncClient(transport=transport, base_url="http://h") as client:
                assert (await client.get("/metrics")).status_code == 404
            with pytest.raises(StoreUnusable, match=f"metrics_port {port} on 127.0.0.1 cannot be"):
                async with looks.serve_metrics(service.gauges, settings, 1):
                    pass
            async with httpx2.AsyncClient(trust_env=False) as client:
                return (await client.get(f"http://127.0.0.1:{port}/metrics")).text

    text = asyncio.run(ask())

    assert _value(text, 'svc_sources{status="error"}') == 1
    assert _value(text, "svc_sources_failing") == 1
    assert _value(text, "svc_source_failures_max") == 2
    assert 90 <= _value(text, "svc_source_age_seconds_max") < 900
    assert _value(text, "svc_deliveries_pending") == 1
    assert 60 <= _value(text, 'svc_worker_lag_seconds{worker="deliver"}') < 900
    assert 90 <= _value(text, 'svc_worker_lag_seconds{worker="ingest"}') < 900
    assert _value(text, 'svc_worker_lag_seconds{worker="schedule"}') == 0
    assert _value(text, "svc_database_bytes") > 100_000
    assert _value(text, "svc_storage_up") == 1
    assert 'svc_build_info{python="' in text
    assert "process_open_fds" in text


def test_a_store_that_is_away_is_told_and_the_rest_with_it(make_house: Any) -> None:
    class Away:
        version = 0

        def __init__(self, storage: Any) -> None:
            self._storage = storage

        async def read(self, *_: Any) -> Any:
            raise StorageUnavailable("gone")

    house = make_house()
    runtime = house.service.runtime
    runtime.storage = Away(runtime.storage)
    gauges = looks.StoreGauges(runtime.service, runtime.settings, runtime.metrics)
    text = house.runner.run(gauges.exposition()).decode()

    assert _value(text, "svc_storage_up") == 0
    assert "svc_requests_in_flight" in text
    assert "svc_sources" not in text


def test_attempts_are_counted_by_what_came_of_them() -> None:
    class Sender:
        def __init__(self, *statuses: int | None) -> None:
            self.statuses = iter(statuses)

        async def post(self, *_: Any) -> int:
            status = next(self.statuses)
            if status is None:
                raise DeliveryFailure("timeout")
            return status

    metrics = Metrics()
    sender = _CountingSender(Sender(204, 500, None), metrics)

    async def three() -> None:
        for _ in range(2):
            await sender.post("https://a.example", {}, b"")
        with pytest.raises(DeliveryFailure):
            await sender.post("https://a.example", {}, b"")

    asyncio.run(three())

    family = next(
        family_ for family_ in metrics.collect() if family_.name == "svc_delivery_attempts"
    )
    assert {sample.labels["outcome"]: sample.value for sample in family.samples} == {
        "taken": 1,
        "refused": 1,
        "unanswered": 1,
    }
