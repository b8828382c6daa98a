"""What webhooks are told, and of what (Spec: Events, Report notification webhook)."""

import json
from datetime import datetime
from typing import Any

import attrs
import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from hypothesis import given
from hypothesis import strategies as st

from svc_core import catalog
from svc_core.base import drive, instants
from svc_core.operation.context import Context
from svc_core.operation.ports import FeedPosition, Transaction
from svc_core.outbox.cloud_events import cloud_event
from svc_core.outbox.model import DELIVERIES, EVENTS, QUEUED_DELIVERIES, REPORT_GENERATED, TEST
from svc_core.reports import composition as reports
from svc_core.reports import notices
from svc_core.reports.composition import Window
from svc_core.reports.model import FACETS, REPORTS
from svc_core.reports.profiles.model import DUE, SUBSCRIPTIONS, DeliveryPreferences, Subscription
from tests.core.report_building import compose, take_stories

TEXT = (
    "Dockworkers at the port of Rotterdam stopped work on Monday over pay. "
    "The strike halted 40 container ships. The union FNV wants 8 percent more."
)


def take_in(house: Any, text: str = TEXT) -> None:
    take_stories(house, [("Dockworkers strike closes the port of Rotterdam", text)], 2)


def finish(house: Any, profile_id: str) -> reports.ComposedReport:
    return compose(house, profile_id, Window(house.clock.now(), None, by="published"))


def publish(house: Any, profile_id: str) -> Any:
    composed = finish(house, profile_id)
    return house.run(lambda ctx: reports.publish_report(ctx, composed), "wsp_a")


@pytest.fixture
def profile(house: Any) -> Any:
    take_in(house)
    return house.profile(name="Ports", topic="Strikes at European ports", keywords=["Rotterdam"])


@pytest.fixture(scope="module")
def report(house_factory: Any) -> Any:
    """A report that was composed and not published."""
    house = house_factory()
    take_in(house)
    return finish(house, house.profile(topic="Strikes at European ports")["id"])


def subscription_of(house: Any, profile: Any) -> dict[str, Any]:
    return next(row for row in house.rows("listSubscriptions") if row["profileId"] == profile["id"])


def prefer(house: Any, profile: Any, **members: Any) -> None:
    path = {"subscriptionId": subscription_of(house, profile)["id"]}
    house.send("updateSubscription", path=path, body=members)


def events(house: Any) -> list[dict[str, Any]]:
    page = house.run(lambda ctx: ctx.tx.documents.scan(EVENTS, limit=100), "wsp_a")
    return [json.loads(EVENTS.decode(row.raw).body) for row in page.rows]


# -- the body ----------------------------------------------------------------------------------


def test_a_report_is_told_as_a_cloud_event(yard: Any, profile: Any) -> None:
    house, hook = yard.house, yard.webhook()["id"]
    report = publish(house, profile["id"])
    (task,) = yard.deliver()
    fields = {"content-type": task.fields(house.clock.now())["Content-Type"]}
    event = from_http_event(HTTPMessage(fields, task.event.body.encode()))
    assert (event.get_id(), event.get_type()) == (task.event.id, REPORT_GENERATED)
    assert (event.get_source(), event.get_subject()) == ("http://127.0.0.1:8000", report.id)
    assert event.get_specversion() == "1.0"
    assert event.get_time() == house.clock.now()
    assert event.get_datacontenttype() == "application/json"
    data = event.get_data()
    at = instants.render(report.generated_at)
    path = f"http://127.0.0.1:8000/api/v1/reports/{report.id}"
    assert data == {
        "reportId": report.id,
        "profileId": profile["id"],
        "subscriptionIds": [subscription_of(house, profile)["id"]],
        "title": report.title,
        "summary": report.summary,
        "language": "en",
        "period": {
            "start": instants.render(report.period.start),
            "end": instants.render(report.period.end),
        },
        "generatedAtISO": at,
        "generatedAt": at,
        "counts": {
            "sources": 1,
            "signals": report.counts.signals,
            "entities": report.counts.entities,
            "incidents": report.counts.incidents,
            "publishers": 1,
        },
        "hasAudio": False,
        "links": {
            "self": path,
            "audio": None,
            "graph": f"{path}/graph",
            "signals": f"{path}/signals",
            "text": f"{path}/text",
        },
    }
    assert yard.statuses(hook) == ["delivered"]


def test_an_event_tells_nothing_that_is_excluded(yard: Any, profile: Any) -> None:
    yard.webhook()
    publish(yard.house, profile["id"])
    (event,) = events(yard.house)
    text = json.dumps(event)
    facets = yard.house.run(lambda ctx: ctx.load(FACETS, event["subject"]), "wsp_a")
    assert len(FACETS.decode(facets.raw).content.html) > 100
    for word in ("<", "html", "markdown", "digest", "wsp_a", "prompt", "model", "cost", "whk_"):
        assert word not in text


def test_the_former_name_of_a_time_goes_with_the_compatibility_window(report: Any) -> None:
    subscription = _subscription()
    for aliases in (True, False):
        notice_ = notices.notice(
            report.row, report.facets, subscription, origin="https://x.example", aliases=aliases
        )
        assert ("generatedAt" in notice_) == aliases
        assert notice_["generatedAtISO"] == instants.render(report.row.generated_at)


def _subscription(least: float = 0.0, at: datetime = datetime.min) -> Subscription:
    preferences = DeliveryPreferences(min_signal_confidence=least)
    return Subscription("sub_1", "prf_1", "active", preferences, at, at)


def test_signals_below_the_subscribers_confidence_are_not_counted(report: Any) -> None:
    (row, *_) = report.facets.signals or ()
    signals = tuple(attrs.evolve(row, confidence=value) for value in (0.2, 0.5, 0.9))
    facets = attrs.evolve(report.facets, signals=signals)
    for least, count in ((0.0, 3), (0.5, 2), (0.91, 0)):
        notice_ = notices.notice(report.row, facets, _subscription(least), origin="", aliases=True)
        assert notice_["counts"]["signals"] == count
    no_signals = attrs.evolve(facets, signals=None)
    notice_ = notices.notice(report.row, no_signals, _subscription(), origin="", aliases=True)
    assert notice_["counts"]["signals"] == 0


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=50).flatmap(
    lambda text: st.integers(0, 2_000).map(lambda times: text * times)
)


@given(title=TEXTS, summary=TEXTS)
def test_an_event_is_below_8_kib_whatever_the_report_holds(
    report: Any, title: str, summary: str
) -> None:
    row = attrs.evolve(report.row, title=title, summary=summary)
    origin = "https://" + "a" * 243 + ".example"
    data = notices.notice(row, report.facets, _subscription(), origin=origin, aliases=True)
    event = cloud_event(
        "evt_1", REPORT_GENERATED, row.id, source=origin, at=row.generated_at, data=data
    )
    assert len(event.body.encode()) < 8 * 1024
    assert len(data["title"]) <= 200
    assert len(data["summary"]) <= 500


def test_a_long_summary_without_spaces_is_cut_and_not_lost(report: Any) -> None:
    row = attrs.evolve(report.row, summary="港口罢工" * 400)
    data = notices.notice(row, report.facets, _subscription(), origin="", aliases=True)
    assert data["summary"] == ("港口罢工" * 125)[:499] + "…"


# -- who is told -------------------------------------------------------------------------------


def test_every_enabled_webhook_that_wants_to_is_told_once(yard: Any, profile: Any) -> None:
    house = yard.house
    second_id = house.profile(name="Other")["id"]
    rows = [
        yard.webhook()["id"],
        yard.webhook(profileIds=[profile["id"]])["id"],
        yard.webhook(profileIds=[second_id, profile["id"]])["id"],
    ]
    deaf = [yard.webhook(profileIds=[second_id])["id"]]
    gone_id = yard.webhook()["id"]
    house.send("testWebhook", path={"webhookId": gone_id})
    yard.deliver()
    yard.disable(gone_id)
    yard.webhook("wsp_b")
    publish(house, profile["id"])
    (event,) = [event for event in events(house) if event["type"] == REPORT_GENERATED]
    for hook in rows:
        assert [row.event_id for row in yard.deliveries(hook)] == [event["id"]]
    assert [yard.deliveries(hook) for hook in deaf] == [[]]
    assert len(yard.deliveries(gone_id)) == 1


def test_a_subscription_names_the_webhooks_that_are_told(yard: Any, profile: Any) -> None:
    first, two = yard.webhook()["id"], yard.webhook()["id"]
    prefer(yard.house, profile, delivery={"webhookIds": [two]})
    publish(yard.house, profile["id"])
    assert (yard.statuses(first), yard.statuses(two)) == ([], ["pending"])


@pytest.mark.parametrize("obstacle", ["paused", "no webhook", "no subscription"])
def test_nobody_is_told_and_nothing_kept_where_nobody_asks(
    yard: Any, profile: Any, obstacle: str
) -> None:
    house = yard.house
    if obstacle != "no webhook":
        yard.webhook()
    if obstacle == "paused":
        prefer(house, profile, status="paused")
    if obstacle == "no subscription":
        id_ = subscription_of(house, profile)["id"]
        house.run(lambda ctx: ctx.remove(SUBSCRIPTIONS, id_), "wsp_a")
    report = publish(house, profile["id"])
    assert house.rows("listReports")[0]["id"] == report.id
    assert events(house) == []
    assert yard.due() == ()


def test_a_report_that_only_repeats_is_not_told_again(yard: Any, profile: Any) -> None:
    yard.webhook()
    first, again = (publish(yard.house, profile["id"]) for _ in range(2))
    assert first.id == again.id
    assert len(events(yard.house)) == 1


def test_a_scheduled_report_is_told_as_one_made_by_hand(yard: Any) -> None:
    house, hook = yard.house, yard.webhook()["id"]
    profile = house.profile(topic="Strikes at European ports", frequency="hourly")
    take_in(house)
    house.clock.advance(3_600)
    due = house.run(lambda ctx: ctx.load(DUE, profile["id"]), "wsp_a")
    report = compose(house, profile["id"])
    row = house.run(lambda ctx: reports.settle_run(ctx, report, due), "wsp_a")
    assert house.run(lambda ctx: reports.settle_run(ctx, report, due), "wsp_a") is None
    (event,) = events(house)
    assert event["subject"] == row.id
    assert yard.statuses(hook) == ["pending"]


def test_a_test_event_says_nothing_but_that_deliveries_arrive(yard: Any) -> None:
    hook = yard.webhook()["id"]
    yard.house.send("testWebhook", path={"webhookId": hook})
    (event,) = events(yard.house)
    assert (event["type"], event["subject"], event["data"]) == (TEST, hook, {"webhookId": hook})


# -- one unit of work --------------------------------------------------------------------------


class Mishap(Exception):  # noqa: N818 - what a unit of work raises to be undone
    """The store gives up."""


def test_report_event_deliveries_and_change_are_all_there_or_none(yard: Any, profile: Any) -> None:
    house = yard.house
    yard.webhook()
    yard.webhook()
    composed = finish(house, profile["id"])
    before = _books(house)
    writes = 0
    while _fails_at(house, composed, writes):
        assert _books(house) == before
        writes += 1
    # The report with its change, its facets and the profile's note; the event, and three rows for
    # each webhook.
    assert writes >= 4 + 1 + 2 * 3
    after = _books(house)
    assert [after[name] - before[name] for name in after] == [1, 1, 1, 2, 2, 1]


def _books(house: Any) -> dict[str, int]:
    async def unit(ctx: Context) -> dict[str, int]:
        rows = {
            row.name: len((await ctx.tx.documents.scan(row, limit=1_000)).rows)
            for row in (REPORTS, FACETS, EVENTS, DELIVERIES, QUEUED_DELIVERIES)
        }
        feed = await ctx.tx.changes.read(FeedPosition(), limit=1_000)
        return {**rows, "changes": len(feed.changes)}

    paths: dict[str, int] = house.run(unit, "wsp_a")
    return paths


def _fails_at(house: Any, row: reports.ComposedReport, number: int) -> bool:
    """Whether publishing fails when the store does at that write."""

    async def unit(tx: Transaction) -> None:
        failing = FailingStore(tx, number)
        await reports.publish_report(house.context(failing, "wsp_a", ""), row)

    try:
        drive.run(house.store.write("wsp_a", unit))
    except Mishap:
        return True
    return False


class FailingStore:
    """A transaction that gives up at one of its writes."""

    def __init__(self, tx: Transaction, number: int) -> None:
        self._tx = tx
        self._left = number
        self.documents = self
        self.changes = self

    def __getattr__(self, name: str) -> Any:
        owner = self._tx.changes if name == "append" else self._tx.documents
        if name in {"put", "delete", "append"}:
            if self._left == 0:
                raise Mishap
            self._left -= 1
        return getattr(owner, name)


def test_the_collections_of_webhooks_are_declared_to_stores() -> None:
    names = {collection.name for collection in catalog.COLLECTIONS}
    assert {"webhooks", "webhook_secrets", "events", "deliveries", "waiting", "queues"} <= names
