"""The operator's operations on locked addresses: list and clear (Spec: Lockout).

Lockouts are not rows; they live in the state that processes share, so no transaction is opened.
"""

from datetime import datetime
from typing import Annotated, Any

from attrs import frozen

from svc_core import wire
from svc_core.access.address import DEFAULT_TRUSTED, AddressRules
from svc_core.contract.result import Page, Single
from svc_core.operation.caller import CallContext
from svc_core.operation.declaration import Operation, local
from svc_core.operation.members import NoMembers
from svc_core.operation.ports import Lockouts
from svc_core.wire.constraints import Arg


@frozen
class LockoutRow:
    """An address from which no key is taken until then, or an account whose password is not."""

    address: str
    until: datetime


@frozen
class ClearLockouts:
    """One address, or all."""

    address: Annotated[str | None, Arg(positional=True)] = None
    """The IP address (of IPv6 any of its block), or the name of an account as it is listed.
    Default: every one."""


@frozen
class ClearedLockouts:
    """Of how many addresses failures were forgotten, locked or not."""

    cleared: int


def address_rules(ctx: CallContext) -> AddressRules:
    """Which addresses count as one caller on this host; by default an IPv6 /64."""
    rules: AddressRules = ctx.host.providers.get(AddressRules, DEFAULT_TRUSTED)
    return rules


async def list_lockouts(ctx: CallContext, _: NoMembers) -> Page[LockoutRow]:
    """The addresses that are locked now."""
    rows = await ctx.borrow(Lockouts).locked(ctx.now)
    return Page(tuple(wire.to_bytes(LockoutRow(*row)) for row in rows))


async def clear_lockouts(ctx: CallContext, request: ClearLockouts) -> Single[ClearedLockouts]:
    """Forget failures, so that keys are taken from there again."""
    client = request.address
    if client is not None:
        # A peer without an IP address, such as one on a socket of this machine, is named as it is.
        client = address_rules(ctx).block(client)
    return Single(wire.to_bytes(ClearedLockouts(await ctx.borrow(Lockouts).clear(client))))


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "lockouts list",
        "List the addresses and accounts that are locked out, the next to be free first",
        list_lockouts,
        binding="system",
        method="GET",
        columns=("address", "until"),
    ),
    local(
        "lockouts clear",
        "Forget the unknown keys that came from an address, or from all",
        clear_lockouts,
        binding="system",
        description="Other processes let its keys in again within a second.",
    ),
)
