"""A clock and a source of identifiers that a test controls."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

from svc_core.base.ids import new_id

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
"""The instant at which a clock stands unless the test gives another one."""


class FrozenClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, at: datetime = START) -> None:
        """Set the clock to `at`."""
        self._now = at

    def now(self) -> datetime:
        """The instant at which the clock stands, in UTC."""
        return self._now

    def advance(self, seconds: float) -> datetime:
        """Moves the clock, backwards for a negative number, and returns the new instant."""
        self._now += timedelta(seconds=seconds)
        return self._now


class CountingIds:
    """A source of identifiers (`ports.Ids`) that counts, so that a test can predict each of them.

    An identifier depends on the number of earlier calls and on the clock, on nothing else.
    """

    def __init__(self, clock: FrozenClock | None = None) -> None:
        """Count from 1; identifiers hold the seconds of `clock`."""
        self._clock = FrozenClock() if clock is None else clock
        self._count = 0

    def new(self, prefix: str) -> str:
        """A new identifier: `<prefix>_` and 24 hex digits of the clock's seconds and the count."""
        self._count += 1
        seconds = int(self._clock.now().timestamp())
        return new_id(prefix, seconds, self._count.to_bytes(8))

    def random(self, size: int) -> bytes:
        """`size` bytes, different in every call as far as their number allows."""
        self._count += 1
        blocks = (sha256(f"{self._count}:{at}".encode()).digest() for at in range(size // 32 + 1))
        return b"".join(blocks)[:size]
