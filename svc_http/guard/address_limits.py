"""Limits what is asked without a key: by address block, and pages of the dashboard by session.

They are counted in the same place as requests with a key, so that processes share the counts.
"""

from datetime import datetime
from typing import Final

from attrs import frozen

from svc_core.access import limits
from svc_core.access.limits import DAY_SECONDS, MINUTE_SECONDS
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import Counters, Pool, SharedUnavailable
from svc_http.exchange.http_exchange import busy


@frozen
class CallerLimit:
    """How much callers of one kind may ask for in a minute and in a day, and what more is told."""

    kind: str
    per_minute: int
    per_day: int
    refusal: str

    async def count(self, counters: Counters, caller: str, now: datetime, *, admits: bool) -> None:
        """Count one request of a caller.

        Raises:
            Problem: RATE_LIMITED, or as `wait_seconds`.
        """
        pools = (
            Pool(f"{self.kind}-minute", caller, self.per_minute, MINUTE_SECONDS),
            Pool(f"{self.kind}-day", caller, self.per_day, DAY_SECONDS),
        )
        wait = await wait_seconds(counters, pools, now, admits=admits)
        if wait is not None:
            raise Problem(problem.RATE_LIMITED, self.refusal, {"Retry-After": str(wait)})


BY_ADDRESS: Final = CallerLimit(
    "address", 120, 20_000, "This address has used up its requests without a key."
)
"""Of one address block: enough for a person who looks up some receipts, and for an auditor's
program with some thousands; far too few to guess the 96 random bits of a receipt's id."""
BY_SESSION: Final = CallerLimit(
    "session", 300, 50_000, "This session has asked for too many pages."
)
"""Of one session on the dashboard: nobody reads five pages a second, nor so for three hours."""


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
