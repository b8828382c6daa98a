"""Runs units of work on the store of a running service, with its clock, ids and plan table.

Workers, the operator socket and the dashboard act through it, and requests run with it.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

import anyio.to_thread
from attrs import field, frozen

from svc_core.access import operations as accounts
from svc_core.access.plans import PlanTable
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import Units
from svc_http.exchange.fair_shares import BOUNDS, BoundedLine

R = TypeVar("R")

OnFailure = Callable[[BaseException], None]
"""Called with a failure that must not stop the caller; it usually writes a log line."""


def line_of_long_reads() -> BoundedLine:
    """The line of reads that take several units of work, in one process."""
    return BoundedLine(BOUNDS["waiting long reads"], BOUNDS["long reads"])


@frozen
class Service(Units):
    """Runs units of work; handed to every part of the server that acts on its own."""

    plans: PlanTable = field(kw_only=True)
    line: BoundedLine = field(factory=line_of_long_reads, kw_only=True)

    async def system(self, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case for the system tenant and commit it durably."""
        return await self.write(SYSTEM, usecase)

    async def tenants(self) -> list[str]:
        """The ids of all workspaces and users."""

        async def unit(ctx: Context) -> list[str]:
            workspaces = [row.id for row in await accounts.list_workspaces(ctx)]
            return workspaces + [row.id for row in await accounts.list_users(ctx)]

        return await self.read(SYSTEM, unit)

    async def aside(self, work: Callable[[], R]) -> R:
        """Run work in a thread, so that the event loop does not wait for it."""
        return await anyio.to_thread.run_sync(work)

    def turn(self, tenant: str) -> AbstractAsyncContextManager[None]:
        """A place for work of several units that reads and computes for long."""
        return self.line.turn("workspace", tenant)
