"""Workspaces, users, memberships and keys as stored rows, readable by the system alone."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Final

from attrs import frozen

from svc_core.access.creation import NAME_MAX, Role
from svc_core.access.keys import ApiKey
from svc_core.access.plans import DEFAULT_PLANS, LARGEST_PLAN, PlanTable
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Collection, Transaction, attribute_keys
from svc_core.wire.constraints import MaxLen, MinLen

EMAIL_MAX = 254  # RFC 5321 4.5.3.1.3: a path has 256 characters, brackets included

Title = Annotated[str, MinLen(1), MaxLen(NAME_MAX)]


@frozen
class Workspace:
    """A tenant: its data, its plan, its quota."""

    id: str
    name: Title
    plan: str
    created_at: datetime


@frozen
class User:
    """A person."""

    id: str
    name: Title
    email: Annotated[str, MinLen(3), MaxLen(EMAIL_MAX)] | None
    plan: str
    created_at: datetime


@frozen
class Membership:
    """A person's role in a workspace; stored under `<workspace>:<user>`."""

    workspace_id: str
    user_id: str
    role: Role
    created_at: datetime

    @property
    def id(self) -> str:
        """One membership for each pair."""
        return f"{self.workspace_id}:{self.user_id}"


@frozen
class Ending:
    """The mark of a workspace that is to be deleted, under its id: who asked, and when it goes."""

    id: str
    user_id: str | None
    created_at: datetime
    ends_at: datetime


WORKSPACES: Collection[Workspace] = Collection(
    name="workspaces", model=Workspace, prefix="wsp", scope="system", keys=attribute_keys("name")
)

USERS: Collection[User] = Collection(
    name="users", model=User, prefix="usr", scope="system", keys=attribute_keys("email")
)

MEMBERS: Collection[Membership] = Collection(
    name="members",
    model=Membership,
    prefix="",
    scope="system",
    keys=attribute_keys("workspace_id", "user_id"),
)

KEYS: Collection[ApiKey] = Collection(
    name="keys",
    model=ApiKey,
    prefix="key",
    scope="system",
    keys={"digest": lambda key: key.digest_hex, "account": lambda key: key.tenant},
)


ENDINGS: Collection[Ending] = Collection(
    name="endings",
    model=Ending,
    prefix="wsp",
    order=lambda ending: micros(ending.ends_at),
    scope="system",
)


async def plan_name(tx: Transaction, tenant: str) -> str | None:
    """The plan that a workspace, or a person of their own, is on; for units of the system."""
    accounts: tuple[Collection[Any], ...] = (WORKSPACES, USERS)
    for collection in accounts:
        document = await tx.documents.get(collection, tenant)
        if document is not None:
            plan: str = collection.decode(document.raw).plan
            return plan
    return None


LARGER_PLAN: Final = "Have the operator choose a plan with more: svc plans set WORKSPACE PLAN."
"""What to do where a bound of the plan is reached."""


def plan_bound(member: str) -> Callable[[Context], Awaitable[int]]:
    """A reader of a member of the plan that the caller's workspace is on, for units that read.

    A host without plans has the numbers of the largest one.
    """

    async def bound(ctx: Context) -> int:
        plans = ctx.host.providers.get(PlanTable)
        name = plans and await plan_name(ctx.tx.beside(SYSTEM), ctx.actor.tenant)
        plan = plans.plan(name or "") if plans else DEFAULT_PLANS.plan(LARGEST_PLAN)
        limit: int = getattr(plan, member)
        return limit

    return bound
