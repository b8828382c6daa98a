"""Hashes passwords in the background, so that a flood of sign-ins holds up nobody else.

Rule 1: two are hashed at once. Each takes 19 MiB and some 35 ms of a processor, in a thread that
        yields to the event loop: its priority is lower where the system can say so.
Rule 2: the others wait in a line, in which address blocks take turns. A single block has one of the
        two places, and half of the line: beyond it, and where the line is full, it is 503.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from attrs import field, frozen

from svc_core.contract import problem
from svc_core.operation.ports import Overloaded
from svc_core.operation.units import Units
from svc_http.exchange.fair_shares import BOUNDS, BoundedLine
from svc_http.exchange.http_exchange import busy

R = TypeVar("R")

NICENESS: Final = 10
"""Threads of this priority have a tenth of a processor that others want."""


@frozen(eq=False)
class HashingLine:
    """The line of those whose passwords are to be hashed, in one process."""

    _line: BoundedLine = field(
        factory=lambda: BoundedLine(BOUNDS["passwords"], BOUNDS["hashes"]), init=False
    )
    _threads: ThreadPoolExecutor = field(init=False)

    @_threads.default
    def _make_threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(BOUNDS["hashes"].places, "password", _yield_to_others)

    async def run(self, work: Callable[[], R], block: str) -> R:
        """Do the work when it is the turn of this address block.

        Raises:
            Problem: OVERLOADED; too many wait.
        """
        try:
            async with self._line.turn("block", block):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except Overloaded as error:
            raise busy(problem.OVERLOADED, "Too many people are signing in.") from error


@frozen
class HashingUnits(Units):
    """Units of work whose long computation waits in the line of an address block."""

    line: HashingLine = field(kw_only=True)
    block: str = field(kw_only=True)

    @classmethod
    def of(cls, units: Units, line: HashingLine, block: str) -> "HashingUnits":
        """These units of work, for requests from this block."""
        members = units.storage, units.ids, units.now, units.keyring, units.host
        return cls(*members, line=line, block=block)

    async def aside(self, work: Callable[[], R]) -> R:
        """Run the work in a thread, in its turn."""
        return await self.line.run(work, self.block)


def _yield_to_others() -> None:
    if sys.platform == "linux":  # elsewhere a priority is that of the whole process
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
