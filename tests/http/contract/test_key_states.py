"""What becomes of a key, as its requests see it (Spec: States, API key)."""

from datetime import timedelta

import pytest

from svc_core.access import operations as accounts
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.contract import problem

FEEDS = "/api/v1/news/feeds"


@pytest.fixture
def town(make_world):
    world = make_world(is_sown=False)
    world.step_seconds = 0
    return world


def later(world):
    """What a key may do is looked up again after a second."""
    world.ticks += 2


def test_a_key_ends_at_its_very_instant(town, check_problem):
    end = town.clock() + timedelta(minutes=5)
    town.add_key("short", expires_at=end)
    town.clock.at = end - timedelta(microseconds=1)
    assert town.get(FEEDS, "short").status_code == 200
    town.clock.at = end  # and nothing is looked up anew for it
    check_problem(town.get(FEEDS, "short"), problem.API_KEY_EXPIRED)


def test_a_revoked_key_stays_revoked_and_a_regenerated_one_has_a_new_secret(town, check_problem):
    id_ = town.add_key("mine")
    old = town.keys["mine"]
    for _ in range(2):
        town.system(lambda ctx: accounts.revoke_key(ctx, id_))
        later(town)
        check_problem(town.get(FEEDS, "mine"), problem.API_KEY_REVOKED)
    new_key = town.system(lambda ctx: accounts.regenerate_key(ctx, id_))
    later(town)
    assert town.get(FEEDS, new_key.secret).status_code == 200
    check_problem(town.get(FEEDS, old), problem.INVALID_API_KEY)
    town.system(lambda ctx: accounts.delete_key(ctx, id_))
    later(town)
    check_problem(town.get(FEEDS, new_key.secret), problem.INVALID_API_KEY)


def test_a_new_secret_brings_no_new_quota(town, check_problem):
    id_ = town.add_key("mine", "pro", per_minute=2)
    assert town.get(FEEDS, "mine").headers["x-ratelimit-remaining-minute"] == "1"
    new_key = town.system(lambda ctx: accounts.regenerate_key(ctx, id_))
    later(town)
    assert town.get(FEEDS, new_key.secret).headers["x-ratelimit-remaining-minute"] == "0"
    check_problem(town.get(FEEDS, new_key.secret), problem.RATE_LIMITED)


@pytest.mark.parametrize(
    ("key", "plan", "status"),
    [
        ("pro", "free", 403),
        ("pro", "lite", 403),
        ("pro", "elite", 200),
        ("lite", "free", 403),
        ("lite", "pro", 200),
        ("ineligible", "lite", 200),
    ],
)
def test_the_plan_is_asked_at_every_validation(town, key, plan, status):
    town.get(FEEDS, key)
    tenant = town.tenants[key]
    town.system(lambda ctx: accounts.set_plan(ctx, tenant, plan, DEFAULT_PLANS))
    later(town)
    answer = town.get(FEEDS, key)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["code"] == "PLAN_INELIGIBLE"
    else:
        rate = DEFAULT_PLANS.plan(plan).per_minute
        assert answer.headers["x-ratelimit-limit-minute"] == str(rate)


def test_a_lower_plan_counts_what_was_used_and_a_higher_one_gives_the_rest(town, check_problem):
    for _ in range(12):
        assert town.get(FEEDS, "pro").status_code == 200

    def move(plan):
        tenant = town.tenants["pro"]
        town.system(lambda ctx: accounts.set_plan(ctx, tenant, plan, DEFAULT_PLANS))
        later(town)

    move("elite")
    assert town.get(FEEDS, "pro").headers["x-ratelimit-remaining-minute"] == "107"
    move("pro")
    assert town.get(FEEDS, "pro").headers["x-ratelimit-remaining-minute"] == "16"
