import hashlib
import string
from datetime import timedelta

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.access.keys import (
    MALFORMED_KEY,
    Bearer,
    active_until,
    digest,
    grandfather,
    new_key,
    parse_bearer,
    regenerate,
    revoke,
    state,
)
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.contract import problem
from svc_core.contract.problem import Problem

PRO = DEFAULT_PLANS.plan("pro")
SECRET = "svc_" + "0123456789abcdef" * 4
DAY = timedelta(days=1)


# -- the text of a key -------------------------------------------------------------------------


@given(st.binary(min_size=32, max_size=32))
def test_every_new_key_is_read_back_as_its_own_digest(random32):
    new = new_key(random32)
    assert parse_bearer(f"Bearer {new.secret}") == Bearer(new.digest_hex)
    assert new.digest_hex == hashlib.sha256(new.secret.encode()).hexdigest() == digest(new.secret)
    assert new.secret == "svc_" + random32.hex()
    assert new.prefix == new.secret[:12]


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_key_needs_exactly_32_random_bytes(size):
    with pytest.raises(ValueError, match="32 random bytes"):
        new_key(bytes(size))


def test_a_secret_is_not_shown_by_repr(make_key):
    new = new_key(b"\x07" * 32)
    assert new.secret not in repr(new)
    assert make_key().digest_hex not in repr(make_key())


ABSENT = [
    None,
    "",
    f"bearer {SECRET}",
    f"BEARER {SECRET}",
    f" Bearer {SECRET}",
    "Basic dXNlcjpwYXNz",
    SECRET,
]


@pytest.mark.parametrize("value", ABSENT)
def test_without_the_word_bearer_there_is_no_key(value):
    assert parse_bearer(value) is None


SPOILT = [
    "Bearer",
    "Bearer ",
    "Bearersvc_" + "0" * 64,
    f"Bearer:{SECRET}",
    f"Bearer\t{SECRET}",
    f"Bearer  {SECRET}",
    f"Bearer {SECRET} ",
    f"Bearer {SECRET}\n",
    f"Bearer {SECRET}\t",
    f"Bearer {SECRET}, Bearer {SECRET}",
    f"Bearer {SECRET[:-1]}",
    f"Bearer {SECRET}0",
    f"Bearer {SECRET.upper()}",
    f"Bearer {SECRET.replace('a', 'A')}",
    f"Bearer {SECRET.replace('svc_', 'svc-')}",
    f"Bearer {SECRET.replace('0', 'g')}",
    f"Bearer {SECRET.replace('0', '٠')}",
    f"Bearer {SECRET.replace('a', 'ａ')}",
    "Bearer é",
]


@pytest.mark.parametrize("value", SPOILT)
def test_a_spoilt_key_is_malformed_and_never_counts_as_no_key(value):
    assert parse_bearer(value) is MALFORMED_KEY


@given(st.text(string.ascii_letters + "0123456789_ \t\n:svBearr", max_size=80))
def test_a_credential_is_read_only_when_every_character_is_right(text):
    wanted_text = (
        len(text) == 68
        and text.startswith("svc_")
        and all(letter in "0123456789abcdef" for letter in text[4:])
    )
    bearer = parse_bearer(f"Bearer {text}")
    assert bearer == (Bearer(digest(text)) if wanted_text else MALFORMED_KEY)


@given(st.integers(0, 67), st.characters())
def test_no_single_changed_character_is_the_same_key(position, letter):
    changed_row = SECRET[:position] + letter + SECRET[position + 1 :]
    assert (parse_bearer(f"Bearer {changed_row}") == Bearer(digest(SECRET))) is (
        changed_row == SECRET
    )


# -- states ------------------------------------------------------------------------------------


def test_a_fresh_key_is_active(make_key, now):
    assert state(make_key(), PRO, now) == "active"


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(timedelta(microseconds=1), "active"), (timedelta(0), "expired"), (-DAY, "expired")],
)
def test_a_key_expires_at_its_expiry_not_after(make_key, now, offset, expected):
    assert state(make_key(expires_at=now + offset), PRO, now) == expected


@pytest.mark.parametrize(
    ("plan", "is_grandfathered", "expected"),
    [
        ("free", False, "plan-ineligible"),
        ("free", True, "plan-ineligible"),
        ("lite", False, "plan-ineligible"),
        ("lite", True, "active"),
        ("pro", False, "active"),
        ("elite", False, "active"),
    ],
)
def test_a_downgrade_shuts_out_all_but_grandfathered_lite_keys(
    make_key, now, plan, is_grandfathered, expected
):
    key = make_key(grandfathered=is_grandfathered)
    assert state(key, DEFAULT_PLANS.plan(plan), now) == expected


def test_revoked_is_told_before_expired_and_expired_before_plan(make_key, now):
    free = DEFAULT_PLANS.plan("free")
    assert state(make_key(status="inactive", expires_at=now), free, now) == "inactive"
    assert state(make_key(expires_at=now), free, now) == "expired"


@pytest.mark.parametrize("plan", ["free", "lite", "pro"])
@pytest.mark.parametrize("status", ["active", "inactive"])
@pytest.mark.parametrize("expires", [None, timedelta(seconds=-1), timedelta(0), timedelta(days=1)])
def test_a_key_is_active_until_exactly_when_its_state_is_another(
    make_key, now, plan, status, expires
):
    until = None if expires is None else now + expires
    key, key_plan = make_key(status=status, expires_at=until), DEFAULT_PLANS.plan(plan)
    for at in (now, now + timedelta(days=1, microseconds=-1), now + timedelta(days=1)):
        assert (at < active_until(key, key_plan)) is (state(key, key_plan, at) == "active")


# The spec's table of states, reduced to what is stored.
TABLE = [
    ("active", "revoke", "inactive"),
    ("inactive", "revoke", "inactive"),
    ("active", "regenerate", "active"),
    ("inactive", "regenerate", "active"),
]
ACT = {
    "revoke": revoke,
    "regenerate": lambda key, now: regenerate(key, new_key(b"\x09" * 32), now),
}


@pytest.mark.parametrize(("before", "action", "after"), TABLE)
def test_each_action_leads_to_the_state_of_the_table(make_key, now, before, action, after):
    assert ACT[action](make_key(status=before), now).status == after


def test_revoking_keeps_the_record_and_is_safe_to_repeat(make_key, now):
    key = make_key()
    revoked_key = revoke(key, now)
    assert evolve(revoked_key, status="active", revoked_at=None) == key
    assert revoked_key.revoked_at == now
    assert revoke(revoked_key, now + DAY) is revoked_key


def test_regenerating_voids_the_old_secret_and_resets_usage(make_key, now):
    key = make_key(last_used_at=now, revoked_at=now, status="inactive")
    new = new_key(b"\x09" * 32)
    again = regenerate(key, new, now + DAY)
    assert again == evolve(
        key,
        digest_hex=new.digest_hex,
        prefix=new.prefix,
        status="active",
        issued_at=now + DAY,
        revoked_at=None,
        last_used_at=None,
    )
    assert again.digest_hex != key.digest_hex


def _grandfather(key, *, before=None, siblings=(), keys_max=2):
    return grandfather(
        key, before=before or key.created_at + DAY, siblings=siblings, keys_max=keys_max
    )


def test_a_grandfathered_key_is_served_by_a_plan_without_new_keys_and_stays_one(make_key, now):
    lite, key = DEFAULT_PLANS.plan("lite"), make_key()
    assert state(key, lite, now) == "plan-ineligible"
    key_ = _grandfather(key)
    assert key_ == evolve(key, grandfathered=True)
    assert state(key_, lite, now) == "active"
    assert grandfather(key_, before=None, siblings=(), keys_max=0) is key_
    again = regenerate(key_, new_key(b"\x09" * 32), now)
    assert (again.grandfathered, state(again, lite, now)) == (True, "active")


@pytest.mark.parametrize(
    ("before", "rows"),
    [
        (None, "lite_keys_before is not set"),
        (timedelta(0), "lite_keys_before is 2026-03-04T12:00:00Z"),
        (-DAY, "The key was made on 2026-03-04T12:00:00Z, and lite_keys_before is 2026-03-03"),
    ],
)
def test_only_a_key_made_before_the_last_day_of_such_keys_is_grandfathered(
    make_key, now, before, rows
):
    key = make_key(created_at=now)
    day = None if before is None else now + before
    with pytest.raises(Problem) as failure:
        grandfather(key, before=day, siblings=(), keys_max=2)
    assert failure.value.type is problem.RESOURCE_CONFLICT
    assert rows in failure.value.detail
    assert "upgrade the plan" in failure.value.resolution
    assert _grandfather(key, before=now + timedelta(microseconds=1)).grandfathered


def test_an_account_has_as_many_grandfathered_keys_as_may_be_and_a_revoked_one_counts(
    make_key, now
):
    first, second = (make_key(seed, grandfathered=True) for seed in (2, 3))
    plain = [make_key(seed) for seed in (4, 5, 6)]
    assert _grandfather(make_key(), siblings=[first, *plain]).grandfathered
    for siblings in (
        [first, second],
        [first, revoke(second, now)],
        [first, evolve(second, expires_at=now)],
    ):
        with pytest.raises(Problem) as failure:
            _grandfather(make_key(), siblings=[*siblings, *plain])
        assert failure.value.detail.startswith("Of one account 2 keys are grandfathered")


def test_an_ineligible_key_stays_rotatable_and_revocable(make_key, now):
    free, key = DEFAULT_PLANS.plan("free"), make_key()
    assert state(revoke(key, now), free, now) == "inactive"
    new_key_ = regenerate(key, new_key(b"\x09" * 32), now)
    assert state(new_key_, free, now) == "plan-ineligible"
    assert new_key_.grandfathered is False


def test_an_expiry_ahead_is_kept_and_a_past_one_starts_again(make_key, now):
    key = make_key(expires_at=now + 30 * DAY)
    new = new_key(b"\x09" * 32)
    assert regenerate(key, new, now + DAY).expires_at == now + 30 * DAY
    late = now + 30 * DAY
    new_issue = regenerate(key, new, late)
    assert new_issue.expires_at == late + 30 * DAY
    assert state(new_issue, PRO, late) == "active"
    assert regenerate(new_issue, new, late + 90 * DAY).expires_at == late + 120 * DAY


def test_the_tenant_is_the_workspace_else_the_user(make_key):
    assert make_key().tenant == "wsp_" + "a" * 24
    assert make_key(workspace_id=None).tenant == "usr_" + "b" * 24


@pytest.mark.parametrize("near_miss", ["Bearer " * 8_000, "Bearer svc_" + "a" * 50_000])
def test_a_long_near_miss_is_malformed(near_miss):
    assert parse_bearer(near_miss) is MALFORMED_KEY
