"""Units of work: how a host runs use cases, and the context of a use case with several units."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import TypeVar

from attrs import field, frozen

from svc_core.base.seals import Keyring
from svc_core.operation.caller import Actor, CallContext
from svc_core.operation.context import Context
from svc_core.operation.host import Host, ProgressListener, silent
from svc_core.operation.ports import Ids, Storage, Transaction

R = TypeVar("R")


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
        return await self.storage.read(tenant, self._unit(tenant, usecase, []))

    async def write(self, tenant: str, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case for `tenant` and commit it durably."""
        committed: list[Callable[[], None]] = []
        outcome = await self.storage.write(tenant, self._unit(tenant, usecase, committed))
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

    def _unit(
        self,
        tenant: str,
        usecase: Callable[[Context], Awaitable[R]],
        committed: list[Callable[[], None]],
    ) -> Callable[[Transaction], Awaitable[R]]:
        now = self.now()
        has_aliases = self.host.has_aliases(now)
        members = now, self.ids, Actor(tenant), "", self.keyring

        async def unit(tx: Transaction) -> R:
            committed.clear()  # of a run that was undone
            context = Context(
                *members, aliases=has_aliases, host=self.host, tx=tx, committed=committed
            )
            return await usecase(context)

        return unit


@frozen
class WorkContext(CallContext):
    """A call that begins as many units of work as it needs, one after another."""

    work: Units = field(kw_only=True)
