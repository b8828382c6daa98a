"""How a backend that never suspends runs one unit of work."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from svc_core.base import drive
from svc_core.operation.ports import Transaction

R = TypeVar("R")


def run_unit(unit: Callable[[Transaction], Awaitable[R]], tx: Transaction) -> R:
    """The result of `unit`, which waits for nothing but `tx`.

    Raises:
        Suspended: it waited for something else; everything it wrote must be undone.
    """
    coroutine: Any = unit(tx)
    result: R = drive.run(coroutine)
    return result
