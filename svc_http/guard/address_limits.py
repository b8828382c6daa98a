"""The limit of who shows no key: so many requests of one block of addresses in a minute and a day.

It is counted where keys are, so that processes share it.
"""

from datetime import datetime
from typing import Final

from svc_core.access import limits
from svc_core.access.limits import DAY_SECONDS, MINUTE_SECONDS
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import Counters, Pool, SharedUnavailable
from svc_http.exchange.exchange import busy

PER_MINUTE: Final = 120
PER_DAY: Final = 20_000
"""A person looks up some receipts, an auditor's program some thousands; nobody can try out the 96
random bits of one."""


async def count_by_address(counters: Counters, block: str, now: datetime, *, admits: bool) -> None:
    """Count a request of a block of addresses.

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


async def wait_seconds(
    counters: Counters, pools: tuple[Pool, Pool], now: datetime, *, admits: bool
) -> int | None:
    """How long until these pools, of a minute and a day, are open; None for who was let in.

    Raises:
        Problem: SERVICE_UNAVAILABLE while nothing can be counted, where nobody `admits` then.
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
