"""Counting in memory: the counters of one process.

For one thread or event loop: no method waits, so nothing runs between checking and counting.
"""

from collections.abc import Sequence
from weakref import WeakValueDictionary

from attrs import frozen

from svc_core.access.limits import (
    DAY_SECONDS,
    MINUTE_SECONDS,
    Decision,
    Meter,
    judge,
)
from svc_core.operation.ports import Counted, Pool


class Window:
    """What one subject has used of its current minute and day. Mutable: a slot, not a value."""

    __slots__ = ("__weakref__", "day", "day_used", "minute", "minute_used")

    def __init__(self) -> None:
        self.minute = -1
        self.minute_used = 0
        self.day = -1
        self.day_used = 0


def count(windows: Sequence[Window]) -> None:
    """Count one request in all of them."""
    for window in windows:
        window.minute_used += 1
        window.day_used += 1


@frozen(eq=False)
class Gauge:
    """A meter with the windows that count it, held by a principal between requests."""

    meter: Meter
    key: Window
    account: Window
    beside: "Gauge | None"
    _counters: "MemoryCounters"

    @property
    def windows(self) -> tuple[Window, ...]:
        """Its windows, then those beside it, in the order of the decision's pools."""
        own = (self.key, self.account)
        return own if self.beside is None else own + self.beside.windows

    def hit(self, second: int) -> Decision:
        """Count one request at Unix `second` in all pools of the meter, or in none."""
        minute, day = second // MINUTE_SECONDS, second // DAY_SECONDS
        key, account = self.key, self.account
        # The straight way of nearly every request, several times as fast as the other.
        if (
            self.beside is None
            and key.minute == minute == account.minute
            and key.day == day == account.day
        ):
            a, b, c, d = self.meter.limits
            a -= key.minute_used + 1
            b -= key.day_used + 1
            c -= account.minute_used + 1
            d -= account.day_used + 1
            if a >= 0 and b >= 0 and c >= 0 and d >= 0:
                key.minute_used += 1
                key.day_used += 1
                account.minute_used += 1
                account.day_used += 1
                resets = (minute + 1) * MINUTE_SECONDS, (day + 1) * DAY_SECONDS
                return Decision(self.meter, second, (a, b, c, d), *resets)
        return self._hit(second, minute, day)

    def _hit(self, second: int, minute: int, day: int) -> Decision:
        windows = self.windows
        counted = self._counters.turn(windows, minute, day)
        decision = judge(self.meter, counted.used, second, minute=counted.minute, day=counted.day)
        if not decision.exhausted:
            count(windows)
        return decision


class MemoryCounters:
    """The windows of many subjects.

    Bounded: a window lives while a gauge holds it, or while the day that it counts is the
    latest one. So a principal may be dropped and made again without a fresh quota, and the
    keys of last week take no memory.
    """

    __slots__ = ("_latest_day", "_latest_windows", "_windows")

    def __init__(self) -> None:
        self._windows: WeakValueDictionary[tuple[str, str], Window] = WeakValueDictionary()
        self._latest_windows: set[Window] = set()
        self._latest_day = -1

    def __len__(self) -> int:
        return len(self._windows)

    def gauge(self, meter: Meter) -> Gauge:
        """The counters of a meter. Equal subjects share their counts, whatever their limits."""
        beside = None if meter.beside is None else self.gauge(meter.beside)
        key, _, account, _ = meter.pools
        return Gauge(meter, self._window(key), self._window(account), beside, self)

    async def hit(self, pools: Sequence[Pool], second: int) -> Counted:
        """Count one request in all of the pools or in none: the port that processes may share."""
        windows = [self._window(pool) for pool in pools[::2]]
        counted = self.turn(windows, second // MINUTE_SECONDS, second // DAY_SECONDS)
        if all(used < pool.limit for used, pool in zip(counted.used, pools, strict=True)):
            count(windows)
        return counted

    def turn(self, windows: Sequence[Window], minute: int, day: int) -> Counted:
        """Open the minute and the day of the clock, unless later ones are open already."""
        for window in windows:
            if window.minute < minute:
                window.minute = minute
                window.minute_used = 0
            if window.day < day:
                window.day = day
                window.day_used = 0
                self._keep(window)
        return Counted(
            tuple([used for window in windows for used in (window.minute_used, window.day_used)]),
            max([window.minute for window in windows]),
            max([window.day for window in windows]),
        )

    def _keep(self, window: Window) -> None:
        """Hold a window for as long as its day is the latest; let go of earlier days."""
        if window.day > self._latest_day:
            self._latest_day = window.day
            self._latest_windows.clear()
        self._latest_windows.add(window)

    def _window(self, pool: Pool) -> Window:
        # The minute pool names the window; the day pool of the same subject shares it.
        return self._windows.setdefault((pool.name, pool.subject), Window())
