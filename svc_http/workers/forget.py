"""Removes the reports of profiles that were deleted, as many at a time as no writer waits long for.

Each unit of work is whole, so any number of workers may do this, and one that is killed leaves the
rest to the next.
"""

from functools import partial
from typing import Final

from svc_core.recordings import forget_reports
from svc_core.resources.profile import LEAVING
from svc_http.runtime.commits import Commits
from svc_http.runtime.service import Service

LOOK_SECONDS: Final = 30.0
"""How often it is looked when nothing was heard: what other processes left."""
GATHER_SECONDS: Final = 0.1
ROUND_MAX: Final = 16
"""Profiles that take turns."""


async def forget_loop(service: Service, commits: Commits) -> None:
    """Remove what is left of deleted profiles, for ever; it ends by being cancelled."""
    work = partial(forget, service)
    await commits.rounds(work, look_seconds=LOOK_SECONDS, gather_seconds=GATHER_SECONDS)


async def forget(service: Service) -> None:
    """Remove the reports of every deleted profile."""
    while left := await service.storage.across(LEAVING, limit=ROUND_MAX):
        for row in left:
            await service.write(row.tenant, partial(forget_reports, profile_id=row.document.id))
