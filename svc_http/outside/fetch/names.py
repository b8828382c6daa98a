"""Addresses of names, looked up beside each other.

Event loops have few threads for this, uvloop two at a time for everybody, and a name whose server
does not answer keeps one for as long as the system's resolver is patient, half a minute or so.

Rule 1: a lookup has a thread of its own, which nobody waits for at the end.
Rule 2: a name is looked up once at a time, however many ask: giving up and asking again adds none.
"""

import asyncio
import socket
import threading
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, Final

LOOKUPS_AT_ONCE: Final = 64
"""More than a workspace may have webhooks, so that none takes all of them with slow names."""

_NUMERIC_HOST: Final = socket.AI_NUMERICHOST

Answers = list[Any]
"""What `socket.getaddrinfo` gives."""


class Resolver:
    """The lookups of one event loop."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, int], asyncio.Task[Answers]] = {}
        self._places = asyncio.Semaphore(LOOKUPS_AT_ONCE)

    async def addresses(self, host: str, port: int) -> Answers:
        """The addresses of a host.

        Raises:
            OSError, UnicodeError: there are none.
        """
        lookup = self._asked.get((host, port))
        if lookup is None:
            lookup = self._asked[host, port] = asyncio.create_task(self._look_up(host, port))
            lookup.add_done_callback(partial(self._forget, (host, port)))
        return await asyncio.shield(lookup)

    async def _look_up(self, host: str, port: int) -> Answers:
        async with self._places:
            return await look_up(host, port)

    def _forget(self, key: tuple[str, int], lookup: "asyncio.Task[Answers]") -> None:
        del self._asked[key]
        if not lookup.cancelled():
            lookup.exception()  # Whoever asked may have given up, and then nobody looks at it.


async def look_up(host: str, port: int) -> Answers:
    """Ask the system's resolver, in a thread of its own.

    Raises:
        OSError, UnicodeError: it knows none.
    """
    with suppress(OSError):  # an address in numbers needs nobody to be asked
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=_NUMERIC_HOST)
    answer: Future[Answers] = Future()
    answer.set_running_or_notify_cancel()

    def work() -> None:
        try:
            answer.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as unknown:  # told to whoever asked
            answer.set_exception(unknown)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(answer)
