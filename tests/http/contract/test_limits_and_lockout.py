"""How often a caller may call, and who is locked out for how long (Spec: Limits, Lockout)."""

from datetime import UTC, datetime

import pytest
from attrs import frozen

from svc_core.contract import problem
from svc_core.contract.result import Empty
from svc_core.operation.declaration import Operation
from tests.backends import NAMES

FEEDS = "/api/v1/news/feeds"
UNKNOWN = "svc_" + "0" * 64
MINUTE = datetime(2026, 3, 4, 6, 30, 0, tzinfo=UTC)
MIDNIGHT = int(datetime(2026, 3, 5, tzinfo=UTC).timestamp())


@pytest.fixture
def town(make_world):
    """Accounts without rows, the clock still, at the beginning of a minute."""
    world = make_world(is_sown=False)
    world.step_seconds = 0
    world.clock.at = MINUTE
    return world


def at(world, **parts):
    world.clock.at = MINUTE.replace(**parts)


def statuses(answers):
    return [answer.status_code for answer in answers]


def limits(answer):
    """The fields about limits, without the prefix, their values as numbers."""
    prefix = "x-ratelimit-"
    return {
        name.removeprefix(prefix): int(value)
        for name, value in answer.headers.items()
        if name.startswith(prefix)
    }


# -- the fields --------------------------------------------------------------------------------


def test_the_fields_say_what_is_left_exactly(town):
    at(town, second=48)
    answer = town.get(FEEDS, "pro")
    reset = int(MINUTE.timestamp()) + 60
    assert limits(answer) == {
        "limit-minute": 30,
        "remaining-minute": 29,
        "limit-day": 5000,
        "remaining-day": 4999,
        "limit-user-minute": 30,
        "remaining-user-minute": 29,
        "limit-user-day": 5000,
        "remaining-user-day": 4999,
        "reset-minute": reset,
        "reset-day": MIDNIGHT,
    }
    to_midnight = MIDNIGHT - reset + 12
    assert answer.headers["ratelimit-policy"] == (
        '"key-minute";q=30;w=60, "key-day";q=5000;w=86400, '
        '"account-minute";q=30;w=60, "account-day";q=5000;w=86400'
    )
    assert answer.headers["ratelimit"] == (
        f'"key-minute";r=29;t=12, "key-day";r=4999;t={to_midnight}, '
        f'"account-minute";r=29;t=12, "account-day";r=4999;t={to_midnight}'
    )
    assert "retry-after" not in answer.headers


@pytest.mark.parametrize(
    ("key", "per_minute", "per_day"),
    [("lite", 10, 500), ("pro", 30, 5000), ("a", 120, 50_000), ("personal", 120, 50_000)],
)
def test_every_plan_has_its_rates(town, check_problem, key, per_minute, per_day):
    answers = [town.get(FEEDS, key) for _ in range(per_minute + 1)]
    assert statuses(answers) == [200] * per_minute + [429]
    check_problem(answers[-1], problem.RATE_LIMITED)
    assert limits(answers[0])["limit-day"] == per_day
    remaining = [limits(answer)["remaining-minute"] for answer in answers]
    assert remaining == [*range(per_minute - 1, -1, -1), 0]


# -- the minute --------------------------------------------------------------------------------


def test_of_many_at_once_exactly_the_quota_passes(town, ask):
    answers = town.send_all([ask("GET", FEEDS)] * 100, "pro")
    assert sorted(statuses(answers)) == [200] * 30 + [429] * 70
    remaining = sorted(limits(a)["remaining-minute"] for a in answers if a.status_code == 200)
    assert remaining == list(range(30))


# -- accounts and keys -------------------------------------------------------------------------


def test_a_key_restricted_below_its_plan_leaves_the_rest_to_the_others(town):
    town.add_key("thrifty", "pro", per_minute=4, per_day=40)
    first = town.get(FEEDS, "thrifty")
    assert limits(first)["limit-minute"] == 4
    assert limits(first)["limit-day"] == 40
    assert limits(first)["limit-user-minute"] == 30
    answers = [town.get(FEEDS, "thrifty") for _ in range(10)]
    assert statuses(answers) == [200] * 3 + [429] * 7
    assert limits(town.get(FEEDS, "pro"))["remaining-user-minute"] == 30 - 4 - 1


# -- what counts -------------------------------------------------------------------------------


def test_a_refusal_at_the_gate_consumes_nothing(town):
    town.add_key("weak", "pro", scopes=("agent:svc",))
    town.add_key("fixed", "pro", addresses=("203.0.113.7",))
    for key in ("weak", "fixed"):
        for _ in range(5):
            answer = town.get(FEEDS, key)
            assert answer.status_code == 403
            assert not limits(answer)
    assert limits(town.get(FEEDS, "pro"))["remaining-user-minute"] == 29


def test_what_passes_the_gate_counts_whatever_comes_of_it(town, ask):
    asks = [
        ask("GET", "/api/v1/profiles/prf_" + "0" * 24),
        ask("GET", FEEDS, (("colour", "red"),)),
        ask("GET", FEEDS, (), {"Accept": "image/png"}),
        ask("POST", "/api/v1/profiles"),
        ask("HEAD", FEEDS),
    ]
    remaining = [limits(town.send(ask_, "pro"))["remaining-minute"] for ask_ in asks]
    assert remaining == [29, 28, 27, 26, 25]


def test_what_needs_no_key_does_not_count(town, ask):
    for request in (ask("OPTIONS", FEEDS), ask("GET", "/livez"), ask("DELETE", FEEDS),
                ask("GET", "/api/v1/nowhere")):  # fmt: skip
        assert not limits(town.send(request, "pro"))
    assert limits(town.get(FEEDS, "pro"))["remaining-minute"] == 29


def test_without_limits_nothing_is_counted(make_world):
    town = make_world(is_sown=False, rate_limits=False)
    town.step_seconds = 0
    answers = [town.get(FEEDS, "lite") for _ in range(20)]
    assert set(statuses(answers)) == {200}
    assert not any(limits(answer) for answer in answers)


def test_without_limits_nobody_is_locked_out(make_world):
    town = make_world(is_sown=False, rate_limits=False)
    town.step_seconds = 0
    assert statuses(try_key(town) for _ in range(8)) == [401] * 8
    assert try_key(town, "lite").status_code == 200


# -- agents ------------------------------------------------------------------------------------


@frozen
class NoInputs:
    pass


async def empty_page(ctx, request):
    return Empty()


AGENT = Operation(
    id="converse",
    method="GET",
    path="/agents/converse",
    summary="Converse.",
    description="Converse.",
    tag="Agent",
    request=NoInputs,
    response=Empty,
    run=empty_page,
    pool="agent",
    scopes=frozenset({"agent:svc"}),
)


def test_agents_have_pools_of_their_own_for_key_and_account(make_world, check_problem):
    town = make_world(is_sown=False, operations=[AGENT])
    town.step_seconds = 0
    town.clock.at = MINUTE
    town.add_key("second", "pro")
    town.add_key("third", "pro")
    first = town.get(AGENT.address, "pro")
    prefix = "x-svc-agent-ratelimit-"
    assert {
        name.removeprefix(prefix): int(value)
        for name, value in first.headers.items()
        if name.startswith(prefix)
    } == {
        "limit-minute": 5,
        "remaining-minute": 4,
        "limit-day": 100,
        "remaining-day": 99,
        "account-limit-minute": 10,
        "account-remaining-minute": 9,
        "account-limit-day": 250,
        "account-remaining-day": 249,
    }
    assert statuses(town.get(AGENT.address, "pro") for _ in range(5)) == [204] * 4 + [429]
    assert statuses(town.get(AGENT.address, "second") for _ in range(6)) == [204] * 5 + [429]
    answer = town.get(AGENT.address, "third")
    check_problem(answer, problem.AGENT_RATE_LIMITED)
    assert answer.headers["retry-after"] == "60"


# -- lockout -----------------------------------------------------------------------------------


def try_key(town, key=UNKNOWN, client="198.51.100.1"):
    return town.send_all([_feeds(town)], key, client=client)[0]


def _feeds(town):
    return town.ask_of(town.operation("listNewsFeeds"))


def test_five_unknown_keys_lock_an_address_for_every_key(town, check_problem):
    answers = [try_key(town) for _ in range(6)]
    assert statuses(answers) == [401] * 5 + [429]
    check_problem(answers[-1], problem.AUTH_LOCKED)
    assert answers[-1].headers["retry-after"] == "900"
    check_problem(try_key(town, "a"), problem.AUTH_LOCKED)
    check_problem(try_key(town, "revoked"), problem.AUTH_LOCKED)
    assert try_key(town, "a", client="198.51.100.2").status_code == 200
    check_problem(try_key(town, None), problem.MISSING_API_KEY)
    assert town.send(_feeds(town).evolve(path="/livez"), None, client="198.51.100.1").is_success


def test_of_a_hundred_different_unknown_keys_at_once_the_same(each_town):
    asks = [
        _feeds(each_town).having(authorization=f"Bearer svc_{number:064x}") for number in range(100)
    ]
    answers = each_town.send_all(asks, None, client="198.51.100.1")
    assert sorted(statuses(answers)) == [401] * 5 + [429] * 95


@pytest.fixture(params=NAMES)
def each_town(request, make_world):
    world = make_world(request.param, is_sown=False)
    world.step_seconds = 0
    world.clock.at = MINUTE
    return world


@pytest.mark.parametrize("key", ["revoked", "expired", "ineligible", "elsewhere", "a agent:svc"])
def test_known_keys_lock_nobody_out(town, key):
    codes = {try_key(town, key).json()["code"] for _ in range(10)}
    assert len(codes) == 1
    assert codes != {"AUTH_LOCKED"}
    assert try_key(town, "a").status_code == 200


def test_malformed_keys_count_as_unknown_ones_do(town, check_problem):
    spoilt = ["Bearer", "Bearer x", "Bearer svc_", f"Bearer {UNKNOWN.upper()}", "Bearer  "]
    for text in spoilt:
        answer = town.send(_feeds(town).having(authorization=text), None, client="198.51.100.1")
        check_problem(answer, problem.INVALID_API_KEY)
    check_problem(try_key(town, "a"), problem.AUTH_LOCKED)


def test_success_does_not_wipe_out_failures(town, check_problem):
    for _ in range(5):
        assert try_key(town, "a").status_code == 200
        assert try_key(town).status_code == 401
    check_problem(try_key(town, "a"), problem.AUTH_LOCKED)


def test_the_address_is_the_clients_however_it_is_written(town, ask):
    forms = [
        "203.0.113.9",
        "::ffff:203.0.113.9",
        "::FFFF:CB00:7109",
        "203.0.113.9",
        "203.0.113.9",
    ]
    for text in forms:
        answer = town.send(_feeds(town).having(cf_connecting_ip=text), UNKNOWN)
        assert answer.status_code == 401
    for name in ("cf_connecting_ip", "x_forwarded_for", "x_real_ip"):
        answer = town.send(_feeds(town).having(**{name: "203.0.113.9"}), "a")
        assert answer.json()["code"] == "AUTH_LOCKED"
    assert town.send(_feeds(town).having(cf_connecting_ip="203.0.113.10"), "a").is_success
    assert town.send(_feeds(town), "a").is_success


def test_an_ipv6_subscriber_is_one_caller(each_town):
    clients = [f"2001:db8:1:2:{number:x}::1" for number in range(6)]
    answers = [try_key(each_town, client=client) for client in clients]
    assert statuses(answers) == [401] * 5 + [429]
    assert try_key(each_town, "a", client="2001:db8:1:2::ffff").json()["code"] == "AUTH_LOCKED"
    assert try_key(each_town, "a", client="2001:db8:1:3::ffff").is_success


def test_a_stranger_behind_proxies_that_append_is_the_address_that_they_wrote(make_world):
    world = make_world(is_sown=False, forwarded_hops=2)
    world.step_seconds = 0
    claims = [f"192.0.2.{number}, 203.0.113.9, 10.0.0.1" for number in range(6)]
    asks = [_feeds(world).having(x_forwarded_for=claim, x_real_ip=claim) for claim in claims]
    assert statuses(world.send(ask, UNKNOWN) for ask in asks) == [401] * 5 + [429]
    other = _feeds(world).having(x_forwarded_for="203.0.113.9, 203.0.113.8, 10.0.0.1")
    assert world.send(other, "a").is_success


def test_a_stranger_cannot_lock_another_address_out(town):
    for _ in range(6):
        ask_ = _feeds(town).having(cf_connecting_ip="203.0.113.9")
        town.send(ask_, UNKNOWN, client="198.51.100.1")
    assert try_key(town, "a", client="203.0.113.9").is_success
    assert try_key(town, "a").json()["code"] == "AUTH_LOCKED"
