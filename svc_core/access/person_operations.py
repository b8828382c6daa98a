"""Operations on people who sign in, on what they sign in by, and on their sessions (D20).

Everybody has their own in hand. Owners and admins see and end the sessions of their workspace, an
admin not those of an owner. The operator, who has no session, names whom is meant.
"""

from collections.abc import Mapping, Sequence
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
from svc_core.access.model import KEYS, USERS, User
from svc_core.access.one_use_links import (
    IssuedLink,
    LinkGrant,
    LinkPurpose,
    end_links,
    issue_link,
)
from svc_core.access.operations import OfWorkspace, members_of
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
)
from svc_core.access.workspace_members import KeyLeft, acting_role, check_change, end_membership
from svc_core.base.views import reshape
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import PEOPLE, Confidential, Operation, Trait, local
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
    keys: tuple[KeyLeft, ...]
    deleted: bool = True


@frozen(kw_only=True)
class ListSessions(OfWorkspace):
    """Whose sessions are listed; the operator lists everybody's."""

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
        Problem: NOT_FOUND, or RESOURCE_CONFLICT for the last owner of a workspace and the last
            operator.
    """
    user = await _user(ctx, request.user)
    people = [CREDENTIALS.decode(row.raw) async for row in ctx.every(CREDENTIALS)]
    if {person.id for person in people if person.is_operator} == {user.id}:
        raise problem.conflict(
            "This is the last operator of the installation.",
            "Make somebody else one first, by svc users link HANDLE --operator.",
        )
    for key in await accounts.list_keys(ctx, user.id):
        await ctx.save(KEYS, key.id, key_rules.revoke(key, ctx.now))
    left: list[KeyLeft] = []
    for row in await memberships_of(ctx, user.id):
        members = await members_of(ctx, row.workspace_id)
        others = {member.role for id_, member in members.items() if id_ != user.id}
        check_change("owner", row.role, None, has_other_owner="owner" in others)
        left += await end_membership(ctx, row)
    await end_links(ctx, user.id)
    ended = await end_sessions(ctx, user.id)
    await ctx.tx.documents.delete(CREDENTIALS, user.id)
    await ctx.remove(USERS, user.id)
    return _single(reshape(RemovedUser, user, sessions=ended, keys=tuple(left)))


# -- what people sign in by --------------------------------------------------------------------


async def show_sign_in_methods(ctx: Context, request: ShowSignInMethods) -> Single[SignInMethods]:
    """Show how a person signs in: the handle, a password or not, the passkeys."""
    return _methods(await _credential_of(ctx, request.user or ctx.actor.user_id))


async def set_password(work: WorkContext, request: SetPassword) -> Single[SignInMethods]:
    """Set a password. All other sessions of the person end."""
    find = partial(_credential_of, who=request.user or work.actor.user_id)
    id_, session_id = (await work.work.read(SYSTEM, find)).id, work.actor.session_id
    return _methods(
        await sign_ins.change_password(work, id_, request.password, session_id=session_id)
    )


async def add_passkey(ctx: Context, request: AddPasskey) -> Single[SignInMethods]:
    """Register a passkey that a browser has made by the options of the page."""
    credential = await _credential_of(ctx, ctx.actor.user_id)
    answer = PasskeyAnswer(request.answer, request.name)
    return _methods(await passkeys.register_passkey(ctx, credential, answer, credential.id))


async def remove_passkey(ctx: Context, request: RemovePasskey) -> Single[SignInMethods]:
    """Remove a passkey; the last way in stays.

    Raises:
        Problem: NOT_FOUND, or RESOURCE_CONFLICT where there would be no way in any more.
    """
    credential = await _credential_of(ctx, request.user or ctx.actor.user_id)
    rest = tuple(row for row in credential.passkeys if row.id != request.passkey_id)
    if rest == credential.passkeys:
        raise Problem(problem.NOT_FOUND, "There is no such passkey.")
    if not rest and credential.password is None:
        raise problem.conflict(
            "It is the only way in.", "Set a password, or add another passkey, first."
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
    filters = {} if users is None else {"where": {"user_id": tuple(sorted(users))}}
    rows = ctx.every(SESSIONS, SESSIONS_LISTED, **filters)
    sessions = [SESSIONS.decode(row.raw) async for row in rows]
    lasting = [session for session in sessions if not has_ended(session, ctx.now)]
    return Page(tuple(map(wire.to_bytes, await _session_rows(ctx, lasting))))


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
    return _single((await _session_rows(ctx, [session]))[0])


async def _session_rows(ctx: Context, sessions: Sequence[PersonSession]) -> list[SessionRow]:
    people = await ctx.find_many(CREDENTIALS, [session.user_id for session in sessions])
    return [
        reshape(
            SessionRow,
            session,
            handle=people[session.user_id].handle,
            is_current=session.id == ctx.actor.session_id,
            **attrs.asdict(session.device),
        )
        for session in sessions
    ]


async def _visible_users(ctx: Context, request: ListSessions) -> set[str] | None:
    """Whose sessions the caller may see; None for everybody's."""
    home = ctx.actor.workspace_id
    if "operator" not in ctx.actor.roles and home is None:
        return {ctx.actor.user_id or ""}
    if home is None and request.user is not None:
        return {(await _user(ctx, request.user)).id}
    if home is None and request.workspace is None:
        return None
    members = await members_of(ctx, (await accounts.find_workspace(ctx, request.workspace)).id)
    acting = acting_role(ctx, members)
    visible = _VISIBLE_ROLES.get(acting or "member", frozenset())
    rows = {id_ for id_, member in members.items() if member.role in visible}
    return rows | {ctx.actor.user_id or ""}


_VISIBLE_ROLES: Mapping[str, frozenset[str]] = {
    "owner": frozenset({"owner", "admin", "member"}),
    "admin": frozenset({"admin", "member"}),
}
"""The roles whose sessions an owner and an admin see beside their own."""


# -- shared ------------------------------------------------------------------------------------


def _single(row: Any) -> Single[Any]:
    return Single(wire.to_bytes(row))


async def _find_user(ctx: Context, who: str) -> User | None:
    """The person with this id or handle; a handle that is the id of another stands for them."""
    credential = await find_credential(ctx, who)
    ids = (who, who if credential is None else credential.id)
    users = await ctx.find_many(USERS, ids)
    return next((users[id_] for id_ in ids if id_ in users), None)


async def _user(ctx: Context, who: str) -> User:
    user = await _find_user(ctx, who)
    if user is None:
        raise Problem(problem.NOT_FOUND, f"There is no person {who!r}; see: svc users list")
    return user


async def _credential_of(ctx: Context, who: str | None) -> Credential:
    """What a person signs in by: the caller, or whom the operator names."""
    if who is None:
        raise Problem(problem.VALIDATION_FAILED, "/user: say whose; see: svc users list")
    user = await _user(ctx, who)
    credential = await ctx.find(CREDENTIALS, user.id)
    if credential is None:
        detail = f"{user.name!r} cannot sign in yet; let them in: svc users link {user.id}"
        raise Problem(problem.NOT_FOUND, detail)
    return credential


# -- declarations ------------------------------------------------------------------------------


_local: Any = partial(local, binding="system")
_own: Any = partial(_local, roles=PEOPLE)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _local(
        "users link",
        "Make a link by which a person chooses a password and is signed in, once",
        link_user,
        guarded=True,
        confidential=Confidential(),
    ),
    _local(
        "users remove",
        "Remove a person for good, with their passwords and passkeys",
        remove_user,
        guarded=True,
    ),
    _own("users methods", "Show how a person signs in", show_sign_in_methods, method="GET"),
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
