"""Who is let in, over HTTP: keys, scopes, addresses, lockout, limits."""

import pytest

from svc_core.access import address, keys, plans
from svc_core.access import operations as accounts
from svc_core.contract import problem
from svc_http.guard.gate import PRINCIPALS_MAX, Gate, Principals
from svc_http.stores import MemoryStorage

NOTES = "/api/v1/notes"
UNKNOWN = "svc_" + "0" * 64


# -- keys --------------------------------------------------------------------------------------


def test_an_operation_without_scopes_takes_every_key(house):
    assert house.ask("GET", "/api/v2/ours", house.key()).status_code == 200


def test_the_log_names_the_tenant_and_the_key_prefix_even_of_a_refusal(house, check_problem):
    key = house.key("profiles:write")
    check_problem(house.ask("GET", NOTES, key), problem.INSUFFICIENT_SCOPE)
    house.service.runtime.journal.flush()
    line = house.log.lines[-1]
    assert (line["status"], line["route"], line["key"]) == (403, NOTES, key[:12])
    assert line["tenant"].startswith("wsp_")
    assert key not in house.log.text


# -- the second of trust -----------------------------------------------------------------------


async def _end_plans(ctx, secret):
    row = await accounts.find_key(ctx.tx, keys.digest(secret), plans.DEFAULT_PLANS)
    await accounts.set_plan(ctx, row.key.workspace_id, "free", plans.DEFAULT_PLANS)


async def _revoke(ctx, secret):
    row = await accounts.find_key(ctx.tx, keys.digest(secret), plans.DEFAULT_PLANS)
    await accounts.revoke_key(ctx, row.key.id)


class Silent(MemoryStorage):
    """A store whose news is lost."""

    def watch(self, watcher):
        pass


def test_a_revoked_key_stops_at_once(house, check_problem):
    key = house.key()
    assert house.ask("GET", NOTES, key).status_code == 200
    house.system(lambda ctx: _revoke(ctx, key))
    check_problem(house.ask("GET", NOTES, key), problem.API_KEY_REVOKED)


def test_a_revoked_key_of_which_no_news_came_stops_within_a_second(
    make_house, house, check_problem
):
    house = make_house(parts={"storage": Silent(house.service_collections)})
    key = house.key()
    assert house.ask("GET", NOTES, key).status_code == 200
    house.system(lambda ctx: _revoke(ctx, key))
    assert house.ask("GET", NOTES, key).status_code == 200
    house.ticks += 1.1
    check_problem(house.ask("GET", NOTES, key), problem.API_KEY_REVOKED)


@pytest.mark.parametrize(
    ("names", "is_fresh"),
    [
        ({"keys"}, False),
        ({"workspaces", "notes"}, False),
        ({"users"}, False),
        ({"notes", "members"}, True),
        (set(), True),
    ],
)
def test_a_key_is_looked_up_anew_once_what_it_is_made_from_was_written(
    make_house, house, names, is_fresh
):
    house = make_house(parts={"storage": MemoryStorage(house.service_collections)})
    principals, digest = house.service.runtime.principals, keys.digest(house.key())
    assert house.run(principals.load(digest)) is not None
    for watcher in house.storage._watchers:
        watcher(frozenset(names))
    assert (principals.fresh(digest) is not None) is is_fresh


class _Overtaken:
    """A store in which a command ends while a key is on its way from it."""

    def __init__(self, storage):
        self._storage = storage

    def watch(self, watcher):
        self._watcher = watcher

    async def read(self, tenant, unit):
        rows = await self._storage.read(tenant, unit)
        self._watcher(frozenset({"keys"}))
        return rows


def test_a_key_that_was_read_before_a_change_is_not_believed_after_it(house):
    principals = Principals(_Overtaken(house.storage), plans.DEFAULT_PLANS, lambda: 0.0)
    digest = keys.digest(house.key())
    assert house.run(principals.load(digest)) is not None
    assert principals.fresh(digest) is None


def test_only_so_many_keys_are_held(house, monkeypatch):
    monkeypatch.setattr("svc_http.guard.gate.PRINCIPALS_MAX", 2)
    keys_ = [house.key() for _ in range(3)]
    for key in keys_:
        assert house.ask("GET", NOTES, key).status_code == 200
    principals = [house.service.runtime.principals.fresh(keys.digest(key)) for key in keys_]
    assert [principal is None for principal in principals] == [True, False, False]
    assert PRINCIPALS_MAX > 2


# -- a key that asks again ---------------------------------------------------------------------
#
# After its first request a key is not looked up again. Every reason to refuse must still be seen.


def principal_of(house, **wish):
    """A key that was let in before."""
    key = house.key(**wish)
    assert house.ask("GET", NOTES, key).status_code == 200
    return key


@pytest.mark.parametrize(
    "spoil",
    [
        lambda key: f"Bearer  {key}",
        lambda key: f"Bearer {key[:-1]}",
        lambda key: f"Bearer {key.upper()}",
        lambda key: f"Bearer {key}0",
        lambda key: f"Bearer\t{key}",
    ],
)
def test_nothing_like_a_known_key_is_let_in(house, check_problem, spoil):
    key = principal_of(house)
    answer = house.ask("GET", NOTES, headers={"Authorization": spoil(key)})
    check_problem(answer, problem.INVALID_API_KEY)
    check_problem(
        house.ask("GET", NOTES, headers={"Authorization": f"bearer {key}"}), problem.MISSING_API_KEY
    )


# -- a key that is refused again ---------------------------------------------------------------


REFUSALS = {
    "revoked": problem.API_KEY_REVOKED,
    "lapsed": problem.PLAN_INELIGIBLE,
    "weak": problem.INSUFFICIENT_SCOPE,
    "personal": problem.WORKSPACE_KEY_REQUIRED,
    "used up": problem.RATE_LIMITED,
}
OWN_PATH = "/api/v2/ours"


def refusable(house, reason):
    """A key and a path at which it is refused."""
    if reason == "personal":
        return house.key(personal=True), OWN_PATH
    key = house.key("profiles:write") if reason == "weak" else house.key(per_day=1)
    if reason == "used up":
        assert house.ask("GET", NOTES, key).status_code == 200
    if reason == "revoked":
        house.system(lambda ctx: _revoke(ctx, key))
    if reason == "lapsed":
        house.system(lambda ctx: _end_plans(ctx, key))
    return key, NOTES


def limits_of(answer):
    """Everything that an answer says but its request's id."""
    id_ = answer.headers["x-request-id"]
    headers = [(name, value.replace(id_, "")) for name, value in answer.headers.multi_items()]
    return answer.status_code, sorted(headers), answer.text.replace(id_, "")


@pytest.mark.parametrize("reason", REFUSALS)
def test_a_refusal_is_repeated_word_for_word(house, check_problem, reason):
    key, path = refusable(house, reason)
    first, again = house.ask("GET", path, key), house.ask("GET", path, key)
    check_problem(again, REFUSALS[reason])
    assert limits_of(again) == limits_of(first)
    assert again.headers["x-request-id"] != first.headers["x-request-id"]


@pytest.mark.parametrize("reason", REFUSALS)
def test_a_repeated_refusal_is_no_use_of_the_key(house, reason):
    key, path = refusable(house, reason)
    house.service.runtime.gate.uses.take()
    for _ in range(2):
        house.ask("GET", path, key)
    assert house.service.runtime.gate.uses.take() == {}


def test_a_repeated_refusal_tells_the_time_that_is_left(house, check_problem):
    key = house.key(per_minute=1)
    assert house.ask("GET", NOTES, key).status_code == 200
    for remaining, seconds in ((53, 0), (53, 1), (52, 52)):
        over = house.ask("GET", NOTES, key)
        check_problem(over, problem.RATE_LIMITED)
        assert over.headers["retry-after"] == str(remaining)
        house.clock.forward(seconds=seconds)
    assert house.ask("GET", NOTES, key).status_code == 200


def test_a_refused_key_is_let_in_once_the_reason_is_gone(house, check_problem):
    key, path = refusable(house, "lapsed")
    check_problem(house.ask("GET", path, key), problem.PLAN_INELIGIBLE)

    async def begin(ctx):
        row = await accounts.find_key(ctx.tx, keys.digest(key), plans.DEFAULT_PLANS)
        await accounts.set_plan(ctx, row.key.workspace_id, "elite", plans.DEFAULT_PLANS)

    house.system(begin)
    house.ticks += 1.1
    assert house.ask("GET", path, key).status_code == 200


# -- addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "headers", "status"),
    [
        (("203.0.113.9", 1), {}, 200),
        (("203.0.113.8", 1), {}, 403),
        (("127.0.0.1", 1), {"CF-Connecting-IP": "::ffff:203.0.113.9"}, 200),
        (("127.0.0.1", 1), {"X-Forwarded-For": "203.0.113.9, 10.0.0.1"}, 200),
        (("10.1.2.3", 1), {"X-Real-IP": "203.0.113.9"}, 200),
        (("127.0.0.1", 1), {"CF-Connecting-IP": "203.0.113.8", "X-Real-IP": "203.0.113.9"}, 403),
        (("127.0.0.1", 1), {"CF-Connecting-IP": "garbage", "X-Real-IP": "203.0.113.9"}, 403),
        (("198.51.100.1", 1), {"X-Forwarded-For": "203.0.113.9"}, 403),
        (None, {"X-Forwarded-For": "203.0.113.9"}, 200),
        (None, {}, 403),
    ],
)
def test_the_allowlist_of_a_key_sees_the_client_and_not_what_strangers_write(
    house, client, headers, status
):
    key = house.key(addresses=("203.0.113.9",))
    answer = house.ask("GET", NOTES, key, client=client, headers=headers)
    assert answer.status_code == status


# -- limits ------------------------------------------------------------------------------------


def test_refusals_behind_the_gate_carry_the_limits_as_well(house, check_problem):
    answer = house.ask("GET", f"{NOTES}?limit=0", house.key())
    check_problem(answer, problem.INVALID_PARAMETER)
    assert answer.headers["x-ratelimit-remaining-minute"] == "119"


def test_a_lookup_under_another_digest_admits_nobody(house, check_problem):
    key = house.key()
    runtime = house.service.runtime

    class ConfusedPrincipals(Principals):
        async def load(self, digest_hex):
            return await super().load(keys.digest(key))

    principals = ConfusedPrincipals(house.storage, runtime.plans, lambda: 0.0)
    runtime.gate = Gate(principals, address.DEFAULT_TRUSTED)
    check_problem(house.ask("GET", NOTES, UNKNOWN), problem.INVALID_API_KEY)
    assert house.ask("GET", NOTES, key).status_code == 200
