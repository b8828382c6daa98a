"""Units of work: how a host runs use cases, and the context of a use case with several units."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import TypeAlias, TypeVar

from attrs import field, frozen

from svc_core.base.seals import Keyring
from svc_core.operation.caller import Actor, CallContext
from svc_core.operation.context import Context
from svc_core.operation.host import Host, ProgressListener, silent
from svc_core.operation.ports import Ids, Storage, Transaction

R = TypeVar("R")

NotingUnit: TypeAlias = Callable[[Transaction, list[Callable[[], None]]], Awaitable[R]]
"""A unit of work that puts on a list what is to be called once it is committed."""


@frozen
class Units:
    """A store with everything that a context needs; `tell` receives the progress of long work."""

    storage: Storage
    ids: Ids
    now: Callable[[], datetime]
    keyring: Keyring
    host: Host = field(factory=Host)
    tell: ProgressListener = silent

    async def read(self, tenant: str, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case for `tenant` on one snapshot."""
        unit = self._unit(tenant, usecase)
        return await self.storage.read(tenant, lambda tx: unit(tx, []))

    async def write(self, tenant: str, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case for `tenant` and commit it durably."""
        return await self.commit(tenant, self._unit(tenant, usecase))

    async def commit(self, tenant: str, unit: NotingUnit[R]) -> R:
        """Run a unit and commit it durably, then call what it has put on its list."""
        committed: list[Callable[[], None]] = []

        async def run(tx: Transaction) -> R:
            committed.clear()  # of a run that was undone
            return await unit(tx, committed)

        outcome = await self.storage.write(tenant, run)
        for tell in committed:
            tell()
        return outcome

    async def tenants(self) -> Sequence[str]:
        """The ids of all workspaces and people that the host knows."""
        return ()

    async def aside(self, work: Callable[[], R]) -> R:
        """Run long computation, in the background where the host can."""
        return work()

    def turn(self, tenant: str) -> AbstractAsyncContextManager[None]:  # noqa: ARG002 - for hosts
        """A place for work of several units that reads and computes for long, while the block runs.

        Raises:
            Overloaded: too much of it waits for the tenant.
        """
        return nullcontext()

    def context(self, actor: Actor) -> "WorkContext":
        """The context for work of several units that no request has started."""
        now = self.now()
        has_aliases, members = self.host.has_aliases(now), (now, self.ids, actor, "", self.keyring)
        return WorkContext(*members, aliases=has_aliases, host=self.host, work=self)

    def _unit(self, tenant: str, usecase: Callable[[Context], Awaitable[R]]) -> NotingUnit[R]:
        now = self.now()
        has_aliases = self.host.has_aliases(now)
        members = now, self.ids, Actor(tenant), "", self.keyring

        async def unit(tx: Transaction, committed: list[Callable[[], None]]) -> R:
            context = Context(
                *members, aliases=has_aliases, host=self.host, tx=tx, committed=committed
            )
            return await usecase(context)

        return unit


@frozen
class WorkContext(CallContext):
    """A call that begins as many units of work as it needs, one after another."""

    work: Units = field(kw_only=True)
