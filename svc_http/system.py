"""The clock, the randomness and the SIGTERM handling of this process; no other module reads them.

Other modules are handed the time, identifiers and random bytes as arguments, so that a test or a
replay can hand in others. Random bytes are drawn from the operating system in blocks, because a
system call for each request would cost three times as much as the rest of an identifier.
"""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import FrameType
from typing import Any, NoReturn

from svc_core.base import ids

POOL_BYTES = 12 * 1024
"""One block of random bytes: enough for a thousand requests, small enough for the CPU cache."""

SECRET_BYTES = 32
"""The size of a generated master secret: 256 random bits."""


def now() -> datetime:
    """The current instant in UTC."""
    return datetime.now(UTC)


timestamp = time.time
"""Seconds since 1970 (UTC), with a fraction."""


monotonic = time.perf_counter
"""Seconds of a clock that is never set back; only differences have a meaning."""


class _Pool:
    """Random hex digits, drawn in blocks. Every digit is handed out once."""

    __slots__ = ("_at", "_block")

    def __init__(self) -> None:
        self._block = ""
        self._at = 0

    def take(self, digits: int) -> str:
        """The next `digits` hex digits."""
        at = self._at
        end = at + digits
        if end > len(self._block):
            self._block = os.urandom(POOL_BYTES).hex()
            at, end = 0, digits
        self._at = end
        return self._block[at:end]

    def clear(self) -> None:
        """Forget the block."""
        self._block = ""


_requests = _Pool()
# A forked child must not hand out the same digits as its parent.
os.register_at_fork(after_in_child=_requests.clear)


def new_request_id() -> str:
    """A fresh `req_<24 hex>`."""
    return "req_" + _requests.take(24)


def new_secret() -> str:
    """A fresh master secret: 64 hex digits."""
    return os.urandom(SECRET_BYTES).hex()


def shuffle(rows: list[Any]) -> None:
    """Shuffle the rows in place, in an order that differs between processes."""
    random.shuffle(rows)


class SystemIds:
    """Makes identifiers and random bytes from the operating system (implements `ports.Ids`)."""

    def new(self, prefix: str) -> str:
        """A fresh public identifier that sorts by age."""
        return ids.new_id(prefix, int(time.time()), os.urandom(ids.RANDOM_BYTES))

    def random(self, size: int) -> bytes:
        """`size` unpredictable bytes."""
        return os.urandom(size)


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Raise `KeyboardInterrupt` on SIGTERM, so that open resources are closed on the way out.

    A service manager then stops the process in the same way as Ctrl-C does.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
