"""Time and identifiers that a test decides."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

from svc_core.base.ids import new_id

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
"""Where a clock stands that is not told otherwise."""


class FrozenClock:
    """A clock that stands still until it is moved."""

    def __init__(self, at: datetime = START) -> None:
        """Stop at `at`."""
        self._now = at

    def now(self) -> datetime:
        """The instant at which the clock stands."""
        return self._now

    def advance(self, seconds: float) -> datetime:
        """Move the clock, backwards for a negative number; the new instant."""
        self._now += timedelta(seconds=seconds)
        return self._now


class CountingIds:
    """`ports.Ids` that counts, so that a test can name the identifier it will get.

    Everything depends on how often it was asked and on nothing else.
    """

    def __init__(self, clock: FrozenClock | None = None) -> None:
        """Count from 1, in the seconds of `clock`."""
        self._clock = FrozenClock() if clock is None else clock
        self._count = 0

    def new(self, prefix: str) -> str:
        """`<prefix>_`, the clock's seconds and the count, in 24 hex digits."""
        self._count += 1
        seconds = int(self._clock.now().timestamp())
        return new_id(prefix, seconds, self._count.to_bytes(8))

    def random(self, size: int) -> bytes:
        """`size` bytes that no two calls share, as far as their number allows."""
        self._count += 1
        blocks = (sha256(f"{self._count}:{at}".encode()).digest() for at in range(size // 32 + 1))
        return b"".join(blocks)[:size]
