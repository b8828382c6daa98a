"""People of a service who are signed in, made in its store rather than in a browser."""

from collections.abc import Mapping
from datetime import datetime

import attrs
from attrs import field, frozen

from svc_core.access import operations as accounts
from svc_core.access import person_sessions as sessions
from svc_core.access.creation import Role
from svc_core.access.passwords import SALT_BYTES, derive_password
from svc_core.access.people import CREDENTIALS, create_credential
from svc_core.access.person_sessions import SESSIONS, Device
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.operation.context import Context

PASSWORD = "copper lantern drifts sideways"


@frozen
class SignedUp:
    """A person with one open session; `token` is what its cookie holds."""

    user_id: str
    handle: str
    session_id: str
    token: str = field(repr=False)
    signed_in_at: datetime


async def sign_up(
    ctx: Context,
    handle: str,
    homes: Mapping[str, Role],
    *,
    is_operator: bool = False,
    has_password: bool = False,
) -> SignedUp:
    """A new person with a role in each of these workspaces, and a session; in a unit of the system.

    Hashing a password takes 50 ms, so only who is to type one has it.
    """
    user = await accounts.create_user(ctx, name=handle.capitalize(), plans=DEFAULT_PLANS)
    for workspace_id, role in homes.items():
        await accounts.add_member(ctx, workspace_id, user.id, role)
    credential = await create_credential(ctx, user.id, handle, is_operator=is_operator)
    if has_password:
        phc = derive_password(PASSWORD, ctx.ids.random(SALT_BYTES))
        credential = attrs.evolve(credential, password=phc, password_changed_at=ctx.now)
        await ctx.save(CREDENTIALS, user.id, credential)
    return SignedUp(user.id, handle, *await open_session(ctx, user.id), ctx.now)


async def open_session(ctx: Context, user_id: str) -> tuple[str, str]:
    """Another session of a person: its id and its token."""
    issued = await sessions.begin_session(ctx, user_id, Device("127.0.0.1", "Firefox on Linux"))
    return issued.session.id, issued.token


async def sign_in_again(ctx: Context, person: SignedUp) -> SignedUp:
    """The same person with a session that begins now; the former one goes on."""
    session_id, token = await open_session(ctx, person.user_id)
    return attrs.evolve(person, session_id=session_id, token=token, signed_in_at=ctx.now)


async def age_session(ctx: Context, session_id: str, **instants: datetime) -> None:
    """Have a session begun, seen or proved (`signed_in_at`) at other times than it was."""
    session = await ctx.value(SESSIONS, session_id)
    await ctx.save(SESSIONS, session_id, attrs.evolve(session, **instants))
