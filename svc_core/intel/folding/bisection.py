"""Runs a batch of work so that a faulty row does not block the others: it halves what fails."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from svc_core.formats.model import FAULTS

T = TypeVar("T")

FAULTS_MAX = 10
"""Faults after which a pass ends: so many are not the fault of single rows."""


async def attempt_in_halves(
    rows: Sequence[T],
    attempt: Callable[[Sequence[T]], Awaitable[int]],
    put_off: Callable[[T], Awaitable[None]],
    faults: list[Exception],
) -> int:
    """Attempt all rows at once; where that fails, each half, down to single rows.

    A row that fails alone is put off and its fault appended to `faults`. The sum of what the
    successful attempts returned.
    """
    done, batches = 0, [rows]
    while batches:
        batch = batches.pop()
        try:
            done += await attempt(batch)
        except FAULTS as fault:
            half = len(batch) // 2
            if half:
                batches += [batch[half:], batch[:half]]
            else:
                await put_off(batch[0])
                faults.append(fault)
    return done


def raise_faults(faults: Sequence[Exception]) -> None:
    """Report the faults of the rows that a pass put off.

    Raises:
        ExceptionGroup: there are any.
    """
    if faults:
        raise ExceptionGroup("rows that nothing could be made of, and were put off", faults)
