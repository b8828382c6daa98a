"""Operations on people who sign in, on what they sign in by, and on their sessions (D20).

Everybody has their own in hand. Owners and admins see and end the sessions of their workspace, an
admin not those of an owner. The operator, who has no session, names whom is meant.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Annotated, Any

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.access import keys as key_rules
from svc_core.access import operations as accounts
from svc_core.access import passkeys, passwords, sign_ins
from svc_core.access.creation import NAME_MAX, Role
from svc_core.access.model import KEYS, MEMBERS, USERS, WORKSPACES, Membership, User
from svc_core.access.one_use_links import LINKS, IssuedLink, LinkGrant, LinkPurpose, issue_link
from svc_core.access.passkeys import ANSWER_MAX, PasskeyAnswer
from svc_core.access.people import (
    CREDENTIALS,
    HANDLE_MAX,
    Credential,
    Passkey,
    find_credential,
    is_unclaimed,
    memberships_of,
)
from svc_core.access.person_sessions import (
    SESSIONS,
    PersonSession,
    end_session,
    end_sessions,
    has_ended,
    sessions_of,
)
from svc_core.base.views import reshape
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import EVERYBODY, Confidential, Operation, Trait, local
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import WorkContext
from svc_core.wire.constraints import Arg, Doc, IdOf, MaxLen, MinLen, WriteOnly

SESSIONS_LISTED = 1_000
"""Sessions in one answer, the newest first: of some hundred people."""

# -- requests and rows -------------------------------------------------------------------------

Who = Annotated[str, MaxLen(HANDLE_MAX), Doc("A handle, or usr_...")]
OfPerson = Annotated[Who | None, Trait.OPERATOR]
NewPassword = Annotated[
    str,
    MaxLen(passwords.LENGTH_MAX),
    WriteOnly(
        "Take four or five words that do not belong together.",
        passwords.FRESH_BYTES,
        passwords.fresh_password,
    ),
    Doc("The new password: 12 characters at least, a few words for example. Never shown."),
]


@frozen
class LinkPerson:
    """Whom a link lets in."""

    handle: Annotated[Who | None, Arg(positional=True)] = None
    """Their handle, or usr_... of a user who has none yet. Default: the first person of all."""
    workspace: str | None = None
    """Id or name of the workspace that a new person joins; needed only if there are several."""
    role: Role = "member"
    """What a new person is there."""
    operator: bool = False
    """Whether they become an operator of the installation."""


@frozen
class LinkAddress:
    """A link that lets a person in once, until it expires."""

    url: str = field(repr=False)
    purpose: LinkPurpose
    expires_at: datetime


@frozen
class SetPassword:
    """A new password."""

    password: NewPassword = field(repr=False)
    user: OfPerson = None
    """Whose it becomes."""


@frozen
class AddPasskey:
    """A new passkey, as the browser made it."""

    answer: Annotated[str, MaxLen(ANSWER_MAX)] = field(repr=False)
    """What the browser answers to the options of the page, as JSON."""
    name: Annotated[str, MinLen(1), MaxLen(NAME_MAX)] = "passkey"
    """What to call it, such as the device."""


@frozen
class RemovePasskey:
    """The passkey that goes."""

    passkey_id: Annotated[str, Arg(positional=True)]
    """Its id."""
    user: OfPerson = None
    """Whose it is."""


@frozen
class ShowSignInMethods:
    """Whose they are."""

    user: OfPerson = None
    """Who signs in by them."""


@frozen
class SignInMethods:
    """What a person signs in by."""

    id: str
    handle: str
    is_operator: bool
    has_password: bool
    passkeys: tuple[Passkey, ...]


@frozen
class RemoveUser:
    """The person who goes."""

    user: Annotated[Who, Arg(positional=True)]


@frozen
class RemovedUser:
    """Who is gone for good; `keys` names those of workspaces that they hold, which go on."""

    id: str
    name: str
    sessions: int
    keys: tuple[str, ...]
    removed: bool = True


@frozen
class ListSessions:
    """Whose sessions are listed."""

    workspace: Annotated[str | None, Trait.OPERATOR] = None
    """Id or name of a workspace whose members are meant. Default: everybody."""
    user: OfPerson = None
    """Only this person's."""


@frozen
class RevokeSession:
    """The session that ends."""

    session_id: Annotated[str, IdOf("ses"), Arg(positional=True)]


@frozen(kw_only=True)
class SessionRow:
    """A session that lasts: whose it is, since when, and from where."""

    id: str
    user_id: str
    handle: str
    agent: str
    address: str
    created_at: datetime
    signed_in_at: datetime
    last_seen_at: datetime
    is_current: bool


# -- people ------------------------------------------------------------------------------------


async def link_user(ctx: Context, request: LinkPerson) -> Single[LinkAddress]:
    """Print an address that lets a person in once.

    Where nobody can sign in yet it makes the first person, operator and owner of the first
    workspace. For somebody who is known it is the way back after a lost password, and lasts half
    an hour; a new person is invited into a workspace, within a week.
    """
    issue = await _issue(ctx, request)
    url = issue.address(ctx.host.origin)
    return _single(reshape(LinkAddress, issue.link, url=url))


async def _issue(ctx: Context, request: LinkPerson) -> IssuedLink:
    who, is_operator = request.handle, request.operator
    user = None if who is None else await _find_user(ctx, who)
    if user is not None:
        return await issue_link(ctx, "reset", LinkGrant(user_id=user.id, is_operator=is_operator))
    grant = LinkGrant(handle=who, role=request.role, is_operator=is_operator)
    if await is_unclaimed(ctx):
        return await issue_link(ctx, "setup", attrs.evolve(grant, role="owner", is_operator=True))
    if who is None:
        raise Problem(problem.VALIDATION_FAILED, "/handle: say whom it lets in")
    home = await accounts.find_workspace(ctx, request.workspace)
    return await issue_link(ctx, "invite", attrs.evolve(grant, workspace_id=home.id))


async def remove_user(ctx: Context, request: RemoveUser) -> Single[RemovedUser]:
    """Remove a person with all they sign in by.

    Their sessions end, their memberships and links go, their personal keys are revoked. Keys of
    workspaces that they hold go on; they are named, to be revoked one by one.

    Raises:
        Problem: NOT_FOUND, or RESOURCE_CONFLICT for the last owner of a workspace.
    """
    user = await _user(ctx, request.user)
    memberships = await memberships_of(ctx, user.id)
    await _check_owners(ctx, memberships)
    held = [key for row in memberships for key in await accounts.list_keys(ctx, row.workspace_id)]
    ended = await end_sessions(ctx, user.id)
    for key in await accounts.list_keys(ctx, user.id):
        await ctx.save(KEYS, key.id, key_rules.revoke(key, ctx.now))
    for row in memberships:
        await ctx.remove(MEMBERS, row.id)
    async for link in ctx.every(LINKS, where={"user_id": (user.id,)}):
        await ctx.remove(LINKS, link.id)
    await ctx.tx.documents.delete(CREDENTIALS, user.id)
    await ctx.remove(USERS, user.id)
    names = tuple(key.name for key in held if key.user_id == user.id and key.status == "active")
    return _single(RemovedUser(user.id, user.name, ended, names))


async def _check_owners(ctx: Context, memberships: Iterable[Membership]) -> None:
    for row in memberships:
        owners = [peer for peer in await _members(ctx, row.workspace_id) if peer.role == "owner"]
        if owners == [row]:
            name = (await ctx.value(WORKSPACES, row.workspace_id)).name
            detail = f"They are the last owner of {name!r}."
            step = "Make somebody else its owner, or delete the workspace, first."
            raise Problem(problem.RESOURCE_CONFLICT, detail, resolution=step)


# -- what people sign in by --------------------------------------------------------------------


async def show_sign_in_methods(ctx: Context, request: ShowSignInMethods) -> Single[SignInMethods]:
    """Show what a person signs in by: the handle, a password or not, the passkeys."""
    return _methods(await _own_credential(ctx, request.user))


async def set_password(work: WorkContext, request: SetPassword) -> Single[SignInMethods]:
    """Set a password. All other sessions of the person end."""
    find = partial(_own_credential, who=request.user or work.actor.user_id)
    id_ = (await work.work.read(SYSTEM, find)).id
    session_id = work.actor.session_id
    return _methods(
        await sign_ins.change_password(work, id_, request.password, session_id=session_id)
    )


async def add_passkey(ctx: Context, request: AddPasskey) -> Single[SignInMethods]:
    """Register a passkey that a browser has made by the options of the page."""
    credential = await _own_credential(ctx, None)
    answer = PasskeyAnswer(request.answer, request.name)
    return _methods(await passkeys.register_passkey(ctx, credential, answer, credential.id))


async def remove_passkey(ctx: Context, request: RemovePasskey) -> Single[SignInMethods]:
    """Remove a passkey; the last way in stays.

    Raises:
        Problem: NOT_FOUND, or RESOURCE_CONFLICT where there would be no way in any more.
    """
    credential = await _own_credential(ctx, request.user)
    rest = tuple(row for row in credential.passkeys if row.id != request.passkey_id)
    if rest == credential.passkeys:
        raise Problem(problem.NOT_FOUND, "There is no such passkey.")
    if not rest and credential.password is None:
        raise Problem(
            problem.RESOURCE_CONFLICT,
            "It is the only way in.",
            resolution="Set a password, or add another passkey, first.",
        )
    after = attrs.evolve(credential, passkeys=rest)
    await ctx.save(CREDENTIALS, after.id, after)
    return _methods(after)


def _methods(credential: Credential) -> Single[SignInMethods]:
    has_password = credential.password is not None
    return _single(reshape(SignInMethods, credential, has_password=has_password))


# -- sessions ----------------------------------------------------------------------------------


async def list_sessions(ctx: Context, request: ListSessions) -> Page[SessionRow]:
    """The sessions that last, newest first: one's own, or those of the workspace."""
    users = await _visible_users(ctx, request)
    if users is None:
        rows = [SESSIONS.decode(row.raw) async for row in ctx.every(SESSIONS, SESSIONS_LISTED)]
    else:
        rows = [row for user in users for row in await sessions_of(ctx, user)]
    rows = [row for row in rows if not has_ended(row, ctx.now)]
    rows.sort(key=lambda row: (row.created_at, row.id), reverse=True)
    return Page(tuple([wire.to_bytes(await _session_row(ctx, row)) for row in rows]))


async def _session_row(ctx: Context, row: PersonSession) -> SessionRow:
    credential = await ctx.value(CREDENTIALS, row.user_id)
    members = attrs.asdict(row.device)
    is_current = row.id == ctx.actor.session_id
    return reshape(SessionRow, row, handle=credential.handle, is_current=is_current, **members)


async def revoke_session(ctx: Context, request: RevokeSession) -> Single[SessionRow]:
    """End a session at once, in whatever tab it is open.

    Raises:
        Problem: NOT_FOUND.
    """
    session = await ctx.find(SESSIONS, request.session_id)
    users = await _visible_users(ctx, ListSessions())
    if session is None or (users is not None and session.user_id not in users):
        raise Problem(problem.NOT_FOUND, "There is no such session; see: svc sessions list")
    await end_session(ctx, session.id)
    return _single(await _session_row(ctx, session))


async def _visible_users(ctx: Context, request: ListSessions) -> set[str] | None:
    """Whose sessions the caller may see; None for everybody's."""
    actor, home = ctx.actor, ctx.actor.workspace_id
    if home is None and request.user is not None:
        return {(await _user(ctx, request.user)).id}
    if home is None and request.workspace is not None:
        home = (await accounts.find_workspace(ctx, request.workspace)).id
    if home is None:
        return None
    users = {actor.user_id or ""}
    if "member" not in actor.roles:
        members = await _members(ctx, home)
        is_admin = "admin" in actor.roles
        users |= {row.user_id for row in members if not (is_admin and row.role == "owner")}
    return users


# -- shared ------------------------------------------------------------------------------------


async def _members(ctx: Context, workspace_id: str) -> list[Membership]:
    rows = ctx.every(MEMBERS, where={"workspace_id": (workspace_id,)})
    return [MEMBERS.decode(row.raw) async for row in rows]


def _single(row: Any) -> Single[Any]:
    return Single(wire.to_bytes(row))


async def _find_user(ctx: Context, who: str) -> User | None:
    """The person with this id or handle."""
    credential = await find_credential(ctx, who)
    return await ctx.find(USERS, who if credential is None else credential.id)


async def _user(ctx: Context, who: str) -> User:
    user = await _find_user(ctx, who)
    if user is None:
        raise Problem(problem.NOT_FOUND, f"There is no person {who!r}; see: svc users list")
    return user


async def _own_credential(ctx: Context, who: str | None) -> Credential:
    """What the caller signs in by, or the person whom the operator names."""
    id_ = ctx.actor.user_id if who is None else (await _user(ctx, who)).id
    if id_ is None:
        raise Problem(problem.VALIDATION_FAILED, "/user: say whose; see: svc users list")
    credential = await ctx.find(CREDENTIALS, id_)
    if credential is None:
        detail = f"{id_} cannot sign in yet; let them in: svc users link {id_}"
        raise Problem(problem.NOT_FOUND, detail)
    return credential


# -- declarations ------------------------------------------------------------------------------


_local: Any = partial(local, binding="system")
_own: Any = partial(_local, roles=EVERYBODY)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _local(
        "users link",
        "Print an address that lets a person in once, without a password",
        link_user,
        confidential=Confidential(),
    ),
    _local(
        "users remove",
        "Remove a person for good, with all they sign in by",
        remove_user,
        guarded=True,
    ),
    _own("users methods", "Show what a person signs in by", show_sign_in_methods),
    _own("users set-password", "Set the password of a person", set_password, guarded=True),
    _own("users", "Register a passkey", add_passkey, guarded=True),
    _own("users remove-passkey", "Remove a passkey", remove_passkey, guarded=True),
    _own(
        "sessions list",
        "List the sessions of people in browsers, newest first",
        list_sessions,
        method="GET",
        columns=("id", "handle", "agent", "address", "createdAt", "lastSeenAt"),
    ),
    _own("sessions revoke", "End a session at once", revoke_session),
)
