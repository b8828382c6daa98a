"""One-use links: the way in without a password (Dashboard: First way in).

Rule 1: a link is 32 random bytes, of which the digest alone is stored. It stands in the fragment of
        an address, so that no log, `Referer` or preview sees it, and is used by a POST.
Rule 2: it is used at most once, also where two use it in one instant: its row goes in the unit of
        the system that does what it is for.
Rule 3: `setup` makes the first person, operator and owner of the first workspace, while nobody can
        sign in. `invite` makes a person with a role in a workspace, or lets one who is signed in
        join it. `reset` lets a person in again, with a new password or passkey; as it opens all
        workspaces of that person, only the operator issues one.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Literal

from attrs import field, frozen

from svc_core.access.creation import Role
from svc_core.access.people import is_unclaimed
from svc_core.access.person_sessions import TOKEN_BYTES, token_digest
from svc_core.base.instants import micros
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection

LinkPurpose = Literal["setup", "invite", "reset", "sign-in", "passkey"]
"""What a link is for; `passkey` is a challenge that was answered."""

LIFETIMES: Mapping[LinkPurpose, timedelta] = MappingProxyType(
    {
        "setup": timedelta(minutes=30),
        "invite": timedelta(days=7),
        "reset": timedelta(minutes=30),
        "sign-in": timedelta(hours=24),
        "passkey": timedelta(minutes=5),
    }
)
PURGED_AT_ONCE = 100
"""Rows of links past their time that go when another one is made."""


@frozen(kw_only=True)
class LinkGrant:
    """What whoever follows a link becomes, or who they are already (`user_id`).

    `issued_by` is the member who made an invitation, None for the operator.
    """

    user_id: str | None = None
    handle: str | None = None
    workspace_id: str | None = None
    role: Role = "member"
    is_operator: bool = False
    issued_by: str | None = None


@frozen
class OneUseLink:
    """What a link is for; stored under the digest of its token."""

    digest: str = field(repr=False)
    purpose: LinkPurpose
    created_at: datetime
    expires_at: datetime
    grant: LinkGrant = LinkGrant()


LINKS: Collection[OneUseLink] = Collection(
    name="one_use_links",
    model=OneUseLink,
    prefix="",
    scope="system",
    order=lambda link: micros(link.expires_at),
    keys={
        "user_id": lambda link: link.grant.user_id,
        "workspace_id": lambda link: link.grant.workspace_id,
    },
)


@frozen
class IssuedLink:
    """A link with its token, which is told once."""

    token: str = field(repr=False)
    link: OneUseLink

    def address(self, origin: str) -> str:
        """The address that a browser opens."""
        return f"{origin}/dashboard/setup#{self.token}"


async def issue_link(ctx: Context, purpose: LinkPurpose, grant: LinkGrant) -> IssuedLink:
    """A new link; whoever issues it judges whether they may."""
    token = ctx.ids.random(TOKEN_BYTES).hex()
    return IssuedLink(token, await store_link(ctx, token, purpose, grant))


async def store_link(
    ctx: Context, token: str, purpose: LinkPurpose, grant: LinkGrant = LinkGrant()
) -> OneUseLink:
    """Store what a token is for, and forget some of those whose time is over."""
    stale = await ctx.tx.documents.scan(LINKS, end=micros(ctx.now), limit=PURGED_AT_ONCE)
    for row in stale.rows:
        await ctx.remove(LINKS, row.id)
    expires_at = ctx.now + LIFETIMES[purpose]
    link = OneUseLink(token_digest(token), purpose, ctx.now, expires_at, grant)
    await ctx.create(LINKS, link.digest, link)
    return link


async def read_link(ctx: Context, token: str) -> OneUseLink | None:
    """The link of a token that can still be used; None for any other text."""
    link = await ctx.find(LINKS, token_digest(token))
    if link is None or link.purpose == "passkey" or link.expires_at <= ctx.now:
        return None
    if link.purpose == "setup" and not await is_unclaimed(ctx):
        return None
    return link


async def end_invitations(ctx: Context, workspace_id: str, user_id: str) -> None:
    """End the invitations into a workspace that a member has made."""
    async for row in ctx.every(LINKS, where={"workspace_id": (workspace_id,)}):
        if LINKS.decode(row.raw).grant.issued_by == user_id:
            await ctx.remove(LINKS, row.id)


async def end_links(ctx: Context, user_id: str) -> None:
    """End the links that let in this person."""
    async for row in ctx.every(LINKS, where={"user_id": (user_id,)}):
        await ctx.remove(LINKS, row.id)
