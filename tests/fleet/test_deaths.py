"""Whatever is killed under load: nothing acknowledged is lost, and service recovers by itself."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import attrs
import pytest

from svc_core.operation.ports import Transaction
from svc_core.reports.profiles.model import DUE
from svc_http import system
from tests.fleet.fleet import Fleet, Key, Load, ask, every, profile, together, until
from tests.http.cli.test_webhooks import SECRET, Sink
from tests.http.shared.conftest import Valkey
from tests.postgres import PostgresServer

TIMES = [1, pytest.param(10, marks=pytest.mark.soak)]
PROFILES = "/api/v1/profiles"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server that may be killed, which that of the other tests may not."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def fleet(
    server: PostgresServer, fleet_of: Callable[..., Fleet], valkey: Valkey
) -> Iterator[Fleet]:
    fleet = fleet_of(server, SVC_COUNTERS=valkey.address)
    fleet.start([("--workers", "none", "--no-rate-limits")] * 2, workers=2)
    yield fleet
    for program in (*fleet.servers, *fleet.workers):
        assert program.events("failure") == []


@pytest.fixture
def load(fleet: Fleet) -> Load:
    return Load(fleet.origins, fleet.key().text, clients=6)


class Hook:
    """A webhook of a workspace of its own, and the events of which it was promised to be told."""

    def __init__(self, fleet: Fleet, sink: Sink) -> None:
        self._fleet = fleet
        self._sink = sink
        self._events: set[str] = set()
        self.key = fleet.key()
        reply = ask(
            fleet.origins[0], "/api/v1/webhooks", self.key.text, {"url": sink.url, "secret": SECRET}
        )
        self._path = f"/api/v1/webhooks/{reply.data['id']}"

    def trigger(self, count: int) -> None:
        """Have events told, asked of all servers at once."""
        test = partial(ask, path=f"{self._path}/test", key=self.key.text, body={})
        origins = (self._fleet.origins * count)[:count]
        replies = together(partial(test, origin) for origin in origins)
        self._events |= {reply.data["eventId"] for reply in replies}

    def check(self, others: int = 0) -> None:
        """All is told in the end: what was under way is, once nobody holds it any more."""
        until(lambda: self._events <= self._sink.ids, 90)
        until(lambda: {row["status"] for row in self._deliveries()} == {"delivered"}, 90)
        assert len(self._deliveries()) == len(self._events) + others

    def _deliveries(self) -> list[dict[str, Any]]:
        return every(self._fleet.origins[0], f"{self._path}/deliveries", self.key.text)


def ready(fleet: Fleet) -> set[int]:
    return {ask(origin, "/readyz").status for origin in fleet.origins}


@pytest.mark.parametrize("times", TIMES)
def test_of_servers_that_are_killed_nothing_is_lost(fleet: Fleet, load: Load, times: int) -> None:
    with load.going():
        for turn in range(times):
            victim = fleet.servers[turn % 2]
            victim.kill()
            load.wait_for()
            victim.start()
            load.wait_for()
    load.check()
    assert ready(fleet) == {200}


@pytest.mark.parametrize("times", TIMES)
def test_of_a_database_that_is_killed_nothing_is_lost_and_service_goes_on_by_itself(
    fleet: Fleet, server: PostgresServer, load: Load, times: int
) -> None:
    with load.going():
        for _ in range(times):
            server.kill()
            for origin in fleet.origins:
                # What a look of the last second has found is told for so long.
                until(lambda origin=origin: ask(origin, "/readyz").status != 200)
                away = ask(origin, "/readyz")
                assert (away.status, away.json["code"]) == (503, "STORAGE_UNAVAILABLE")
                assert "retry-after" in away.fields
                assert ask(origin, "/livez").status == 200
            before = load.statuses[503]
            until(lambda before=before: load.statuses[503] > before)
            server.start()
            until(lambda: ready(fleet) == {200}, 10)
            load.wait_for()
    load.check()


@pytest.mark.soak
def test_of_events_that_were_under_way_when_the_database_was_killed_none_is_lost(
    fleet: Fleet, server: PostgresServer, sink: Sink
) -> None:
    hook = Hook(fleet, sink)
    for _ in range(10):
        hook.trigger(20)
        server.kill()
        server.start()
        until(lambda: ready(fleet) == {200}, 10)
        hook.trigger(1)
    hook.check()


@pytest.mark.parametrize("times", TIMES)
def test_of_the_work_of_workers_that_are_killed_nothing_is_lost_or_done_twice(
    fleet: Fleet, sink: Sink, times: int
) -> None:
    hook, due = Hook(fleet, sink), list[str]()
    for turn in range(times):
        due += _due(fleet, hook.key)
        hook.trigger(6)
        report_count = len(_report_counts(fleet, hook.key))
        until(lambda report_count=report_count: len(_report_counts(fleet, hook.key)) > report_count)
        fleet.workers[turn % 2].kill()
        hook.trigger(2)
        fleet.workers[turn % 2].start()
    until(lambda: set(_report_counts(fleet, hook.key)) == set(due))
    assert _report_counts(fleet, hook.key) == Counter(due)
    hook.check(others=len(due))


@pytest.mark.parametrize("times", TIMES)
def test_of_a_place_of_counts_that_is_killed_nobody_is_told_anything_wrong(
    server: PostgresServer, fleet_of: Callable[..., Fleet], valkey: Valkey, times: int
) -> None:
    fleet = fleet_of(server, SVC_COUNTERS=valkey.address)
    fleet.start([("--workers", "none")] * 2, workers=0)
    statuses: Counter[int] = Counter()

    def come_to(status: int) -> bool:
        answers = {ask(origin, PROFILES, key).status for origin in fleet.origins}
        statuses.update(answers)
        return answers == {status}

    key = fleet.key().text
    for _ in range(times):
        for bring, status in ((valkey.kill, 503), (valkey.start, 200)):
            bring()
            until(partial(come_to, status))
    assert set(statuses) == {200, 503}


def _report_counts(fleet: Fleet, key: Key) -> Counter[str]:
    rows = every(fleet.origins[0], "/api/v1/reports", key.text)
    return Counter(row["profileId"] for row in rows)


def _due(fleet: Fleet, key: Key) -> list[str]:
    """Profiles of which a report is due since yesterday."""
    daily = profile("Daily") | {"frequency": "daily", "scheduleTimeOfDay": "07:30"}
    calls = [partial(ask, origin, PROFILES, key.text, daily) for origin in fleet.origins * 4]
    ids = [str(reply.data["id"]) for reply in together(calls)]
    before = system.now() - timedelta(days=1)

    async def date_back(tx: Transaction) -> None:
        for id_ in ids:
            row = await tx.documents.get(DUE, id_)
            assert row is not None
            due = DUE.decode(row.raw)
            await tx.documents.put(DUE, id_, attrs.evolve(due, next_run_at=before))

    fleet.do(key.workspace, date_back)
    return ids
