"""Rules of automations: when one is due, and the states of its runs.

Rule 1: only an active automation with a schedule is due; runs that were missed are one run.
Rule 2: only a new schedule, archiving and restoring plan anew.
Rule 3: an end is final: whatever comes later changes nothing of the run.
Rule 4: a run that was interrupted is begun again, a few times.

A run is queued, then running, and ends as succeeded, failed or cancelled. A running run may begin
again (its worker died), which keeps the state and counts an attempt. Only a queued run can be
cancelled; what has begun goes on to its end.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

import attrs

from svc_core.automations.model import (
    Automation,
    AutomationRun,
    RunStatus,
)
from svc_core.operation import schedule
from svc_core.wire import InputFault

ATTEMPTS_MAX: Final = 3
"""Beginnings of one run: what has stopped three processes would stop the next."""

# -- runs --------------------------------------------------------------------------------------

Happening = Literal["begin", "succeed", "fail", "cancel"]

STEPS: Final[Mapping[tuple[RunStatus, Happening], RunStatus]] = {
    ("queued", "begin"): "running",
    ("queued", "fail"): "failed",
    ("queued", "cancel"): "cancelled",
    ("running", "begin"): "running",
    ("running", "succeed"): "succeeded",
    ("running", "fail"): "failed",
}
"""The next status for a status and an event; a missing pair changes nothing."""

ENDS: Final = frozenset({"succeeded", "failed", "cancelled"})


def advance_run(
    run: AutomationRun, happening: Happening, now: datetime, **members: Any
) -> AutomationRun | None:
    """The run after an event; None where the event changes nothing."""
    status = STEPS.get((run.status, happening))
    if status is None:
        return None
    moment = "started_at" if status == "running" else "finished_at"
    return attrs.evolve(run, **{"status": status, moment: now, "updated_at": now, **members})


# -- automations -------------------------------------------------------------------------------


def next_due(automation: Automation, now: datetime) -> datetime | None:
    """When a scheduled automation is next due after `now`; None without a schedule."""
    if automation.schedule is None or automation.status == "archived":
        return None
    return schedule.next_run(automation.schedule.schedule, now)


def reschedule(before: Automation | None, after: Automation, now: datetime) -> Automation:
    """The automation; its next run is counted from `now` if it is planned anew (rule 2)."""
    if before is not None and (before.schedule, before.status) == (after.schedule, after.status):
        return after
    return replan(after, now)


def replan(automation: Automation, now: datetime) -> Automation:
    """The automation with its next run counted from now."""
    return attrs.evolve(automation, next_run_at=next_due(automation, now))


def timetable_faults(automation: Automation) -> list[InputFault]:
    """The faults of a schedule whose members contradict each other."""
    if automation.schedule is None:
        return []
    time_of_day, day, zone = (f"/schedule/{name}" for name in ("timeOfDay", "day", "timezone"))
    return schedule.schedule_faults(
        automation.schedule.schedule, time_of_day=time_of_day, day=day, zone=zone
    )
