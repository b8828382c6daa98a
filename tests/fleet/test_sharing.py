"""Two servers and two workers over one database: what one does, the other knows."""

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import attrs
import httpx2
import pytest

from svc_core.operation.ports import Transaction
from svc_core.reports.profiles.model import DUE
from svc_http import system
from tests.fleet.fleet import Changes, Client, Fleet, ask, changes, every, profile, together, until
from tests.http.cli.test_webhooks import SECRET, Sink
from tests.http.shared.conftest import Valkey
from tests.postgres import PostgresServer


@pytest.fixture(scope="module")
def fleet(
    fleet_of: Callable[..., Fleet], postgres: PostgresServer, valkey: Valkey
) -> Iterator[Fleet]:
    empty = postgres.dsn(postgres.fresh())  # whoever is first makes the tables
    fleet = fleet_of(db=empty, SVC_COUNTERS=valkey.address)
    fleet.start([("--workers", "none", "--no-rate-limits")] * 2, workers=2)
    yield fleet
    for program in (*fleet.servers, *fleet.workers):
        assert program.events("failure", "storage", "worker", "webhook") == []


def test_fifty_identical_creations_over_both_servers_make_one(fleet: Fleet) -> None:
    key = fleet.key().text
    calls = [
        partial(
            ask, origin, "/api/v1/profiles", key, profile("One"), Idempotency_Key="the-only-key"
        )
        for origin in fleet.origins * 25
    ]
    replies = together(calls)
    assert {reply.status for reply in replies} == {201}
    assert len({reply.body for reply in replies}) == 1
    assert len({(r.fields["etag"], r.fields["location"]) for r in replies}) == 1
    for origin in fleet.origins:
        assert len(every(origin, "/api/v1/profiles", key)) == 1


# -- keys --------------------------------------------------------------------------------------


def _seconds_until_dead(fleet: Fleet, key: str, began: float) -> float:
    """How long after that the key was believed for the last time, on the second server."""
    last_success = began
    with closing(Client(key)) as client:
        while True:
            asked_at = time.monotonic()
            status = client.ask(fleet.origins[1], "/api/v1/profiles").status
            if status == 401:
                return last_success - began
            assert (status, asked_at < began + 30) == (200, True)
            last_success = asked_at


@pytest.mark.parametrize("way", ["server", "database"])
def test_a_key_that_is_revoked_elsewhere_is_dead_at_once(fleet: Fleet, way: str) -> None:
    spans = []
    admin = ("--server", fleet.servers[0].start_line["admin"]) if way == "server" else ()
    for _ in range(5):
        key, key_id, _ = fleet.key()
        assert ask(fleet.origins[1], "/api/v1/profiles", key).status == 200
        fleet.svc("keys", "revoke", key_id, *admin)
        spans.append(_seconds_until_dead(fleet, key, time.monotonic()))
    # On a machine that does something else at the same time, one of them may be late.
    assert sorted(spans)[2] < 0.1


def _deafen(valkey: Valkey) -> None:
    """Cut off everybody who listens; they listen again a second later."""
    with closing(socket.create_connection(("127.0.0.1", valkey.port))) as connection:
        connection.sendall(b"CLIENT KILL TYPE pubsub\r\n")
        assert int(connection.recv(100)[1:]) >= 4


def test_where_no_notice_comes_a_revoked_key_is_dead_after_a_second(
    fleet: Fleet, valkey: Valkey
) -> None:
    key, key_id, _ = fleet.key()
    assert ask(fleet.origins[1], "/api/v1/profiles", key).status == 200
    began = time.monotonic()
    _deafen(valkey)
    fleet.svc("keys", "revoke", key_id, "--server", fleet.servers[0].start_line["admin"])
    took = time.monotonic() - began
    assert _seconds_until_dead(fleet, key, began) < 1.1 + took


# -- the feed ----------------------------------------------------------------------------------


class Tail:
    """The feed as one server streams it; when each profile was heard of."""

    def __init__(self, origin: str, key: str) -> None:
        self.times: dict[str, float] = {}
        self._is_open = threading.Event()
        self._address = f"{origin}/api/v2/changes?tail=true"
        self._fields = {"authorization": f"Bearer {key}", "accept": "text/event-stream"}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow)

    @contextmanager
    def following(self, last: Callable[[], object]) -> Iterator["Tail"]:
        """Follow it, until what comes `last`."""
        self._thread.start()
        assert self._is_open.wait(30)
        try:
            yield self
        finally:
            self._over.set()
            last()
            self._thread.join(30)

    def _follow(self) -> None:
        with (
            httpx2.Client(trust_env=False, timeout=30) as client,
            client.stream("GET", self._address, headers=self._fields) as answer,
        ):
            assert answer.status_code == 200, answer.read()
            self._is_open.set()
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    row = json.loads(line[5:])
                    self.times.setdefault(row["resourceId"], time.monotonic())
                if self._over.is_set():
                    return


def test_the_stream_of_one_server_tells_of_writes_through_the_other(fleet: Fleet) -> None:
    key = fleet.key().text
    spans = []

    def write() -> str:
        return str(ask(fleet.origins[1], "/api/v1/profiles", key, profile("P")).data["id"])

    with Tail(fleet.origins[0], key).following(last=write) as tail:
        for _ in range(5):
            id_, began = write(), time.monotonic()
            until(lambda id_=id_: id_ in tail.times, 30)
            spans.append(tail.times[id_] - began)
    assert max(spans) < 1


def test_of_twelve_writers_a_reader_misses_repeats_and_inverts_nothing(fleet: Fleet) -> None:
    key = fleet.key().text
    over = threading.Event()

    def read() -> list[dict[str, Any]]:
        with closing(Changes(fleet.origins, key)) as feed:
            while feed.read() or not over.is_set():
                pass
            return feed.read_all()

    def write(number: int) -> list[str]:
        with closing(Client(key)) as client:
            return [
                client.ask(
                    fleet.origins[(number + turn) % 2], "/api/v1/profiles", profile(f"{number}")
                ).data["id"]
                for turn in range(15)
            ]

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        try:
            writes = together(partial(write, number) for number in range(12))
        finally:
            over.set()
        feed = reading.result(60)
    feed_ids = [row["resourceId"] for row in feed if row["resourceType"] == "profile"]
    assert Counter(feed_ids) == Counter(id_ for ids in writes for id_ in ids)
    places = {id_: place for place, id_ in enumerate(feed_ids)}
    for ids in writes:  # whoever waits for an answer before the next write finds them in order
        assert [places[id_] for id_ in ids] == sorted(places[id_] for id_ in ids)
    # Another reader, who comes afterwards, is told the same in the same order.
    assert changes(fleet.origins[:1], key) == feed


# -- the workers -------------------------------------------------------------------------------


def test_of_every_due_schedule_two_workers_make_one_report(fleet: Fleet) -> None:
    key, _, tenant = fleet.key()
    daily = {"frequency": "daily", "scheduleTimeOfDay": "07:30"}
    ids = [
        ask(fleet.origins[0], "/api/v1/profiles", key, profile(f"P{number}") | daily).data["id"]
        for number in range(12)
    ]
    before = system.now() - timedelta(days=1)

    async def date_back(tx: Transaction) -> None:
        for id_ in ids:
            row = await tx.documents.get(DUE, id_)
            assert row is not None
            due = DUE.decode(row.raw)
            assert due.next_run_at is not None
            await tx.documents.put(DUE, id_, attrs.evolve(due, next_run_at=before))

    fleet.do(tenant, date_back)

    def reports() -> Counter[str]:
        return Counter(row["profileId"] for row in every(fleet.origins[1], "/api/v1/reports", key))

    until(lambda: set(reports()) == set(ids))
    assert reports() == Counter(ids)
    feed = changes(fleet.origins, key)
    assert sum(row["resourceType"] == "report" for row in feed) == len(ids)


def test_eight_workers_disable_a_dead_webhook_after_five_attempts(fleet: Fleet, sink: Sink) -> None:
    fleet.start([], workers=6)
    key = fleet.key().text
    hooks = "/api/v1/webhooks"
    sink.status = 500
    hook = ask(fleet.origins[0], hooks, key, {"url": sink.url, "secret": SECRET}).data["id"]
    together(partial(ask, origin, f"{hooks}/{hook}/test", key, {}) for origin in fleet.origins * 10)
    until(lambda: ask(fleet.origins[1], f"{hooks}/{hook}", key).data["status"] == "disabled")
    deliveries = every(fleet.origins[1], f"{hooks}/{hook}/deliveries", key)
    # Who asks once it is disabled is refused, so that there may be fewer than 20.
    assert Counter(row["status"] for row in deliveries) == {
        "failed": 5,
        "skipped": len(deliveries) - 5,
    }
    for worker in fleet.workers[2:]:
        assert worker.end() == 0  # whatever it had under way is over
    assert len(sink.got) == 5
