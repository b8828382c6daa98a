"""Rules for creating and changing API keys (Spec: Plans, API key).

Rule 1: an owner or admin creates keys, on a plan that admits new ones.
Rule 2: a key restricts its plan and never exceeds it.
Rule 3: all faults of a request are reported together.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from attrs import evolve, frozen

from svc_core.access.address import normalise_address
from svc_core.access.keys import ApiKey, NewKey, state
from svc_core.access.plans import Plan
from svc_core.access.scopes import SCOPES, unknown
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.wire import InputFault
from svc_core.wire.constraints import Arg, Choices, Doc, MaxLen, Pattern

Role = Literal["owner", "admin", "member"]

KEY_ROLES = frozenset({"owner", "admin"})
NAME_MAX = 120
"""As for the other names people give: fits a line of the dashboard."""
ADDRESSES_MAX = 100
"""Exact addresses of one key: a fleet behind fixed egress has a handful."""
_ID = re.compile("[a-z]{3}_[0-9a-f]+")
_PORT = "6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}"
_ORIGIN = rf"https?://([a-z0-9_.-]{{1,253}}|\[[0-9a-f:.]{{2,45}}\])(:({_PORT}))?"
_AS_SENT = "an origin as browsers send it, without a path, such as https://app.example.org"
Addresses = Annotated[tuple[str, ...], Doc("IP addresses it may call from. Default: any.")]
AllowedOrigins = Annotated[
    tuple[Annotated[str, Pattern(_ORIGIN, _AS_SENT)], ...],
    MaxLen(ADDRESSES_MAX),
    Doc("An origin of pages that use the key, such as https://app.example.org; not enforced."),
]


LowerRate = Annotated[int, Doc("Fewer requests than the plan's.")]


@frozen
class KeyMembers:
    """What whoever makes a key chooses of it."""

    name: str
    """Display name; unique in its workspace."""
    scopes: Annotated[tuple[str, ...], Choices(SCOPES)] = ()
    """What it may do. Default: every scope."""
    addresses: Addresses = ()
    allowed_origins: AllowedOrigins = ()
    expires_at: Annotated[datetime | None, Arg("expires", ahead=True)] = None
    """When it expires. Default: never."""
    per_minute: LowerRate | None = None
    per_day: LowerRate | None = None


@frozen
class KeyWish(KeyMembers):
    """What is asked of a new key. Without a workspace it is a personal key of `user_id`."""

    workspace_id: str | None = None
    user_id: str | None = None


def may_create(
    wish: KeyWish, *, role: str, plan: Plan, existing: Collection[ApiKey], now: datetime
) -> None:
    """Check that a requested key may be created; `existing` are all keys of the same account.

    Active keys count towards the plan's number: revoked and expired ones leave room.

    Raises: Problem FORBIDDEN (role), PLAN_INELIGIBLE (plan), VALIDATION_FAILED (all faults of
        the request), RESOURCE_CONFLICT (name taken, or as many keys as the plan allows).
    """
    if role not in KEY_ROLES:
        raise Problem(problem.FORBIDDEN, "API keys are managed by workspace owners and admins.")
    if not plan.new_keys:
        raise Problem(problem.PLAN_INELIGIBLE, f"The {plan.name} plan admits no new keys.")
    _check(wish, plan, existing, now)
    if sum(state(key, plan, now) == "active" for key in existing) >= plan.keys_max:
        raise problem.conflict(
            f"The {plan.name} plan allows {plan.keys_max} active keys.",
            "Revoke a key that is not needed, or upgrade the plan.",
        )


def create(wish: KeyWish, new: NewKey, *, id_: str, user_id: str, now: datetime) -> ApiKey:
    """The record of a new key after `may_create`: active, with normalised addresses."""
    return ApiKey(
        id=id_,
        name=wish.name,
        digest_hex=new.digest_hex,
        prefix=new.prefix,
        scopes=tuple(dict.fromkeys(wish.scopes)),
        addresses=tuple(dict.fromkeys(map(normalise_address, wish.addresses))),
        allowed_origins=tuple(dict.fromkeys(wish.allowed_origins)),
        workspace_id=wish.workspace_id,
        user_id=user_id,
        created_at=now,
        issued_at=now,
        expires_at=wish.expires_at,
        per_minute=wish.per_minute,
        per_day=wish.per_day,
    )


def change_key(
    key: ApiKey, edits: Mapping[str, Any], *, plan: Plan, siblings: Iterable[ApiKey], now: datetime
) -> ApiKey:
    """The key with the members of a wish that `edits` names; the rest is not judged anew.

    Raises: Problem VALIDATION_FAILED (all faults), RESOURCE_CONFLICT (name taken).
    """
    wish = KeyWish(**{"name": key.name, "scopes": key.scopes, **edits})
    _check(wish, plan, siblings, now)
    whole = create(wish, NewKey("", key.digest_hex, key.prefix), id_="", user_id="", now=now)
    return evolve(key, **{name: getattr(whole, name) for name in edits})


def _check(wish: KeyWish, plan: Plan, siblings: Iterable[ApiKey], now: datetime) -> None:
    problem.refuse(list(_faults(wish, plan, now)))
    if any(key.name == wish.name for key in siblings):
        raise problem.conflict("/name: another key has this name", "Choose another name.")


def _faults(wish: KeyWish, plan: Plan, now: datetime) -> Iterable[InputFault]:
    yield from name_faults(wish.name)
    yield from _scope_faults(wish.scopes)
    yield from _address_faults(wish.addresses)
    if wish.expires_at is not None and wish.expires_at <= now:
        yield InputFault("/expiresAt", "must be in the future")
    yield from _rate_faults("/perMinute", wish.per_minute, plan.per_minute)
    yield from _rate_faults("/perDay", wish.per_day, plan.per_day)


def name_faults(name: str) -> Iterable[InputFault]:
    """What is wrong with the name of a key, a person or a workspace."""
    if not 1 <= len(name) <= NAME_MAX or not name.isprintable():
        yield InputFault("/name", f"must be 1 to {NAME_MAX} printable characters")


def workspace_name_faults(name: str) -> Iterable[InputFault]:
    """What is wrong with the name of a workspace, which stands where an id may stand as well."""
    yield from name_faults(name)
    if _ID.fullmatch(name):
        yield InputFault("/name", "must not look like an id")


def _scope_faults(scopes: tuple[str, ...]) -> Iterable[InputFault]:
    if not scopes:
        yield InputFault("/scopes", "must name at least one scope")
    for name in unknown(scopes):
        yield InputFault("/scopes", f"{name!r} is not a scope")


def _address_faults(addresses: tuple[str, ...]) -> Iterable[InputFault]:
    if len(addresses) > ADDRESSES_MAX:
        yield InputFault("/addresses", f"must be at most {ADDRESSES_MAX}")
    for index, text in enumerate(addresses):
        try:
            normalise_address(text)
        except ValueError:
            yield InputFault(f"/addresses/{index}", "must be one exact IPv4 or IPv6 address")


def _rate_faults(pointer: str, rate: int | None, plan_rate: int) -> Iterable[InputFault]:
    if rate is not None and not 1 <= rate <= plan_rate:
        yield InputFault(pointer, f"must be 1 to {plan_rate}, the rate of the plan")
