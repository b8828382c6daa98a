"""What acts for the running service: a store, a clock, identifiers and the settings they follow.

Workers, the operator and the dashboard act through it; requests come through the adapter. It holds
no rule: it opens a transaction and gives the core's use cases their context.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar, Unpack

import anyio.to_thread
from attrs import field, frozen

from svc_core.access import operations as accounts
from svc_core.access.plans import PlanTable
from svc_core.contract.cursor import Keyring
from svc_core.operation.declaration import Actor, Context
from svc_core.operation.host import Host, Tell, silent
from svc_core.operation.ports import SYSTEM, Collection, Ids, Lowest, Owned, Storage, Transaction

R = TypeVar("R")
T = TypeVar("T")

Failed = Callable[[BaseException], None]
"""Hears of a failure that must not stop what goes on."""


@frozen
class Service:
    """What every part of the server that acts on its own is given."""

    storage: Storage
    ids: Ids
    now: Callable[[], datetime]
    keyring: Keyring
    plans: PlanTable
    host: Host = field(factory=Host)
    tell: Tell = silent

    async def read(self, tenant: str, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case for `tenant` on one snapshot."""
        return await self.storage.read(tenant, self._unit(tenant, usecase))

    async def write(self, tenant: str, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case for `tenant` and commit it durably."""
        return await self.storage.write(tenant, self._unit(tenant, usecase))

    async def system(self, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case of the system's own and commit it durably."""
        return await self.write(SYSTEM, usecase)

    async def tenants(self) -> list[str]:
        """The workspaces and people that there are, by their ids."""

        async def unit(ctx: Context) -> list[str]:
            workspaces = [one.id for one in await accounts.list_workspaces(ctx)]
            return workspaces + [one.id for one in await accounts.list_users(ctx)]

        return await self.read(SYSTEM, unit)

    async def across(
        self, collection: Collection[T], *, limit: int, **bounds: Unpack[Lowest]
    ) -> tuple[Owned[T], ...]:
        """Rows of every tenant; see `Storage.across`."""
        return await self.storage.across(collection, limit=limit, **bounds)

    async def aside(self, work: Callable[[], R]) -> R:
        """Run work in a thread, so that the event loop does not wait for it."""
        return await anyio.to_thread.run_sync(work)

    def _unit(
        self, tenant: str, usecase: Callable[[Context], Awaitable[R]]
    ) -> Callable[[Transaction], Awaitable[R]]:
        now = self.now()

        async def unit(tx: Transaction) -> R:
            return await usecase(self.context(tx, Actor(tenant), now))

        return unit

    def context(self, tx: Transaction, actor: Actor, now: datetime) -> Context:
        """The context of a use case that no request asked for."""
        aliases, ring = self.host.has_aliases(now), self.keyring
        return Context(tx, now, self.ids, actor, "", ring, aliases=aliases, host=self.host)
