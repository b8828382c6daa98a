"""Members of a workspace and their roles, and the workspace itself (Dashboard: Members).

Every use case runs in a transaction of the system.

Rule 1: owners and admins look after members, admins only those below an owner; what an act goes by
        is the role that whoever acts has in that transaction.
Rule 2: a workspace has an owner: the last one can neither be removed nor become less.
Rule 3: a role counts from the next request on, and without one the workspace is out of sight.
        With a role that is taken away or made less, open invitations by that person end.
"""

from datetime import datetime
from typing import Annotated, Any, get_args

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.access import creation
from svc_core.access.creation import Role
from svc_core.access.model import ENDINGS, MEMBERS, USERS, WORKSPACES, Membership
from svc_core.access.one_use_links import (
    LINKS,
    LinkGrant,
    OneUseLink,
    end_invitations,
    issue_link,
)
from svc_core.access.operations import (
    Name,
    OfWorkspace,
    PlacedWorkspace,
    UserId,
    find_workspace,
    for_managers,
    list_keys,
    members_of,
)
from svc_core.access.people import CREDENTIALS, HANDLE_MAX, handle_faults
from svc_core.base.views import reshape
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import EVERYBODY, Confidential, Operation
from svc_core.wire.constraints import Arg, IdOf, MaxLen

MEMBERS_MAX = 1_000
"""People of one workspace, and of those who are invited: more than a desk has."""
_RANKS = get_args(Role)


# -- rules -------------------------------------------------------------------------------------


def check_change(
    acting: Role | None, before: Role | None, after: Role | None, *, has_other_owner: bool
) -> None:
    """Check that whoever has the role `acting` may turn the role `before` of a person into `after`.

    None is no role: before an invitation, and after a removal.

    Raises:
        Problem: FORBIDDEN, or RESOURCE_CONFLICT for the last owner.
    """
    if acting not in ("owner", "admin"):
        raise Problem(problem.FORBIDDEN, "Members are looked after by owners and admins.")
    if acting == "admin" and "owner" in (before, after):
        raise Problem(problem.FORBIDDEN, "Owners are made and changed by owners; ask one of them.")
    if before == "owner" != after and not has_other_owner:
        raise problem.conflict(
            "This is the last owner of the workspace.", "Make somebody else an owner first."
        )


# -- requests and rows -------------------------------------------------------------------------


@frozen(kw_only=True)
class OfMember(OfWorkspace):
    """A member of a workspace."""

    user_id: Annotated[UserId, Arg(positional=True)]


@frozen(kw_only=True)
class SetMemberRole(OfMember):
    """A member, and the role that they are to have."""

    role: Annotated[Role, Arg(positional=True)]
    """What they are there: members read, admins write and manage, owners also admit owners."""


@frozen(kw_only=True)
class InviteMember(OfWorkspace):
    """Somebody who is to become a member."""

    role: Annotated[Role, Arg(positional=True)] = "member"
    """What they are to be there."""
    handle: Annotated[str | None, MaxLen(HANDLE_MAX)] = None
    """What a new person will sign in by. Default: they choose."""


@frozen(kw_only=True)
class RenameWorkspace(OfWorkspace):
    """A workspace and its new name."""

    name: Annotated[Name, Arg(positional=True)]


@frozen
class WorkspaceMember:
    """A person of a workspace; `id` is that of the user."""

    id: str
    name: str
    handle: str | None
    role: Role
    workspace_id: str
    created_at: datetime


@frozen
class Invitation:
    """A link by which one person joins, to be passed on; it is shown here and nowhere else."""

    url: str = field(repr=False)
    role: Role
    workspace_id: str
    expires_at: datetime


@frozen(kw_only=True)
class RevokeInvitation(OfWorkspace):
    """The invitation that ends."""

    invitation_id: Annotated[str, IdOf("inv"), Arg(positional=True)]


@frozen
class OpenInvitation:
    """An invitation that nobody has used; its address was shown once, and is not in here.

    `issued_by` is the name of the member who made it, None for the operator.
    """

    id: str
    handle: str | None
    role: Role
    issued_by: str | None
    created_at: datetime
    expires_at: datetime


@frozen
class KeyLeft:
    """A key that goes on in the name of somebody who has left."""

    id: str
    name: str


@frozen
class RemovedMember:
    """Who has left, and the keys in their name, which go on until they are revoked."""

    id: str
    name: str
    workspace_id: str
    keys: tuple[KeyLeft, ...]
    deleted: bool = True


@frozen(kw_only=True)
class WorkspaceShown(PlacedWorkspace):
    """A workspace with the numbers of its members and keys.

    `ends_at` is when it is erased, where somebody has deleted it.
    """

    members: int
    keys: int
    created_at: datetime
    ends_at: datetime | None


# -- use cases ---------------------------------------------------------------------------------


async def list_members(ctx: Context, request: OfWorkspace) -> Page[WorkspaceMember]:
    """Owners come first, then admins, then members, each by name."""
    home = await find_workspace(ctx, request.workspace)
    memberships = await members_of(ctx, home.id)
    rows = [await _row(ctx, membership) for membership in memberships.values()]
    rows.sort(key=lambda row: (_RANKS.index(row.role), row.name.casefold(), row.id))
    return Page(tuple(map(wire.to_bytes, rows)))


async def invite_member(ctx: Context, request: InviteMember) -> Single[Invitation]:
    """The link works once, within a week, for somebody new or who can sign in already. Pass it on;
    it cannot be shown again.

    Raises:
        Problem: NOT_FOUND; FORBIDDEN, as `check_change`; VALIDATION_FAILED for the handle; or
            RESOURCE_CONFLICT where members and open invitations are as many as there may be.
    """
    home = await find_workspace(ctx, request.workspace)
    members, where = await members_of(ctx, home.id), {"workspace_id": (home.id,)}
    check_change(acting_role(ctx, members), None, request.role, has_other_owner=True)
    problem.refuse([] if request.handle is None else list(handle_faults(request.handle)))
    open_count = await ctx.tx.documents.count(LINKS, where=where, limit=MEMBERS_MAX)
    if len(members) + open_count >= MEMBERS_MAX:
        raise problem.conflict(
            f"A workspace has {MEMBERS_MAX} members and open invitations at most.",
            "Remove members, or revoke invitations.",
        )
    grant = LinkGrant(
        handle=request.handle,
        workspace_id=home.id,
        role=request.role,
        issued_by=ctx.actor.user_id if ctx.actor.workspace_id else None,
    )
    issue = await issue_link(ctx, "invite", grant)
    url = issue.address(ctx.host.origin)
    row = Invitation(url, request.role, home.id, issue.link.expires_at)
    return Single(wire.to_bytes(row))


async def list_invitations(ctx: Context, request: OfWorkspace) -> Page[OpenInvitation]:
    """Those that can still be used, the next to expire first."""
    home = await find_workspace(ctx, request.workspace)
    links = await _open_invitations(ctx, home.id)
    rows = [await _invitation(ctx, id_, link) for id_, link in links.items()]
    return Page(tuple(map(wire.to_bytes, rows)))


async def revoke_invitation(ctx: Context, request: RevokeInvitation) -> Single[OpenInvitation]:
    """Its link lets nobody in any more.

    Raises:
        Problem: NOT_FOUND, or FORBIDDEN, as `check_change`.
    """
    home = await find_workspace(ctx, request.workspace)
    link = (await _open_invitations(ctx, home.id)).get(request.invitation_id)
    if link is None:
        detail = "There is no such invitation; see: svc members invitations"
        raise Problem(problem.NOT_FOUND, detail)
    acting = acting_role(ctx, await members_of(ctx, home.id))
    check_change(acting, link.grant.role, None, has_other_owner=True)
    await ctx.remove(LINKS, link.digest)
    return Single(wire.to_bytes(await _invitation(ctx, request.invitation_id, link)))


async def _open_invitations(ctx: Context, home_id: str) -> dict[str, OneUseLink]:
    """The links that let somebody into a workspace, by the ids of the invitations."""
    where = {"workspace_id": (home_id,)}
    links = [LINKS.decode(row.raw) async for row in ctx.every(LINKS, where=where)]
    links.sort(key=lambda link: link.expires_at)
    return {f"inv_{link.digest[:24]}": link for link in links if link.expires_at > ctx.now}


async def _invitation(ctx: Context, id_: str, link: OneUseLink) -> OpenInvitation:
    grant = link.grant
    maker = await ctx.find(USERS, grant.issued_by or "")
    name = None if maker is None else maker.name
    return reshape(
        OpenInvitation, link, id=id_, handle=grant.handle, role=grant.role, issued_by=name
    )


async def set_member_role(ctx: Context, request: SetMemberRole) -> Single[WorkspaceMember]:
    """It takes effect at their next request. The last owner stays an owner.

    Raises:
        Problem: NOT_FOUND, FORBIDDEN or RESOURCE_CONFLICT, as `check_change`.
    """
    membership = await _changed(ctx, request, request.role)
    after = attrs.evolve(membership, role=request.role)
    if after != membership:
        await ctx.save(MEMBERS, after.id, after)
    if _RANKS.index(after.role) > _RANKS.index(membership.role):
        await end_invitations(ctx, after.workspace_id, after.user_id)
    return Single(wire.to_bytes(await _row(ctx, after)))


async def _row(ctx: Context, membership: Membership) -> WorkspaceMember:
    user = await ctx.value(USERS, membership.user_id)
    credential = await ctx.find(CREDENTIALS, user.id)
    handle = None if credential is None else credential.handle
    return reshape(WorkspaceMember, membership, id=user.id, name=user.name, handle=handle)


async def remove_member(ctx: Context, request: OfMember) -> Single[RemovedMember]:
    """They see nothing of it from their next request on. Keys in their name are listed; they go on
    until somebody revokes them. The last owner stays.

    Raises:
        Problem: NOT_FOUND, FORBIDDEN or RESOURCE_CONFLICT, as `check_change`.
    """
    membership = await _changed(ctx, request, None)
    keys = await end_membership(ctx, membership)
    user, home_id = await ctx.value(USERS, request.user_id), membership.workspace_id
    return Single(wire.to_bytes(reshape(RemovedMember, user, workspace_id=home_id, keys=keys)))


async def end_membership(ctx: Context, membership: Membership) -> tuple[KeyLeft, ...]:
    """Remove a member with the invitations that they made; the keys that go on in their name."""
    await ctx.remove(MEMBERS, membership.id)
    await end_invitations(ctx, membership.workspace_id, membership.user_id)
    keys = await list_keys(ctx, membership.workspace_id)
    return tuple(reshape(KeyLeft, key) for key in keys if key.user_id == membership.user_id)


async def _changed(ctx: Context, request: OfMember, role: Role | None) -> Membership:
    """The membership that may be changed so by whoever asks for it."""
    home = await find_workspace(ctx, request.workspace)
    memberships = await members_of(ctx, home.id)
    if request.user_id not in memberships:
        detail = f"There is no member {request.user_id}; see: svc members list"
        raise Problem(problem.NOT_FOUND, detail)
    acting = acting_role(ctx, memberships)
    before = memberships.pop(request.user_id)
    others = {membership.role for membership in memberships.values()}
    check_change(acting, before.role, role, has_other_owner="owner" in others)
    return before


def acting_role(ctx: Context, memberships: dict[str, Membership]) -> Role | None:
    """The role of whoever acts, now; the operator who works for no one workspace is as an owner."""
    if ctx.actor.workspace_id is None:
        return "owner"
    membership = memberships.get(ctx.actor.user_id or "")
    return None if membership is None else membership.role


async def show_workspace(ctx: Context, request: OfWorkspace) -> Single[WorkspaceShown]:
    """Keys are counted in whatever state they are; `endsAt` is when it is deleted, if at all."""
    home = await find_workspace(ctx, request.workspace)
    ending = await ctx.find(ENDINGS, home.id)
    members = {
        "members": len(await members_of(ctx, home.id)),
        "keys": len(await list_keys(ctx, home.id)),
        "ends_at": None if ending is None else ending.ends_at,
    }
    return Single(wire.to_bytes(reshape(WorkspaceShown, home, **members)))


async def rename_workspace(ctx: Context, request: RenameWorkspace) -> Single[PlacedWorkspace]:
    """Its id stays, and with it every key and address.

    Raises:
        Problem: VALIDATION_FAILED, or NOT_FOUND.
    """
    problem.refuse(list(creation.workspace_name_faults(request.name)))
    home = await find_workspace(ctx, request.workspace)
    after = attrs.evolve(home, name=request.name)
    if after != home:
        await ctx.save(WORKSPACES, after.id, after)
    return Single(wire.to_bytes(reshape(PlacedWorkspace, after)))


# -- declarations ------------------------------------------------------------------------------


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    for_managers(
        "members list",
        "List the people of a workspace and their roles",
        list_members,
        method="GET",
        columns=("id", "name", "handle", "role", "createdAt"),
    ),
    for_managers(
        "members invite",
        "Make a link by which one person joins a workspace",
        invite_member,
        confidential=Confidential(),
    ),
    for_managers(
        "members invitations",
        "List the invitations that nobody has used yet",
        list_invitations,
        method="GET",
        columns=("id", "handle", "role", "issuedBy", "createdAt", "expiresAt"),
    ),
    for_managers("members revoke-invitation", "Revoke an invitation", revoke_invitation),
    for_managers("members set-role", "Give a member another role", set_member_role),
    for_managers("members remove", "Remove a member from a workspace", remove_member),
    for_managers(
        "workspace show",
        "Show a workspace, its plan and how many people and keys it has",
        show_workspace,
        method="GET",
        roles=EVERYBODY,
    ),
    for_managers(
        "workspace rename",
        "Give a workspace another name",
        rename_workspace,
        guarded=False,
    ),
)
