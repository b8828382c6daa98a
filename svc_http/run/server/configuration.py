"""The Hypercorn configuration of one server, and the function that drops a connection."""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from hypercorn.config import Config


class Listening(Config):
    """Hypercorn's settings for one server, and what our protocol needs to know of it.

    Settings carry it, because all servers of a process share one protocol.
    """

    h11_max_incomplete_size = 40_960
    """The request line and fields that are read before 431: our 32 KiB and a target."""
    keep_alive_timeout = 5.0
    keep_alive_max_requests = 1_000_000  # reconnecting costs more than it frees
    keyless_requests_max = 200
    """Requests over a connection over which no key was let in."""
    read_timeout = None  # it would cut quiet streams; bodies have their own deadline
    max_app_queue_size = 10
    """Parts of a body that wait for the application: 10 of 64 KiB hold a slow reader's sender
    back."""
    backlog = 1_024
    include_server_header = False
    accesslog = None
    loglevel = "WARNING"

    origin = ""
    """Where links begin."""
    unread: Callable[[str, int], None] = staticmethod(lambda _id, _status: None)
    """Hears of what no application gets to see: a request's id and the status of its refusal."""


def drop(writer: asyncio.StreamWriter) -> None:
    """End a connection at once. What was written and not read is forgotten, by the system too,
    which would keep it for minutes."""
    transport = writer.transport
    if transport.get_write_buffer_size() or not transport.is_closing():  # it has its socket still
        with suppress(OSError):
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
