"""One decision: may this request run, and as whom (Spec: Authentication).

Facts in, decision out. The order is fixed, so that every status is predictable:

1. lockout of the address, for requests that carry a key (429)
2. the key: absent (401, or 402 where the operation is priced), malformed or unknown (401),
   revoked, expired (401), its plan (403)
3. scope (403), address (403), workspace binding (403)
4. the rate pools (429)

Everything is judged before a pool is touched, so a refused request consumes nothing. A request
that carries a key never falls back to payment, however the key fails.
"""

from collections.abc import Mapping
from datetime import datetime
from hmac import compare_digest
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from attrs import frozen

from svc_core.access.address import ClientAddress
from svc_core.access.keys import ApiKey, Bearer, KeyState, Malformed, state
from svc_core.access.limits import AGENT, Decision, Header, headers, judge, named
from svc_core.access.lockout import is_locked, retry_after_seconds
from svc_core.access.principal import Principal
from svc_core.contract import problem
from svc_core.contract.problem import Problem, ProblemType
from svc_core.operation.declaration import Actor, Counting
from svc_core.operation.ports import Counters, Failures

CHALLENGE = 'Bearer realm="svc"'


@frozen
class OperationAccess:
    """What an operation demands of its caller.

    `scopes` is an any-of set; an empty one is satisfied by every key. `pool` is what requests
    are counted in.
    """

    scopes: frozenset[str] = frozenset()
    auth: Literal["bearer", "bearer-or-x402", "public"] = "bearer"
    binding: Literal["any", "workspace", "system"] = "any"
    pool: Counting = "account"


UNKNOWN_ADDRESS: Final = ClientAddress("", certain=False)


class Facts(NamedTuple):
    """What is known of one request before it is judged.

    `principal` is the one kept under the digest of `bearer`, `failures` are those of the
    address, read after the principal was looked up. `is_paid` says that a payment for this
    operation has been verified. A named tuple, because one is made for every request.
    """

    bearer: Bearer | Malformed | None = None
    principal: Principal | None = None
    address: ClientAddress = UNKNOWN_ADDRESS
    failures: Failures = ()
    is_paid: bool = False


class Grant(NamedTuple):
    """Permission to run as `actor`; without a key (public, paid) it has no key and no decision."""

    actor: Actor
    key: ApiKey | None = None
    decision: Decision | None = None

    @property
    def tenant(self) -> str:
        """The workspace, the user of a personal key, or "" for nobody."""
        return self.actor.tenant

    @property
    def headers(self) -> list[Header]:
        """The rate-limit fields of the answer; none where nothing was counted."""
        return [] if self.decision is None else headers(self.decision)


ANONYMOUS: Final = Grant(Actor(tenant=""))


def authorize(access: OperationAccess, facts: Facts, now: datetime) -> Grant:
    """The whole decision, counting in memory. It waits for nothing.

    When it raises INVALID_API_KEY the caller records a failure of the address.

    Raises: Problem as `admit` and `settle` do.
    """
    principal = admit(access, facts, now)
    if principal is None:
        return ANONYMOUS
    gauge = principal.gauge(access.pool)
    if gauge is None:
        return Grant(principal.actor, principal.key)
    return settle(principal, gauge.hit(int(now.timestamp())))


async def authorize_shared(
    access: OperationAccess, facts: Facts, now: datetime, counters: Counters
) -> Grant:
    """The whole decision, counted where processes share their counts.

    When it raises INVALID_API_KEY the caller records a failure of the address, and refuses with
    `locked_out` where that was one too many.

    Raises:
        Problem: as `admit` and `settle` do.
        SharedUnavailable: it would be admitted, and cannot be counted.
    """
    principal = admit(access, facts, now)
    if principal is None:
        return ANONYMOUS
    gauge = principal.gauge(access.pool)
    if gauge is None:
        return Grant(principal.actor, principal.key)
    second, meter = int(now.timestamp()), gauge.meter
    used, minute, day = await counters.hit(meter.all_pools, second)
    return settle(principal, judge(meter, used, second, minute=minute, day=day))


def admit(access: OperationAccess, facts: Facts, now: datetime) -> Principal | None:
    """Everything but the rate pools; None for a caller who needs no key.

    A host whose counters are elsewhere calls this, counts, then calls `settle`.

    Raises: Problem AUTH_LOCKED, MISSING_API_KEY, PAYMENT_REQUIRED, INVALID_API_KEY,
        API_KEY_REVOKED, API_KEY_EXPIRED, PLAN_INELIGIBLE, INSUFFICIENT_SCOPE, IP_NOT_ALLOWED,
        WORKSPACE_KEY_REQUIRED.
    """
    if access.auth == "public":
        return None
    if facts.bearer is None:
        _pass_keyless(access, facts)
        return None
    if is_locked(facts.failures, now):
        raise locked_out(facts.failures, now)
    principal = _identify(facts)
    standing = state(principal.key, principal.plan, now)
    if standing != "active":
        raise _fallen(principal.key, standing)
    _permit(access, principal, facts.address)
    return principal


def locked_out(failures: Failures, now: datetime) -> Problem:
    """The refusal of a request from an address with failures that lock at `now`."""
    wait = retry_after_seconds(failures, now)
    detail = "Too many unknown keys were sent from this address."
    return Problem(problem.AUTH_LOCKED, detail, {"Retry-After": str(wait)})


def settle(principal: Principal, decision: Decision) -> Grant:
    """The grant of an admitted principal whose request was counted.

    Raises: Problem RATE_LIMITED, or AGENT_RATE_LIMITED when only agent pools are exhausted.
    """
    if decision.exhausted:
        names = [pool.name for pool in decision.exhausted_pools]
        only_agent = all(name.startswith(AGENT.prefix) for name in names)
        kind = problem.AGENT_RATE_LIMITED if only_agent else problem.RATE_LIMITED
        detail = f"Used up until their windows end: {', '.join(names)}."
        raise Problem(kind, detail, named(headers(decision)))
    return Grant(principal.actor, principal.key, decision)


def _pass_keyless(access: OperationAccess, facts: Facts) -> None:
    if access.auth == "bearer":
        raise Problem(problem.MISSING_API_KEY, headers={"WWW-Authenticate": CHALLENGE})
    if not facts.is_paid:
        raise Problem(problem.PAYMENT_REQUIRED)


def _identify(facts: Facts) -> Principal:
    bearer, principal = facts.bearer, facts.principal
    if not isinstance(bearer, Bearer):
        raise _unauthorised(
            problem.INVALID_API_KEY,
            "Authorization must be Bearer, one space, svc_ and 64 lowercase hexadecimal digits.",
        )
    # A look-up that answers with another key than was asked for must not admit anybody.
    if principal is None or not compare_digest(principal.key.digest_hex, bearer.digest_hex):
        raise _unauthorised(problem.INVALID_API_KEY, "No key like this exists.")
    return principal


_FALLEN: Mapping[KeyState, tuple[ProblemType, str]] = MappingProxyType(
    {
        "inactive": (problem.API_KEY_REVOKED, "The key {prefix} was revoked."),
        "expired": (problem.API_KEY_EXPIRED, "The key {prefix} has expired."),
    }
)


def _fallen(key: ApiKey, standing: KeyState) -> Problem:
    if standing == "plan-ineligible":
        return Problem(problem.PLAN_INELIGIBLE, "The plan of this account gives no key access.")
    kind, detail = _FALLEN[standing]
    return _unauthorised(kind, detail.format(prefix=key.prefix))


def _unauthorised(kind: ProblemType, detail: str) -> Problem:
    return Problem(kind, detail, {"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'})


def _permit(access: OperationAccess, principal: Principal, address: ClientAddress) -> None:
    if access.scopes and principal.actor.scopes.isdisjoint(access.scopes):
        raise _out_of_scope(access.scopes)
    if principal.addresses and not (address.certain and address.text in principal.addresses):
        raise Problem(problem.IP_NOT_ALLOWED, "The client address is not on the key's list.")
    if access.binding == "workspace" and principal.key.workspace_id is None:
        raise Problem(problem.WORKSPACE_KEY_REQUIRED, "A personal key cannot call this operation.")


def _out_of_scope(scopes: frozenset[str]) -> Problem:
    needed = sorted(scopes)
    # RFC 6750 3.1: the scopes that would do are named in the challenge as well.
    challenge = f'{CHALLENGE}, error="insufficient_scope", scope="{" ".join(needed)}"'
    return Problem(
        problem.INSUFFICIENT_SCOPE,
        f"The key has none of the scopes that suffice: {', '.join(needed)}.",
        {"WWW-Authenticate": challenge},
    )
