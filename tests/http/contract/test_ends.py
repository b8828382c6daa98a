"""Where windows, quotas and pages end: the last that is within, and the first that is not."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from svc_core import catalog
from svc_core.access import limits
from svc_core.access import operations as accounts
from svc_core.access.chat_credits import CREDITS, ChatCredits
from svc_core.access.creation import KeyWish
from svc_core.access.keys import digest
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.access.scopes import SCOPES
from svc_core.base.unset import UNSET
from svc_core.contract import problem
from svc_core.operation.inputs import inputs_of
from svc_core.reports.composition import Window
from svc_core.reports.report_runs import make_report
from tests.backends import NAMES

FEEDS = "/api/v1/news/feeds"
UNKNOWN = "svc_" + "0" * 64
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 5, tzinfo=UTC)
TICK = timedelta(milliseconds=1)
STREAMS = [op for op in catalog.OPERATIONS if op.pool == "agent" and op.method == "POST"]


@pytest.fixture
def town(make_world):
    """Accounts without rows, the clock still."""
    world = make_world(is_sown=False)
    world.step_seconds = 0
    world.clock.at = NOON
    return world


def principal_of(town, key):
    """The key and the plan of its account, as the gate sees them."""
    key_hash = digest(town.keys[key])
    return town.system(lambda ctx: accounts.find_key(ctx.tx, key_hash, DEFAULT_PLANS))


def use(town, key, count, meter=limits.general_meter, *, hour=0):
    """Count so many requests of a key, from that hour on and no faster than it may call."""
    principal = principal_of(town, key)
    pools = meter(principal.key, principal.plan).pools
    per_minute = min(pool.limit for pool in pools[::2])
    start = int(NOON.replace(hour=hour).timestamp())

    async def hit():
        counters = town.app.runtime.shared.counters
        for number in range(count):
            second = start + number // per_minute * 60
            hit_counts = await counters.hit(pools, second)
            assert all(used < pool.limit for used, pool in zip(hit_counts.used, pools, strict=True))

    town.run(hit())


# -- days --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "per_day"), [("lite", 500), ("pro", 5_000), ("a", 50_000), ("personal", 50_000)]
)
def test_the_last_request_of_a_day_passes_and_the_next_waits_for_midnight(
    town, check_problem, key, per_day
):
    use(town, key, per_day - 2)
    remaining = [town.get(FEEDS, key).headers["x-ratelimit-remaining-day"] for _ in range(2)]
    assert remaining == ["1", "0"]
    body = check_problem(town.get(FEEDS, key), problem.RATE_LIMITED)
    for owner in ("key", "account"):
        assert f"requests of this {owner}, {per_day:,} a day" in body["detail"]
    town.clock.at = MIDNIGHT - TICK
    answer = town.get(FEEDS, key)
    check_problem(answer, problem.RATE_LIMITED)
    assert answer.headers["retry-after"] == "1"
    town.clock.at = MIDNIGHT
    answer = town.get(FEEDS, key)
    assert answer.status_code == 200
    assert answer.headers["x-ratelimit-remaining-day"] == str(per_day - 1)


def test_a_second_key_gets_no_more_of_the_day_than_its_account_has_left(town, check_problem):
    use(town, "pro", 4_999)
    town.add_key("second", "pro")
    assert town.get(FEEDS, "second").status_code == 200
    answer = town.get(FEEDS, "second")
    assert "of this account, 5,000 a day" in check_problem(answer, problem.RATE_LIMITED)["detail"]
    assert answer.headers["x-ratelimit-remaining-day"] == "4999"
    assert answer.headers["x-ratelimit-remaining-user-day"] == "0"


def test_the_personal_keys_of_a_person_share_the_quota_of_that_person(town, check_problem):
    wish = KeyWish("second", tuple(SCOPES), user_id=town.tenants["personal"])
    town.run(town._issue("second", wish))
    remaining = [
        town.get(FEEDS, key).headers["x-ratelimit-remaining-user-minute"]
        for key in ("personal", "second", "personal")
    ]
    assert remaining == ["119", "118", "117"]
    statuses = [town.get(FEEDS, "second").status_code for _ in range(117)]
    assert statuses == [200] * 117
    answer = town.get(FEEDS, "personal")
    assert "of this account, 120 a minute" in check_problem(answer, problem.RATE_LIMITED)["detail"]
    assert answer.headers["x-ratelimit-remaining-minute"] == "118"
    assert town.get(FEEDS, "a").status_code == 200  # a workspace of its own


# -- the agent's pools -------------------------------------------------------------------------


def agents(key, plan):
    return limits.agent_meter(key, limits.general_meter(key, plan))


def ask_agent(town, key, stream=STREAMS[0]):
    return town.send(town.ask_of(stream), key)


def test_the_hundredth_turn_of_a_key_is_its_last_of_the_day_on_either_stream(town, check_problem):
    use(town, "a", 98, agents)
    for stream in STREAMS:
        assert ask_agent(town, "a", stream).status_code == 200
    for stream in STREAMS:
        answer = ask_agent(town, "a", stream)
        body = check_problem(answer, problem.AGENT_RATE_LIMITED)
        assert "of this key, 100 a day" in body["detail"]
        assert answer.headers["x-svc-agent-ratelimit-remaining-day"] == "0"
        assert answer.headers["x-svc-agent-ratelimit-account-remaining-day"] == "150"
    town.clock.at = MIDNIGHT - TICK
    check_problem(ask_agent(town, "a"), problem.AGENT_RATE_LIMITED)
    town.clock.at = MIDNIGHT
    assert ask_agent(town, "a").status_code == 200


def test_an_account_has_two_hundred_and_fifty_turns_a_day_over_all_of_its_keys(town, check_problem):
    for name in ("second", "third"):
        town.add_key(name, "a")
    use(town, "a", 100, agents)
    use(town, "second", 100, agents, hour=1)
    use(town, "third", 49, agents, hour=2)
    assert ask_agent(town, "third").status_code == 200
    answer = ask_agent(town, "third", STREAMS[1])
    body = check_problem(answer, problem.AGENT_RATE_LIMITED)
    assert "of this account, 250 a day" in body["detail"]
    assert answer.headers["x-svc-agent-ratelimit-remaining-day"] == "50"
    assert ask_agent(town, "b").status_code == 200
    town.clock.at = MIDNIGHT
    assert ask_agent(town, "third").status_code == 200


def test_an_account_has_ten_turns_a_minute_over_all_of_its_keys_and_both_streams(
    town, check_problem
):
    for name in ("second", "third"):
        town.add_key(name, "a")
    turns = [("a", 5), ("second", 4), ("third", 1)]
    for key, count in turns:
        for number in range(count):
            assert ask_agent(town, key, STREAMS[number % 2]).status_code == 200
    for key in ("second", "third"):
        answer = ask_agent(town, key)
        body = check_problem(answer, problem.AGENT_RATE_LIMITED)
        assert "of this account, 10 a minute" in body["detail"]
        assert answer.headers["retry-after"] == "60"
    town.clock.forward(seconds=59.999)
    check_problem(ask_agent(town, "third"), problem.AGENT_RATE_LIMITED)
    town.clock.forward(seconds=0.001)
    assert ask_agent(town, "third").status_code == 200


@pytest.mark.parametrize("stream", STREAMS, ids=lambda op: op.id)
@pytest.mark.parametrize("key", ["lite", "pro"])
def test_without_credits_a_stream_is_402_and_asks_for_no_payment(town, stream, key):
    """Where requests can be paid for: the agent's cannot (Spec: Agent streams)."""
    assert town.app.runtime.checkout is not None
    used = ChatCredits(f"{NOON:%Y-%m}", used=500)
    tenant = town.tenants[key]
    town.run(town.hands.write(tenant, lambda ctx: ctx.save(CREDITS, used.period, used)))
    answer = ask_agent(town, key, stream)
    assert answer.status_code == 402
    assert answer.headers["content-type"] == "application/problem+json"
    code = {"lite": "SUBSCRIPTION_REQUIRED", "pro": "CHAT_CREDITS_EXHAUSTED"}[key]
    assert answer.json()["code"] == code
    assert not [name for name in answer.headers if name.startswith("payment")]
    assert town.send(town.ask_of(stream).having(), None).status_code == 401


# -- the lock ----------------------------------------------------------------------------------


@pytest.fixture(params=NAMES)
def each_town(request, make_world):
    world = make_world(request.param, is_sown=False)
    world.step_seconds = 0
    world.clock.at = NOON
    return world


def knock(town, key):
    ask = town.ask_of(town.operation("listNewsFeeds"))
    return town.send(ask, key, client="198.51.100.1").status_code


def test_the_lock_of_an_address_rolls_and_ends_to_the_millisecond(each_town):
    for number in range(5):
        each_town.clock.at = NOON + timedelta(minutes=number)
        assert knock(each_town, UNKNOWN) == 401
    each_town.clock.at = NOON + timedelta(minutes=15) - TICK
    assert [knock(each_town, key) for key in (UNKNOWN, "a")] == [429, 429]
    each_town.clock.at = NOON + timedelta(minutes=15)  # the first failure is forgotten
    assert [knock(each_town, key) for key in ("a", UNKNOWN, UNKNOWN)] == [200, 401, 429]
    each_town.clock.at = NOON + timedelta(minutes=16) - TICK
    assert knock(each_town, "a") == 429
    each_town.clock.at = NOON + timedelta(minutes=16)  # and now the second
    assert knock(each_town, "a") == 200
    each_town.clock.at = NOON + timedelta(minutes=31)  # what the lock refused has not counted
    assert [knock(each_town, UNKNOWN) for _ in range(6)] == [401] * 5 + [429]


# -- identifiers of the old form ---------------------------------------------------------------


def test_identifiers_of_old_end_with_their_window_in_paths_and_queries(make_world):
    end = datetime(2026, 6, 1, tzinfo=UTC)
    world = make_world(legacy_ids_until=end)
    world.step_seconds = 0
    places = {
        "rpt": "/api/v1/reports/{}",
        "prf": "/api/v1/profiles/{}",
        "sub": "/api/v1/subscriptions/{}",
        "whk": "/api/v1/webhooks/{}",
    }
    ids = {prefix: world.rows["a"][prefix][-1] for prefix in places}
    profile = world.get(f"/api/v1/reports/{ids['rpt']}").json()["data"]["profileId"]

    def answers_to(form):
        answers = [world.get(places[p].format(form(id_))) for p, id_ in ids.items()]
        reports = world.get(f"/api/v1/reports?profileId={form(profile)}")
        return [*answers, reports]

    def bare(id_):
        return id_.partition("_")[2]

    world.clock.at = end - TICK
    whole = answers_to(str)
    assert {answer.status_code for answer in whole} == {200}
    old = answers_to(bare)
    assert [answer.json()["data"] for answer in old] == [a.json()["data"] for a in whole]
    for answer in old[:4]:
        assert answer.json()["data"]["id"] in ids.values()  # the public form, whoever asks how
    world.clock.at = end
    assert {answer.status_code for answer in answers_to(str)} == {200}
    *paths, query = answers_to(bare)
    assert {(a.status_code, a.json()["code"]) for a in paths} == {(404, "NOT_FOUND")}
    assert (query.status_code, query.json()["code"]) == (400, "INVALID_PARAMETER")


# -- times of old ------------------------------------------------------------------------------


def test_since_and_until_take_in_their_own_millisecond(world):
    rows = world.get("/api/v1/osint/regional?limit=100").json()["data"]
    row = next(row for row in rows if row["occurredAt"] is not None)
    at = datetime.fromisoformat(row["occurredAt"])
    millis = (at - datetime(1970, 1, 1, tzinfo=UTC)) // TICK

    def has(query):
        matches = world.get(f"/api/v1/osint/regional?limit=100&{query}").json()["data"]
        return row["id"] in {match["id"] for match in matches}

    assert has(f"since={millis}&until={millis}")
    assert (has(f"since={millis}"), has(f"since={millis + 1}")) == (True, False)
    assert (has(f"until={millis}"), has(f"until={millis - 1}")) == (True, False)


# -- pages -------------------------------------------------------------------------------------

LARGER = {"listProfiles": 100, "listSubscriptions": 100, "listChanges": 100, "exportRecords": 100}
WHOLE = {"getEntityGraph": UNSET, "getFusion": UNSET}  # as long as nobody asks for pages
LISTS = [
    op
    for op in catalog.OPERATIONS
    if op.method == "GET" and "limit" in {item.name for item in inputs_of(op.request)}
]


def test_a_page_has_twenty_rows_unless_its_list_says_otherwise():
    defaults = {
        op.id: next(item.default for item in inputs_of(op.request) if item.name == "limit")
        for op in LISTS
    }
    assert {name: rows for name, rows in defaults.items() if rows != 20} == LARGER | WHOLE
    assert len(defaults) > 20


def test_reports_come_twenty_to_a_page_by_themselves(world):
    tenant, profile = world.tenants["a"], world.rows["a"]["prf"][-1]
    for days in range(21):
        end = world.clock() - timedelta(days=days)
        world.run(make_report(world.hands, tenant, profile, Window(end, None, "published")))
    answer = world.get("/api/v1/reports").json()
    assert answer["meta"]["pageCount"] == len(answer["data"]) == 20
    assert answer["links"]["next"] is not None
    assert answer["data"] == world.get("/api/v1/reports?limit=20").json()["data"]
    assert len(world.get("/api/v1/reports?limit=100").json()["data"]) > 20
    for limit in ("0", "101", "-1", "1.0", ""):
        assert world.get(f"/api/v1/reports?limit={limit}").status_code == 400


@pytest.mark.parametrize("path", ["/api/v1/news", "/api/v1/osint/events"])
def test_a_list_of_more_than_twenty_rows_gives_twenty(shared, path):
    data = shared.get(path).json()["data"]
    assert len(data) == 20
    assert len(shared.get(f"{path}?limit=100").json()["data"]) > 20
    assert json.dumps(data) == json.dumps(shared.get(f"{path}?limit=20").json()["data"])
