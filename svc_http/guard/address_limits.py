"""Limits what is asked without a key: by address block, and pages of the dashboard by session.

They are counted in the same place as requests with a key, so that processes share the counts.
"""

from datetime import datetime
from typing import Final

from svc_core.access import limits
from svc_core.access.limits import DAY_SECONDS, MINUTE_SECONDS
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import Counters, Pool, SharedUnavailable
from svc_http.exchange.http_exchange import busy

PER_MINUTE: Final = 120
PER_DAY: Final = 20_000
"""Enough for a person who looks up some receipts, and for an auditor's program with some thousands;
far too few to guess the 96 random bits of a receipt's id."""
PAGES_PER_MINUTE: Final = 300
"""Of one session on the dashboard: nobody reads five pages a second."""
PAGES_PER_DAY: Final = 50_000
"""Of one session: its five pages a second for three hours."""


async def count_by_address(counters: Counters, block: str, now: datetime, *, admits: bool) -> None:
    """Count one request of an address block.

    Raises:
        Problem: RATE_LIMITED, or as `wait_seconds`.
    """
    pools = (
        Pool("address-minute", block, PER_MINUTE, MINUTE_SECONDS),
        Pool("address-day", block, PER_DAY, DAY_SECONDS),
    )
    wait = await wait_seconds(counters, pools, now, admits=admits)
    if wait is not None:
        detail = "This address has used up its requests without a key."
        raise Problem(problem.RATE_LIMITED, detail, {"Retry-After": str(wait)})


async def count_by_session(
    counters: Counters, session_id: str, now: datetime, *, admits: bool
) -> None:
    """Count one page of the dashboard for a session.

    Raises:
        Problem: RATE_LIMITED, or as `wait_seconds`.
    """
    pools = (
        Pool("session-minute", session_id, PAGES_PER_MINUTE, MINUTE_SECONDS),
        Pool("session-day", session_id, PAGES_PER_DAY, DAY_SECONDS),
    )
    wait = await wait_seconds(counters, pools, now, admits=admits)
    if wait is not None:
        detail = "This session has asked for too many pages."
        raise Problem(problem.RATE_LIMITED, detail, {"Retry-After": str(wait)})


async def wait_seconds(
    counters: Counters, pools: tuple[Pool, Pool], now: datetime, *, admits: bool
) -> int | None:
    """Count a request in these pools; the seconds to wait where one is used up, else None.

    Raises:
        Problem: SERVICE_UNAVAILABLE while the counters cannot be reached, unless `admits`.
    """
    second = int(now.timestamp())
    try:
        counts = await counters.hit(pools, second)
    except SharedUnavailable as down:
        if admits:
            return None
        raise busy(problem.SERVICE_UNAVAILABLE, "Requests cannot be counted now.") from down
    opens = limits.opens_at(pools, counts, second)
    return None if opens is None else opens - second
