"""What owners and admins do with workspaces, people and keys (Spec: API key, Plans).

Every use case runs in a transaction of the system. The rules stand in `access`; these load, ask
and save. A key's secret leaves only in `IssuedKey`, once.
"""

from collections.abc import Mapping
from datetime import datetime

import attrs
from attrs import field, frozen

from svc_core import problem
from svc_core.access import creation
from svc_core.access import keys as key_rules
from svc_core.access.creation import KeyWish, Role
from svc_core.access.keys import ApiKey
from svc_core.access.plans import Plan, PlanTable
from svc_core.accounts.model import (
    EMAIL_MAX,
    KEYS,
    MEMBERS,
    USERS,
    WORKSPACES,
    Member,
    User,
    Workspace,
)
from svc_core.operation import Context
from svc_core.ports import Collection, Position, T, Transaction
from svc_core.problem import Problem

PAGE_ROWS = 1_000  # read at a time: most installations have fewer rows altogether


@frozen
class Admission:
    """What the gate needs to know of a key: its record and its account's plan now."""

    key: ApiKey
    plan: Plan


@frozen
class IssuedKey:
    """A key with its secret, to be shown once."""

    key: ApiKey
    secret: str = field(repr=False)


# -- the gate ----------------------------------------------------------------------------------


async def find_key(tx: Transaction, digest_hex: str, plans: PlanTable) -> Admission | None:
    """The key with this digest and the plan of its account, asked anew (Spec: Plans)."""
    found = await tx.documents.scan(KEYS, where={"digest": (digest_hex,)}, limit=1)
    if not found.rows:
        return None
    key = KEYS.decode(found.rows[0].raw)
    return Admission(key, plans.plan(await _plan_name(tx, key)))


async def _plan_name(tx: Transaction, key: ApiKey) -> str:
    if key.workspace_id is not None:
        workspace = await tx.documents.get(WORKSPACES, key.workspace_id)
        return "free" if workspace is None else WORKSPACES.decode(workspace.raw).plan
    user = await tx.documents.get(USERS, key.user_id)
    return "free" if user is None else USERS.decode(user.raw).plan


# -- workspaces and people ---------------------------------------------------------------------


async def create_workspace(
    ctx: Context, *, name: str, plan: str, plans: PlanTable, owner: str | None = None
) -> Workspace:
    """A new workspace; without `owner` a first person is made for it, its owner.

    Raises:
        Problem: VALIDATION_FAILED for an unknown plan or a bad name, NOT_FOUND for the owner.
    """
    _check_plan(plan, plans)
    _check_name(name)
    workspace = Workspace(ctx.ids.new("wsp"), name, plan, ctx.now)
    await ctx.create(WORKSPACES, workspace.id, workspace)
    if owner is None:
        owner = (await create_user(ctx, name=f"{name} owner"[: creation.NAME_MAX], plans=plans)).id
    await _user(ctx, owner)
    await add_member(ctx, workspace.id, owner, "owner")
    return workspace


async def create_user(
    ctx: Context, *, name: str, plans: PlanTable, email: str | None = None, plan: str = "free"
) -> User:
    """A new person.

    Raises:
        Problem: VALIDATION_FAILED, or RESOURCE_CONFLICT when the address is taken.
    """
    _check_plan(plan, plans)
    _check_name(name)
    if email is not None:
        _check_email(email)
        same = await ctx.tx.documents.scan(USERS, where={"email": (email,)}, limit=1)
        if same.rows:
            raise Problem(
                problem.RESOURCE_CONFLICT,
                "Another user has this email address.",
                resolution="Give another address, or use that user.",
            )
    user = User(ctx.ids.new("usr"), name, email, plan, ctx.now)
    await ctx.create(USERS, user.id, user)
    return user


async def add_member(ctx: Context, workspace_id: str, user_id: str, role: Role) -> Member:
    """Give a person a role in a workspace, replacing an earlier one."""
    await _workspace(ctx, workspace_id)
    member = Member(workspace_id, user_id, role, ctx.now)
    await ctx.save(MEMBERS, member.id, member)
    return member


async def list_workspaces(ctx: Context) -> tuple[Workspace, ...]:
    """The workspaces, newest first."""
    return await _every(ctx, WORKSPACES)


async def list_users(ctx: Context) -> tuple[User, ...]:
    """The people, newest first."""
    return await _every(ctx, USERS)


async def set_plan(ctx: Context, workspace_id: str, plan: str, plans: PlanTable) -> Workspace:
    """Move a workspace to another plan; its keys follow at their next request.

    Raises:
        Problem: VALIDATION_FAILED or NOT_FOUND.
    """
    _check_plan(plan, plans)
    workspace = attrs.evolve(await _workspace(ctx, workspace_id), plan=plan)
    await ctx.save(WORKSPACES, workspace.id, workspace)
    return workspace


# -- keys --------------------------------------------------------------------------------------


async def create_key(ctx: Context, wish: KeyWish, *, plans: PlanTable) -> IssuedKey:
    """A new key, bound to its workspace for life.

    The caller acts for the workspace's owner unless `user_id` names somebody else. A workspace
    that has lost its owner takes no new keys until it has one again.

    Raises:
        Problem: NOT_FOUND, FORBIDDEN, PLAN_INELIGIBLE, VALIDATION_FAILED or RESOURCE_CONFLICT.
    """
    holder = await _holder(ctx, wish)
    existing = await list_keys(ctx, wish.workspace_id or holder.user_id)
    plan = plans.plan(holder.plan)
    creation.may_create(wish, role=holder.role, plan=plan, existing=existing, now=ctx.now)
    new = key_rules.new_key(ctx.ids.random(key_rules.RANDOM_BYTES))
    id_ = ctx.ids.new("key")
    key = creation.create(wish, new, id_=id_, user_id=holder.user_id, now=ctx.now)
    await ctx.create(KEYS, key.id, key)
    return IssuedKey(key, new.secret)


@frozen
class _Holder:
    user_id: str
    role: str
    plan: str


async def _holder(ctx: Context, wish: KeyWish) -> _Holder:
    if wish.workspace_id is None:
        if wish.user_id is None:
            raise Problem(problem.VALIDATION_FAILED, "A personal key needs a user.")
        user = await _user(ctx, wish.user_id)
        return _Holder(user.id, "owner", user.plan)
    workspace = await _workspace(ctx, wish.workspace_id)
    members = await _every(ctx, MEMBERS, {"workspace_id": (workspace.id,)})
    roles = {member.user_id: member.role for member in members}
    owner = next((user for user, role in roles.items() if role == "owner"), "")
    user_id = wish.user_id or owner
    return _Holder(user_id, roles.get(user_id, "none"), workspace.plan)


async def list_keys(ctx: Context, account: str | None = None) -> tuple[ApiKey, ...]:
    """The kept keys of one account, or of all, newest first."""
    return await _every(ctx, KEYS, {} if account is None else {"account": (account,)})


async def show_key(ctx: Context, key_id: str) -> ApiKey:
    """One key.

    Raises:
        Problem: NOT_FOUND.
    """
    return KEYS.decode((await ctx.load(KEYS, key_id)).raw)


async def revoke_key(ctx: Context, key_id: str) -> ApiKey:
    """Take a key's power; repeating it is safe."""
    before = await show_key(ctx, key_id)
    after = key_rules.revoke(before, ctx.now)
    if after is not before:
        await ctx.save(KEYS, key_id, after)
    return after


async def grandfather_key(ctx: Context, key_id: str) -> ApiKey:
    """Count a key among those of old, which a plan without new keys serves (Spec: Plans, Lite).

    Only an operator does this, for keys that were there before: no change of plan makes one.

    Raises:
        Problem: NOT_FOUND.
    """
    before = await show_key(ctx, key_id)
    after = key_rules.grandfather(before)
    if after is not before:
        await ctx.save(KEYS, key_id, after)
    return after


async def regenerate_key(ctx: Context, key_id: str) -> IssuedKey:
    """A new secret for the key; the old one is dead at once (Spec: States, API key)."""
    before = await show_key(ctx, key_id)
    new = key_rules.new_key(ctx.ids.random(key_rules.RANDOM_BYTES))
    after = key_rules.regenerate(before, new, ctx.now)
    await ctx.save(KEYS, key_id, after)
    return IssuedKey(after, new.secret)


async def delete_key(ctx: Context, key_id: str) -> ApiKey:
    """Delete a key and its record for good.

    Raises:
        Problem: NOT_FOUND.
    """
    return KEYS.decode((await ctx.remove(KEYS, key_id)).raw)


async def note_use(ctx: Context, uses: Mapping[str, datetime]) -> int:
    """Keep when keys were last used, by their ids; how many were written.

    What has come in between stands: a key that was deleted is skipped, and so is one whose secret
    is newer than its use, because regenerating resets what is known of it (Spec: States, API key).
    A later use that is kept already is not put back.
    """
    written = 0
    for key_id, at in uses.items():
        row = await ctx.tx.documents.get(KEYS, key_id)
        if row is None:
            continue
        before = KEYS.decode(row.raw)
        after = key_rules.used(before, at)
        if after is not before:
            await ctx.save(KEYS, key_id, after)
            written += 1
    return written


# -- shared --------------------------------------------------------------------------------------


async def _every(
    ctx: Context, collection: Collection[T], where: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[T, ...]:
    """Every row, newest first: what is left out of these lists would be taken for missing."""
    found: list[T] = []
    after: Position | None = None
    while True:
        rows = await ctx.tx.documents.scan(collection, where=where, after=after, limit=PAGE_ROWS)
        found += [collection.decode(row.raw) for row in rows.rows]
        after = rows.end
        if after is None:
            return tuple(found)


async def _workspace(ctx: Context, id_: str) -> Workspace:
    return WORKSPACES.decode((await ctx.load(WORKSPACES, id_)).raw)


async def _user(ctx: Context, id_: str) -> User:
    return USERS.decode((await ctx.load(USERS, id_)).raw)


def _check_plan(plan: str, plans: PlanTable) -> None:
    if plan not in plans.plans:
        known = ", ".join(plans.plans)
        raise Problem(problem.VALIDATION_FAILED, f"/plan: must be one of: {known}")


def _check_name(name: str) -> None:
    if not 1 <= len(name) <= creation.NAME_MAX or not name.isprintable():
        reason = f"must be 1 to {creation.NAME_MAX} printable characters"
        raise Problem(problem.VALIDATION_FAILED, f"/name: {reason}")


def _check_email(email: str) -> None:
    """Only the form: whether somebody reads it is found out by writing to it."""
    local, at, host = email.rpartition("@")
    if not (local and at and host) or len(email) > EMAIL_MAX or not email.isprintable():
        raise Problem(
            problem.VALIDATION_FAILED, "/email: must be an address such as ann@example.org"
        )
