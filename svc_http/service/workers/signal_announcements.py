"""Tells webhooks of new signals and incidents, one workspace after another.

Each workspace that wants it has a watch on the change feed, and a bounded turn at a time. Any
number of workers may do this; one that is killed leaves the rest to the next.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Overloaded, StorageUnavailable, TenantRow
from svc_core.outbox.model import SIGNAL_WATCHES, SignalWatch
from svc_core.reports import signal_notices as notices
from svc_core.reports.signal_notices import FeedPart
from svc_http.service.commits import Commits
from svc_http.service.service_units import OnFailure, Service

LOOK_SECONDS: Final = 10.0
"""How often the feed is looked at without a commit, for what other processes wrote."""
GATHER_SECONDS: Final = 1.0
WATCHES_AT_ONCE: Final = 200
UNSAVED_MAX: Final = 1_000
"""Entries of the feed that are of other kinds, after which a watch is moved past them."""

_Read = Callable[[int], Awaitable[FeedPart]]


async def signal_loop(service: Service, commits: Commits, on_failure: OnFailure) -> None:
    """Tell of signals and incidents for ever; it ends when it is cancelled."""
    work = partial(announce_signals, service, on_failure)
    await commits.rounds(work, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)


async def announce_signals(service: Service, on_failure: OnFailure) -> None:
    """Tell every workspace of what is new; `on_failure` gets the failure of each that cannot be."""
    while await _round(service, on_failure):
        continue


async def _round(service: Service, on_failure: OnFailure) -> bool:
    """Give each workspace a turn; whether any has more."""
    head = (await service.read(SYSTEM, lambda ctx: ctx.tx.changes.head())).everybody
    parts: dict[int, FeedPart] = {}
    has_more, after = False, None

    async def read(position: int) -> FeedPart:
        if position not in parts:  # most watches stand at the same place
            unit = partial(notices.new_findings, position=position)
            parts.clear()
            parts[position] = await service.read(SYSTEM, unit)
        return parts[position]

    while rows := await service.storage.across(SIGNAL_WATCHES, after=after, limit=WATCHES_AT_ONCE):
        for row in rows:
            try:
                has_more |= await _turn(service, row, head, read)
            except (StorageUnavailable, Overloaded):
                raise  # they are told when the store is back
            except Exception as failure:  # one workspace's defect must not keep the others waiting
                on_failure(failure)
        last = rows[-1]
        after = last.document.order, last.tenant, last.document.id
    return has_more


async def _turn(service: Service, row: TenantRow[SignalWatch], head: int, read: _Read) -> bool:
    position = SIGNAL_WATCHES.decode(row.document.raw).position
    if position == head:
        return False
    if position > head:  # the store was put back to an earlier state
        findings = FeedPart(head)
    else:
        findings = await read(position)
        is_near = findings.end - position < UNSAVED_MAX
        if is_near and not findings.items and not findings.has_more:
            return False
    subjects = await service.read(row.tenant, notices.subjects_of)
    matches = await service.aside(partial(notices.meetings, findings, subjects))

    async def unit(ctx: Context) -> None:
        await notices.announce_findings(ctx, row.document, findings, matches)

    await service.write(row.tenant, unit)
    return findings.has_more
