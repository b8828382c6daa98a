"""Server-sent events (WHATWG HTML, 9.2): frames of an event stream, as bytes.

Rule 1: every line of the data has its own field, and lines end in LF.
Rule 2: a name or an id holds no line break and no NUL, so nobody can forge a frame with one.
"""

from typing import Final

HEARTBEAT: Final = b": keep-alive\n\n"
"""A comment: it says nothing and keeps proxies from closing a quiet stream."""

_FORBIDDEN: Final = str.maketrans("", "", "\r\n\0")


def event(name: str, data: bytes, id_: str | None = None) -> bytes:
    """One event; a client that reconnects names the last `id_` that it saw."""
    lines = [] if id_ is None else [b"id: " + id_.translate(_FORBIDDEN).encode()]
    lines.append(b"event: " + name.translate(_FORBIDDEN).encode())
    lines += (b"data: " + line for line in data.splitlines() or (b"",))
    return b"\n".join(lines) + b"\n\n"


def retry(milliseconds: int) -> bytes:
    """How long a client is to wait before it reconnects."""
    return b"retry: %d\n\n" % milliseconds
