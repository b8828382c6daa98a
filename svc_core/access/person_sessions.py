"""Sessions of people: their states, and how they begin, go on and end (Dashboard: Session).

Rule 1: a session is a row, so that it can be seen and ended. Its token is 32 random bytes, of which
        the digest alone is stored.
Rule 2: it ends after twelve idle hours, after fourteen days in any case, and with a change of the
        password, but for the one in which it was changed, whose token is exchanged.
Rule 3: roles are read anew at each request. After a change of them the token is exchanged at the
        next request; the former one does for another minute, for the other tabs of the browser.
"""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, Literal

import attrs
from attrs import field, frozen

from svc_core import data
from svc_core.access.audit import AuditCaller, record_act
from svc_core.access.model import USERS, Membership, User
from svc_core.access.people import CREDENTIALS, Credential, memberships_of, role_version
from svc_core.operation.context import Context, scan_values
from svc_core.operation.ports import Collection

SIGN_IN: Final = "signIn"
"""What the audit log calls the beginning of a session by a password."""
TOKEN_BYTES = 32
IDLE: Final = timedelta(hours=12)
LIFETIME: Final = timedelta(days=14)
FRESH: Final = timedelta(minutes=10)
TOUCH: Final = timedelta(minutes=1)
"""How far the last use of a session may lie behind its record."""
OVERLAP: Final = timedelta(seconds=60)
"""How long a former token does: as long as a page of another tab may be under way."""
SESSIONS_MAX = 20
"""Sessions of one person: browsers on a few devices; beyond it the oldest one ends."""
ADDRESS_MAX = 64

SessionState = Literal["live", "outdated", "idle", "over"]
"""An `outdated` one goes on with a new token; `idle` and `over` have ended."""


@frozen
class Device:
    """The browser that a person signs in with: its client address, and itself in words."""

    address: str
    agent: str

    @classmethod
    def of(cls, address: str, user_agent: str) -> "Device":
        """The device that sends this `User-Agent`."""
        return cls(address[:ADDRESS_MAX], agent_words(user_agent))


@frozen(kw_only=True)
class PersonSession:
    """One signed-in browser of a person.

    `signed_in_at` is when the person last proved who they are, `role_version` says for which roles
    the token was issued, `former_digest` is the token before it, replaced at `renewed_at`.
    """

    id: str
    digest: str = field(repr=False)
    user_id: str
    created_at: datetime
    last_seen_at: datetime
    signed_in_at: datetime
    device: Device
    role_version: str
    former_digest: str | None = field(default=None, repr=False)
    renewed_at: datetime | None = None


SESSIONS: Collection[PersonSession] = Collection(
    name="sessions",
    model=PersonSession,
    prefix="ses",
    scope="system",
    keys={"user_id": lambda session: session.user_id},
    facets={"token": lambda session: filter(None, (session.digest, session.former_digest))},
)


@frozen
class IssuedSession:
    """A session with its token, which is told to its browser and nowhere else."""

    token: str = field(repr=False)
    session: PersonSession


@frozen
class SignedIn:
    """A person with the session that a request came in."""

    session: PersonSession
    user: User
    credential: Credential
    memberships: tuple[Membership, ...]
    state: SessionState = "live"

    @property
    def is_operator(self) -> bool:
        """Whether the person is an operator of the installation."""
        return self.credential.is_operator

    def is_fresh(self, now: datetime) -> bool:
        """Whether the person has signed in recently enough for what is dangerous."""
        return now < self.session.signed_in_at + FRESH

    def is_unseen(self, now: datetime) -> bool:
        """Whether the use of the session is to be recorded (`touch`)."""
        return self.session.last_seen_at + TOUCH <= now


# -- rules -------------------------------------------------------------------------------------


def session_state(
    session: PersonSession, digest: str, role_version: str, now: datetime
) -> SessionState:
    """The state of a session for a request with the token of this digest, at `now`.

    It is the first that applies. A former token is never exchanged again.
    """
    is_former = digest != session.digest
    issued_at = session.renewed_at or session.created_at
    states: tuple[tuple[SessionState, bool], ...] = (
        ("over", session.created_at + LIFETIME <= now),
        ("idle", session.last_seen_at + IDLE <= now),
        ("over", is_former and issued_at + OVERLAP <= now),
        ("outdated", not is_former and session.role_version != role_version),
    )
    return next((state for state, applies in states if applies), "live")


def has_ended(session: PersonSession, now: datetime) -> bool:
    """Whether no token opens the session any more."""
    state = session_state(session, session.digest, session.role_version, now)
    return state in {"idle", "over"}


def token_digest(token: str) -> str:
    """SHA-256 of a token, in hex. Plain, because 256 random bits need no slow hash."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def agent_words(user_agent: str) -> str:
    """A browser in words, such as "Firefox on Linux"."""
    rows = data.table_rows("user_agents.tsv")
    names = (
        next(name for part, mark, name in rows if part == kind and mark in user_agent)
        for kind in ("browser", "system")
    )
    return " ".join(filter(None, names))


# -- use cases, in units of the system ---------------------------------------------------------


async def resume(ctx: Context, token: str) -> SignedIn | None:
    """The person behind a token; None where it opens nothing (any more). It only reads."""
    digest = token_digest(token)
    rows = await scan_values(ctx, SESSIONS, where={"token": (digest,)}, limit=1)
    if not rows:
        return None
    [session] = rows
    user = await ctx.value(USERS, session.user_id)
    credential = await ctx.value(CREDENTIALS, user.id)
    memberships = await memberships_of(ctx, user.id)
    version = role_version(credential, memberships)
    state = session_state(session, digest, version, ctx.now)
    if state in {"idle", "over"}:
        return None
    return SignedIn(session, user, credential, memberships, state)


async def begin_session(
    ctx: Context, user_id: str, device: Device, *, act: str = SIGN_IN, replacing: str | None = None
) -> IssuedSession:
    """A new session of a person who has proved who they are; it ends the one it is `replacing`.

    `act` is what the audit log calls it, in each workspace of the person.

    Raises:
        Problem: NOT_FOUND, where the person was removed meanwhile.
    """
    credential = await ctx.value(CREDENTIALS, user_id)
    memberships = await memberships_of(ctx, user_id)
    if replacing is not None:
        await end_session(ctx, replacing)
    rows = await sessions_of(ctx, user_id)
    lasting = [row for row in rows if not has_ended(row, ctx.now)][: SESSIONS_MAX - 1]
    for row in rows:
        if row not in lasting:
            await ctx.remove(SESSIONS, row.id)
    token = ctx.ids.random(TOKEN_BYTES).hex()
    session = PersonSession(
        id=ctx.ids.new("ses"),
        digest=token_digest(token),
        user_id=user_id,
        created_at=ctx.now,
        last_seen_at=ctx.now,
        signed_in_at=ctx.now,
        device=device,
        role_version=role_version(credential, memberships),
    )
    await ctx.create(SESSIONS, session.id, session)
    caller = AuditCaller(who=credential.handle, user_id=user_id, address=device.address)
    homes: list[str | None] = [row.workspace_id for row in memberships]
    for home in homes or [None]:
        await record_act(ctx, caller, act, session_id=session.id, workspace_id=home)
    return IssuedSession(token, session)


async def touch(ctx: Context, session_id: str, device: Device) -> None:
    """Record that a session was used, from this device; at most once a minute, and never anew."""
    session = await ctx.find(SESSIONS, session_id)
    if session is not None and session.last_seen_at + TOUCH <= ctx.now:
        after = attrs.evolve(session, last_seen_at=ctx.now, device=device)
        await ctx.save(SESSIONS, session_id, after)


async def renew(ctx: Context, session_id: str) -> IssuedSession | None:
    """Exchange the token of a session whose person has other roles than it was issued for.

    None where that was done already: of several tabs one gets the new token, which all share.
    """
    session = await ctx.find(SESSIONS, session_id)
    if session is None:
        return None
    credential = await ctx.value(CREDENTIALS, session.user_id)
    version = role_version(credential, await memberships_of(ctx, session.user_id))
    if session.role_version == version:
        return None
    token = ctx.ids.random(TOKEN_BYTES).hex()
    after = attrs.evolve(
        session,
        digest=token_digest(token),
        former_digest=session.digest,
        renewed_at=ctx.now,
        role_version=version,
    )
    await ctx.save(SESSIONS, session_id, after)
    return IssuedSession(token, after)


async def end_session(ctx: Context, session_id: str) -> None:
    """End a session at once; repeating it is safe."""
    await ctx.tx.documents.delete(SESSIONS, session_id)


async def end_sessions(ctx: Context, user_id: str, *, but: str | None = None) -> int:
    """End all sessions of a person but one, whose token is exchanged at its next request.

    The number of those that ended.
    """
    rows = await sessions_of(ctx, user_id)
    for row in rows:
        if row.id == but:
            await ctx.save(SESSIONS, row.id, attrs.evolve(row, role_version=""))
        else:
            await ctx.remove(SESSIONS, row.id)
    return sum(row.id != but for row in rows)


async def sessions_of(ctx: Context, user_id: str) -> list[PersonSession]:
    """The stored sessions of a person, newest first, whether they have ended or not."""
    return await scan_values(ctx, SESSIONS, where={"user_id": (user_id,)}, limit=SESSIONS_MAX)
