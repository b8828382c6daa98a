"""Streamed answers: an answer that is sent in parts for as long as there is something new.

The core decides what is sent and the host waits: `parts` is a generator over a `Watch` that the
host passes in, so it needs no event loop of its own. The host sets the bounds: heartbeats, the
limit for slow readers, and the end.

Server-sent events (WHATWG HTML, 9.2) are the frames of such an answer, as bytes.

Rule 1: every line of the data has its own field, and lines end in LF.
Rule 2: a name or an id holds no line break and no NUL, so nobody can forge a frame with one.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import lru_cache
from typing import Final, Protocol, TypeVar

from attrs import frozen

from svc_core.contract.result import Fields
from svc_core.operation.context import Context

R = TypeVar("R")


class Watch(Protocol):
    """The host's side of a stream: reads for its caller, and waits for commits."""

    async def read(self, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """Run a use case for the caller on one snapshot, as it is now."""

    async def news(self) -> None:
        """Return once something was committed since the last `read` began, or after a while."""


async def no_settlement() -> None:
    """Do nothing at the end of a stream."""


@frozen(eq=False)
class Stream:
    """An answer in parts, each sent as soon as it is there; an empty one is a place to stop at.

    `heartbeat` is sent in every long silence. `farewell` makes the last part when the host ends
    the stream: from the problem that ended it, as JSON, or from None when it has had its time.
    The head waits for the first part for as long as `patience_seconds`: what refuses until then is
    the whole answer. It ends after `seconds_max`, or when the host says. `settle` is awaited once,
    after the last part and however it ended, also where nothing was sent.
    """

    media_type: str
    parts: Callable[[Watch], AsyncIterator[bytes]]
    heartbeat: bytes
    farewell: Callable[[bytes | None], bytes]
    fields: Fields = ()
    patience_seconds: float = 0.0
    seconds_max: float | None = None
    settle: Callable[[], Awaitable[None]] = no_settlement


# -- server-sent events ------------------------------------------------------------------------

HEARTBEAT: Final = b": keep-alive\n\n"
"""A comment: it says nothing and keeps proxies from closing a quiet stream."""

_FORBIDDEN: Final = str.maketrans("", "", "\r\n\0")


def event(name: str, data: bytes, id_: str | None = None) -> bytes:
    """One event; a client that reconnects names the last `id_` that it saw."""
    if b"\n" in data or b"\r" in data:
        data = b"\ndata: ".join(data.splitlines())
    frame = b"%b%b\n\n" % (_opening(name), data)
    if id_ is None:
        return frame
    return b"id: %b\n%b" % (id_.translate(_FORBIDDEN).encode(), frame)


@lru_cache(maxsize=64)  # a stream has a few names
def _opening(name: str) -> bytes:
    return b"event: %b\ndata: " % name.translate(_FORBIDDEN).encode()


def retry(milliseconds: int) -> bytes:
    """How long a client is to wait before it reconnects."""
    return b"retry: %d\n\n" % milliseconds
