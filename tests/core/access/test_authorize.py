from datetime import timedelta
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.access.address import ClientAddress
from svc_core.access.authorization import (
    ANONYMOUS,
    Facts,
    Grant,
    OperationAccess,
    Principal,
    admit_key,
    authorize,
)
from svc_core.access.keys import MALFORMED_KEY, Bearer
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.access.quotas import MemoryCounters, judge, limit_headers
from svc_core.access.scopes import SCOPES
from svc_core.contract.problem import Problem

HOME = ClientAddress("198.51.100.1", certain=True)
READ = OperationAccess(frozenset({"reports:read"}))


@pytest.fixture(scope="session")
def make_facts(make_key):
    """A maker of the facts of one request; `plan` and the members of the key are keywords."""

    def make(plan="pro", counters=None, **members):
        key = make_key(**members)
        principal = Principal.of(key, DEFAULT_PLANS.plan(plan), counters or MemoryCounters())
        return Facts(Bearer(key.digest_hex), principal, HOME)

    return make


def refusal(access, facts, now):
    """The problem that refuses; fails when the request is admitted."""
    with pytest.raises(Problem) as failure:
        authorize(access, facts, now)
    return failure.value


def code_of(access, facts, now):
    """The code of the refusal, or None."""
    try:
        authorize(access, facts, now)
    except Problem as error:
        return error.type.code
    return None


# -- admission ---------------------------------------------------------------------------------


def test_a_valid_key_is_admitted_as_its_workspace(make_facts, now):
    facts = make_facts()
    grant = authorize(READ, facts, now)
    key = facts.principal.key
    assert grant.tenant == key.workspace_id
    assert grant.actor.key_id == key.id
    assert grant.actor.user_id == key.user_id
    assert grant.actor.workspace_id == key.workspace_id
    assert grant.actor.scopes == set(SCOPES)
    assert dict(grant.headers)[b"x-ratelimit-remaining-minute"] == b"29"


def test_a_personal_key_is_admitted_as_its_user(make_facts, now):
    grant = authorize(READ, make_facts(workspace_id=None), now)
    assert grant.tenant == "usr_" + "b" * 24
    assert grant.actor.workspace_id is None


@pytest.mark.parametrize(
    "facts", [Facts(), Facts(MALFORMED_KEY), Facts(Bearer("0" * 64)), Facts(is_paid=True)]
)
def test_a_public_operation_asks_nothing(now, facts):
    assert authorize(OperationAccess(auth="public"), facts, now) is ANONYMOUS
    assert ANONYMOUS.tenant == ""
    assert not ANONYMOUS.headers


@pytest.mark.parametrize(
    ("auth", "is_paid", "code"),
    [
        ("bearer", False, "MISSING_API_KEY"),
        ("bearer", True, "MISSING_API_KEY"),
        ("bearer-or-x402", False, "PAYMENT_REQUIRED"),
        ("bearer-or-x402", True, None),
    ],
)
def test_without_a_key_only_a_payment_helps_and_only_where_there_is_a_price(
    now, auth, is_paid, code
):
    access = OperationAccess(READ.scopes, auth=auth)
    assert code_of(access, Facts(is_paid=is_paid), now) == code
    if code is None:
        assert authorize(access, Facts(is_paid=True), now) is ANONYMOUS


@pytest.mark.parametrize("pool", ["account", "agent", "none"])
def test_an_operation_is_counted_in_its_pools(make_facts, now, pool):
    facts = make_facts()
    grant = authorize(OperationAccess(pool=pool), facts, now)
    sizes = {"account": 4, "agent": 8, "none": 0}
    assert sum(b"-remaining-" in name for name, _ in grant.headers) == sizes[pool]
    assert bool(grant.headers) is (pool != "none")
    remaining = dict(authorize(READ, facts, now).headers)[b"x-ratelimit-remaining-minute"]
    assert remaining == (b"29" if pool == "none" else b"28")


# -- refusals ----------------------------------------------------------------------------------

INVALID_TOKEN = 'Bearer realm="svc", error="invalid_token"'
KEY_REFUSALS = [
    # members of the key, plan, code, status, challenge
    ({"status": "inactive"}, "pro", "API_KEY_REVOKED", 401, INVALID_TOKEN),
    ({"expires_at": "now"}, "pro", "API_KEY_EXPIRED", 401, INVALID_TOKEN),
    ({}, "free", "PLAN_INELIGIBLE", 403, None),
    ({}, "lite", "PLAN_INELIGIBLE", 403, None),
    ({"grandfathered": True}, "free", "PLAN_INELIGIBLE", 403, None),
    (
        {"scopes": ("news:read",)},
        "pro",
        "INSUFFICIENT_SCOPE",
        403,
        'Bearer realm="svc", error="insufficient_scope", scope="reports:read"',
    ),
    ({"addresses": ("198.51.100.2",)}, "pro", "IP_NOT_ALLOWED", 403, None),
]


@pytest.mark.parametrize(("members", "plan", "code", "status", "challenge"), KEY_REFUSALS)
def test_a_known_key_is_refused_by_the_first_thing_wrong(
    make_facts, now, members, plan, code, status, challenge
):
    if "expires_at" in members:
        members = {"expires_at": now}
    problem_ = refusal(READ, make_facts(plan, **members), now)
    assert (problem_.type.code, problem_.type.status) == (code, status)
    assert problem_.headers.get("WWW-Authenticate") == challenge


@pytest.mark.parametrize("auth", ["bearer", "bearer-or-x402"])
def test_a_spoilt_or_unknown_key_is_invalid_and_never_offered_a_payment(make_facts, now, auth):
    access = OperationAccess(READ.scopes, auth=auth)
    principal = make_facts().principal
    for facts in (
        Facts(MALFORMED_KEY),
        Facts(MALFORMED_KEY, principal),
        Facts(Bearer("0" * 64)),
        Facts(Bearer("0" * 64), principal),
        Facts(Bearer("0" * 64), is_paid=True),
    ):
        problem_ = refusal(access, facts, now)
        assert problem_.type.code == "INVALID_API_KEY"
        assert problem_.headers["WWW-Authenticate"] == INVALID_TOKEN


def test_a_missing_key_is_challenged_without_an_error(now):
    assert refusal(READ, Facts(), now).headers == {"WWW-Authenticate": 'Bearer realm="svc"'}


def test_a_refusal_never_shows_a_secret_or_its_digest(make_facts, now):
    for members in ({"status": "inactive"}, {"expires_at": now}, {"scopes": ("news:read",)}):
        facts = make_facts(**members)
        problem_ = refusal(READ, facts, now)
        text = f"{problem_!r} {dict(problem_.headers)}"
        assert facts.principal.key.digest_hex not in text
        assert ("01" * 32) not in text


def test_a_grandfathered_lite_key_runs_at_the_rates_of_lite(make_facts, now):
    facts = make_facts("lite", grandfathered=True)
    assert [code_of(READ, facts, now) for _ in range(11)] == [None] * 10 + ["RATE_LIMITED"]


# -- scopes ------------------------------------------------------------------------------------

# What operations of the spec ask for, beside each single scope.
INTEL = frozenset({"intel:finint", "intel:cyber", "intel:explorer"})


@given(st.sets(st.sampled_from(list(SCOPES)), min_size=1), st.sets(st.sampled_from(list(SCOPES))))
def test_a_key_passes_when_it_shares_a_scope_with_the_operation(make_key, now, key_scopes, demand):
    key = make_key(scopes=tuple(key_scopes))
    principal = Principal.of(key, DEFAULT_PLANS.plan("pro"), MemoryCounters())
    facts = Facts(Bearer(key.digest_hex), principal, HOME)
    passes = not demand or bool(key_scopes & demand)
    assert (code_of(OperationAccess(frozenset(demand)), facts, now) is None) is passes


def test_the_scopes_that_suffice_are_named_in_one_order(make_facts, now):
    problem_ = refusal(OperationAccess(INTEL), make_facts(scopes=("news:read",)), now)
    assert "intel:cyber, intel:explorer, intel:finint" in problem_.detail
    challenge = problem_.headers["WWW-Authenticate"]
    assert challenge.endswith('scope="intel:cyber intel:explorer intel:finint"')


# -- addresses and binding ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows_", "address", "code"),
    [
        ((), HOME, None),
        ((), ClientAddress("", certain=False), None),
        (("198.51.100.1",), HOME, None),
        (("10.0.0.1", "198.51.100.1"), HOME, None),
        (("10.0.0.1",), HOME, "IP_NOT_ALLOWED"),
        (("198.51.100.1",), ClientAddress("198.51.100.1", certain=False), "IP_NOT_ALLOWED"),
    ],
)
def test_an_allowlist_admits_exactly_its_addresses(make_facts, now, rows_, address, code):
    facts = make_facts(addresses=rows_)._replace(address=address)
    assert code_of(READ, facts, now) == code


@pytest.mark.parametrize(
    ("binding", "workspace", "code"),
    [
        ("any", None, None),
        ("any", "wsp_1", None),
        ("workspace", "wsp_1", None),
        ("workspace", None, "WORKSPACE_KEY_REQUIRED"),
    ],
)
def test_a_workspace_operation_refuses_personal_keys(make_facts, now, binding, workspace, code):
    access = OperationAccess(READ.scopes, binding=binding)
    assert code_of(access, make_facts(workspace_id=workspace), now) == code


# -- order -------------------------------------------------------------------------------------

# Every fault a request can have, in the order in which it is told.
ORDER = [
    "AUTH_LOCKED",
    "INVALID_API_KEY",
    "API_KEY_REVOKED",
    "API_KEY_EXPIRED",
    "PLAN_INELIGIBLE",
    "INSUFFICIENT_SCOPE",
    "IP_NOT_ALLOWED",
    "WORKSPACE_KEY_REQUIRED",
    "RATE_LIMITED",
]
STRICT = OperationAccess(frozenset({"ledger:read"}), binding="workspace")


@pytest.fixture(scope="session")
def faulty(make_key, now):
    """A maker of facts with the given faults."""

    def make(*faults):
        members = {}
        if "API_KEY_REVOKED" in faults:
            members["status"] = "inactive"
        if "API_KEY_EXPIRED" in faults:
            members["expires_at"] = now
        if "INSUFFICIENT_SCOPE" in faults:
            members["scopes"] = ("news:read",)
        if "IP_NOT_ALLOWED" in faults:
            members["addresses"] = ("10.0.0.1",)
        if "WORKSPACE_KEY_REQUIRED" in faults:
            members["workspace_id"] = None
        key = make_key(**members)
        plan = DEFAULT_PLANS.plan("lite" if "PLAN_INELIGIBLE" in faults else "pro")
        principal = Principal.of(key, plan, MemoryCounters())
        if "RATE_LIMITED" in faults:
            for _ in range(30):
                principal.gauges["account"].hit(int(now.timestamp()))
        bearer = MALFORMED_KEY if "INVALID_API_KEY" in faults else Bearer(key.digest_hex)
        failures = (now,) * 5 if "AUTH_LOCKED" in faults else (now,) * 4
        return Facts(bearer, principal, HOME, failures)

    return make


@pytest.mark.parametrize(("first", "second"), list(combinations_with_replacement(ORDER, 2)))
def test_of_two_faults_the_earlier_is_told(faulty, now, first, second):
    assert code_of(STRICT, faulty(first, second), now) == first


@given(st.sets(st.sampled_from(ORDER)))
def test_of_any_faults_the_earliest_is_told(faulty, now, faults):
    earliest = min(faults, key=ORDER.index, default=None)
    assert code_of(STRICT, faulty(*faults), now) == earliest


@pytest.mark.parametrize("fault", ORDER)
def test_a_refused_request_consumes_nothing(faulty, now, fault):
    facts = faulty(fault)
    second = int(now.timestamp())
    before = [(w.minute_used, w.day_used) for w in facts.principal.gauges["account"].windows]
    refusal(STRICT, facts, now)
    assert [
        (w.minute_used, w.day_used) for w in facts.principal.gauges["account"].windows
    ] == before
    if fault == "PLAN_INELIGIBLE":
        assert facts.principal.gauges["account"].hit(second).remaining == (9, 499, 9, 499)


# -- lockout -----------------------------------------------------------------------------------


def test_a_locked_address_tells_when_to_come_back(make_facts, now):
    failures = tuple(now + timedelta(seconds=n) for n in range(5))
    facts = make_facts()._replace(failures=failures)
    problem_ = refusal(READ, facts, now + timedelta(seconds=10))
    assert problem_.headers == {"Retry-After": "890"}
    assert problem_.type.status == 429


@pytest.mark.parametrize(
    ("auth", "code"),
    [("bearer", "MISSING_API_KEY"), ("bearer-or-x402", "PAYMENT_REQUIRED"), ("public", None)],
)
def test_a_lockout_is_only_for_requests_that_carry_a_key(now, auth, code):
    access = OperationAccess(auth=auth)
    assert code_of(access, Facts(failures=(now,) * 5, address=HOME), now) == code


# -- limits ------------------------------------------------------------------------------------


def test_a_rate_refusal_carries_every_field_of_the_limits(make_facts, now):
    facts = make_facts()
    assert [code_of(READ, facts, now) for _ in range(30)] == [None] * 30
    problem_ = refusal(READ, facts, now + timedelta(seconds=13, microseconds=1))
    assert problem_.type.code == "RATE_LIMITED"
    assert problem_.headers["Retry-After"] == "47"
    assert problem_.headers["X-RateLimit-Remaining-Minute"] == "0"
    assert problem_.headers["X-RateLimit-Remaining-User-Day"] == "4970"
    assert problem_.detail == (
        "Used up for now: requests of this key, 30 a minute; requests of this account, 30 a minute."
    )


def test_the_last_microsecond_of_a_minute_still_belongs_to_it(make_facts, now):
    facts = make_facts(per_minute=1)
    assert code_of(READ, facts, now) is None
    minute = timedelta(minutes=1)
    assert code_of(READ, facts, now + minute - timedelta(microseconds=1)) == "RATE_LIMITED"
    assert code_of(READ, facts, now + minute) is None


@pytest.mark.parametrize(
    ("members", "key_rate"),
    [
        ({}, (30, 5_000)),
        ({"per_minute": 7}, (7, 5_000)),
        ({"per_day": 70}, (30, 70)),
        ({"per_minute": 999, "per_day": 99_999}, (30, 5_000)),
    ],
)
def test_a_key_restricts_itself_below_its_plan_and_never_above(make_key, members, key_rate):
    principal = Principal.of(make_key(**members), DEFAULT_PLANS.plan("pro"), MemoryCounters())
    assert principal.gauges["account"].meter.limits == (*key_rate, 30, 5_000)


def test_only_agent_pools_used_up_is_told_as_such(make_facts, now):
    facts, talk = make_facts(), OperationAccess(frozenset({"agent:svc"}), pool="agent")
    assert [code_of(talk, facts, now) for _ in range(6)] == [None] * 5 + ["AGENT_RATE_LIMITED"]
    assert code_of(READ, facts, now) is None
    slow = make_facts(per_minute=5)
    assert [code_of(talk, slow, now) for _ in range(6)] == [None] * 5 + ["RATE_LIMITED"]


def test_a_host_that_counts_elsewhere_decides_the_same(make_facts, now):
    facts, second = make_facts(), int(now.timestamp())
    grant, gauge = admit_key(READ, facts, now)
    assert gauge is facts.principal.gauges["account"]
    fields = limit_headers(judge(gauge.meter, [0, 0, 0, 0], second))
    assert Grant(grant.actor, fields) == authorize(READ, facts, now)
    with pytest.raises(Problem) as failure:
        limit_headers(judge(gauge.meter, [30, 30, 30, 30], second))
    assert failure.value.type.code == "RATE_LIMITED"
    assert admit_key(OperationAccess(auth="public"), facts, now) == (ANONYMOUS, None)


def test_keys_of_one_account_share_its_quota_through_their_principals(make_key, now):
    counters, plan = MemoryCounters(), DEFAULT_PLANS.plan("pro")
    keys = [make_key(seed) for seed in (1, 2)]
    facts = [Facts(Bearer(key.digest_hex), Principal.of(key, plan, counters), HOME) for key in keys]
    assert [code_of(READ, facts[0], now) for _ in range(20)] == [None] * 20
    codes = [code_of(READ, facts[1], now) for _ in range(11)]
    assert codes == [None] * 10 + ["RATE_LIMITED"]
