"""Connections over TLS, counted from the moment they are taken.

Rule: whoever connects has a place among a few until its handshake is done. The event loop's own
      server counts nobody before that, so connections that say nothing would take every file.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from svc_core.access import address
from svc_http.requests.load import Waits

HANDSHAKES_MAX: Final = 64
"""Handshakes under way: for one more the oldest is ended of the address that has the most."""
HANDSHAKE_SECONDS: Final = 10.0
SHUTDOWN_SECONDS: Final = 2.0
"""How long a client may take to begin and to end TLS."""
PAUSE_SECONDS: Final = 0.1
"""How long nobody is taken when the system had no file left for it."""

Served = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Handshakes:
    """What takes connections of a listening socket and hands on those that speak TLS."""

    def __init__(self, made: ssl.SSLContext, served: Served) -> None:
        self._made = made
        self._served = served
        self._waits = Waits(HANDSHAKES_MAX)

    async def accept(self, listening: socket.socket) -> None:
        """Take connections, for ever; cancelled, it ends the handshakes that are under way."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    taken, (host, *_) = await loop.sock_accept(listening)
                except OSError:
                    await asyncio.sleep(PAUSE_SECONDS)
                else:
                    group.create_task(self._begin(taken, address.block(host)))

    async def _begin(self, taken: socket.socket, block: str) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(loop=loop)
        with suppress(Exception):  # it is no TLS, or too slow; whatever it is, others are taken
            async with self._waits.place(HANDSHAKE_SECONDS, block):
                await loop.connect_accepted_socket(
                    lambda: asyncio.StreamReaderProtocol(reader, self._served, loop=loop),
                    taken,
                    ssl=self._made,
                    ssl_handshake_timeout=HANDSHAKE_SECONDS,
                    ssl_shutdown_timeout=SHUTDOWN_SECONDS,
                )
