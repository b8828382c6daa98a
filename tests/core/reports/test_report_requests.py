"""Reports on request: how many a workspace may have, and that each is whole, once or not at all."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base.instants import parse
from svc_core.contract.problem import Problem
from svc_core.operation.units import Units
from svc_core.outbox.model import EVENTS
from svc_core.reports.profiles.model import DUE
from svc_core.reports.profiles.operations import ProfileRequest, delete_profile
from svc_core.reports.report_requests import (
    HELD_MAX,
    HOUR,
    REPORT_REQUESTS,
    ReportRequest,
    admitted,
)
from tests.core.conftest import House
from tests.core.feeds import document, entry
from tests.sampling import examples

NOW = parse("2026-03-04T05:06:07Z")
SECOND = timedelta(seconds=1)
SPAN = {"start": "2026-01-01T00:00:00Z", "end": "2026-01-03T00:00:00Z"}


def requests(*ages: float, held: int = 0) -> list[ReportRequest]:
    """Requests of so many seconds ago, the last `held` of them still under way."""
    return [
        ReportRequest(
            str(number),
            NOW - age * SECOND,
            NOW - age * SECOND + HELD_MAX if number >= len(ages) - held else None,
        )
        for number, age in enumerate(ages)
    ]


@pytest.mark.parametrize(
    ("items", "wait"),
    [
        ([], None),
        (requests(0, held=1), None),
        (requests(1, 0, held=2), 5),
        (requests(301, 0, held=2), None),  # the first one's process has died
        (requests(3_599, 20, 10), 1),
        (requests(3_600, 20, 10), None),
        (requests(1_800, 20, 10), 1_800),
        (requests(1_800, 900, 20, 10), 2_700),  # the bound was lowered meanwhile
        (requests(-1_800, 20, 10), 3_580),  # the clock was set back by half an hour
        (requests(-3_600, 20, 10), None),
    ],
)
def test_what_a_workspace_may_ask_for(items: list[ReportRequest], wait: int | None) -> None:
    item = ReportRequest("new", NOW, NOW + HELD_MAX)
    if wait is None:
        assert item in admitted(items, item, at_once=2, per_hour=3)
        return
    with pytest.raises(Problem) as refusal:
        admitted(items, item, at_once=2, per_hour=3)
    assert refusal.value.type.code == "RATE_LIMITED"
    assert refusal.value.headers == {"Retry-After": str(wait)}


@given(
    gaps=st.lists(st.integers(0, 1_500), max_size=40),
    ended=st.lists(st.booleans(), min_size=40, max_size=40),
    per_hour=st.integers(0, 6),
)
@examples(100)
def test_no_hour_has_more_than_the_bound_and_a_wait_is_long_enough(
    gaps: list[int], ended: list[bool], per_hour: int
) -> None:
    items: tuple[ReportRequest, ...] = ()
    begun, now = [], NOW
    for number, (gap, is_ended) in enumerate(zip(gaps, ended, strict=False)):
        now += gap * SECOND
        item = ReportRequest(str(number), now, now + HELD_MAX)
        try:
            items = admitted(items, item, at_once=2, per_hour=per_hour)
        except Problem as refusal:
            now += int(refusal.headers["Retry-After"]) * SECOND
            continue
        begun.append(now)
        if is_ended:
            items = (*items[:-1], attrs.evolve(item, until=None))
        assert len(items) <= per_hour + 2
        hour = [at for at in begun if now - at < HOUR]
        assert not per_hour or len(hour) <= per_hour
        assert sum(other.until is not None and other.until > now for other in items) <= 2


# -- making one --------------------------------------------------------------------------------


class Desk(House):
    """A workspace with a profile, a webhook and an item that matches; work `meanwhile` aside."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], Any] = lambda: None
        self.take(
            self.add(),
            document(entry("1", title="Port strike begins", published_at=self.clock.now())),
        )
        self.webhook()
        self.profile_id = str(self.profile(topic="Port strike")["id"])

    @property
    def hands(self) -> Units:
        desk = self

        class Aside(Units):
            async def aside(self, work: Callable[[], Any]) -> Any:
                desk.meanwhile()
                return work()

        parts = (self.store, self.ids, self.clock.now, self.keyring, self.host)
        return Aside(*parts)

    def make(self, body: Any = None, **fields: Any) -> Any:
        return self.send("generateReport", path={"profileId": self.profile_id}, body=body, **fields)

    def refused(self, body: Any = None, **fields: Any) -> Problem:
        return self.refusal(
            "generateReport", path={"profileId": self.profile_id}, body=body, **fields
        )

    @property
    def requests(self) -> list[ReportRequest]:
        rows = self.run(lambda ctx: ctx.tx.documents.scan(REPORT_REQUESTS, limit=9), "wsp_a").rows
        return [item for row in rows for item in REPORT_REQUESTS.decode(row.raw).items]


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    assert all(item.until is None for item in desk.requests)  # whatever became of it


@pytest.mark.parametrize("body", [None, {}, SPAN])
def test_a_report_on_request_is_told_of_as_one_of_the_schedule(desk: Desk, body: Any) -> None:
    before = desk.value(DUE, desk.profile_id)
    reply = desk.make(body)
    row, fields = json.loads(reply.body)["data"], dict(reply.headers)
    view = desk.send("getReport", path={"reportId": row["id"]})
    assert (reply.status, row.pop("isNew"), row["counts"]["sources"]) == (201, True, 1)
    assert row == json.loads(view.body)["data"]
    assert fields["ETag"] == dict(view.headers)["ETag"]
    assert fields["Location"] == f"https://api.example/api/v1/reports/{row['id']}"
    assert [change["resourceId"] for change in desk.changes()][-1] == row["id"]
    events = desk.run(lambda ctx: ctx.tx.documents.scan(EVENTS, limit=9), "wsp_a").rows
    assert [EVENTS.decode(event.raw).subject for event in events] == [row["id"]]
    after = desk.value(DUE, desk.profile_id)
    assert (after.next_run_at, after.last_report_id) == (before.next_run_at, row["id"])
    assert body != SPAN or (row["period"], after.covered_until) == (SPAN, None)
    assert json.loads(desk.make(body).body)["data"]["isNew"] is False


def test_a_repetition_makes_and_counts_nothing(desk: Desk) -> None:
    first = desk.make(idempotency_key="same-key-1")
    desk.clock.advance(60)
    desk.meanwhile = lambda: pytest.fail("a replay composes nothing")
    for body in (None, {}):
        again = desk.make(body, idempotency_key="same-key-1")
        assert (again.body, dict(again.headers)["ETag"]) == (
            first.body,
            dict(first.headers)["ETag"],
        )
    assert desk.refused(SPAN, idempotency_key="same-key-1").type.code == "IDEMPOTENCY_CONFLICT"
    assert len(desk.requests) == 1


def test_two_at_once_with_one_key_make_one_report(desk: Desk) -> None:
    replies = []

    def other() -> None:
        desk.meanwhile = lambda: None
        replies.append(desk.make(SPAN, idempotency_key="same-key-1"))

    desk.meanwhile = other
    replies.append(desk.make(SPAN, idempotency_key="same-key-1"))
    assert replies[0].body == replies[1].body
    assert ("Idempotency-Replayed", "true") in replies[1].headers


def test_a_third_at_once_waits_and_another_workspace_does_not(desk: Desk) -> None:
    other = str(desk.profile("wsp_b")["id"])

    def third() -> None:
        desk.meanwhile = lambda: None
        refusal = desk.refused()
        assert (refusal.type.status, refusal.headers["Retry-After"]) == (429, "5")
        assert desk.send("generateReport", tenant="wsp_b", path={"profileId": other}).status == 201

    def second() -> None:
        desk.meanwhile = third
        desk.make()

    desk.meanwhile = second
    desk.make(SPAN)
    assert desk.make().status == 201


def test_an_hour_has_twenty_and_no_refusal_counts(desk: Desk) -> None:
    for body in ({"start": SPAN["end"], "end": SPAN["start"]}, {"start": "2099-01-01T00:00:00Z"}):
        refusal = desk.refused(body)
        assert (refusal.type.code, "/start" in refusal.detail) == ("VALIDATION_FAILED", True)
        assert "before" in refusal.resolution
    for year in ("0001", "9999"):
        assert "/end" in desk.refused({"end": f"{year}-12-31T23:59:59Z"}).detail
    nobody = {"profileId": "prf_" + "0" * 24}
    assert desk.refusal("generateReport", path=nobody).type.code == "NOT_FOUND"
    foreign = {"path": {"profileId": desk.profile_id}, "tenant": "wsp_b"}
    assert desk.refusal("generateReport", **foreign).type.code == "NOT_FOUND"
    assert desk.requests == []
    for _ in range(20):
        desk.make()
        desk.clock.advance(60)
    wait = int(desk.refused().headers["Retry-After"])
    assert wait == 40 * 60
    desk.clock.advance(wait)
    assert desk.make().status == 201
    assert len(desk.requests) == 20


@pytest.mark.parametrize("failure", [OSError("the disk"), KeyboardInterrupt()])
def test_what_fails_leaves_no_report_and_gives_its_place_back(
    desk: Desk, failure: BaseException
) -> None:
    def fail() -> None:
        raise failure

    desk.meanwhile = fail
    with pytest.raises(type(failure)):
        desk.make(idempotency_key="same-key-1")
    assert desk.rows("listReports") == []
    desk.meanwhile = lambda: None
    assert json.loads(desk.make(idempotency_key="same-key-1").body)["data"]["isNew"] is True


def test_a_profile_deleted_meanwhile_has_no_report(desk: Desk) -> None:
    request = ProfileRequest(desk.profile_id)
    desk.meanwhile = lambda: desk.run(lambda ctx: delete_profile(ctx, request), "wsp_a")
    assert desk.refused().type.code == "NOT_FOUND"
    assert desk.rows("listReports") == []
