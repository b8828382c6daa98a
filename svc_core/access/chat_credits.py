"""Chat credits: how many turns an account has in a UTC month (Spec: Agent streams).

Rule 1: a turn reserves its credit before it begins, in one unit of work of its account, so that of
        any number at once exactly as many begin as there are credits.
Rule 2: a reservation is settled once: charged or refunded, by whoever comes first.
Rule 3: a reservation that nobody settled, as after a crash, counts for nothing once it has expired,
        and is dropped by the next turn.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.access.model import plan_name
from svc_core.access.operations import find_workspace
from svc_core.access.plans import PlanTable
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import MANAGERS, Operation, Trait, local
from svc_core.operation.ports import SYSTEM, Collection
from svc_core.operation.units import Units, WorkContext
from svc_core.wire.constraints import Arg, Doc, Ge, IdOf, Le

# The states of a credit. A month's row counts granted, used and held credits; a credit is in one of
# these, and moves only in a unit of work of its own account:
#
#   free --reserve--> held --settle(refund=False)--> used
#                      | \--settle(refund=True)----> free
#                      \------expiry--------------> free
#
# `reserve` refuses where used and held credits together reach the total. Units of one account see
# each other's writes or conflict and run again, so of any number of turns at once exactly as many
# begin as there are free credits. `settle` removes the hold by its id and counts only if it was
# there: the second one to settle, or a late one after expiry, changes nothing. Expired holds are
# dropped when the next turn of the account reads the row; no timer runs. The weak spot: a turn that
# outlives its hold (ten minutes, where an answer takes at most two) is not charged. The month is
# part of the reservation, so a turn over midnight is charged to the month in which it began.
RESERVED_FOR = timedelta(minutes=10)
"""When a hold lapses: several times what a turn may take."""

GRANT_MAX = 1_000_000


@frozen
class CreditHold:
    """The credit that a running turn has reserved; it lapses at `until`."""

    id: str
    until: datetime


@frozen
class ChatCredits:
    """What an account was granted beside its plan and has used in one `period`, as `2026-01`."""

    period: str
    granted: int = 0
    used: int = 0
    held: tuple[CreditHold, ...] = ()


CREDITS: Collection[ChatCredits] = Collection(
    name="chat_credits",
    model=ChatCredits,
    prefix="",
    order=lambda credits: int(credits.period.replace("-", "")),
)
"""One row for each month with turns or grants, under its period."""


@frozen
class Reservation:
    """Names the reserved credit of one turn of an account."""

    tenant: str
    period: str
    id: str


async def reserve(work: Units, tenant: str) -> Reservation:
    """Reserve a credit for one turn of `tenant`: a workspace, or a person with a key of their own.

    It reads the plan in a unit of the system and writes in one of the tenant; both end before this
    returns. `settle` is to follow within ten minutes.

    Raises:
        Problem: SUBSCRIPTION_REQUIRED where the plan has none and none were granted;
            CHAT_CREDITS_EXHAUSTED where all are used or reserved.
    """
    allowance = await work.read(SYSTEM, partial(_plan_credits, tenant=tenant))
    return await work.write(tenant, partial(_reserve, allowance=allowance))


async def settle(work: Units, reservation: Reservation, *, refund: bool) -> bool:
    """Charge a turn, or give its credit back; False where that was done before."""
    unit = partial(_settle, reservation=reservation, refund=refund)
    return await work.write(reservation.tenant, unit)


async def _plan_credits(ctx: Context, tenant: str) -> int:
    plan = await plan_name(ctx.tx, tenant)
    if plan is None:
        raise Problem(problem.NOT_FOUND, f"There is no account {tenant}.")
    return ctx.borrow(PlanTable).plan(plan).chat_credits


async def _reserve(ctx: Context, allowance: int) -> Reservation:
    credits = await _current(ctx)
    total = allowance + credits.granted
    if total == 0:
        raise Problem(problem.SUBSCRIPTION_REQUIRED, "The plan has no chat credits.")
    if credits.used + len(credits.held) >= total:
        first = f"{_renewal(ctx.now):%Y-%m-%d}"
        usage = f"All {total} of {credits.period} are used or under way"
        detail = f"{usage}; they are renewed on {first} (UTC)."
        raise Problem(problem.CHAT_CREDITS_EXHAUSTED, detail)
    hold = CreditHold(ctx.ids.random(8).hex(), ctx.now + RESERVED_FOR)
    await ctx.save(CREDITS, credits.period, attrs.evolve(credits, held=(*credits.held, hold)))
    return Reservation(ctx.actor.tenant, credits.period, hold.id)


async def _settle(ctx: Context, reservation: Reservation, refund: bool) -> bool:
    credits = await ctx.value(CREDITS, reservation.period)
    rest = tuple(hold for hold in credits.held if hold.id != reservation.id)
    if len(rest) == len(credits.held):
        return False
    used = credits.used if refund else credits.used + 1
    await ctx.save(CREDITS, credits.period, attrs.evolve(credits, used=used, held=rest))
    return True


async def _current(ctx: Context) -> ChatCredits:
    """The credits of this month, without the holds that have expired."""
    period = f"{ctx.now:%Y-%m}"
    credits = await ctx.find(CREDITS, period) or ChatCredits(period)
    return attrs.evolve(credits, held=tuple(hold for hold in credits.held if hold.until > ctx.now))


def _renewal(now: datetime) -> datetime:
    return (now.replace(day=1) + timedelta(days=31)).replace(day=1)


# -- the operator's ----------------------------------------------------------------------------


AccountId = Annotated[
    str,
    IdOf("wsp", "usr", noun="workspace or user"),
    Arg(positional=True),
    Doc("wsp_..., or usr_... for the personal keys of a user."),
]


@frozen
class ShowCredits:
    """The account whose credits are shown; without one, the only workspace there is."""

    workspace_id: Annotated[AccountId | None, Arg(positional=True), Trait.OPERATOR] = None


@frozen
class GrantCredits:
    """The account that gets credits, and how many."""

    workspace_id: AccountId
    credits: Annotated[int, Ge(1), Le(GRANT_MAX), Arg(positional=True)]
    """Turns more, in this month."""


@frozen
class CreditsShown:
    """The chat credits of one UTC month; `used` counts the turns under way."""

    workspace_id: str
    period: str
    granted: int
    used: int
    left: int


async def show_credits(ctx: WorkContext, request: ShowCredits) -> Single[CreditsShown]:
    """The chat credits of an account in this month."""
    tenant = request.workspace_id or ctx.actor.workspace_id
    if tenant is None:
        tenant = (await ctx.work.read(SYSTEM, partial(find_workspace, name=None))).id
    allowance = await ctx.work.read(SYSTEM, partial(_plan_credits, tenant=tenant))
    credits = await ctx.work.read(tenant, _current)
    total, used = allowance + credits.granted, credits.used + len(credits.held)
    return Single(
        wire.to_bytes(CreditsShown(tenant, credits.period, total, used, max(total - used, 0)))
    )


async def grant_credits(ctx: WorkContext, request: GrantCredits) -> Single[CreditsShown]:
    """Give an account more chat credits for this month, beside those of its plan."""
    await ctx.work.read(SYSTEM, partial(_plan_credits, tenant=request.workspace_id))
    await ctx.work.write(request.workspace_id, partial(_grant, count=request.credits))
    return await show_credits(ctx, ShowCredits(request.workspace_id))


async def _grant(ctx: Context, count: int) -> None:
    credits = await _current(ctx)
    total = min(credits.granted + count, GRANT_MAX)
    await ctx.save(CREDITS, credits.period, attrs.evolve(credits, granted=total))


_local: Any = partial(local, binding="system")

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _local(
        "credits show",
        "Show the chat credits of this month",
        show_credits,
        method="GET",
        roles=MANAGERS,
    ),
    _local(
        "credits grant",
        "Give more chat credits for this month",
        grant_credits,
        description="They are added to those of the plan and expire at the end of the month (UTC).",
    ),
)
