"""What acts for the running service: a store, a clock, identifiers and the settings they follow.

Workers, the operator and the dashboard act through it, and requests run with it. It holds no rule.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio.to_thread
from attrs import field, frozen

from svc_core.access import operations as accounts
from svc_core.access.plans import PlanTable
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import Units

R = TypeVar("R")

OnFailure = Callable[[BaseException], None]
"""Hears of a failure that must not stop what goes on."""


@frozen
class Service(Units):
    """What every part of the server that acts on its own is given."""

    plans: PlanTable = field(kw_only=True)

    async def system(self, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case of the system's own and commit it durably."""
        return await self.write(SYSTEM, usecase)

    async def tenants(self) -> list[str]:
        """The workspaces and people that there are, by their ids."""

        async def unit(ctx: Context) -> list[str]:
            workspaces = [row.id for row in await accounts.list_workspaces(ctx)]
            return workspaces + [row.id for row in await accounts.list_users(ctx)]

        return await self.read(SYSTEM, unit)

    async def aside(self, work: Callable[[], R]) -> R:
        """Run work in a thread, so that the event loop does not wait for it."""
        return await anyio.to_thread.run_sync(work)
