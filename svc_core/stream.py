"""Answers that go on: what an operation returns when its answer has no end of its own.

The core says what is sent, the host waits: `parts` is a generator over a `Watch` that the host
hands in, so that it runs without an event loop of its own like every use case. The host also
bounds it: heartbeats, slow readers, its end.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol, TypeVar

from attrs import frozen

from svc_core.operation import Context
from svc_core.result import Fields

R = TypeVar("R")


class Watch(Protocol):
    """What a host lends a stream of one caller."""

    async def read(self, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case for the caller on one snapshot, as it is now."""
        ...

    async def news(self) -> None:
        """Return once something was committed since the last `read` began, or after a while."""
        ...


@frozen(eq=False)
class Stream:
    """An answer in parts, each sent as soon as it is there.

    `heartbeat` is sent in every long silence. `farewell` makes the last part when the host ends
    the stream: from the problem that ended it, as JSON, or from None where the client may simply
    reconnect.
    """

    media_type: str
    parts: Callable[[Watch], AsyncIterator[bytes]]
    heartbeat: bytes
    farewell: Callable[[bytes | None], bytes]
    fields: Fields = ()
