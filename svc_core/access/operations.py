"""Operations on workspaces, people and keys, for the operator, owners and admins (Spec: API key).

Every use case runs in a transaction of the system. A key's secret is returned only once, in
`IssuedKey`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.access import creation
from svc_core.access import keys as key_rules
from svc_core.access.creation import Addresses, AllowedOrigins, KeyMembers, KeyWish, LowerRate, Role
from svc_core.access.keys import ApiKey, KeyFacts, KeyState
from svc_core.access.model import (
    EMAIL_MAX,
    ENDINGS,
    KEYS,
    MEMBERS,
    USERS,
    WORKSPACES,
    Membership,
    User,
    Workspace,
    plan_name,
)
from svc_core.access.people import CREDENTIALS
from svc_core.access.plans import Plan, PlanTable
from svc_core.access.scopes import SCOPES
from svc_core.base.unset import UNSET, Maybe
from svc_core.base.views import reshape
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context, scan_values
from svc_core.operation.declaration import (
    MANAGERS,
    OPERATOR,
    Confidential,
    Operation,
    Trait,
    declare,
    local,
)
from svc_core.operation.members import NoMembers
from svc_core.operation.merge_patch import sent_members
from svc_core.operation.ports import Collection, T, Transaction
from svc_core.wire.constraints import Arg, Doc, IdOf

CHOICES_MAX = 10  # workspaces named to whoever has to say which one


@frozen
class Admission:
    """A key's record with the current plan of its account, for authorization."""

    key: ApiKey
    plan: Plan


@frozen
class IssuedKey:
    """A key with its secret, to be shown once."""

    key: ApiKey
    secret: str = field(repr=False)


# -- the gate ----------------------------------------------------------------------------------


async def find_key(tx: Transaction, digest_hex: str, plans: PlanTable) -> Admission | None:
    """The key with this digest and the current plan of its account (Spec: Plans)."""
    page = await tx.documents.scan(KEYS, where={"digest": (digest_hex,)}, limit=1)
    if not page.rows:
        return None
    key = KEYS.decode(page.rows[0].raw)
    return Admission(key, plans.plan(await plan_name(tx, key.tenant) or "free"))


# -- workspaces and people ---------------------------------------------------------------------


async def create_workspace(
    ctx: Context, *, name: str, plan: str, plans: PlanTable, owner: str | None = None
) -> Workspace:
    """A new workspace; without `owner` a first person is made for it, its owner.

    Raises:
        Problem: VALIDATION_FAILED for an unknown plan or a bad name, NOT_FOUND for the owner.
    """
    _check_plan(plan, plans)
    problem.refuse(list(creation.workspace_name_faults(name)))
    workspace = Workspace(ctx.ids.new("wsp"), name, plan, ctx.now)
    await ctx.create(WORKSPACES, workspace.id, workspace)
    if owner is None:
        owner = (await create_user(ctx, name=f"{name} owner"[: creation.NAME_MAX], plans=plans)).id
    await ctx.value(USERS, owner)
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
    problem.refuse(list(creation.name_faults(name)))
    if email is not None:
        _check_email(email)
        if await scan_values(ctx, USERS, where={"email": (email,)}, limit=1):
            raise problem.conflict(
                "Another user has this email address.", "Give another address, or use that user."
            )
    user = User(ctx.ids.new("usr"), name, email, plan, ctx.now)
    await ctx.create(USERS, user.id, user)
    return user


async def add_member(ctx: Context, workspace_id: str, user_id: str, role: Role) -> Membership:
    """Give a person a role in a workspace, replacing an earlier one."""
    await ctx.value(WORKSPACES, workspace_id)
    member = Membership(workspace_id, user_id, role, ctx.now)
    await ctx.save(MEMBERS, member.id, member)
    return member


async def list_workspaces(ctx: Context) -> tuple[Workspace, ...]:
    """The workspaces, newest first."""
    return await _all_rows(ctx, WORKSPACES)


async def list_users(ctx: Context) -> tuple[User, ...]:
    """The people, newest first."""
    return await _all_rows(ctx, USERS)


async def set_plan(ctx: Context, workspace_id: str, plan: str, plans: PlanTable) -> Workspace:
    """Move a workspace to another plan; its keys follow at their next request.

    Raises:
        Problem: VALIDATION_FAILED or NOT_FOUND.
    """
    _check_plan(plan, plans)
    workspace = attrs.evolve(await ctx.value(WORKSPACES, workspace_id), plan=plan)
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
    user_id, role, plan_name_ = await _holder(ctx, wish)
    existing, plan = await list_keys(ctx, wish.workspace_id or user_id), plans.plan(plan_name_)
    creation.may_create(wish, role=role, plan=plan, existing=existing, now=ctx.now)
    new = key_rules.new_key(ctx.ids.random(key_rules.RANDOM_BYTES))
    id_ = ctx.ids.new("key")
    key = creation.create(wish, new, id_=id_, user_id=user_id, now=ctx.now)
    await ctx.create(KEYS, key.id, key)
    return IssuedKey(key, new.secret)


async def _holder(ctx: Context, wish: KeyWish) -> tuple[str, str, str]:
    """The holder of a new key, their role, and the name of the plan."""
    if wish.workspace_id is None:
        if wish.user_id is None:
            raise Problem(problem.VALIDATION_FAILED, "A personal key needs a user.")
        user = await ctx.value(USERS, wish.user_id)
        return user.id, "owner", user.plan
    workspace = await ctx.value(WORKSPACES, wish.workspace_id)
    members = await members_of(ctx, workspace.id)
    user_id = wish.user_id or _owner(members)
    role = members[user_id].role if user_id in members else "none"
    return user_id, role, workspace.plan


async def members_of(ctx: Context, workspace_id: str) -> dict[str, Membership]:
    """The memberships of a workspace, by the ids of its people."""
    members = await _all_rows(ctx, MEMBERS, {"workspace_id": (workspace_id,)})
    return {member.user_id: member for member in members}


def _owner(members: Mapping[str, Membership]) -> str:
    return next((id_ for id_, member in members.items() if member.role == "owner"), "")


async def list_keys(ctx: Context, account: str | None = None) -> tuple[ApiKey, ...]:
    """The kept keys of one account, or of all, newest first."""
    return await _all_rows(ctx, KEYS, {} if account is None else {"account": (account,)})


async def show_key(ctx: Context, key_id: str) -> ApiKey:
    """One key; for a person one of the workspace that they work in.

    Raises:
        Problem: NOT_FOUND.
    """
    key = await ctx.find(KEYS, key_id)
    if key is None or ctx.actor.workspace_id not in (None, key.workspace_id):
        raise Problem(problem.NOT_FOUND, f"There is no key {key_id}; see: svc keys list")
    return key


async def revoke_key(ctx: Context, key_id: str) -> ApiKey:
    """Revoke a key; repeating it is safe."""
    before = await show_key(ctx, key_id)
    return await _save_key(ctx, before, key_rules.revoke(before, ctx.now))


async def update_key(ctx: Context, key_id: str, members: Mapping[str, Any]) -> ApiKey:
    """Change the members of a key that are `members`, as a `KeyWish` names them; its secret stays.

    Raises:
        Problem: NOT_FOUND, VALIDATION_FAILED or RESOURCE_CONFLICT.
    """
    before, siblings = await _key_and_siblings(ctx, key_id)
    plan = ctx.borrow(PlanTable).plan(await plan_name(ctx.tx, before.tenant) or "free")
    after = creation.change_key(before, members, plan=plan, siblings=siblings, now=ctx.now)
    return await _save_key(ctx, before, after)


async def grandfather_key(ctx: Context, key_id: str) -> ApiKey:
    """Grandfather a key, so that a plan without new keys still serves it (Spec: Plans, Lite).

    Only an operator does this, for keys that were there before the day that the host names
    (`lite_keys_before`): no change of plan makes one.

    Raises:
        Problem: NOT_FOUND, or RESOURCE_CONFLICT for a key that is too new or one too many.
    """
    key, siblings = await _key_and_siblings(ctx, key_id)
    keys_max, day = ctx.borrow(PlanTable).plan("lite").keys_max, ctx.host.lite_keys_before
    after = key_rules.grandfather(key, before=day, siblings=siblings, keys_max=keys_max)
    return await _save_key(ctx, key, after)


async def _key_and_siblings(ctx: Context, key_id: str) -> tuple[ApiKey, list[ApiKey]]:
    key = await show_key(ctx, key_id)
    return key, [sibling for sibling in await list_keys(ctx, key.tenant) if sibling.id != key.id]


async def _save_key(ctx: Context, before: ApiKey, after: ApiKey) -> ApiKey:
    """Write a changed key; an equal one writes nothing."""
    if after != before:
        await ctx.save(KEYS, after.id, after)
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
    key = await show_key(ctx, key_id)
    await ctx.remove(KEYS, key_id)
    return key


async def note_use(ctx: Context, uses: Mapping[str, datetime]) -> int:
    """Store the last uses of keys, by id; the number of keys written.

    What has come in between stands: a key that was deleted is skipped, and so is one whose secret
    is newer than its use, because regenerating resets what is known of it (Spec: States, API key).
    A later use that is kept already is not put back.
    """
    count = 0
    for key_id, before in (await ctx.find_many(KEYS, uses)).items():
        after = key_rules.mark_used(before, uses[key_id])
        if after is not before:
            await ctx.save(KEYS, key_id, after)
            count += 1
    return count


# -- shared --------------------------------------------------------------------------------------


async def _all_rows(
    ctx: Context, collection: Collection[T], filters: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[T, ...]:
    """Every row, newest first; without a limit, because a row left out would seem missing."""
    rows = ctx.every(collection, where=filters or {})
    return tuple([collection.decode(row.raw) async for row in rows])


def _check_plan(plan: str, plans: PlanTable) -> None:
    if plan not in plans.plans:
        names = ", ".join(plans.plans)
        raise Problem(problem.VALIDATION_FAILED, f"/plan: must be one of: {names}")


def _check_email(email: str) -> None:
    """Only the form: whether somebody reads it is found out by writing to it."""
    local, at, host = email.rpartition("@")
    if not (local and at and host) or len(email) > EMAIL_MAX or not email.isprintable():
        raise Problem(
            problem.VALIDATION_FAILED, "/email: must be an address such as ann@example.org"
        )


# -- whose data is meant -----------------------------------------------------------------------


async def find_workspace(ctx: Context, name: str | None) -> Workspace:
    """The workspace with this id, else with this name; without one, the only one there is.

    For a person who works in a workspace it is that one.

    Raises:
        Problem: NOT_FOUND, or VALIDATION_FAILED when there are several to choose from.
    """
    if ctx.actor.workspace_id is not None:
        return await ctx.value(WORKSPACES, ctx.actor.workspace_id)
    filters = None if name is None else {"name": (name,)}
    matches = await scan_values(ctx, WORKSPACES, where=filters, limit=CHOICES_MAX)
    if name is not None and (by_id := await ctx.find(WORKSPACES, name)) is not None:
        return by_id
    if len(matches) == 1:
        return matches[0]
    if matches:
        choices = ", ".join(f"{row.id} ({row.name})" for row in matches)
        raise Problem(problem.VALIDATION_FAILED, f"/workspace: say which one: {choices}")
    if name is not None and await scan_values(ctx, WORKSPACES, limit=1):
        detail = f"There is no workspace {name!r}; see: svc workspaces list"
    else:
        detail = "There is no workspace yet; make one: svc workspaces create --name NAME"
    raise Problem(problem.NOT_FOUND, detail)


async def operator_actor(
    ctx: Context, account: str | None, author: str | None, *, is_personal: bool = False
) -> Actor:
    """The actor of an operator who works in a workspace or for a person, in the name of `author`.

    What `is_personal` is done for the owner of the workspace, where no author is given.

    Raises:
        Problem: NOT_FOUND or VALIDATION_FAILED, as `find_workspace`; NOT_FOUND for the author.
    """
    if account is not None and account.startswith("usr_"):
        user = await ctx.value(USERS, account)
        actor = Actor(user.id, user_id=user.id, scopes=frozenset(SCOPES), roles=OPERATOR)
    else:
        home = (await find_workspace(ctx, account)).id
        actor = Actor(home, workspace_id=home, scopes=frozenset(SCOPES), roles=OPERATOR)
    if author is None and is_personal and actor.user_id is None:
        return attrs.evolve(actor, user_id=_owner(await members_of(ctx, actor.tenant)))
    if author is None:
        return actor
    key = await ctx.find(KEYS, author)
    if key is not None and key.tenant == actor.tenant:
        return attrs.evolve(actor, key_id=author, user_id=key.user_id)
    if author == actor.tenant or await ctx.find(MEMBERS, f"{actor.tenant}:{author}") is not None:
        return attrs.evolve(actor, user_id=author)
    raise Problem(
        problem.NOT_FOUND,
        f"{actor.tenant} has no key or member {author!r}; see: svc keys list, svc users list",
    )


async def person_actor(ctx: Context, tenant: str, user_id: str) -> Actor:
    """The actor for work in the name of a person, in their workspace or for themself.

    Raises:
        Problem: FORBIDDEN where they are no longer one of it.
    """
    if tenant == user_id:
        return Actor(tenant, user_id=user_id, scopes=frozenset(SCOPES))
    if await ctx.find(MEMBERS, f"{tenant}:{user_id}") is None:
        raise Problem(problem.FORBIDDEN, "Its owner is no longer a member of the workspace.")
    return Actor(tenant, workspace_id=tenant, user_id=user_id, scopes=frozenset(SCOPES))


# -- requests and rows -------------------------------------------------------------------------

DEFAULT_NAME = "default"
DEFAULT_PLAN = "elite"
"""The largest plan: whoever runs the service sells it to nobody until they choose to."""

UserId = Annotated[str, IdOf("usr")]
Name = Annotated[str, Doc("Display name.")]
PlanName = Annotated[str, Doc("A plan of the plan table, such as pro or elite.")]


@frozen
class CreateWorkspace:
    """A new workspace."""

    name: Name
    plan: PlanName = DEFAULT_PLAN
    owner: UserId | None = None
    """An existing user, usr_... Default: a new one."""


@frozen
class CreateUser:
    """A new person."""

    name: Name
    email: str | None = None
    """Email address; unique."""
    plan: str = "free"
    """The plan of the user's personal keys."""
    workspace: str | None = None
    """Id or name of a workspace to become a member of."""
    role: Role = "member"
    """What the user is there; keys are for owners and admins."""


@frozen
class SetPlan:
    """A workspace and the plan it goes to."""

    workspace: Annotated[str, Arg(positional=True)]
    """Id or name."""
    plan: Annotated[PlanName, Arg(positional=True)]


@frozen(kw_only=True)
class OfWorkspace:
    """A workspace: for a person the one that they work in."""

    workspace: Annotated[str | None, Trait.OPERATOR] = None
    """Id or name; needed only if there are several."""


@frozen
class CreateKey(KeyMembers):
    """A new key."""

    workspace: Annotated[str | None, Trait.OPERATOR] = None
    """Id or name; needed only if there are several. An empty store gets one."""
    plan: Annotated[str | None, Trait.OPERATOR] = None
    """Its plan; a workspace on that plan is created if needed."""
    personal: Annotated[bool, Trait.OPERATOR] = False
    """A user's own key, bound to no workspace."""
    user: Annotated[str | None, Trait.OPERATOR] = None
    """Whose key it is, usr_... Default: the workspace's owner."""


@frozen
class ListKeys:
    """The keys of one workspace or person, or of all."""

    workspace: Annotated[str | None, Trait.OPERATOR] = None
    """Only this one's keys; id or name, or usr_..."""


@frozen
class KeyRequest:
    """The key that is meant."""

    key_id: Annotated[str, IdOf("key"), Arg(positional=True)]


@frozen
class UpdateKey:
    """A key, and what changes of it."""

    key_id: Annotated[str, IdOf("key"), Arg(positional=True)]
    name: Maybe[str] = UNSET
    """Display name; unique in its workspace."""
    addresses: Maybe[Addresses | None] = UNSET
    allowed_origins: Maybe[AllowedOrigins | None] = UNSET
    per_minute: Maybe[LowerRate | None] = UNSET
    per_day: Maybe[LowerRate | None] = UNSET


@frozen(kw_only=True)
class ListedUser(User):
    """A person, and what they sign in by."""

    handle: str | None


@frozen
class PlacedWorkspace:
    """A workspace and its plan."""

    id: str
    name: str
    plan: str


@frozen(kw_only=True)
class ListedWorkspace(PlacedWorkspace):
    """A workspace, and when it is erased, where somebody has deleted it."""

    created_at: datetime
    ends_at: datetime | None


@frozen
class CreatedKey:
    """A key with its secret, which is told here and nowhere else."""

    id: str
    name: str
    key: str = field(repr=False)
    prefix: str
    scopes: tuple[str, ...]
    workspace_id: str | None
    expires_at: datetime | None


@frozen(kw_only=True)
class KeyRow(KeyFacts):
    """A key without its secret; `status` is what a request would meet now."""

    plan: str | None
    status: KeyState


@frozen
class DeletedKey:
    """What is gone for good."""

    id: str
    name: str
    workspace_id: str | None
    deleted: bool = True


# -- use cases of the operations ---------------------------------------------------------------


def _one_row(value: Any) -> Single[Any]:
    return Single(wire.to_bytes(value))


def _page(rows: Sequence[Any]) -> Page[Any]:
    return Page(tuple(map(wire.to_bytes, rows)))


async def _create_workspace(ctx: Context, request: CreateWorkspace) -> Single[PlacedWorkspace]:
    members = attrs.asdict(request)
    workspace = await create_workspace(ctx, **members, plans=ctx.borrow(PlanTable))
    return _one_row(reshape(PlacedWorkspace, workspace))


async def _list_workspaces(ctx: Context, _: NoMembers) -> Page[ListedWorkspace]:
    workspaces = await list_workspaces(ctx)
    endings = await ctx.find_many(ENDINGS, [row.id for row in workspaces])
    times = {id_: ending.ends_at for id_, ending in endings.items()}
    return _page([reshape(ListedWorkspace, row, ends_at=times.get(row.id)) for row in workspaces])


async def _create_user(ctx: Context, request: CreateUser) -> Single[User]:
    members = attrs.asdict(request)
    workspace, role = members.pop("workspace"), members.pop("role")
    home = None if workspace is None else await find_workspace(ctx, workspace)
    user = await create_user(ctx, **members, plans=ctx.borrow(PlanTable))
    if home is not None:
        await add_member(ctx, home.id, user.id, role)
    return _one_row(user)


async def _list_users(ctx: Context, _: NoMembers) -> Page[ListedUser]:
    users = await list_users(ctx)
    people = await ctx.find_many(CREDENTIALS, [user.id for user in users])
    handles = {id_: credential.handle for id_, credential in people.items()}
    return _page([reshape(ListedUser, user, handle=handles.get(user.id)) for user in users])


async def _list_plans(ctx: Context, _: NoMembers) -> Page[Plan]:
    return _page(tuple(ctx.borrow(PlanTable).plans.values()))


async def _set_plan(ctx: Context, request: SetPlan) -> Single[PlacedWorkspace]:
    home = await find_workspace(ctx, request.workspace)
    workspace = await set_plan(ctx, home.id, request.plan, ctx.borrow(PlanTable))
    return _one_row(reshape(PlacedWorkspace, workspace))


async def _create_key(ctx: Context, request: CreateKey) -> Single[CreatedKey]:
    home, user = None, request.user or ctx.actor.user_id
    if request.personal:
        user = await _person(ctx, request)
    else:
        home = (await _home(ctx, request)).id
    scopes = request.scopes or tuple(SCOPES)
    wish = reshape(KeyWish, request, workspace_id=home, user_id=user, scopes=scopes)
    return _secret_answer(await create_key(ctx, wish, plans=ctx.borrow(PlanTable)))


async def _person(ctx: Context, request: CreateKey) -> str:
    """Whose a personal key is: a person who is named, or one who is made under the key's name."""
    if request.workspace is not None:
        raise Problem(
            problem.VALIDATION_FAILED, "/workspace: a personal key belongs to a user, not to one"
        )
    if request.user is not None:
        return request.user
    plan = request.plan or DEFAULT_PLAN
    plans = ctx.borrow(PlanTable)
    return (await create_user(ctx, name=request.name, plans=plans, plan=plan)).id


async def _home(ctx: Context, request: CreateKey) -> Workspace:
    """The workspace of a new key: the one that is named, the only one, or one made on its plan."""
    # Two are enough to tell none, one and several apart.
    newest = await scan_values(ctx, WORKSPACES, limit=2)
    if request.workspace is not None or (newest and request.plan is None):
        home = await find_workspace(ctx, request.workspace)
        if request.plan not in (None, home.plan):
            detail = f"/plan: the workspace is on {home.plan}; move it first: svc plans set "
            raise Problem(problem.VALIDATION_FAILED, f"{detail}{home.id} {request.plan}")
        return home
    if len(newest) == 1 and newest[0].plan == request.plan:
        return newest[0]
    name = request.plan if newest and request.plan is not None else DEFAULT_NAME
    namesakes = await _all_rows(ctx, WORKSPACES, {"name": (name,)})
    matches = [row for row in namesakes if row.plan == request.plan]
    if matches:
        return matches[0]
    plans = ctx.borrow(PlanTable)
    return await create_workspace(ctx, name=name, plan=request.plan or DEFAULT_PLAN, plans=plans)


def _secret_answer(issue: IssuedKey) -> Single[CreatedKey]:
    return _one_row(reshape(CreatedKey, issue.key, key=issue.secret))


async def _list_keys(ctx: Context, request: ListKeys) -> Page[KeyRow]:
    account = request.workspace or ctx.actor.workspace_id
    if account is not None and not account.startswith("usr_"):
        account = (await find_workspace(ctx, account)).id
    keys = await list_keys(ctx, account)
    tenants = [key.tenant for key in keys]
    accounts: dict[str, Any] = await ctx.find_many(WORKSPACES, tenants)
    accounts |= await ctx.find_many(USERS, tenants)
    return _page([_row(ctx, key, getattr(accounts.get(key.tenant), "plan", None)) for key in keys])


def _row(ctx: Context, key: ApiKey, plan: str | None) -> KeyRow:
    status = key_rules.state(key, ctx.borrow(PlanTable).plan(plan or "free"), ctx.now)
    return reshape(KeyRow, key, plan=plan, status=status)


async def _key_answer(ctx: Context, key: ApiKey) -> Single[KeyRow]:
    return _one_row(_row(ctx, key, await plan_name(ctx.tx, key.tenant)))


def _on_key(
    change: Callable[[Context, str], Awaitable[ApiKey]],
) -> Callable[[Context, KeyRequest], Awaitable[Single[KeyRow]]]:
    """The use case that changes a key, or only looks at it, and answers with its row."""

    async def run(ctx: Context, request: KeyRequest) -> Single[KeyRow]:
        return await _key_answer(ctx, await change(ctx, request.key_id))

    return run


async def _update_key(ctx: Context, request: UpdateKey) -> Single[KeyRow]:
    members = sent_members(request, KeyWish)
    return await _key_answer(ctx, await update_key(ctx, members.pop("key_id"), members))


async def _regenerate_key(ctx: Context, request: KeyRequest) -> Single[CreatedKey]:
    return _secret_answer(await regenerate_key(ctx, request.key_id))


async def _delete_key(ctx: Context, request: KeyRequest) -> Single[DeletedKey]:
    return _one_row(reshape(DeletedKey, await delete_key(ctx, request.key_id)))


# -- declarations ------------------------------------------------------------------------------


def _local(*arguments: Any, **members: Any) -> Operation[Any, Any]:
    return local(*arguments, **{"binding": "system", **members})


def for_managers(
    command: str, summary: str, run: Callable[..., Any], **members: Any
) -> Operation[Any, Any]:
    """Declare an operation of a workspace's owners and admins, guarded where it changes anything.

    It is as `local` declares one, but for its description: the docstring of `run`.
    """
    is_guarded = members.get("method") != "GET"
    shared = {"local": True, "binding": "system", "roles": MANAGERS, "guarded": is_guarded}
    return declare(command, "POST", summary, run, **{**shared, **members})


_BINDING_NOTE = "It is bound to its workspace for life. Its secret cannot be shown again."
_GRANDFATHER_NOTE = (
    "For keys that were made before the setting `lite_keys_before`, and as many of a workspace as "
    "Lite has (two). Moving a workspace to such a plan grants nothing: its other keys stay, can be "
    "regenerated and revoked, and their requests are answered 403."
)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _local("workspaces create", "Create a workspace", _create_workspace),
    _local(
        "workspaces list",
        "List the workspaces, newest first",
        _list_workspaces,
        method="GET",
        columns=("id", "name", "plan", "createdAt", "endsAt"),
    ),
    _local("users create", "Create a user", _create_user),
    _local(
        "users list",
        "List the users, newest first",
        _list_users,
        method="GET",
        columns=("id", "name", "handle", "email", "plan", "createdAt"),
    ),
    _local(
        "plans show",
        "Show the plan table in force",
        _list_plans,
        roles=MANAGERS,
        method="GET",
        columns=tuple(map(wire.camel, attrs.fields_dict(Plan))),
    ),
    _local(
        "plans set",
        "Move a workspace to another plan",
        _set_plan,
        description="It takes effect at the next request of each key.",
    ),
    for_managers(
        "keys create",
        "Create a key and show its secret once",
        _create_key,
        description=_BINDING_NOTE,
        confidential=Confidential(),
    ),
    for_managers(
        "keys list",
        "List the keys, newest first, without their secrets",
        _list_keys,
        method="GET",
        columns=(
            *("id", "name", "status", "scopes", "prefix"),
            *("lastUsedAt", "expiresAt", "plan", "workspaceId"),
        ),
    ),
    for_managers(
        "keys show", "Show a key without its secret", _on_key(show_key), id_="getKey", method="GET"
    ),
    for_managers(
        "keys revoke",
        "Revoke a key at once; its record stays. Safe to repeat",
        _on_key(revoke_key),
        id_="revokeKey",
    ),
    for_managers(
        "keys update",
        "Change a key's name, addresses, origins or rates; its secret stays",
        _update_key,
        method="PATCH",
    ),
    _local(
        "keys grandfather",
        "Let a key go on under a plan without new keys, such as Lite. Safe to repeat",
        _on_key(grandfather_key),
        id_="grandfatherKey",
        description=_GRANDFATHER_NOTE,
    ),
    for_managers(
        "keys regenerate",
        "Give a key a new secret and show it once",
        _regenerate_key,
        description="The old secret stops working at once.",
        confidential=Confidential(),
    ),
    for_managers("keys delete", "Delete a key and its record for good", _delete_key),
)
