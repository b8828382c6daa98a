"""Work on rows that are due, of which one that nothing can be made of keeps no other waiting."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from svc_core.formats.model import FAULTS

T = TypeVar("T")

FAULTS_MAX = 10
"""Faults after which a pass ends: so many are no fault of single rows."""


async def each(
    due: Sequence[T],
    attempt: Callable[[Sequence[T]], Awaitable[int]],
    put_off: Callable[[T], Awaitable[None]],
    faults: list[Exception],
) -> int:
    """Attempt all at once, where that fails their halves, down to those that fail alone.

    These are put off, and their `faults` noted. What the attempts gave, summed up.
    """
    done, left = 0, [due]
    while left:
        some = left.pop()
        try:
            done += await attempt(some)
        except FAULTS as fault:
            half = len(some) // 2
            if half:
                left += [some[half:], some[:half]]
            else:
                await put_off(some[0])
                faults.append(fault)
    return done


def tell(faults: Sequence[Exception]) -> None:
    """Say at the end of a pass what was put off.

    Raises:
        ExceptionGroup: something was.
    """
    if faults:
        raise ExceptionGroup("rows that nothing could be made of, and were put off", faults)
