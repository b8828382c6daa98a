"""What the rates say to a key that asks for the same operation again.

Rule 1: every request is judged by the counters, and counted or refused as `authorize` would.
Rule 2: a refusal rests on the second and on the counts alone, so while neither changes it is told
        in the very words of before. A client that does not wait is the one that asks most.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from svc_core.access.authorize import limited
from svc_core.access.counters import Gauge
from svc_core.access.limits import Header, Verdict, headers
from svc_core.problem import Problem
from svc_http.requests.respond import Again

_SECOND = timedelta(seconds=1)

_Counts = tuple[int, int, int, int]


class _Full(NamedTuple):
    """A refusal, and all that it rests on but the limits: second, counts, exhausted pools."""

    since: datetime
    until: datetime
    counts: _Counts
    exhausted: tuple[int, ...]
    fields: list[Header]
    again: Again


class Rates:
    """The four pools of one key, with none beside them, as one operation asks them; for one event
    loop."""

    __slots__ = ("_full", "_gauge")

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge
        self._full: _Full | None = None

    def count(self, now: datetime) -> tuple[list[Header], Again | None]:
        """Count one request: the fields that its answer has to tell, and the refusal where a pool
        is used up. Then nothing was counted."""
        gauge, full = self._gauge, self._full
        if full is not None and full.since <= now < full.until and full.counts == _counts(gauge):
            return full.fields, full.again
        second = int(now.timestamp())
        fields = gauge.hit_open(second)
        if fields is not None:
            return fields, None
        verdict = gauge.hit(second)
        fields = headers(verdict)
        if not verdict.exhausted:
            return fields, None
        if full is not None and full.exhausted == verdict.exhausted:
            again = full.again
        else:
            again = _refusal(verdict)
        since = now.replace(microsecond=0)
        until = since + _SECOND
        self._full = _Full(since, until, _counts(gauge), verdict.exhausted, fields, again)
        return fields, again


def _refusal(verdict: Verdict) -> Again:
    """What is refused, without the fields, which differ from one verdict to the next."""
    refusal = limited(verdict)
    return Again(Problem(refusal.type, refusal.detail))


def _counts(gauge: Gauge) -> _Counts:
    """All that a verdict on the four pools depends on, but limits and second.

    A minute tells its day, and what is counted in one is counted in both.
    """
    key, account = gauge.key, gauge.account
    return key.minute, key.day_used, account.minute, account.day_used
