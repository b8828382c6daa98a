"""Two services over one place: limits and lockouts that hold over both, and what happens without
the place."""

import asyncio
import json

import httpx2
import pytest

from svc_core.access import keys, plans
from svc_core.access import operations as accounts
from svc_core.contract import problem
from svc_http.guard import shared_gate as tallied
from svc_http.run.control import services as lends
from svc_http.stores import MemoryStorage
from svc_http.stores.counters.redis_coordination import on_redis

NOTES = "/api/v1/notes"
UNKNOWN = "svc_" + "0" * 64
LIMITS = "x-ratelimit-remaining-minute"


class Pair:
    """Two services over one store and one place, in one loop; `first` alone where one will do."""

    def __init__(self, make_house, place, **settings):
        store = MemoryStorage(make_house().service_collections)
        self.first, self.second = (
            make_house(parts={"shared": process, "storage": store}, **settings)
            for process in place.processes
        )
        for house in (self.first, self.second):
            house.run = place.run
            house.clock = self.first.clock
            house.service.runtime.now = self.first.clock
        self.place = place

    def end(self):
        for house in (self.first, self.second):
            del house.run  # each ends in its own loop

    def key(self, *scopes, **wish):
        return self.first.key(*scopes, **wish)

    def request_both(self, times, key):
        """So many requests to each, all at once."""

        async def go():
            async with _client(self.first) as first, _client(self.second) as second:
                headers = {"Authorization": f"Bearer {key}"}
                requests = [
                    client.get(NOTES, headers=headers)
                    for client in (first, second)
                    for _ in range(times)
                ]
                return await asyncio.gather(*requests)

        return self.place.run(go())


def _client(house):
    transport = httpx2.ASGITransport(house.service, client=("127.0.0.1", 5000))
    return httpx2.AsyncClient(transport=transport, base_url="https://api.example.org")


@pytest.fixture
def alone(make_house, redis_place):
    """Makes a pair on a server that may be hurt."""
    pairs = []

    def make(**settings):
        pairs.append(Pair(make_house, redis_place, **settings))
        return pairs[-1]

    yield make
    for pair in pairs:
        pair.end()


@pytest.fixture(params=["database_place", "redis_place"])
def pair(request, make_house):
    pair = Pair(make_house, request.getfixturevalue(request.param))
    yield pair
    pair.end()


def statuses(answers):
    return sorted(answer.status_code for answer in answers)


# -- both at once ------------------------------------------------------------------------------


def test_limits_hold_to_the_request_over_both(pair, check_problem):
    key = pair.key(plan="pro")
    answers = pair.request_both(50, key)
    assert statuses(answers) == [200] * 30 + [429] * 70
    remaining = [int(a.headers[LIMITS]) for a in answers if a.status_code == 200]
    assert sorted(remaining) == list(range(30))
    over = next(answer for answer in answers if answer.status_code == 429)
    check_problem(over, problem.RATE_LIMITED)
    assert over.headers["retry-after"] == "53"  # the clock stands at :07
    pair.first.clock.forward(seconds=53)
    assert pair.second.ask("GET", NOTES, key).headers[LIMITS] == "29"


def test_of_a_burst_of_unknown_keys_to_both_exactly_five_are_told_so(pair, check_problem):
    answers = pair.request_both(50, UNKNOWN)
    assert statuses(answers) == [401] * 5 + [429] * 95
    check_problem(next(a for a in answers if a.status_code == 429), problem.AUTH_LOCKED)
    assert {a.headers["retry-after"] for a in answers if a.status_code == 429} == {"900"}


def test_an_address_is_locked_at_once_where_it_failed_and_within_a_second_elsewhere(
    pair, check_problem
):
    key = pair.key()
    assert pair.second.ask("GET", NOTES, key).status_code == 200
    for _ in range(5):
        check_problem(pair.first.ask("GET", NOTES, UNKNOWN), problem.INVALID_API_KEY)
    check_problem(pair.first.ask("GET", NOTES, key), problem.AUTH_LOCKED)
    check_problem(pair.second.ask("GET", NOTES, UNKNOWN), problem.AUTH_LOCKED)
    check_problem(pair.second.ask("GET", NOTES, key), problem.AUTH_LOCKED)
    assert pair.second.ask("GET", NOTES, key, client=("192.0.2.7", 1)).status_code == 200
    pair.first.clock.forward(minutes=15)
    assert pair.second.ask("GET", NOTES, key).status_code == 200


def test_a_valid_key_is_believed_for_a_second_where_nothing_failed(pair, check_problem):
    key = pair.key()
    assert pair.second.ask("GET", NOTES, key).status_code == 200
    for _ in range(5):
        pair.first.ask("GET", NOTES, UNKNOWN)
    assert pair.second.ask("GET", NOTES, key).status_code == 200
    pair.second.ticks += 1.1
    check_problem(pair.second.ask("GET", NOTES, key), problem.AUTH_LOCKED)


def test_a_key_revoked_by_one_is_dead_at_the_other(pair, check_problem):
    key = pair.key()
    assert pair.second.ask("GET", NOTES, key).status_code == 200

    async def revoke(ctx):
        access = await accounts.find_key(ctx.tx, keys.digest(key), plans.DEFAULT_PLANS)
        await accounts.revoke_key(ctx, access.key.id)

    pair.first.system(revoke)
    check_problem(pair.second.ask("GET", NOTES, key), problem.API_KEY_REVOKED)


# -- the same as in memory ---------------------------------------------------------------------


def test_answers_say_what_they_say_where_one_process_counts(pair, house):
    paths = [NOTES, f"{NOTES}?limit=0", "/api/v1/priced", "/api/v2/open", "/api/v2/ours"]
    houses = [(house_, house_.key("news:read", per_minute=3)) for house_ in (house, pair.first)]
    for path in (*paths, *paths):
        for key in (True, False):
            expected, shared = (
                _comparable(house_.ask("GET", path, secret if key else None))
                for house_, secret in houses
            )
            assert expected == shared


def _comparable(answer):
    id_ = answer.headers["x-request-id"]
    fields = [(name, value.replace(id_, "")) for name, value in answer.headers.multi_items()]
    return answer.status_code, sorted(fields), answer.text.replace(id_, "")


def test_without_limits_nothing_is_counted(alone):
    pair = alone(rate_limits=False)
    answer = pair.first.ask("GET", NOTES, pair.key())
    assert answer.status_code == 200
    assert LIMITS not in answer.headers


def test_what_needs_no_key_asks_nobody(alone, valkey):
    pair = alone()
    valkey.kill()
    assert pair.first.ask("GET", "/api/v2/open").status_code == 200
    assert pair.first.ask("GET", "/api/v2/open", UNKNOWN).status_code == 200
    assert pair.first.ask("GET", NOTES).status_code == 401
    assert pair.first.ask("GET", "/api/v1/priced").status_code == 401


def test_only_so_many_addresses_are_remembered(alone, monkeypatch):
    monkeypatch.setattr(tallied, "ADDRESSES_MAX", 2)
    pair = alone()
    key = pair.key()
    for n in range(4):
        assert pair.first.ask("GET", NOTES, key, client=(f"192.0.2.{n}", 1)).status_code == 200
    assert list(pair.first.service.runtime.gate._read) == ["192.0.2.2", "192.0.2.3"]


# -- without the place -------------------------------------------------------------------------


def test_without_a_place_requests_are_refused_and_counted_again_once_it_is_back(
    alone, valkey, check_problem, soon
):
    pair, key = alone(), None
    key = pair.key()
    assert pair.first.ask("GET", NOTES, key).status_code == 200
    valkey.kill()
    for secret in (key, key, UNKNOWN):
        answer = pair.first.ask("GET", NOTES, secret, client=("192.0.2.1", 1))
        check_problem(answer, problem.SERVICE_UNAVAILABLE)
        assert answer.headers["retry-after"] == "1"
        assert LIMITS not in answer.headers
    assert "svc_counters_up 0.0" in pair.first.ask("GET", "/metrics").text
    valkey.start()
    answer = soon(lambda: _if_fine(pair.first.ask("GET", NOTES, key)))
    assert answer.headers[LIMITS] == "119"  # what was killed has forgotten
    assert "svc_counters_up 1.0" in pair.first.ask("GET", "/metrics").text
    lines = [line for line in pair.first.log.lines if line["event"].startswith("counters")]
    assert [line["event"] for line in lines] == ["counters unreachable", "counters reachable"]
    assert "reason" in lines[0]


def _if_fine(answer):
    return answer if answer.status_code == 200 else None


def test_without_a_place_a_known_address_is_refused_as_well(alone, valkey, check_problem):
    pair = alone()
    key = pair.key()
    assert pair.first.ask("GET", NOTES, key).status_code == 200
    valkey.kill()
    check_problem(pair.first.ask("GET", NOTES, key), problem.SERVICE_UNAVAILABLE)
    check_problem(pair.first.ask("GET", NOTES, UNKNOWN), problem.SERVICE_UNAVAILABLE)


def test_without_a_place_requests_are_admitted_uncounted_where_the_settings_say_so(
    alone, valkey, check_problem, soon
):
    pair = alone(counters_down="admit")
    key = pair.key(plan="pro")
    valkey.kill()
    answers = [pair.first.ask("GET", NOTES, key) for _ in range(40)]
    assert statuses(answers) == [200] * 40
    assert not any("ratelimit" in name for answer in answers for name in answer.headers)
    statuses_ = [pair.first.ask("GET", NOTES, UNKNOWN).status_code for _ in range(7)]
    assert statuses_ == [401] * 5 + [429] * 2
    check_problem(pair.first.ask("GET", NOTES, key), problem.AUTH_LOCKED)
    valkey.start()
    answer = soon(lambda: _if_fine(pair.first.ask("GET", NOTES, key)))
    assert answer.headers[LIMITS] == "29"


def test_a_service_that_starts_without_a_place_says_so_at_once(alone, valkey):
    valkey.kill()
    pair = alone()
    pair.place.run(pair.first.service.runtime.start())
    assert pair.first.log.lines[-1]["event"] == "counters unreachable"


# -- lockouts ----------------------------------------------------------------------------------


def _command(house, operation, **body):
    line = json.dumps({"operation": operation, "body": body}).encode()
    operator = lends.operator_of(house.service.runtime, lambda failure: None)
    return json.loads(house.run(operator.answer(line, lambda progress: None)))


@pytest.fixture(params=["by itself", "with others"])
def town(request, house):
    """A service that counts for itself, and one of two."""
    return house if request.param == "by itself" else request.getfixturevalue("alone")().first


def test_the_operator_sees_who_is_locked_out_and_lets_them_in(town, check_problem):
    key = town.key()
    assert _command(town, "listLockouts")["ok"]["body"]["data"] == []
    for _ in range(5):
        town.ask("GET", NOTES, UNKNOWN, client=("192.0.2.7", 1))
    check_problem(town.ask("GET", NOTES, key, client=("192.0.2.7", 1)), problem.AUTH_LOCKED)
    assert _command(town, "listLockouts")["ok"]["body"]["data"] == [
        {"address": "192.0.2.7", "until": "2026-03-04T05:21:07Z"}
    ]
    answer = _command(town, "clearLockouts", address="::ffff:192.0.2.7")
    assert answer["ok"]["body"]["data"] == {"cleared": 1}
    town.ticks += 1.1
    assert town.ask("GET", NOTES, key, client=("192.0.2.7", 1)).status_code == 200
    assert _command(town, "clearLockouts", address="no address")["ok"]["body"]["data"] == {
        "cleared": 0
    }
    assert _command(town, "clearLockouts")["ok"]["body"]["data"] == {"cleared": 0}


def test_the_operator_is_told_that_the_place_is_down(alone, valkey):
    pair = alone()
    valkey.kill()
    fault = _command(pair.first, "listLockouts")["problem"]
    assert fault["code"] == "SERVICE_UNAVAILABLE"
    assert "counters cannot be reached" in fault["detail"]


def test_a_place_is_left_behind_clean(running_valkey):
    async def go():
        place = on_redis(running_valkey.address)
        await place.signals.hear(lambda names: None)
        await place.close()
        return len(asyncio.all_tasks())

    assert asyncio.run(go()) == 1
