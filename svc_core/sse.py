"""Server-sent events (WHATWG HTML, 9.2): frames of an event stream, as bytes.

Rule 1: every line of the data has its own field, and lines end in LF.
Rule 2: a name or an id holds no line break and no NUL, so nobody can forge a frame with one.
"""

from functools import lru_cache
from typing import Final

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
