"""Resolves host names, many at the same time.

Event loops have few threads for this (uvloop two in all), and a name whose server does not answer
occupies one until the resolver of the system gives up, after half a minute or so.

Rule 1: each lookup has a thread of its own, which does not delay the end of the process.
Rule 2: the same name is looked up once at a time, however many tasks ask for it.
"""

import asyncio
import socket
import threading
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, Final

LOOKUPS_AT_ONCE: Final = 64
"""More than the webhooks of a workspace, so that none fills all places with slow names."""

_NUMERIC_HOST: Final = socket.AI_NUMERICHOST

Answers = list[Any]
"""The result of `socket.getaddrinfo`."""


class Resolver:
    """Looks up host names for the tasks of one event loop."""

    def __init__(self) -> None:
        self._lookups: dict[tuple[str, int], asyncio.Task[Answers]] = {}
        self._places = asyncio.Semaphore(LOOKUPS_AT_ONCE)

    async def addresses(self, host: str, port: int) -> Answers:
        """The addresses of a host.

        Raises:
            OSError, UnicodeError: the host has none.
        """
        lookup = self._lookups.get((host, port))
        if lookup is None:
            lookup = self._lookups[host, port] = asyncio.create_task(self._look_up(host, port))
            lookup.add_done_callback(partial(self._forget, (host, port)))
        return await asyncio.shield(lookup)

    async def _look_up(self, host: str, port: int) -> Answers:
        async with self._places:
            return await look_up(host, port)

    def _forget(self, key: tuple[str, int], lookup: "asyncio.Task[Answers]") -> None:
        del self._lookups[key]
        if not lookup.cancelled():
            lookup.exception()  # Whoever asked may have given up, and then nobody looks at it.


async def look_up(host: str, port: int) -> Answers:
    """Ask the resolver of the system, in a thread of its own.

    Raises:
        OSError, UnicodeError: the name is unknown.
    """
    with suppress(OSError):  # an address in numbers needs nobody to be asked
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=_NUMERIC_HOST)
    answer: Future[Answers] = Future()
    answer.set_running_or_notify_cancel()

    def work() -> None:
        try:
            answer.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:  # raised in every waiting task
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(answer)
