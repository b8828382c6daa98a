"""Ends the tasks of a part of the server that is closed."""

import asyncio
from collections.abc import Iterable
from typing import Any


async def end_tasks(tasks: Iterable[asyncio.Task[Any]], seconds: float) -> None:
    """Wait so many seconds for tasks, then cancel the rest; return once all of them have ended.

    Tasks of another event loop end with that loop, and are not waited for.
    """
    loop = asyncio.get_running_loop()
    running = [task for task in tasks if not task.done() and task.get_loop() is loop]
    if running:
        _, late = await asyncio.wait(running, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
