"""Works off rows that are due, some in each unit of work, so that a faulty row blocks no other.

Rule 1: of a unit that fails each half is attempted, down to single rows. A row that fails alone is
        put off and reported.
Rule 2: a unit takes as many rows as those before it had time for, the wait for the writer counted
        in: few where each takes long or others write, many where each takes little.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

from attrs import define, frozen

from svc_core.formats.model import FAULTS
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import Units

T = TypeVar("T")

UNIT_SECONDS = 0.1
"""How long a unit of work should hold the writer: others then wait for it less than they notice."""
FAULTS_MAX = 10
"""Faults after which a pass ends: so many are not the fault of single rows."""


@define
class BatchSize:
    """How many rows the next unit takes: `rows`, within bounds, by the time of those before."""

    rows: int
    least: int
    most: int

    def adapt(self, count: int, seconds: float) -> None:
        """Fit the size to the time that `count` rows took; it at most doubles."""
        fitting = round(count * UNIT_SECONDS / max(seconds, 1e-6))
        self.rows = max(self.least, min(self.most, fitting, 2 * self.rows))


@frozen
class DueRows(Generic[T]):
    """A queue of rows that are due, and what is done with them.

    `read` returns some of them in a context, at most `limit`; `attempt` works them off and returns
    what is counted; `put_off` postpones one that nothing can be made of.
    """

    read: Callable[..., Awaitable[Sequence[T]]]
    attempt: Callable[[Sequence[T]], Awaitable[int]]
    put_off: Callable[[T], Awaitable[None]]

    async def work_off(
        self, work: Units, size: BatchSize, units_max: int
    ) -> tuple[int, list[Exception]]:
        """Work off what is due; the sum of what was counted, and the faults of rows put off."""
        count, faults = 0, list[Exception]()
        for _ in range(units_max):
            rows = await work.read(SYSTEM, partial(self.read, limit=size.rows))
            if not rows or len(faults) > FAULTS_MAX:
                break
            started_at = work.now()
            count += await self._attempt_in_halves(rows, faults)
            size.adapt(len(rows), (work.now() - started_at).total_seconds())
        return count, faults

    async def _attempt_in_halves(self, rows: Sequence[T], faults: list[Exception]) -> int:
        count, batches = 0, [rows]
        while batches:
            batch = batches.pop()
            try:
                count += await self.attempt(batch)
            except FAULTS as fault:
                half = len(batch) // 2
                if half:
                    batches += [batch[half:], batch[:half]]
                else:
                    await self.put_off(batch[0])
                    faults.append(fault)
        return count


def raise_faults(faults: Sequence[Exception]) -> None:
    """Report the faults of the rows that a pass put off.

    Raises:
        ExceptionGroup: there are any.
    """
    if faults:
        raise ExceptionGroup("rows that nothing could be made of, and were put off", faults)
