"""When an automation runs, and what may become of a run.

Rule 1: only an active automation with a schedule is due; runs that were missed are one run.
Rule 2: only a new schedule, archiving and restoring plan anew.
Rule 3: an end is final: whatever comes later changes nothing of the run.
Rule 4: a run that was interrupted is begun again, a few times.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

import attrs

from svc_core import problem, schedule
from svc_core.problem import Problem, describe
from svc_core.resources.automation import (
    Automation,
    AutomationInput,
    AutomationPatch,
    AutomationRun,
    RunStatus,
    Timetable,
    TimetablePatch,
)
from svc_core.resources.members import changed
from svc_core.unset import named
from svc_core.wire import Fault

ATTEMPTS_MAX: Final = 3
"""Beginnings of one run: what has stopped three processes would stop the next."""

_DAY_MAX: Final = {"weekly": 7, "monthly": 28}

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
"""What follows; a pair that is not here changes nothing."""

ENDS: Final = frozenset({"succeeded", "failed", "cancelled"})


def after(
    run: AutomationRun, happening: Happening, now: datetime, **members: Any
) -> AutomationRun | None:
    """The run after that; None where it changes nothing."""
    status = STEPS.get((run.status, happening))
    if status is None:
        return None
    moment = "started_at" if status == "running" else "finished_at"
    return attrs.evolve(run, **{"status": status, moment: now, "updated_at": now, **members})


# -- automations -------------------------------------------------------------------------------


def planned(automation: Automation, now: datetime) -> datetime | None:
    """When an automation runs next by itself, after `now`."""
    if automation.schedule is None or automation.status == "archived":
        return None
    return schedule.next_run(automation.schedule.schedule, now)


def changed_by(
    before: Automation, sent: AutomationInput | AutomationPatch, now: datetime
) -> Automation:
    """The automation with the members that are sent.

    Raises:
        Problem: VALIDATION_FAILED when the result would not be a valid one.
    """
    members = named(sent, AutomationInput)
    if isinstance(sent, AutomationPatch) and isinstance(sent.schedule, TimetablePatch):
        members["schedule"] = _merged(before.schedule, sent.schedule)
    told = changed(before, now, **members)
    check(told.schedule)
    return told if told.schedule == before.schedule else replanned(told, now)


def replanned(automation: Automation, now: datetime) -> Automation:
    """The automation with its next run counted from now."""
    return attrs.evolve(automation, next_run_at=planned(automation, now))


def _merged(before: Timetable | None, sent: TimetablePatch) -> Timetable:
    """The schedule with the members that are sent (RFC 7396)."""
    members = named(sent, Timetable)
    if before is not None:
        members = {**attrs.asdict(before), **members}
    if not isinstance(members.get("frequency"), str):
        raise Problem(
            problem.VALIDATION_FAILED, describe([Fault("/schedule/frequency", "is required")])
        )
    return Timetable(**members)


def check(timetable: Timetable | None) -> None:
    """Pass a schedule whose members fit each other.

    Raises:
        Problem: VALIDATION_FAILED, naming every fault.
    """
    if timetable is None:
        return
    faults, how = [], timetable.frequency
    if how in schedule.TIMED and timetable.time_of_day is None:
        faults.append(Fault("/schedule/timeOfDay", f"is required when it is {how}"))
    if timetable.day is not None and timetable.day > _DAY_MAX.get(how, 0):
        most = f"must be at most {_DAY_MAX[how]}" if how in _DAY_MAX else "has no meaning"
        faults.append(Fault("/schedule/day", f"{most} when it is {how}"))
    if not schedule.is_zone(timetable.timezone):
        faults.append(Fault("/schedule/timezone", "must be an IANA time zone such as Europe/Paris"))
    if faults:
        raise Problem(problem.VALIDATION_FAILED, describe(faults))
