"""Work that one process of all does at a time, with a model that may fail.

A lease says which process. That of a dead one expires soon, and what it had written stays.
"""

import asyncio
from abc import ABCMeta, abstractmethod
from typing import Final

from svc_core.operation.ports import Leases, SharedUnavailable
from svc_core.search.vector_likeness import NotEmbedded
from svc_http import system
from svc_http.service.commits import Commits

LOOK_SECONDS: Final = 10.0
"""How often work is searched without a commit."""
GATHER_SECONDS: Final = 0.5
HOLD_SECONDS: Final = 120.0
"""How long a lease lasts: longer than a batch, or a turn of one index, takes on a busy machine."""
PUT_OFF_SECONDS: Final = 30.0
"""How long the model is not asked after a failure."""


class LeasedWork(metaclass=ABCMeta):
    """One kind of such work in this process; a subclass names its lease, and does a turn of it."""

    lease_name: str

    def __init__(self, leases: Leases) -> None:
        self._leases = leases
        self._holder = system.new_request_id()

    async def run(self, commits: Commits) -> None:
        """Work for ever; it ends when it is cancelled."""
        await commits.rounds(self.turn, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)

    async def turn(self) -> int:
        """Do what is waiting, if this process has the lease and the model answers; its amount."""
        try:
            return await self.work()
        except SharedUnavailable:
            return 0
        except NotEmbedded:  # the model has logged the failure
            await asyncio.sleep(PUT_OFF_SECONDS)
            return 0

    @abstractmethod
    async def work(self) -> int:
        """Do what is waiting; how much it was.

        Raises:
            SharedUnavailable: nobody can tell who has the lease.
            NotEmbedded: the model gave no vector.
        """

    async def has_lease(self) -> bool:
        """Whether this process has the lease, which is renewed."""
        return await self._leases.take(self.lease_name, self._holder, HOLD_SECONDS)
