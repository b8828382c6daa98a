"""What each place promises of itself: bounds, recovery, and clocks that are wrong."""

import asyncio
import math
import time
from datetime import UTC, datetime

import pytest

from svc_core.access import lockout
from svc_core.access.limits import GENERAL, Meter, Rate
from svc_core.operation.ports import ANY_COLLECTION, SharedUnavailable
from svc_http.stores.counters import circuit
from svc_http.stores.counters import redis_coordination as redis_module
from svc_http.stores.counters.circuit import Circuit
from svc_http.stores.counters.postgres_coordination import on_postgres
from svc_http.stores.counters.redis_coordination import BATCH_MAX, on_redis
from tests.postgres import PostgresServer

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
NOON = int(NOW.timestamp())
METER = Meter.of(GENERAL, ("key_1", Rate(3, 5)), ("wsp_1", Rate(4, 7)))


# -- the way to a place ------------------------------------------------------------------------


class Ticking:
    def __init__(self):
        self.at, self.reasons = 100.0, []
        self.circuit = Circuit((OSError,), lambda: self.at)
        self.circuit.on_change = self.reasons.append

    def attempt(self, failure=None):
        with self.circuit.attempt():
            if failure is not None:
                raise failure


def test_after_a_failure_nobody_tries_for_a_moment_and_then_one_does():
    way = Ticking()
    with pytest.raises(SharedUnavailable, match="gone"):
        way.attempt(OSError("gone"))
    for _ in range(3):
        with pytest.raises(SharedUnavailable, match="gone"):
            way.circuit.check()
    way.at += circuit.PAUSE_SECONDS
    way.circuit.check()
    with way.circuit.attempt(), pytest.raises(SharedUnavailable):
        way.circuit.check()  # while one tries, nobody waits with it
    way.circuit.check()
    assert not way.circuit.is_down


def test_what_is_wrong_is_told_once_and_so_is_its_end():
    way = Ticking()
    for reason in ("first", "second"):
        with pytest.raises(SharedUnavailable):
            way.attempt(OSError(reason))
        assert way.circuit.is_down
        way.at += circuit.PAUSE_SECONDS
    with pytest.raises(SharedUnavailable, match="TimeoutError"):
        way.attempt(TimeoutError())
    way.at += circuit.PAUSE_SECONDS
    for _ in range(2):
        way.attempt()
    assert way.reasons == ["first", ""]


def test_a_defect_is_no_failure_of_the_place():
    way = Ticking()
    with pytest.raises(KeyError):
        way.attempt(KeyError("x"))
    assert not way.circuit.is_down


# -- Redis and Valkey --------------------------------------------------------------------------


def test_the_keys_of_a_request_are_in_one_slot_and_end_by_themselves(redis_place):
    client = redis_place.first.counters._client
    redis_place.run(client.flushall())
    redis_place.run(redis_place.first.counters.hit(METER.pools, NOON))
    keys = redis_place.run(client.keys())
    assert len(keys) == 2
    assert all(b"{wsp_1}" in key for key in keys)
    ends = [redis_place.run(client.ttl(key)) for key in keys]
    assert all(86_400 < seconds <= 172_800 for seconds in ends)


def test_calls_of_one_turn_travel_together(redis_place):
    place, counts = redis_place.first.counters, []
    answers = place._answers

    async def counting(line, commands):
        counts.append(len(commands))
        return await answers(line, commands)

    place._answers = counting
    redis_place.together(*(place.hit(METER.pools, NOON) for _ in range(100)))
    assert counts[0] == BATCH_MAX
    assert len(counts) == math.ceil(100 / BATCH_MAX)


@pytest.mark.parametrize("batches", [1, 2])
def test_no_call_is_left_behind_by_the_batch_before_it(redis_place, monkeypatch, batches):
    monkeypatch.setattr(redis_module, "BATCHES_MAX", batches)
    counters = redis_place.first.counters

    async def caller():
        for _ in range(20):
            await counters.hit(METER.pools, NOON)

    async def go():
        async with asyncio.timeout(60):
            await asyncio.gather(*(caller() for _ in range(20)))

    redis_place.run(go())


def test_a_call_that_nobody_waits_for_any_more_harms_no_other(redis_place):
    counters = redis_place.first.counters

    async def go():
        given_up = asyncio.create_task(counters.hit(METER.pools, NOON))
        other = asyncio.create_task(counters.hit(METER.pools, NOON))
        await asyncio.sleep(0)
        given_up.cancel()
        return await other

    assert len(redis_place.run(go()).used) == 4


def test_a_place_that_is_closed_finishes_what_is_under_way_and_leaves_no_connection(valkey):
    async def go():
        place = on_redis(valkey.address)
        telling = asyncio.create_task(place.signals.tell(frozenset({"notes"})))
        await asyncio.sleep(0)
        await place.close()
        await telling
        return [line.is_connected for line in place.signals._links]

    assert asyncio.run(go()) == [False]


def test_only_so_many_addresses_are_kept_and_none_for_longer_than_it_counts(
    redis_place, monkeypatch
):
    monkeypatch.setattr(lockout, "ADDRESSES_MAX", 3)
    lockouts, client = redis_place.first.lockouts, redis_place.first.counters._client
    redis_place.run(lockouts.clear(None))
    for address in ("a", "b", "a", "c", "d"):
        redis_place.run(lockouts.record(address, NOW))
    counts = [len(redis_place.run(lockouts.failures(address))) for address in "abcd"]
    assert sum(map(bool, counts)) == 3
    later = NOW + lockout.WINDOW
    for address in ("e", "f", "g"):
        redis_place.run(lockouts.record(address, later))
    assert set(redis_place.run(client.hkeys("svc:{lockouts}:failures"))) == {b"e", b"f", b"g"}


def test_a_server_that_has_forgotten_the_scripts_is_given_them(redis_place):
    client = redis_place.first.counters._client
    first = redis_place.run(redis_place.first.counters.hit(METER.pools, NOON))
    redis_place.run(client.script_flush())
    hits = [redis_place.first.counters.hit(METER.pools, NOON) for _ in range(2)]
    answers = redis_place.together(*hits, redis_place.second.leases.take("a", "b", 60))
    assert answers[0].used[0] == min(first.used[0] + 1, 3)
    assert answers[2]


def test_a_connection_that_the_server_has_closed_is_replaced_unnoticed(redis_place, valkey):
    lockouts = redis_place.first.lockouts
    for _ in range(3):
        assert redis_place.run(lockouts.failures("nobody")) == ()
        valkey.do(b"CLIENT KILL TYPE normal SKIPME yes")


def test_a_server_that_cannot_write_is_down(redis_place):
    client = redis_place.first.counters._client
    redis_place.run(client.config_set("maxmemory", "1"))
    try:
        with pytest.raises(SharedUnavailable, match="memory"):
            redis_place.run(redis_place.first.lockouts.record("somebody", NOW))
        assert redis_place.first.circuit.is_down
    finally:
        redis_place.run(client.config_set("maxmemory", "0"))


def test_a_server_that_is_gone_is_down_at_once_and_comes_back_by_itself(redis_place, valkey, soon):
    process = redis_place.first
    redis_place.run(process.counters.hit(METER.pools, NOON))
    valkey.kill()
    with pytest.raises(SharedUnavailable):
        redis_place.run(process.counters.hit(METER.pools, NOON))
    valkey.start()

    def count_request():
        try:
            return redis_place.run(process.counters.hit(METER.pools, NOON))
        except SharedUnavailable:
            return None

    assert soon(count_request).used == (0, 0, 0, 0)


def test_a_server_that_says_nothing_is_waited_for_once(redis_place, valkey, soon):
    process = redis_place.first
    redis_place.run(process.counters.hit(METER.pools, NOON))
    process.circuit.seconds = circuit.ANSWER_SECONDS
    valkey.freeze()
    start = time.monotonic()
    for _ in range(50):
        with pytest.raises(SharedUnavailable):
            redis_place.run(process.counters.hit(METER.pools, NOON))
    # Fifty waits would be 25 seconds.
    assert time.monotonic() - start < 10 * circuit.ANSWER_SECONDS
    valkey.thaw()

    def count_request():
        try:
            return redis_place.run(process.lockouts.record("after the frost", NOW)) == ()
        except SharedUnavailable:
            return None

    soon(count_request)


def test_who_hears_is_told_that_something_may_have_been_missed(redis_place, valkey):
    signals = []
    redis_place.run(redis_place.first.signals.hear(signals.append))
    valkey.kill()
    valkey.start()
    redis_place.until(lambda: ANY_COLLECTION in signals)
    redis_place.run(redis_place.second.signals.tell(frozenset({"keys"})))
    redis_place.until(lambda: frozenset({"keys"}) in signals)


def test_who_begins_to_hear_without_a_server_hears_once_it_is_there(redis_place, valkey):
    signals = []
    valkey.kill()
    redis_place.run(redis_place.first.signals.hear(signals.append))
    assert signals == []
    valkey.start()
    redis_place.until(lambda: ANY_COLLECTION in signals)


def test_a_wrong_password_is_told_without_it(valkey):
    wrong = on_redis(f"redis://:hidden-word@127.0.0.1:{valkey.port}/0")

    async def go():
        try:
            await wrong.counters.hit(METER.pools, NOON)
        finally:
            await wrong.close()

    with pytest.raises(SharedUnavailable) as refused:
        asyncio.run(go())
    assert "hidden-word" not in str(refused.value)


# -- PostgreSQL --------------------------------------------------------------------------------


def test_windows_of_past_days_are_taken_away(database_place):
    place = database_place
    for day in (0, 1, 2):
        for n in range(3):
            old = Meter.of(GENERAL, (f"k{day}{n}", Rate(3, 5)), (f"w{day}{n}", Rate(4, 7)))
            place.run(place.first.counters.hit(old.pools, NOON + day * 86_400))
    rows = place.run(place.first.counters._fetch("SELECT min(day) AS d FROM svc_windows"))
    assert rows[0]["d"] == NOON // 86_400 + 1


def test_failures_that_count_no_more_are_taken_away(database_place):
    place = database_place
    for n in range(4):
        place.run(place.first.lockouts.record(f"early {n}", NOW))
    for n in range(4):
        place.run(place.first.lockouts.record(f"late {n}", NOW + lockout.WINDOW))
    rows = place.run(place.first.counters._fetch("SELECT address FROM svc_failures"))
    assert {row["address"] for row in rows} == {f"late {n}" for n in range(4)}


def test_news_that_cannot_be_told_refuse_no_request(database_place):
    place = database_place
    with pytest.raises(SharedUnavailable, match="payload"):
        place.run(place.first.signals.tell(frozenset({"x" * 9_000})))
    assert place.run(place.first.counters.hit(METER.pools, NOON)).used == (0, 0, 0, 0)


def test_several_processes_may_make_the_tables_at_once(postgres):
    dsn = postgres.dsn(postgres.fresh())

    async def go():
        places = [on_postgres(dsn) for _ in range(8)]
        counts = await asyncio.gather(
            *(process.counters.hit(METER.pools, NOON) for process in places)
        )
        await asyncio.gather(*(process.close() for process in places))
        return counts

    assert {count.used[0] for count in asyncio.run(go())} == {0, 1, 2, 3}


@pytest.fixture
def own_postgres():
    """A server that a test may kill."""
    server = PostgresServer()
    yield server
    server.close()


def test_a_database_that_is_gone_is_down_and_comes_back_by_itself(own_postgres, soon):
    place = on_postgres(own_postgres.dsn())
    place.circuit.seconds = 10.0

    async def count_request():
        try:
            return await place.counters.hit(METER.pools, NOON)
        except SharedUnavailable:
            return None

    with asyncio.Runner() as runner:
        assert runner.run(count_request()) is not None
        own_postgres.kill()
        assert runner.run(count_request()) is None
        own_postgres.start()
        assert soon(lambda: runner.run(count_request())) is not None
        runner.run(place.close())


def test_who_hears_of_a_database_is_told_that_something_may_have_been_missed(database_place):
    place, signals = database_place, []
    place.run(place.first.signals.hear(signals.append))
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
    place.run(place.second.counters._fetch(cut))
    place.until(lambda: ANY_COLLECTION in signals)
    place.run(place.second.signals.tell(frozenset({"keys"})))
    place.until(lambda: frozenset({"keys"}) in signals)


# -- clocks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["redis_place", "database_place"])
def test_a_clock_far_ahead_takes_nobody_along(request, name):
    place = request.getfixturevalue(name)
    now = int(time.time())
    meter = Meter.of(GENERAL, ("key_ahead", Rate(3, 5)), ("wsp_ahead", Rate(4, 7)))
    ahead = place.run(place.first.counters.hit(meter.pools, now + 10 * 86_400))
    assert ahead.minute * 60 <= now + 120
    usage = place.run(place.second.counters.hit(meter.pools, now))
    assert usage.used == (1, 1, 1, 1)
    assert usage.day * 86_400 <= now + 120


def set_windows(request, name, minute, day):
    """Let every window be of this minute and day, with three requests counted in it."""
    if name == "redis_place":
        pack = f"struct.pack('>I4I4I4I4', {minute}, 3, {day}, 3)"
        each = f"for _, k in ipairs(redis.call('KEYS', '*')) do redis.call('SET', k, {pack}) end"
        request.getfixturevalue("valkey").do(f'EVAL "{each} return 1" 0'.encode())
        return
    place = request.getfixturevalue(name)
    statement = "UPDATE svc_windows SET minute = $1, day = $2, in_minute = 3, in_day = 3"
    place.run(place.first.counters._fetch(statement, minute, day))


@pytest.mark.parametrize("name", ["redis_place", "database_place"])
@pytest.mark.parametrize("jump", [3_600, 365 * 86_400])
def test_windows_of_before_a_clock_was_set_back_move_to_it_with_their_counts(request, name, jump):
    place, now = request.getfixturevalue(name), int(time.time()) // 60 * 60
    meter = Meter.of(GENERAL, (f"key_{jump}", Rate(3, 50)), (f"wsp_{jump}", Rate(40, 70)))
    counters = place.first.counters
    place.run(counters.hit(meter.pools, now))
    set_windows(request, name, (now + jump) // 60, (now + jump) // 86_400)
    usage = place.run(counters.hit(meter.pools, now))
    assert usage.used[0] == 3, "no second quota"
    assert usage.minute <= now // 60 + 1
    assert usage.day <= now // 86_400 + 1
