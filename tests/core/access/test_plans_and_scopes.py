import re

import attrs
import pytest

from svc_core import wire
from svc_core.access.plans import DEFAULT_PLANS, KEY_GUIDE_PLANS, PRESETS, Plan, PlanTable
from svc_core.access.scopes import SCOPES, unknown

# The spec's table: plan, new keys, keys, per minute, per day, chat credits, subscriptions.
REFERENCE = [
    ("free", False, 0, 0, 0, 0, 0),
    ("lite", False, 2, 10, 500, 0, 10),
    ("pro", True, 5, 30, 5_000, 500, 100),
    ("elite", True, 25, 120, 50_000, 5_000, 1_000, 1_000, 2_000, 500),
]
GUIDE = [
    ("free", False, 0, 0, 0, 0, 0),
    ("lite", False, 2, 10, 500, 0, 10),
    ("pro", True, 10, 30, 5_000, 500, 100),
    ("elite", True, 100, 300, 50_000, 5_000, 1_000, 1_000, 2_000, 500),
]


@pytest.mark.parametrize(("preset", "rows"), [("default", REFERENCE), ("key-guide", GUIDE)])
def test_each_preset_is_the_table_of_its_source(preset, rows):
    assert list(PRESETS[preset].plans.values()) == [Plan(*row) for row in rows]
    assert list(PRESETS[preset].plans) == [row[0] for row in rows]


@pytest.mark.parametrize("table", [DEFAULT_PLANS, KEY_GUIDE_PLANS])
@pytest.mark.parametrize(
    ("plan", "ordinary", "is_grandfathered"),
    [
        ("free", False, False),
        ("lite", False, True),
        ("pro", True, True),
        ("elite", True, True),
    ],
)
def test_a_plan_admits_the_keys_of_the_spec(table, plan, ordinary, is_grandfathered):
    assert table.plan(plan).admits(grandfathered=False) is ordinary
    assert table.plan(plan).admits(grandfathered=True) is is_grandfathered


@pytest.mark.parametrize("rates", [{"per_minute": 0}, {"per_day": 0}])
def test_a_plan_with_a_rate_of_nought_admits_nobody(rates):
    members = {"new_keys": True, "keys_max": 1, "per_minute": 1, "per_day": 1} | rates
    assert not Plan("odd", **members).admits(grandfathered=True)


def test_a_plan_that_is_no_longer_offered_admits_nobody():
    gone_id = DEFAULT_PLANS.plan("gold")
    assert gone_id.name == "gold"
    assert not gone_id.admits(grandfathered=True)


def test_a_host_can_replace_and_add_rows():
    pro = Plan("pro", new_keys=True, keys_max=7, per_minute=60, per_day=9_000)
    team = Plan("team", new_keys=True, keys_max=50, per_minute=90, per_day=20_000)
    table = PlanTable.of([*DEFAULT_PLANS.plans.values(), pro, team])
    assert table.plan("pro") == pro
    assert table.plan("team") == team
    assert table.plan("elite") == DEFAULT_PLANS.plan("elite")
    assert DEFAULT_PLANS.plan("pro").keys_max == 5


# -- tables of a settings file -----------------------------------------------------------------

TEAM = {"newKeys": True, "keysMax": 50, "perMinute": 90, "perDay": 20_000}


def test_each_number_of_a_plan_changes_alone_and_all_the_others_stay():
    for member, name in (
        ("keysMax", "keys_max"),
        ("perMinute", "per_minute"),
        ("perDay", "per_day"),
        ("chatCredits", "chat_credits"),
        ("subscriptions", "subscriptions"),
        ("profiles", "profiles"),
        ("projects", "projects"),
        ("automations", "automations"),
    ):
        table = DEFAULT_PLANS.with_changes({"pro": {member: 33}} if member != "perDay" else
                                       {"pro": {member: 9_000}})  # fmt: skip
        pro = DEFAULT_PLANS.plan("pro")
        assert table.plan("pro") == attrs.evolve(pro, **{name: getattr(table.plan("pro"), name)})
        assert table.plan("pro") != pro
        assert PlanTable.of([*table.plans.values(), pro]) == DEFAULT_PLANS


def test_a_table_of_another_name_is_a_plan_more():
    table = DEFAULT_PLANS.with_changes({"team": TEAM})
    assert list(table.plans) == ["free", "lite", "pro", "elite", "team"]
    assert table.plan("team") == Plan("team", True, 50, 90, 20_000)
    assert DEFAULT_PLANS.with_changes({"team": {**TEAM, "subscriptions": 5}}).plan("team") == Plan(
        "team", True, 50, 90, 20_000, subscriptions=5
    )


def test_a_row_may_stand_as_it_is_printed():
    for table in (DEFAULT_PLANS, KEY_GUIDE_PLANS):
        assert (
            table.with_changes({n: wire.to_json(plan) for n, plan in table.plans.items()}) == table
        )


def test_a_plan_that_gave_no_access_may_give_some():
    free = {"newKeys": True, "keysMax": 1, "perMinute": 1, "perDay": 1}
    assert DEFAULT_PLANS.with_changes({"free": free}).plan("free").admits(grandfathered=False)
    shut = DEFAULT_PLANS.with_changes({"lite": {"perMinute": 0, "perDay": 0}})
    assert not shut.plan("lite").admits(grandfathered=True)


UNFIT = [
    ({"pro": {"perHour": 1}}, "pro.perHour: is not a known member"),
    ({"pro": {"per_day": 1}}, "pro.per_day: is not a known member"),
    ({"pro": {"perDay": "500"}}, "pro.perDay: must be an integer"),
    ({"pro": {"perDay": 500.5}}, "pro.perDay: must be an integer"),
    ({"pro": {"perDay": float("nan")}}, "pro.perDay: must be an integer"),
    ({"pro": {"perDay": float("inf")}}, "pro.perDay: must be an integer"),
    ({"pro": {"perDay": True}}, "pro.perDay: must be an integer"),
    ({"pro": {"perDay": None}}, "pro.perDay: must be an integer"),
    ({"pro": {"perDay": [1]}}, "pro.perDay: must be an integer"),
    ({"pro": {"perDay": {"a": 1}}}, "pro.perDay: must be an integer"),
    ({"pro": {"newKeys": 1}}, "pro.newKeys: must be a boolean"),
    ({"pro": {"newKeys": "yes"}}, "pro.newKeys: must be a boolean"),
    *(({"pro": {name: -1}}, f"pro.{name}: must be at least 0") for name in (
        "keysMax", "perMinute", "perDay", "chatCredits", "subscriptions", "profiles", "projects",
        "automations",
    )),
    ({"pro": {"perDay": 10**9 + 1}}, "pro.perDay: must be at most 1000000000"),
    ({"pro": {"perDay": 10**40}}, "pro.perDay: must be at most 1000000000"),
    ({"pro": {"perMinute": 5_001}}, "pro.perMinute: must be 1 to perDay"),
    ({"pro": {"perDay": 29}}, "pro.perMinute: must be 1 to perDay"),
    ({"pro": {"perMinute": 0}}, "pro.perMinute: must be 1 to perDay"),
    ({"pro": {"perDay": 0}}, "pro.perMinute: must be 1 to perDay"),
    ({"pro": {"perDay": 0, "perMinute": 0}}, "pro.newKeys: must be false where"),
    ({"pro": {"keysMax": 0}}, "pro.newKeys: must be false where"),
    ({"pro": {"name": "gold"}}, "pro.name: must be left out, or pro"),
    ({"pro": {"name": 1}}, "pro.name: must be a string"),
    ({"pro": 5}, "pro: must be an object"),
    ({"pro": [TEAM]}, "pro: must be an object"),
    ({"team": {}}, "team.newKeys: is required; team.keysMax: is required; team.perMinute: is req"),
    *(({name: TEAM}, ".name: must be a name in small letters") for name in (
        "", "Team", "team 1", "1team", "a" * 41, "team\n", "t/m", "é",
    )),
]  # fmt: skip


@pytest.mark.parametrize(("tables", "text"), UNFIT)
def test_what_does_not_fit_is_refused_by_name(tables, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        DEFAULT_PLANS.with_changes(tables)


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
