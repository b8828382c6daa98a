"""Rate limits in memory: four fixed windows and the fields of the answer, beside `limits`.

Both count a key and its account, by minute and by day, and tell what is left of each. The peer
is asked for `hit` and for `get_window_stats` of each window, which is what its users do to fill
the fields. Then the gate as a whole, which has no peer.

    python benchmarks/bench_limits.py [--quick]

Exit code 3 when the ratio misses its goal. Needs: pip install limits
"""

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from outcome import close_run, is_quick

from svc_core.access.address import ForwardingHeaders, resolve
from svc_core.access.authorization import Facts, OperationAccess, Principal, authorize
from svc_core.access.keys import ApiKey, Bearer, new_key, parse_bearer
from svc_core.access.plans import Plan
from svc_core.access.quotas import MemoryCounters, limit_fields

GOAL_RATIO = 10.0
RUNS = 500
RATE = 500_000_000
"""High enough that no run is refused, in both."""

PLAN = Plan("bench", new_keys=True, keys_max=1, per_minute=RATE, per_day=RATE)
NOW = datetime(2026, 3, 4, 12, 0, 17, tzinfo=UTC)
SECOND = int(NOW.timestamp())


def microseconds(calls: list[Callable[[], object]], rounds: int) -> list[float]:
    """The cost of one call of each: the best of many short rounds, taken in turn, so that a busy
    neighbour slows all of them or none."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for position, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(RUNS):
                call()
            best[position] = min(best[position], time.perf_counter() - start)
    return [seconds / RUNS * 1e6 for seconds in best]


def a_key() -> tuple[ApiKey, str]:
    """A key with one allowed address, and its secret."""
    new = new_key(bytes(range(32)))
    key = ApiKey(
        id="key_" + "0" * 24,
        name="bench",
        digest_hex=new.digest_hex,
        prefix=new.prefix,
        scopes=("reports:read", "news:read"),
        addresses=("198.51.100.1",),
        workspace_id="wsp_" + "0" * 24,
        user_id="usr_" + "0" * 24,
        created_at=NOW,
        issued_at=NOW,
    )
    return key, new.secret


def own_check() -> Callable[[], object]:
    """Four windows and twelve fields."""
    gauge = Principal.of(a_key()[0], PLAN, MemoryCounters()).gauges["account"]
    return lambda: limit_fields(gauge.hit(SECOND))


def the_peer() -> Callable[[], object]:
    """The same four windows with `limits`, and the fields formatted from its statistics."""
    from limits import RateLimitItemPerDay, RateLimitItemPerMinute  # noqa: PLC0415
    from limits.storage import MemoryStorage  # noqa: PLC0415
    from limits.strategies import FixedWindowRateLimiter  # noqa: PLC0415

    limiter = FixedWindowRateLimiter(MemoryStorage())
    windows = [
        (item(RATE), subject)
        for subject in ("key_" + "0" * 24, "wsp_" + "0" * 24)
        for item in (RateLimitItemPerMinute, RateLimitItemPerDay)
    ]

    def request() -> list[tuple[bytes, bytes]]:
        fields = []
        for item, subject in windows:
            if not limiter.hit(item, subject):
                raise SystemExit("the peer refused: the figures would flatter it")
            stats = limiter.get_window_stats(item, subject)
            fields.append((b"remaining", b"%d" % stats.remaining))
            fields.append((b"reset", b"%d" % stats.reset_time))
        return fields

    return request


def the_gate() -> Callable[[], object]:
    """Everything between the header fields of a request and those of its answer."""
    key, secret = a_key()
    principals = {key.digest_hex: Principal.of(key, PLAN, MemoryCounters())}
    access = OperationAccess(frozenset({"reports:read"}))
    authorization = f"Bearer {secret}"

    def request() -> object:
        bearer = parse_bearer(authorization)
        address = resolve("127.0.0.1", ForwardingHeaders(x_forwarded_for=("198.51.100.1",)))
        principal = principals.get(bearer.digest_hex) if isinstance(bearer, Bearer) else None
        return authorize(access, Facts(bearer, principal, address), NOW).headers

    return request


def main() -> int:
    """Print the table; `GOAL_MISSED` when the goal is missed."""
    rounds = 50 if is_quick() else 400
    own, peer, gate = microseconds([own_check(), the_peer(), the_gate()], rounds)
    ratio = peer / own
    print(f"{'four windows and fields, ours':40} {own:8.2f} us")
    print(f"{'four windows and fields, limits':40} {peer:8.2f} us")
    print(f"{'whole gate (key, address, limits, fields)':41} {gate:7.2f} us")
    return close_run(ratio >= GOAL_RATIO, f"{ratio:.1f} times; the whole gate {gate:.0f} us")


if __name__ == "__main__":
    sys.exit(main())
