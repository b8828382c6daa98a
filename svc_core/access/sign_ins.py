"""Sign-in: by password, by passkey, and by following a one-use link (Dashboard: Who is who, Locks).

Rule 1: five failures of an account from one address block lock its password there for
        fifteen minutes, twenty from anywhere lock it everywhere. They are counted under names of
        their own, so that nobody locks the keys of an address. A passkey and a link pass the lock.
Rule 2: an unknown handle costs and counts as a wrong password does.
Rule 3: hashing is done between two units of work, beside the loop. Whoever calls bounds how many
        do it at once.
"""

from collections.abc import Iterable
from functools import partial
from typing import Final, NoReturn

import attrs
from attrs import field, frozen

from svc_core.access import lockout
from svc_core.access import operations as accounts
from svc_core.access.audit import AuditCaller, record_act
from svc_core.access.lockouts import address_rules
from svc_core.access.model import MEMBERS, USERS, WORKSPACES
from svc_core.access.one_use_links import LINKS, LinkGrant, OneUseLink, end_links, read_link
from svc_core.access.passkeys import PasskeyAnswer, judge_passkey, register_passkey
from svc_core.access.passwords import (
    LENGTH_MAX,
    SALT_BYTES,
    UNKNOWN_PHC,
    check_password,
    derive_password,
    password_faults,
    verify_password,
)
from svc_core.access.people import (
    CREDENTIALS,
    Credential,
    create_credential,
    find_credential,
    fold_handle,
    handle_faults,
    memberships_of,
)
from svc_core.access.person_sessions import (
    Device,
    IssuedSession,
    begin_session,
    end_sessions,
    token_digest,
)
from svc_core.access.plans import PlanTable
from svc_core.access.workspace_members import check_change
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Lockouts
from svc_core.operation.units import WorkContext

_ANOTHER: Final = (
    "Ask whoever sent it for another, or the operator: svc users link HANDLE (of the demo: demo)"
)


@frozen
class PasswordAttempt:
    """A handle and a password, as somebody typed them."""

    handle: str
    password: str = field(repr=False)


@frozen(kw_only=True)
class LinkAnswer:
    """What a person enters who follows a link: a password, a passkey (asked for with the digest of
    the link as the id of its holder), or both.
    """

    handle: str | None = None
    name: str | None = None
    password: str | None = field(default=None, repr=False)
    passkey: PasskeyAnswer | None = None


# -- by password and by passkey ----------------------------------------------------------------


async def sign_in(
    work: WorkContext, attempt: PasswordAttempt, device: Device, *, replacing: str | None = None
) -> IssuedSession:
    """A session for whoever knows the password; `replacing` is the one that ends with it.

    Raises:
        Problem: SIGN_IN_FAILED, or AUTH_LOCKED.
    """
    find = partial(find_credential, handle=attempt.handle)
    credential = await work.work.read(SYSTEM, find)
    locks = _locks(credential, attempt.handle, address_rules(work).block(device.address))
    await _check_locks(work, locks)
    phc = UNKNOWN_PHC if credential is None else credential.password or UNKNOWN_PHC
    password = attempt.password[: LENGTH_MAX + 1]
    is_right = await work.work.aside(partial(verify_password, password, phc))
    if credential is None or credential.password is None or not is_right:
        await _count_failure(work, locks)
    await _check_locks(work, locks)  # others may have failed while this one was verified

    async def unit(ctx: Context) -> IssuedSession:
        present = await ctx.find(CREDENTIALS, credential.id)
        if present is None or present.password != phc:
            raise _failure()
        return await begin_session(ctx, credential.id, device, replacing=replacing)

    return await work.work.write(SYSTEM, unit)


async def sign_in_by_passkey(
    ctx: Context, answer: str, device: Device, *, replacing: str | None = None
) -> IssuedSession:
    """A session for whoever has the passkey, locked or not; in a unit of the system.

    Raises:
        Problem: SIGN_IN_FAILED, or SERVICE_UNAVAILABLE where there are no passkeys.
    """
    user_id = await judge_passkey(ctx, answer)
    return await begin_session(ctx, user_id, device, act="signInByPasskey", replacing=replacing)


def _locks(credential: Credential | None, handle: str, block: str) -> tuple[str, str]:
    """The names under which failures are counted: of the account there, and of it anywhere.

    An unknown handle is counted under its digest, as people type passwords in its place.
    """
    unknown = f"unknown_{token_digest(fold_handle(handle[:LENGTH_MAX]))[:16]}"
    account = unknown if credential is None else credential.id
    return f"sign-in {account} {block}", f"{lockout.ACCOUNT}{account}"


async def _check_locks(work: WorkContext, locks: Iterable[str]) -> None:
    for lock in locks:
        failures = await work.borrow(Lockouts).failures(lock)
        lockout.check_sign_in(lock, failures, work.now)


async def _count_failure(work: WorkContext, locks: Iterable[str]) -> NoReturn:
    for lock in locks:
        before = await work.borrow(Lockouts).record(lock, work.now)
        lockout.check_sign_in(lock, before, work.now)
    raise _failure()


def _failure() -> Problem:
    return Problem(problem.SIGN_IN_FAILED, "The handle or the password is not right.")


# -- by a link ---------------------------------------------------------------------------------


async def follow_link(
    work: WorkContext,
    token: str,
    answer: LinkAnswer,
    device: Device,
    *,
    replacing: str | None = None,
) -> IssuedSession:
    """Use a link and sign its person in; `replacing` is the session that ends with it.

    Raises:
        Problem: LINK_EXPIRED, VALIDATION_FAILED, RESOURCE_CONFLICT or NOT_FOUND.
    """
    await work.work.read(SYSTEM, partial(_check_answer, token=token, answer=answer))
    phc = None if answer.password is None else await _hash(work, answer.password)

    async def unit(ctx: Context) -> IssuedSession:
        purpose = (await usable_link(ctx, token)).purpose
        user_id = await use_link(ctx, token, answer, phc)
        act = f"use{purpose.title().replace('-', '')}Link"
        return await begin_session(ctx, user_id, device, act=act, replacing=replacing)

    return await work.work.write(SYSTEM, unit)


async def use_link(ctx: Context, token: str, answer: LinkAnswer, phc: str | None) -> str:
    """Do what a link is for, and end it; the id of its person. `phc` is their new password.

    Raises:
        Problem: as `follow_link`.
    """
    link = await usable_link(ctx, token)
    await ctx.remove(LINKS, link.digest)
    if link.purpose == "sign-in" and link.grant.user_id is not None:
        return link.grant.user_id
    if phc is None and answer.passkey is None:
        raise Problem(problem.VALIDATION_FAILED, "/password: choose one, or make a passkey")
    handle = _handle(link, answer)
    user_id = link.grant.user_id
    if user_id is None:
        plans, name = ctx.borrow(PlanTable), answer.name or handle
        user_id = (await accounts.create_user(ctx, name=name, plans=plans)).id
        await _join(ctx, link, user_id)
    credential = await ctx.find(CREDENTIALS, user_id)
    if credential is None:
        credential = await create_credential(ctx, user_id, handle)
    is_operator = credential.is_operator or link.grant.is_operator
    credential = attrs.evolve(credential, is_operator=is_operator)
    credential = await _save_password(ctx, credential, phc)
    if answer.passkey is not None:
        await register_passkey(ctx, credential, answer.passkey, link.digest)
    return user_id


async def join_by_link(
    ctx: Context, token: str, user_id: str, device: Device, *, session_id: str | None = None
) -> None:
    """Let somebody who is signed in join by an invitation; it proves nothing, so that their
    session stays as it is.

    Raises:
        Problem: LINK_EXPIRED, RESOURCE_CONFLICT where it is for another handle, or NOT_FOUND.
    """
    link = await usable_link(ctx, token)
    who, handle = (await ctx.value(CREDENTIALS, user_id)).handle, link.grant.handle
    if link.purpose != "invite" or fold_handle(handle or who) != fold_handle(who):
        raise problem.conflict(
            "The link is for somebody else.",
            "Sign out first and follow it then, or ask for one without a handle.",
        )
    await ctx.remove(LINKS, link.digest)
    home = await _join(ctx, link, user_id)
    caller = AuditCaller(who=who, user_id=user_id, address=device.address)
    await record_act(ctx, caller, "useInviteLink", session_id=session_id, workspace_id=home)


async def usable_link(ctx: Context, token: str) -> OneUseLink:
    """The link of a token.

    Raises:
        Problem: LINK_EXPIRED.
    """
    link = await read_link(ctx, token)
    if link is None or not await _is_backed(ctx, link.grant):
        detail = "The link was used or taken back, or its time is over."
        raise Problem(problem.LINK_EXPIRED, detail, resolution=_ANOTHER)
    return link


async def _is_backed(ctx: Context, grant: LinkGrant) -> bool:
    """Whether who made an invitation may still make it; the operator always may."""
    if grant.issued_by is None:
        return True
    maker = await ctx.find(MEMBERS, f"{grant.workspace_id}:{grant.issued_by}")
    try:
        acting = None if maker is None else maker.role
        check_change(acting, None, grant.role, has_other_owner=True)
    except Problem:
        return False
    return True


def _handle(link: OneUseLink, answer: LinkAnswer) -> str:
    return link.grant.handle or answer.handle or ""


async def _join(ctx: Context, link: OneUseLink, user_id: str) -> str:
    """Make a person a member with the role of the link; a member's role stays what it is.

    The id of the workspace.
    """
    home = link.grant.workspace_id
    if home is None:
        home = await _first_workspace(ctx, user_id)
    if await ctx.find(MEMBERS, f"{home}:{user_id}") is None:
        await accounts.add_member(ctx, home, user_id, link.grant.role)
    return home


async def _first_workspace(ctx: Context, user_id: str) -> str:
    """The oldest workspace; where there is none, one is made whose owner the person is."""
    workspaces = await accounts.list_workspaces(ctx)
    if workspaces:
        return workspaces[-1].id
    name, plan, plans = accounts.DEFAULT_NAME, accounts.DEFAULT_PLAN, ctx.borrow(PlanTable)
    home = await accounts.create_workspace(ctx, name=name, plan=plan, plans=plans, owner=user_id)
    return home.id


# -- passwords ---------------------------------------------------------------------------------


async def change_password(
    work: WorkContext, user_id: str, password: str, *, session_id: str | None = None
) -> Credential:
    """Give a person another password; all their sessions end but this one.

    Raises:
        Problem: VALIDATION_FAILED, or NOT_FOUND for somebody who cannot sign in.
    """
    names = await work.work.read(SYSTEM, partial(_names_of_person, user_id=user_id))
    check_password(password, names)
    phc = await _hash(work, password)

    async def unit(ctx: Context) -> Credential:
        credential = await ctx.value(CREDENTIALS, user_id)
        return await _save_password(ctx, credential, phc, session_id=session_id)

    return await work.work.write(SYSTEM, unit)


async def _save_password(
    ctx: Context, credential: Credential, phc: str | None, *, session_id: str | None = None
) -> Credential:
    """The credential as it is stored, with another password if there is one; sessions and links
    end."""
    if phc is not None:
        credential = attrs.evolve(credential, password=phc, password_changed_at=ctx.now)
    await ctx.save(CREDENTIALS, credential.id, credential)
    await end_sessions(ctx, credential.id, but=session_id)
    await end_links(ctx, credential.id)
    return credential


async def _hash(work: WorkContext, password: str) -> str:
    return await work.work.aside(partial(derive_password, password, work.ids.random(SALT_BYTES)))


async def _check_answer(ctx: Context, token: str, answer: LinkAnswer) -> None:
    """Check the form of what was entered beside a link, all of it together.

    Raises:
        Problem: LINK_EXPIRED, or VALIDATION_FAILED.
    """
    link = await usable_link(ctx, token)
    grant, handle = link.grant, _handle(link, answer)
    faults = [] if grant.user_id else list(handle_faults(handle))
    homes = filter(None, [grant.workspace_id])
    names = await _names(ctx, homes, handle, answer.name or handle)
    names += await _names_of_person(ctx, grant.user_id) if grant.user_id else []
    if answer.password is not None:
        faults += password_faults(answer.password, names)
    problem.refuse(faults)


async def _names_of_person(ctx: Context, user_id: str) -> list[str]:
    """The names of a person and their workspaces."""
    user, credential = await ctx.value(USERS, user_id), await ctx.find(CREDENTIALS, user_id)
    homes = (member.workspace_id for member in await memberships_of(ctx, user_id))
    return await _names(ctx, homes, credential.handle if credential else "", user.name)


async def _names(ctx: Context, homes: Iterable[str], handle: str, name: str) -> list[str]:
    workspaces = (await ctx.find_many(WORKSPACES, homes)).values()
    return [name, handle, handle.partition("@")[0], *(row.name for row in workspaces)]
