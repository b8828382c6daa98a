"""Runs a coroutine without an event loop.

A use case is an `async def` that waits for nothing but its ports. Over a store that does not
suspend, it runs to its end in one step, so tests and synchronous hosts need no loop.
"""

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Suspended(RuntimeError):  # noqa: N818 - says what happened, as StopIteration does
    """The coroutine waited for something, so it needs an event loop."""


def run(coro: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never suspends; what it raises is passed on.

    Raises:
        Suspended: it waited. It is closed, so its `finally` blocks have run.
    """
    try:
        coro.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coro.close()
    raise Suspended("The coroutine waits; run it in an event loop instead of drive.run.")
