"""Quotas: counts the use of rate limits in this process, and writes their header fields.

Rule 1: a request is counted in all its pools or in none: a refused request consumes nothing.
Rule 2: a clock that is set back hands out no second quota. The window in force is the later of the
    one seen and the one of the clock; one that is further ahead than the next was opened before the
    clock was set back, and moves back to it with its count. So nobody waits longer than a window.
Rule 3: no method waits, so that nothing runs between checking and counting; for one thread or
    event loop. A store that counts elsewhere asks `judge`; `settle` ends both ways.

Times are whole Unix seconds, read once per request: the same reading decides, fills the header
fields and gives `Retry-After`.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakValueDictionary

from attrs import frozen

from svc_core.access.limits import (
    AGENT,
    DAY_SECONDS,
    MINUTE_SECONDS,
    RESET_DAY,
    RESET_MINUTE,
    RETRY_AFTER,
    SPELLING,
    STATE,
    Header,
    Meter,
    window_end,
)
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import Pool, PoolUsage

# The theory of the quotas. A pool is a fixed UTC window with a limit: at most `limit` requests of
# one subject in each minute, or in each day. It is not a token bucket. Fixed windows need one
# number per pool, every process computes the same window from the clock alone, and a client can
# predict the reset; the price is that twice the limit may pass around a window's boundary.
#
# State of a subject: the numbers of its current minute and day (Unix seconds divided by 60 and by
# 86,400), and the count in each. A request makes two moves:
#
#     turn    a later window replaces the current one and its count becomes 0; an earlier one
#             changes nothing, unless the current one is out of its reach (rule 2): the next one is
#             not, because the clocks of processes that count together differ a little
#     count   every pool is compared with its limit first; only if none is full do all count one
#
# Check and count are one step, so that of two requests at once only one takes the last place: in
# this process nothing runs between them (rule 3), in a shared backend they are one script or one
# statement. Checked and counted pool by pool, a request that the last pool refuses would have
# used up the others (docs/adr/0018 has the rivals).
#
# A principal holds a `Gauge`, the lease on its counters: the slots are found once, and a request
# touches no dictionary. Slots are shared by subject, not by principal, so all keys of an account
# count in one; and a slot outlives its gauges for as long as its day is the latest one, so that
# to drop a principal and make it again gives nobody a fresh quota.
#
# Weak spots: memory counters start from zero with the process; and with several processes and no
# shared backend each counts alone, so the limits hold per process.


class Decision(NamedTuple):
    """The decision of the pools on one request at Unix `second`.

    `remaining` goes by `meter.all_pools`; the resets are the Unix seconds at which the windows
    end. `exhausted` are the positions of the pools that refused; when it is empty the request
    was counted, in all of them. A named tuple, because one is made for every request.
    """

    meter: Meter
    second: int
    remaining: tuple[int, ...]
    reset_minute: int
    reset_day: int
    exhausted: tuple[int, ...] = ()

    @property
    def retry_after_seconds(self) -> int:
        """Seconds until every pool that refused opens again; 0 for an admitted request."""
        resets = (self.reset_minute, self.reset_day)  # pools alternate between minute and day
        return max([resets[i % 2] - self.second for i in self.exhausted], default=0)

    @property
    def exhausted_pools(self) -> tuple[Pool, ...]:
        """The pools that refused."""
        return tuple(self.meter.all_pools[i] for i in self.exhausted)


def _allowance(pool: Pool) -> str:
    """What a pool allows, for its caller: "agent requests of this key, 5 a minute"."""
    *family, holder, span = pool.name.split("-")
    return f"{' '.join([*family, 'requests'])} of this {holder}, {pool.limit:,} a {span}"


def limit_headers(decision: Decision) -> list[Header]:
    """The rate-limit headers of a request that was counted.

    Raises: Problem RATE_LIMITED, or AGENT_RATE_LIMITED when only agent pools are exhausted.
    """
    if decision.exhausted:
        pools = decision.exhausted_pools
        only_agent = all(pool.name.startswith(AGENT.prefix) for pool in pools)
        kind = problem.AGENT_RATE_LIMITED if only_agent else problem.RATE_LIMITED
        detail = f"Used up for now: {'; '.join(map(_allowance, pools))}."
        raise Problem(kind, detail, spelled_headers(limit_fields(decision)))
    return limit_fields(decision)


def judge(
    meter: Meter, used: Sequence[int], second: int, *, minute: int = 0, day: int = 0
) -> Decision:
    """The decision on a request at `second`, for a store that counts elsewhere.

    `used` is what was counted before it, by `meter.all_pools`; `minute` and `day` are the
    numbers of the latest windows the store has seen. The store then counts the request in all
    of the pools unless the decision names exhausted ones.
    """
    remaining = [pool.limit - count for pool, count in zip(meter.all_pools, used, strict=True)]
    exhausted = tuple([position for position, rest in enumerate(remaining) if rest <= 0])
    cost = 0 if exhausted else 1
    return Decision(
        meter,
        second,
        # A plan may have been lowered below what was used already: never a negative number.
        tuple([max(rest - cost, 0) for rest in remaining]),
        window_end(minute, second, MINUTE_SECONDS),
        window_end(day, second, DAY_SECONDS),
        exhausted,
    )


class QuotaWindow:
    """The counts of one subject in its current minute and day. Mutable: a slot, not a value."""

    __slots__ = ("__weakref__", "day", "day_used", "minute", "minute_used")

    def __init__(self) -> None:
        self.minute: int = -1
        self.minute_used: int = 0
        self.day: int = -1
        self.day_used: int = 0


def _count_request(windows: Sequence[QuotaWindow]) -> None:
    """Count one request in all of them."""
    for window in windows:
        window.minute_used += 1
        window.day_used += 1


@frozen(eq=False)
class Gauge:
    """A meter with the windows that count it, held by a principal between requests."""

    meter: Meter
    key: QuotaWindow
    account: QuotaWindow
    beside: "Gauge | None"
    _counters: "MemoryCounters"

    @property
    def windows(self) -> tuple[QuotaWindow, ...]:
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
        usage = self._counters.turn(windows, minute, day)
        decision = judge(self.meter, usage.used, second, minute=usage.minute, day=usage.day)
        if not decision.exhausted:
            _count_request(windows)
        return decision


class MemoryCounters:
    """The windows of many subjects.

    Bounded: a window lives while a gauge holds it, or while the day that it counts is the
    latest one. So a principal may be dropped and made again without a fresh quota, and the
    keys of last week take no memory.
    """

    __slots__ = ("_latest_day", "_latest_windows", "_windows")

    def __init__(self) -> None:
        self._windows: WeakValueDictionary[tuple[str, str], QuotaWindow] = WeakValueDictionary()
        self._latest_windows: set[QuotaWindow] = set()
        self._latest_day = -1

    def __len__(self) -> int:
        return len(self._windows)

    def gauge(self, meter: Meter) -> Gauge:
        """The counters of a meter. Equal subjects share their counts, whatever their limits."""
        beside = None if meter.beside is None else self.gauge(meter.beside)
        key, _, account, _ = meter.pools
        return Gauge(meter, self._window(key), self._window(account), beside, self)

    async def hit(self, pools: Sequence[Pool], second: int) -> PoolUsage:
        """Count one request in all of the pools or in none: the port that processes may share."""
        windows = [self._window(pool) for pool in pools[::2]]
        usage = self.turn(windows, second // MINUTE_SECONDS, second // DAY_SECONDS)
        if all(used < pool.limit for used, pool in zip(usage.used, pools, strict=True)):
            _count_request(windows)
        return usage

    def turn(self, windows: Sequence[QuotaWindow], minute: int, day: int) -> PoolUsage:
        """Open the minute and the day of the clock, unless later ones are open already."""
        for window in windows:
            if not 0 <= window.minute - minute <= 1:
                window.minute_used *= window.minute > minute
                window.minute = minute
            if not 0 <= window.day - day <= 1:
                window.day_used *= window.day > day
                window.day = day
                self._keep(window)
        return PoolUsage(
            tuple([used for window in windows for used in (window.minute_used, window.day_used)]),
            max([window.minute for window in windows]),
            max([window.day for window in windows]),
        )

    def _keep(self, window: QuotaWindow) -> None:
        """Hold a window for as long as its day is the latest; let go of earlier days."""
        if not 0 <= self._latest_day - window.day <= 1:
            self._latest_day = window.day
            self._latest_windows.clear()
        self._latest_windows.add(window)

    def _window(self, pool: Pool) -> QuotaWindow:
        # The minute pool names the window; the day pool of the same subject shares it.
        return self._windows.setdefault((pool.name, pool.subject), QuotaWindow())


# -- header fields -----------------------------------------------------------------------------

_SMALL = 1_024
_DIGITS = tuple(b"%d" % number for number in range(_SMALL))
"""The text of small numbers, which most of the values are: formatting costs eight times more."""


def limit_fields(decision: Decision) -> list[Header]:
    """The rate-limit fields of an answer, names in lower case as ASGI wants them.

    The spec's `X-RateLimit-*` (agent pools have their own spelling), the draft standard's
    `RateLimit-Policy` and `RateLimit`, and `Retry-After` when the request was refused. No name
    stands twice.
    """
    meter, second, remaining, reset_minute, reset_day, exhausted = decision
    clock = _clock(second, reset_minute, reset_day)
    fields = _family_fields(meter, remaining[:4], clock)
    if meter.beside is not None:
        fields = _join_headers(fields, _family_fields(meter.beside, remaining[4:], clock))
    if exhausted:
        fields.append((RETRY_AFTER, b"%d" % decision.retry_after_seconds))
    fields += clock.reset_headers
    return fields


def spelled_headers(fields: list[Header]) -> dict[str, str]:
    """The same fields as text, in the spelling of the documents: what a `Problem` carries."""
    return {SPELLING[name]: value.decode() for name, value in fields}


class _Clock(NamedTuple):
    to_minute: bytes
    to_day: bytes
    reset_headers: tuple[Header, Header]


# All requests of one second share it; sixteen because clocks of windows may differ for a while.
@lru_cache(maxsize=16)
def _clock(second: int, reset_minute: int, reset_day: int) -> _Clock:
    resets = ((RESET_MINUTE, b"%d" % reset_minute), (RESET_DAY, b"%d" % reset_day))
    return _Clock(b"%d" % (reset_minute - second), b"%d" % (reset_day - second), resets)


def _family_fields(meter: Meter, remaining: tuple[int, ...], clock: _Clock) -> list[Header]:
    # Written out for the four pools: it runs for every answer, and loops cost twice as much.
    i, j, k, m = remaining
    a = _DIGITS[i] if i < _SMALL else b"%d" % i
    b = _DIGITS[j] if j < _SMALL else b"%d" % j
    c = _DIGITS[k] if k < _SMALL else b"%d" % k
    d = _DIGITS[m] if m < _SMALL else b"%d" % m
    minute, day, _ = clock
    name_a, name_b, name_c, name_d = meter.remaining_names
    state = meter.state % (a, minute, b, day, c, minute, d, day)
    return [
        *meter.constant_headers,
        (name_a, a),
        (name_b, b),
        (name_c, c),
        (name_d, d),
        (STATE, state),
    ]


def _join_headers(first: list[Header], second: list[Header]) -> list[Header]:
    """Both lists; fields of one name become one comma-separated list (RFC 9110 5.3)."""
    fields: dict[bytes, bytes] = {}
    for name, value in (*first, *second):
        fields[name] = b"%b, %b" % (fields[name], value) if name in fields else value
    return list(fields.items())
