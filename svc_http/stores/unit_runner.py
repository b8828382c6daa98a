"""Runs a unit of work to its end in a backend whose calls never suspend."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from svc_core.base import drive
from svc_core.operation.ports import Transaction

R = TypeVar("R")


def run_unit(unit: Callable[[Transaction], Awaitable[R]], tx: Transaction) -> R:
    """The result of `unit`, which may await nothing but methods of `tx`.

    Raises:
        Suspended: it awaited something else; the caller must undo everything that it wrote.
    """
    coroutine: Any = unit(tx)
    result: R = drive.run(coroutine)
    return result
