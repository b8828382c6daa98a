"""The private attributes of h11 and Hypercorn that our protocol uses, named in one place.

Rule 1: all of it stands in `NEEDED`; a private attribute is read by a function of this module.
Rule 2: `missing` looks for all of it once, at the start. Where anything is gone, Hypercorn's own
        protocol serves (`svc_http.run.server.hypercorn.install`).
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

import h11
import hypercorn.protocol.h11
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.config import Config
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import HTTPStream

NEEDED: Final[Mapping[str, str]] = {
    # Replaced by ours.
    "hypercorn.protocol": "H11Protocol",
    # Read by the functions below.
    "h11.Connection": "_receive_buffer.maybe_extract_at_most _receive_buffer.__bytes__"
    " _receive_buffer.__len__",
    # Overridden or used by the classes in `connection`.
    "TCPServer": "protocol_send.__self__.writer _close _read_data idle_task.stop writer",
    "HTTPStream": "app_send handle send state stream_id",
    "WorkerContext": "mark_request terminated",
    "Config": "response_headers",
    "H11Protocol": "_check_protocol _create_stream _send_error_response app client config context"
    " connection connection_state handle keep_alive_requests send server ssl stream stream_send"
    " task_group",
}


def missing() -> list[str]:
    """The names of what is not there; none with the versions that our protocol was made for."""
    try:
        owners = _owners()
    except (AttributeError, TypeError) as error:
        return [str(error)]
    return [
        f"{owner}.{name}"
        for owner, names in NEEDED.items()
        for name in names.split()
        if not _has(owners[owner], name)
    ]


def without_upgrade() -> type[Any]:
    """Hypercorn's own protocol without the upgrade to HTTP/2 that it makes."""

    async def check_protocol(self: Any, event: Any) -> None:
        """No upgrade is made."""

    stock = hypercorn.protocol.h11.H11Protocol
    return type("WithoutUpgrade", (stock,), {"_check_protocol": check_protocol})


def receive_buffer(connection: h11.Connection) -> Any:
    """The bytes that a connection holds and has not yet made events of."""
    return connection._receive_buffer  # noqa: SLF001 - what this module is for


def writer(send: Any) -> Any:
    """The socket behind the function that Hypercorn gives a protocol; None behind any other."""
    return getattr(getattr(send, "__self__", None), "writer", None)


def _owners() -> Mapping[str, Any]:
    """One of each, made as Hypercorn and our protocol make them."""
    unset: Any = None
    config, context = Config(), WorkerContext(None)
    server = TCPServer(unset, unset, config, context, {}, unset, unset)
    send: Any = server.protocol_send
    return {
        "hypercorn.protocol": hypercorn.protocol,
        "h11.Connection": h11.Connection(h11.SERVER),
        "TCPServer": server,
        "WorkerContext": context,
        "Config": config,
        "HTTPStream": HTTPStream(
            unset, config, context, unset, False, unset, unset, send, STREAM_ID
        ),
        "H11Protocol": H11Protocol(unset, config, context, unset, unset, False, unset, unset, send),
    }


def _has(owner: Any, name: str) -> bool:
    try:
        attrgetter(name)(owner)
    except AttributeError:
        return False
    return True
