"""Authorization: whether a request may run, and as which actor (Spec: Authentication).

A pure function of the facts. The order of the checks is fixed, so that every status is predictable;
`admit_key` has it:

1. without a key: what is public is open, what has a price is paid for (402), the rest asks
   for a key (401)
2. lockout of the address (429)
3. the key: malformed or unknown (401), revoked, expired (401), its plan (403)
4. scope (403), address (403), workspace binding (403)
5. the rate pools (429)

Everything is judged before a pool is touched, so a refused request consumes nothing. A request
that carries a key never falls back to payment, however the key fails.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hmac import compare_digest
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from attrs import field, frozen

from svc_core.access import keys, lockout
from svc_core.access.address import ClientAddress
from svc_core.access.keys import ApiKey, Bearer, KeyState, MalformedKey
from svc_core.access.limits import Header, Meter, agent_meter, general_meter
from svc_core.access.plans import Plan
from svc_core.access.quotas import Gauge, MemoryCounters, judge, limit_headers
from svc_core.contract import problem
from svc_core.contract.problem import Problem, ProblemType
from svc_core.operation.caller import Actor
from svc_core.operation.declaration import PoolName
from svc_core.operation.ports import Counters, Failures

CHALLENGE = 'Bearer realm="svc"'


# -- the facts ---------------------------------------------------------------------------------


@frozen
class OperationAccess:
    """The access rules of an operation.

    `scopes` is an any-of set; an empty one is satisfied by every key. `pool` is what requests
    are counted in.
    """

    scopes: frozenset[str] = frozenset()
    auth: Literal["bearer", "bearer-or-x402", "public"] = "bearer"
    binding: Literal["any", "workspace", "system"] = "any"
    pool: PoolName = "account"


@frozen(eq=False)
class Principal:
    """A known key with the current plan of its account and the counters of both, by pool.

    A host keeps principals by key digest and drops one when its key, or the plan of its account,
    changes; that is how a revoked or regenerated key stops at once. Making it costs some 30 us,
    asking it about 2 us.
    """

    key: ApiKey
    plan: Plan
    gauges: Mapping[PoolName, Gauge]
    actor: Actor = field(init=False)
    addresses: frozenset[str] = field(init=False)
    active_until: datetime = field(init=False)

    @classmethod
    def of(cls, key: ApiKey, plan: Plan, counters: MemoryCounters) -> "Principal":
        """The principal of `key` under `plan`, sharing counts with its account."""
        general = general_meter(key, plan)
        meters: dict[PoolName, Meter] = {"account": general, "agent": agent_meter(key, general)}
        return cls(key, plan, {pool: counters.gauge(meter) for pool, meter in meters.items()})

    @actor.default
    def _actor(self) -> Actor:
        key = self.key
        return Actor(
            tenant=key.tenant,
            workspace_id=key.workspace_id,
            user_id=key.user_id,
            key_id=key.id,
            scopes=frozenset(key.scopes),
        )

    @addresses.default
    def _addresses(self) -> frozenset[str]:
        return frozenset(self.key.addresses)

    @active_until.default
    def _active_until(self) -> datetime:
        return keys.active_until(self.key, self.plan)


UNKNOWN_ADDRESS: Final = ClientAddress("", certain=False)


class Facts(NamedTuple):
    """The facts about one request that authorization needs.

    `principal` is the one kept under the digest of `bearer`, `failures` are those of the
    address, read after the principal was looked up. `is_paid` says that a payment for this
    operation has been verified. A named tuple, because one is made for every request.
    """

    bearer: Bearer | MalformedKey | None = None
    principal: Principal | None = None
    address: ClientAddress = UNKNOWN_ADDRESS
    failures: Failures = ()
    is_paid: bool = False


class Grant(NamedTuple):
    """Permission to run as `actor`, with the rate-limit fields of the answer where it was
    counted."""

    actor: Actor
    headers: Sequence[Header] = ()

    @property
    def tenant(self) -> str:
        """The workspace, the user of a personal key, or "" for nobody."""
        return self.actor.tenant


ANONYMOUS: Final = Grant(Actor(tenant=""))


# -- the verdict -------------------------------------------------------------------------------


def authorize(access: OperationAccess, facts: Facts, now: datetime) -> Grant:
    """Authorize a request and count it in memory; it waits for nothing.

    When it raises INVALID_API_KEY the caller records a failure of the address.

    Raises: Problem as `admit` and `settle` do.
    """
    grant, gauge = admit_key(access, facts, now)
    if gauge is None:
        return grant
    return Grant(grant.actor, limit_headers(gauge.hit(int(now.timestamp()))))


async def authorize_shared(
    access: OperationAccess, facts: Facts, now: datetime, counters: Counters
) -> Grant:
    """Authorize a request and count it in the counters that processes share.

    When it raises INVALID_API_KEY the caller records a failure of the address, and refuses as
    `lockout.check` does where that was one too many.

    Raises:
        Problem: as `admit` and `settle` do.
        SharedUnavailable: it would be admitted, and cannot be counted.
    """
    grant, gauge = admit_key(access, facts, now)
    if gauge is None:
        return grant
    second, meter = int(now.timestamp()), gauge.meter
    used, minute, day = await counters.hit(meter.all_pools, second)
    return Grant(grant.actor, limit_headers(judge(meter, used, second, minute=minute, day=day)))


def admit_key(access: OperationAccess, facts: Facts, now: datetime) -> tuple[Grant, Gauge | None]:
    """All checks except the rate pools; the grant, and the gauge that must count the request.

    Raises: Problem MISSING_API_KEY, PAYMENT_REQUIRED, AUTH_LOCKED, INVALID_API_KEY,
        API_KEY_REVOKED, API_KEY_EXPIRED, PLAN_INELIGIBLE, INSUFFICIENT_SCOPE, IP_NOT_ALLOWED,
        WORKSPACE_KEY_REQUIRED.
    """
    bearer, principal, address, failures, is_paid = facts
    if access.auth == "public":
        return ANONYMOUS, None
    if bearer is None:  # 1
        if access.auth == "bearer":
            raise Problem(problem.MISSING_API_KEY, headers={"WWW-Authenticate": CHALLENGE})
        if not is_paid:
            raise Problem(problem.PAYMENT_REQUIRED)
        return ANONYMOUS, None

    if failures:  # 2
        lockout.check_lockout(failures, now)

    if not isinstance(bearer, Bearer):  # 3
        raise _bearer_problem(problem.INVALID_API_KEY, _FORM)
    # A look-up that answers with another key than was asked for must not admit anybody.
    if principal is None or not compare_digest(principal.key.digest_hex, bearer.digest_hex):
        raise _bearer_problem(problem.INVALID_API_KEY, "No key like this exists.")
    if now >= principal.active_until:
        raise _invalid_key(principal.key, keys.state(principal.key, principal.plan, now))

    if access.scopes and principal.actor.scopes.isdisjoint(access.scopes):  # 4
        raise _scope_problem(access.scopes)
    if principal.addresses and not (address.certain and address.text in principal.addresses):
        raise Problem(problem.IP_NOT_ALLOWED, "The client address is not on the key's list.")
    if access.binding == "workspace" and principal.key.workspace_id is None:
        raise Problem(problem.WORKSPACE_KEY_REQUIRED, "A personal key cannot call this operation.")

    # 5 is the caller's. What an address is counted by is no key's, so it has no gauge.
    return Grant(principal.actor), principal.gauges.get(access.pool)


# -- what refusals say -------------------------------------------------------------------------

_FORM: Final = "Authorization must be Bearer, one space, svc_ and 64 lowercase hexadecimal digits."
_INVALID_KEYS: Mapping[KeyState, tuple[ProblemType, str]] = MappingProxyType(
    {
        "inactive": (problem.API_KEY_REVOKED, "The key {prefix} was revoked."),
        "expired": (problem.API_KEY_EXPIRED, "The key {prefix} has expired."),
    }
)


def _invalid_key(key: ApiKey, standing: KeyState) -> Problem:
    if standing == "plan-ineligible":
        return Problem(problem.PLAN_INELIGIBLE, "The plan of this account gives no key access.")
    kind, detail = _INVALID_KEYS[standing]
    return _bearer_problem(kind, detail.format(prefix=key.prefix))


def _bearer_problem(kind: ProblemType, detail: str) -> Problem:
    return Problem(kind, detail, {"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'})


def _scope_problem(scopes: frozenset[str]) -> Problem:
    names = sorted(scopes)
    # RFC 6750 3.1: the scopes that would do are named in the challenge as well.
    challenge = f'{CHALLENGE}, error="insufficient_scope", scope="{" ".join(names)}"'
    return Problem(
        problem.INSUFFICIENT_SCOPE,
        f"The key has none of the scopes that suffice: {', '.join(names)}.",
        {"WWW-Authenticate": challenge},
    )
