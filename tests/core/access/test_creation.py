from datetime import timedelta

import pytest
from attrs import evolve, frozen

from svc_core import wire
from svc_core.access.creation import AllowedOrigins, KeyWish, change_key, create, may_create
from svc_core.access.keys import new_key, revoke, state
from svc_core.access.plans import DEFAULT_PLANS, Plan
from svc_core.contract.problem import Problem

PRO = DEFAULT_PLANS.plan("pro")
REQUEST = KeyWish("CI", ("reports:read",), workspace_id="wsp_1")


def code_of(request, now, *, role="owner", plan=PRO, existing=()):
    """The code that refuses, or None."""
    try:
        may_create(request, role=role, plan=plan, existing=existing, now=now)
    except Problem as error:
        return error.type.code
    return None


@pytest.mark.parametrize(
    ("role", "code"),
    [("owner", None), ("admin", None), ("member", "FORBIDDEN"), ("viewer", "FORBIDDEN")],
)
def test_owners_and_admins_manage_keys_and_nobody_else(now, role, code):
    assert code_of(REQUEST, now, role=role) == code


@pytest.mark.parametrize(
    ("plan", "code"),
    [("free", "PLAN_INELIGIBLE"), ("lite", "PLAN_INELIGIBLE"), ("pro", None), ("elite", None)],
)
def test_only_pro_and_elite_admit_new_keys(now, plan, code):
    assert code_of(REQUEST, now, plan=DEFAULT_PLANS.plan(plan)) == code


@pytest.mark.parametrize(("plan", "room"), [("pro", 5), ("elite", 25)])
def test_a_plan_holds_its_number_of_active_keys(now, make_key, plan, room):
    row = DEFAULT_PLANS.plan(plan)
    keys_ = [make_key(n) for n in range(1, room + 1)]
    assert code_of(REQUEST, now, plan=row, existing=keys_[1:]) is None
    assert code_of(REQUEST, now, plan=row, existing=keys_) == "RESOURCE_CONFLICT"
    assert code_of(REQUEST, now, plan=row, existing=[revoke(keys_[0], now), *keys_[1:]]) is None
    expired_key = evolve(keys_[0], expires_at=now)
    assert code_of(REQUEST, now, plan=row, existing=[expired_key, *keys_[1:]]) is None


def test_a_name_is_taken_by_a_revoked_key_too(now, make_key):
    second = revoke(make_key(name="CI"), now)
    assert code_of(REQUEST, now, existing=[second]) == "RESOURCE_CONFLICT"


FAULTS = [
    ({"name": ""}, "/name"),
    ({"name": "x" * 121}, "/name"),
    ({"name": "a\nb"}, "/name"),
    ({"scopes": ()}, "/scopes"),
    ({"scopes": ("reports:read", "reports:all")}, "/scopes: 'reports:all'"),
    ({"addresses": ("10.0.0.0/8",)}, "/addresses/0"),
    ({"addresses": ("10.0.0.1", "10.0.0.1:80")}, "/addresses/1"),
    ({"addresses": tuple(f"10.0.0.{n}" for n in range(101))}, "/addresses: must be at most 100"),
    ({"per_minute": 0}, "/perMinute"),
    ({"per_minute": 31}, "/perMinute: must be 1 to 30"),
    ({"per_day": 0}, "/perDay"),
    ({"per_day": 5_001}, "/perDay"),
]


@pytest.mark.parametrize(("change", "pointer"), FAULTS)
def test_a_fault_is_named_by_its_place(now, change, pointer):
    with pytest.raises(Problem) as failure:
        may_create(evolve(REQUEST, **change), role="admin", plan=PRO, existing=(), now=now)
    assert failure.value.type.code == "VALIDATION_FAILED"
    assert pointer in failure.value.detail
    assert ";" not in failure.value.detail


@pytest.mark.parametrize(
    "change",
    [
        {"name": "x"},
        {"name": "x" * 120},
        {"name": "Überwachung Ⅳ"},
        {"addresses": tuple(f"10.0.0.{n}" for n in range(100))},
        {"per_minute": 1, "per_day": 1},
        {"per_minute": 30, "per_day": 5_000},
    ],
)
def test_the_bounds_themselves_pass(now, change):
    assert code_of(evolve(REQUEST, **change), now) is None


def test_an_expiry_must_be_ahead(now):
    assert code_of(evolve(REQUEST, expires_at=now), now) == "VALIDATION_FAILED"
    assert code_of(evolve(REQUEST, expires_at=now + timedelta(microseconds=1)), now) is None


def test_all_faults_are_told_together(now):
    bad_wish = KeyWish("", (), addresses=("x",), expires_at=now, per_minute=0, per_day=0)
    with pytest.raises(Problem) as failure:
        may_create(bad_wish, role="owner", plan=PRO, existing=(), now=now)
    for pointer in ("/name", "/scopes", "/addresses/0", "/expiresAt", "/perMinute", "/perDay"):
        assert pointer in failure.value.detail


def test_role_comes_before_plan_and_plan_before_faults(now, make_key):
    free = Plan("free", new_keys=False, keys_max=0, per_minute=0, per_day=0)
    bad_wish = evolve(REQUEST, name="")
    task = [make_key(n, name="") for n in range(1, 6)]
    assert code_of(bad_wish, now, role="member", plan=free, existing=task) == "FORBIDDEN"
    assert code_of(bad_wish, now, plan=free, existing=task) == "PLAN_INELIGIBLE"
    assert code_of(bad_wish, now, existing=task) == "VALIDATION_FAILED"


def test_a_created_key_is_active_with_one_spelling_of_each_address(now):
    request = evolve(
        REQUEST,
        scopes=("news:read", "osint:read", "news:read"),
        addresses=("::ffff:10.0.0.1", "10.0.0.1", "2001:DB8::0:1"),
        per_minute=3,
        per_day=4,
        expires_at=now + timedelta(days=1),
        allowed_origins=("https://b.example", "https://a.example", "https://b.example"),
    )
    new = new_key(b"\x01" * 32)
    key = create(request, new, id_="key_1", user_id="usr_1", now=now)
    assert state(key, PRO, now) == "active"
    assert key.addresses == ("10.0.0.1", "2001:db8::1")
    assert key.allowed_origins == ("https://b.example", "https://a.example")
    assert key.scopes == ("news:read", "osint:read")
    assert (key.id, key.name, key.digest_hex, key.prefix) == (
        "key_1",
        "CI",
        new.digest_hex,
        new.prefix,
    )
    assert (key.workspace_id, key.user_id) == ("wsp_1", "usr_1")
    assert (key.created_at, key.issued_at, key.expires_at) == (now, now, request.expires_at)
    assert (key.per_minute, key.per_day) == (3, 4)
    assert (key.grandfathered, key.last_used_at, key.revoked_at) == (False, None, None)


# -- changing a key ----------------------------------------------------------------------------


def change_code(key, now, *, siblings=(), plan=PRO, **members):
    """The key with what is sent, or the code that refuses."""
    try:
        return change_key(key, members, plan=plan, siblings=siblings, now=now)
    except Problem as error:
        return error.type.code


def test_a_change_touches_what_is_sent_and_nothing_else(now, make_key):
    key = make_key(
        expires_at=now, grandfathered=True, last_used_at=now, addresses=("192.0.2.1",), per_day=9
    )
    assert change_code(key, now) == key
    for members in (
        {"name": "other"},
        {"addresses": ("192.0.2.2",)},
        {"addresses": ()},
        {"allowed_origins": ("https://a.example",)},
        {"per_minute": 3, "per_day": None},
    ):
        assert change_code(key, now, **members) == evolve(key, **members)
    assert change_code(key, now, addresses=("::ffff:10.0.0.1", "10.0.0.1")).addresses == (
        "10.0.0.1",
    )


def test_what_stands_in_a_key_is_not_judged_anew(now, make_key):
    lite = DEFAULT_PLANS.plan("lite")
    key = make_key(expires_at=now, per_minute=30, per_day=5_000)
    assert change_code(key, now, plan=lite, name="other") == evolve(key, name="other")
    assert change_code(key, now, plan=lite, per_minute=11) == "VALIDATION_FAILED"
    assert change_code(key, now, plan=lite, per_minute=10).per_minute == 10


def test_a_change_is_refused_as_a_new_key_would_be(now, make_key):
    key, second = make_key(1), make_key(2, name="taken")
    for names, code in (
        ({"name": "taken"}, "RESOURCE_CONFLICT"),
        ({"name": ""}, "VALIDATION_FAILED"),
        ({"addresses": ("10.0.0.0/8",)}, "VALIDATION_FAILED"),
        ({"per_minute": 31}, "VALIDATION_FAILED"),
        ({"per_day": 0}, "VALIDATION_FAILED"),
    ):
        assert change_code(key, now, siblings=[second], **names) == code
    assert change_code(key, now, siblings=[second], name=key.name) == key


# -- origins -----------------------------------------------------------------------------------


@frozen
class SentModel:
    allowed_origins: AllowedOrigins = ()


ORIGINS = [
    ("https://app.example.org", True),
    ("http://localhost:3000", True),
    ("https://192.0.2.1", True),
    ("https://[2001:db8::1]:8443", True),
    ("https://xn--mnchen-3ya.example", True),
    ("https://a.example:1", True),
    ("https://a.example:65535", True),
    ("https://" + "a" * 253, True),
    ("https://" + "a" * 254, False),
    ("https://a.example:65536", False),
    ("https://a.example:0", False),
    ("https://a.example:080", False),
    ("https://a.example:", False),
    ("https://a.example/", False),
    ("https://a.example/path", False),
    ("https://a.example?q", False),
    ("https://a.example#f", False),
    ("https://me@a.example", False),
    ("https://*.example", False),
    ("HTTPS://a.example", False),
    ("https://A.example", False),
    ("https://é.example", False),
    ("https://a.example\n", False),
    ("https://a.example https://b.example", False),
    ("ftp://a.example", False),
    ("a.example", False),
    ("//a.example", False),
    ("https://", False),
    ("https://[::1", False),
    ("null", False),
    ("*", False),
    ("", False),
]


@pytest.mark.parametrize(("origin", "fits"), ORIGINS)
def test_an_origin_is_one_that_browsers_send(origin, fits):
    try:
        origins = wire.structure(SentModel, {"allowedOrigins": [origin]})
    except wire.WireError as unfit:
        assert not fits
        (fault,) = unfit.faults
        assert fault.place == "/allowedOrigins/0"
        assert "such as https://app.example.org" in fault.reason
    else:
        assert fits
        assert origins.allowed_origins == (origin,)


def test_a_key_has_a_hundred_origins_and_no_more():
    origins = [f"https://{n}.example" for n in range(101)]
    assert len(wire.structure(SentModel, {"allowedOrigins": origins[:100]}).allowed_origins) == 100
    with pytest.raises(wire.WireError, match="/allowedOrigins: must have at most 100 items"):
        wire.structure(SentModel, {"allowedOrigins": origins})
