import pytest

from svc_core.access.plans import DEFAULT_PLANS, KEY_GUIDE_PLANS, PRESETS, Plan
from svc_core.access.scopes import SCOPES, unknown

# The spec's table: plan, new keys, keys, per minute, per day, chat credits.
REFERENCE = [
    ("free", False, 0, 0, 0, 0),
    ("lite", False, 2, 10, 500, 0),
    ("pro", True, 5, 30, 5_000, 500),
    ("elite", True, 25, 120, 50_000, 5_000),
]
GUIDE = [
    ("free", False, 0, 0, 0, 0),
    ("lite", False, 2, 10, 500, 0),
    ("pro", True, 10, 30, 5_000, 500),
    ("elite", True, 100, 300, 50_000, 5_000),
]


@pytest.mark.parametrize(("preset", "rows"), [("default", REFERENCE), ("key-guide", GUIDE)])
def test_each_preset_is_the_table_of_its_source(preset, rows):
    assert list(PRESETS[preset].plans.values()) == [Plan(*row) for row in rows]
    assert list(PRESETS[preset].plans) == [row[0] for row in rows]


@pytest.mark.parametrize("table", [DEFAULT_PLANS, KEY_GUIDE_PLANS])
@pytest.mark.parametrize(
    ("plan", "ordinary", "grandfathered"),
    [
        ("free", False, False),
        ("lite", False, True),
        ("pro", True, True),
        ("elite", True, True),
    ],
)
def test_a_plan_admits_the_keys_of_the_spec(table, plan, ordinary, grandfathered):
    assert table.plan(plan).admits(grandfathered=False) is ordinary
    assert table.plan(plan).admits(grandfathered=True) is grandfathered


@pytest.mark.parametrize("rates", [{"per_minute": 0}, {"per_day": 0}])
def test_a_plan_with_a_rate_of_nought_admits_nobody(rates):
    members = {"new_keys": True, "keys_max": 1, "per_minute": 1, "per_day": 1} | rates
    assert not Plan("odd", **members).admits(grandfathered=True)


def test_an_unknown_plan_is_refused_with_the_names_there_are():
    with pytest.raises(LookupError, match=r"'gold'.*free, lite, pro, elite"):
        DEFAULT_PLANS.plan("gold")


def test_a_settings_file_can_replace_and_add_rows():
    pro = Plan("pro", new_keys=True, keys_max=7, per_minute=60, per_day=9_000)
    team = Plan("team", new_keys=True, keys_max=50, per_minute=90, per_day=20_000)
    table = DEFAULT_PLANS.replacing(pro, team)
    assert table.plan("pro") == pro
    assert table.plan("team") == team
    assert table.plan("elite") == DEFAULT_PLANS.plan("elite")
    assert DEFAULT_PLANS.plan("pro").keys_max == 5


@pytest.mark.parametrize("name", ["keys_max", "per_minute", "per_day"])
def test_a_plan_has_no_negative_numbers(name):
    members = {"new_keys": True, "keys_max": 1, "per_minute": 1, "per_day": 1} | {name: -1}
    with pytest.raises(ValueError, match=name):
        Plan("odd", **members)


def test_there_are_the_eighteen_scopes_of_the_spec_and_each_says_what_it_grants():
    areas = {
        "reports": ["read", "audio"],
        "profiles": ["read", "write"],
        "projects": ["read", "write"],
        "automations": ["read", "write"],
        "news": ["read"],
        "webhooks": ["manage"],
        "osint": ["read"],
        "intel": ["finint", "cyber", "explorer", "knowledge"],
        "agent": ["svc"],
        "ledger": ["read", "write"],
    }
    assert list(SCOPES) == [f"{area}:{verb}" for area, verbs in areas.items() for verb in verbs]
    assert len(SCOPES) == 18
    assert all(SCOPES.values())


def test_names_that_are_no_scope_are_told_in_order():
    assert unknown(["reports:read", "x", "intel:all", "agent:svc"]) == ["x", "intel:all"]


def test_chat_credits_of_a_plan_may_be_others_than_those_of_its_table():
    table = DEFAULT_PLANS.giving([("pro", 7), ("free", 1)])
    credits = {name: plan.chat_credits for name, plan in table.plans.items()}
    assert credits == {"free": 1, "lite": 0, "pro": 7, "elite": 5_000}
    assert table.plan("pro").per_day == 5_000
    assert DEFAULT_PLANS.plan("pro").chat_credits == 500
