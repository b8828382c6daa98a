"""The commands for API keys (Spec: API key; States, API key)."""

from collections.abc import Awaitable, Callable
from datetime import datetime

import attrs
from attrs import frozen

from svc_core import accounts, problem, wire
from svc_core.access import keys as rules
from svc_core.access.keys import ApiKey
from svc_core.access.plans import PlanTable
from svc_core.access.scopes import SCOPES
from svc_core.accounts import IssuedKey, KeyWish, Workspace
from svc_core.operation import Context
from svc_core.ports import SYSTEM
from svc_core.problem import Problem
from svc_core.wire import Json
from svc_http.commands.accounts import workspace
from svc_http.commands.command import short, table
from svc_http.runtime.service import Service

DEFAULT_NAME = "default"
DEFAULT_PLAN = "elite"
"""The largest plan: whoever runs the service sells it to nobody until they choose to."""


@frozen
class CreateKey:
    """A new key. Without scopes it has all of them.

    Without `workspace` it goes to the only one, or to the one called like the plan when `plan` is
    given and the only one is on another; what is missing is made. A `personal` key belongs to
    `user`, or to a person who is made for it under the key's name.
    """

    name: str
    workspace: str | None = None
    user: str | None = None
    personal: bool = False
    scopes: tuple[str, ...] = ()
    plan: str | None = None
    addresses: tuple[str, ...] = ()
    expires_at: datetime | None = None
    per_minute: int | None = None
    per_day: int | None = None


@frozen
class OneKey:
    """The key that is meant."""

    key_id: str


@frozen
class ListKeys:
    """The keys of one workspace or person, or of all."""

    workspace: str | None = None


# -- making one --------------------------------------------------------------------------------


async def create(service: Service, args: CreateKey) -> Json:
    """Make a key; its secret is in this answer and nowhere else."""

    async def unit(ctx: Context) -> IssuedKey:
        wish = KeyWish(
            name=args.name,
            scopes=args.scopes or tuple(SCOPES),
            addresses=args.addresses,
            expires_at=args.expires_at,
            per_minute=args.per_minute,
            per_day=args.per_day,
        )
        if args.personal:
            owner = await _person(ctx, args, service.plans)
            return await accounts.create_key(
                ctx, attrs.evolve(wish, user_id=owner), plans=service.plans
            )
        home = await _home(ctx, args, service.plans)
        wish = attrs.evolve(wish, workspace_id=home.id, user_id=args.user)
        return await accounts.create_key(ctx, wish, plans=service.plans)

    return issued(await service.system(unit))


async def _person(ctx: Context, args: CreateKey, plans: PlanTable) -> str:
    if args.workspace is not None:
        raise Problem(
            problem.VALIDATION_FAILED, "/workspace: a personal key belongs to a user, not to one"
        )
    if args.user is not None:
        return args.user
    plan = args.plan or DEFAULT_PLAN
    return (await accounts.create_user(ctx, name=args.name, plans=plans, plan=plan)).id


async def _home(ctx: Context, args: CreateKey, plans: PlanTable) -> Workspace:
    known = await accounts.list_workspaces(ctx)
    if args.workspace is not None or (known and args.plan is None):
        home = await workspace(ctx, args.workspace)
        if args.plan not in (None, home.plan):
            raise Problem(
                problem.VALIDATION_FAILED,
                f"/plan: the workspace is on {home.plan}; move it first: "
                f"svc plans set {home.id} {args.plan}",
            )
        return home
    if len(known) == 1 and known[0].plan == args.plan:
        return known[0]
    name = args.plan if known and args.plan is not None else DEFAULT_NAME
    same = [one for one in known if (one.name, one.plan) == (name, args.plan)]
    return same[0] if same else await _new_home(ctx, name, args.plan or DEFAULT_PLAN, plans)


async def _new_home(ctx: Context, name: str, plan: str, plans: PlanTable) -> Workspace:
    return await accounts.create_workspace(ctx, name=name, plan=plan, plans=plans)


# -- looking after them ------------------------------------------------------------------------


async def list_(service: Service, args: ListKeys) -> Json:
    """The keys, newest first, without their secrets."""

    async def unit(ctx: Context) -> Json:
        account = args.workspace
        if account is not None and not account.startswith("usr_"):
            account = (await workspace(ctx, account)).id
        found = await accounts.list_keys(ctx, account)
        names = {one.id: one.plan for one in await accounts.list_workspaces(ctx)}
        names |= {one.id: one.plan for one in await accounts.list_users(ctx)}
        return [described(key, names.get(key.tenant), service.plans, ctx.now) for key in found]

    return await service.read(SYSTEM, unit)


async def show(service: Service, args: OneKey) -> Json:
    """One key without its secret."""
    return await service.read(SYSTEM, lambda ctx: _shown(ctx, args.key_id, service.plans))


async def revoke(service: Service, args: OneKey) -> Json:
    """Take a key's power; safe to repeat."""
    return await _changed(service, args, accounts.revoke_key)


async def grandfather(service: Service, args: OneKey) -> Json:
    """Let a key call under a plan that admits no new keys; safe to repeat."""
    return await _changed(service, args, accounts.grandfather_key)


async def regenerate(service: Service, args: OneKey) -> Json:
    """Give a key a new secret; the old one is dead at once."""

    async def unit(ctx: Context) -> IssuedKey:
        await _known(ctx, args.key_id)
        return await accounts.regenerate_key(ctx, args.key_id)

    return issued(await service.system(unit))


async def delete(service: Service, args: OneKey) -> Json:
    """Forget a key for good."""

    async def unit(ctx: Context) -> ApiKey:
        await _known(ctx, args.key_id)
        return await accounts.delete_key(ctx, args.key_id)

    gone = await service.system(unit)
    return {"id": gone.id, "name": gone.name, "deleted": True}


async def _changed(
    service: Service, args: OneKey, change: Callable[[Context, str], Awaitable[ApiKey]]
) -> Json:
    """The key after the change, without its secret."""

    async def unit(ctx: Context) -> Json:
        await _known(ctx, args.key_id)
        await change(ctx, args.key_id)
        return await _shown(ctx, args.key_id, service.plans)

    return await service.system(unit)


async def _shown(ctx: Context, key_id: str, plans: PlanTable) -> Json:
    key = await _known(ctx, key_id)
    found = await accounts.find_key(ctx.tx, key.digest_hex, plans)
    plan = None if found is None else found.plan.name
    return described(key, plan, plans, ctx.now)


async def _known(ctx: Context, key_id: str) -> ApiKey:
    try:
        return await accounts.show_key(ctx, key_id)
    except Problem as refusal:
        raise Problem(refusal.type, f"There is no key {key_id}; see: svc keys list") from refusal


# -- how keys are told -------------------------------------------------------------------------


def issued(made: IssuedKey) -> Json:
    """A key with its secret."""
    key = made.key
    return wire.to_json(
        {
            "id": key.id,
            "name": key.name,
            "key": made.secret,
            "prefix": key.prefix,
            "scopes": list(key.scopes),
            "workspaceId": key.workspace_id,
            "expiresAt": key.expires_at,
        }
    )


def described(key: ApiKey, plan: str | None, plans: PlanTable, now: datetime) -> Json:
    """A key without secret and digest; `status` is what a request would meet now."""
    status = rules.state(key, plans.plan(plan or "free"), now)
    return wire.to_json(
        {
            "id": key.id,
            "name": key.name,
            "prefix": key.prefix,
            "status": status,
            "scopes": list(key.scopes),
            "addresses": list(key.addresses),
            "workspaceId": key.workspace_id,
            "userId": key.user_id,
            "plan": plan,
            "grandfathered": key.grandfathered,
            "perMinute": key.per_minute,
            "perDay": key.per_day,
            "createdAt": key.created_at,
            "issuedAt": key.issued_at,
            "expiresAt": key.expires_at,
            "revokedAt": key.revoked_at,
            "lastUsedAt": key.last_used_at,
        }
    )


COMMANDS = table(
    short("keys create", CreateKey, create, founds=True),
    short("keys list", ListKeys, list_),
    short("keys show", OneKey, show),
    short("keys revoke", OneKey, revoke),
    short("keys grandfather", OneKey, grandfather),
    short("keys regenerate", OneKey, regenerate),
    short("keys delete", OneKey, delete),
)
