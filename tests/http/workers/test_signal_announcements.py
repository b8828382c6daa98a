"""Webhooks are told of signals that meet a subscribed subject: each once, and others of nothing."""

import asyncio
import json
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from svc_core.base import ids
from svc_core.intel.signals.detectors import signal_evidence, signal_of, write_signals
from svc_core.intel.signals.model import Signal
from svc_core.operation.source_members import SourceRef
from svc_core.outbox.model import (
    DELIVERIES,
    EVENTS,
    REPORT_GENERATED,
    SIGNAL_DETECTED,
    SIGNAL_WATCHES,
    WATCH_ID,
    SignalWatch,
)
from svc_core.reports import signal_notices as notices
from svc_core.reports.profiles.model import DeliveryPreferences, ProfileInput
from svc_core.reports.profiles.operations import CreateProfile, create_profile, subscription_of
from svc_core.testing.clock import START
from svc_core.text.evidence import readings
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query
from svc_core.webhooks.operations import WEBHOOK_ROWS, NewWebhook, WebhookRequest, delete_webhook
from svc_http.service.workers.signal_announcements import announce_signals
from tests.counted import Counted, KilledError

pytestmark = pytest.mark.anyio

TENANT, OTHER, HOUR = "wsp_a", "wsp_b", timedelta(hours=1)
SECRET = "whsec_" + "QUJD" * 8


def raise_(failure: BaseException) -> None:
    raise failure


def signal(title: str, *, hours: float = 1) -> Signal:
    """A signal whose evidence ended so many hours ago."""
    end = START - hours * HOUR
    sources = (SourceRef(ids.derived_id("src", "a", "", title), "feed", "F", None, None, START),)
    evidence = signal_evidence(0.5, 0.3, end - HOUR, end, threshold=0.1)
    return signal_of("marketMove", title, title, evidence, measure=0.2, sources=sources)


async def tell(service: Any, *titles: str, **members: Any) -> list[str]:
    rows = [signal(title, **members) for title in titles]
    await service.system(lambda ctx: write_signals(ctx, rows))
    return [row.id for row in rows]


async def desk(service: Any, tenant: str = TENANT, *, topic: str = "Port strike") -> list[str]:
    """A profile, and two webhooks: one that takes the event, and one as they are by default."""

    async def make(ctx: Any) -> list[str]:
        wish = ProfileInput(name="Ports", topic=topic, frequency="manual")
        row = json.loads((await create_profile(ctx, CreateProfile(wish))).raw)
        ids_ = [row["id"]]
        for events in ((SIGNAL_DETECTED,), (REPORT_GENERATED,)):
            hook = NewWebhook("https://hooks.example.com/svc", events=events, secret=SECRET)
            ids_.append(json.loads((await WEBHOOK_ROWS.create_row(ctx, hook)).raw)["id"])
        return ids_

    made: list[str] = await service.write(tenant, make)
    return made


async def events(service: Any, tenant: str = TENANT) -> list[tuple[str, str]]:
    """The webhook and the subject of every delivery."""

    async def read(ctx: Any) -> list[tuple[str, str]]:
        page = await ctx.tx.documents.scan(DELIVERIES, limit=100)
        rows = [DELIVERIES.decode(row.raw) for row in page.rows]
        return sorted((row.webhook_id, row.subject) for row in rows)

    pairs: list[tuple[str, str]] = await service.read(tenant, read)
    return pairs


async def test_it_is_told_of_what_is_new_and_meets_its_subject(any_house: Any) -> None:
    service = any_house.service
    await tell(service, "Port strike before anybody listened")
    profile, hook, _ = await desk(service)
    await desk(service, OTHER, topic="Coral reefs")
    (id_, *_) = await tell(service, "Port strike in Antwerp", "Wheat prices rise")
    await tell(service, "Port strike of long ago", hours=49)
    await announce_signals(service, raise_)
    await announce_signals(service, raise_)
    assert await events(service) == [(hook, id_)]
    assert await events(service, OTHER) == []
    (row,) = (await service.read(TENANT, lambda ctx: ctx.tx.documents.scan(EVENTS, limit=9))).rows
    body = json.loads(EVENTS.decode(row.raw).body)
    assert (body["type"], body["subject"], body["source"]) == (
        SIGNAL_DETECTED, id_, service.host.origin,
    )  # fmt: skip
    subscription = await service.read(TENANT, partial(subscription_of, profile_id=profile))
    assert body["data"] == {
        "resourceType": "signal",
        "resourceId": id_,
        "type": "marketMove",
        "title": "Port strike in Antwerp",
        "summary": None,
        "profileIds": [profile],
        "subscriptionIds": [subscription.id],
        "happenedAt": "2026-01-02T02:04:05Z",
        "confidence": {"value": 0.4, "statement": "0.40 of 1 by the formula of marketMove"},
        "sourceCount": 1,
        "links": {"self": f"{service.host.origin}/api/v2/signals/{id_}"},
    }


async def test_each_is_told_once_however_often_workers_are_killed(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "AT_ONCE", 2)
    service = any_house.service
    _, hook, _ = await desk(service)
    _, other, _ = await desk(service, OTHER)
    ids_ = await tell(service, *(f"Port strike {number}" for number in range(5)))
    for life in range(12):
        dying = attrs.evolve(service, storage=Counted(service.storage, life % 3))
        try:
            await asyncio.gather(*(announce_signals(dying, raise_) for _ in range(2)))
        except KilledError:
            continue
    await announce_signals(service, raise_)
    assert await events(service) == sorted((hook, id_) for id_ in ids_)
    assert await events(service, OTHER) == sorted((other, id_) for id_ in ids_)


async def test_one_that_fails_keeps_no_other_from_being_told(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, failures = house.service, []
    await desk(service)
    _, hook, _ = await desk(service, OTHER)
    (id_,) = await tell(service, "Port strike")

    class Broken(Counted):
        async def write(self, tenant: str, unit: Any) -> Any:
            if tenant == TENANT:
                raise ValueError(tenant)
            return await super().write(tenant, unit)

    broken = attrs.evolve(service, storage=Broken(service.storage))
    await announce_signals(broken, failures.append)
    assert [str(failure) for failure in failures] == [TENANT]
    assert await events(service, OTHER) == [(hook, id_)]


async def test_what_limits_a_notice(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    service = house.service
    profile, hook, _ = await desk(service)
    monkeypatch.setattr(notices, "QUEUED_MAX", 1)
    await tell(service, "Port strike one", "Port strike two")
    await announce_signals(service, raise_)
    assert len(await events(service)) == 1  # the queue is full
    monkeypatch.setattr(notices, "QUEUED_MAX", 9)

    async def raise_least(ctx: Any) -> None:
        row = await subscription_of(ctx, profile)
        delivery = DeliveryPreferences(min_signal_confidence=0.5)
        await ctx.save(notices.SUBSCRIPTIONS, row.id, attrs.evolve(row, delivery=delivery))

    await service.write(TENANT, raise_least)
    await tell(service, "Port strike three")
    await announce_signals(service, raise_)
    assert len(await events(service)) == 1
    await service.write(TENANT, lambda ctx: delete_webhook(ctx, WebhookRequest(hook)))
    await tell(service, "Port strike four")
    await announce_signals(service, raise_)
    assert await service.storage.across(SIGNAL_WATCHES, limit=9) == ()


async def test_a_store_that_was_put_back_is_watched_from_there(house: Any) -> None:
    service = house.service
    _, hook, _ = await desk(service)
    ahead = SignalWatch(10_000)
    await service.write(TENANT, lambda ctx: ctx.save(SIGNAL_WATCHES, WATCH_ID, ahead))
    await announce_signals(service, raise_)
    (id_,) = await tell(service, "Port strike")
    await announce_signals(service, raise_)
    assert await events(service) == [(hook, id_)]


@pytest.mark.parametrize(
    ("topic", "keywords", "title", "is_met"),
    [
        ("Port strike", (), "Port strike in Antwerp", True),
        ("Strikes and closures at European container ports", (), "Strike closes a port", True),
        ("Strikes and closures at European container ports", (), "Container ship sold", False),
        ("Port strike", (), "Wheat prices rise", False),
        ("Coral reefs; port strikes", (), "Port strike in Antwerp", True),
        ("Logistics", ("Antwerp",), "Antwerp", True),
    ],
)
def test_a_subject_is_met_by_documents_that_answer_it(
    topic: str, keywords: tuple[str, ...], title: str, is_met: bool
) -> None:
    documents = readings([notices.evidence_of_row(signal(title))])
    query = Query.of(topic, keywords, "en")
    assert (
        notices.meets(query, documents, Frequencies.of(row.counts for row in documents)) is is_met
    )


def test_a_notice_of_an_incident_says_how_sure_it_is() -> None:
    row: Any = SimpleNamespace(
        id="inc_1", title="Port strike", summary="Cranes stand.", category="unrest",
        confidence=0.84, last_happened_at=START, source_count=3,
    )  # fmt: skip
    notice = notices.signal_notice(notices.Finding(row, ()), [], "https://api.example")
    assert (notice["resourceType"], notice["type"]) == ("incident", "unrest")
    statement = "84% sure that at least one of its sources is right"
    assert notice["confidence"] == {"value": 0.84, "statement": statement}
    assert notice["links"]["self"].startswith("https://api.example/api/v2/")
