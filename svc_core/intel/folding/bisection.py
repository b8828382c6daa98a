"""Work on rows that are due, of which one that nothing can be made of keeps no other waiting."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from svc_core.formats.model import FAULTS

T = TypeVar("T")

FAULTS_MAX = 10
"""Faults after which a pass ends: so many are no fault of single rows."""


async def each(
    rows: Sequence[T],
    attempt: Callable[[Sequence[T]], Awaitable[int]],
    put_off: Callable[[T], Awaitable[None]],
    faults: list[Exception],
) -> int:
    """Attempt all at once, where that fails their halves, down to those that fail alone.

    These are put off, and their `faults` noted. What the attempts gave, summed up.
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


def tell(faults: Sequence[Exception]) -> None:
    """Say at the end of a pass what was put off.

    Raises:
        ExceptionGroup: something was.
    """
    if faults:
        raise ExceptionGroup("rows that nothing could be made of, and were put off", faults)
