"""Automations, their runs, and the rows of work that workers take (Spec: Automations).

Rule 1: an automation's row repeats its newest run in short, so that one read shows both.
Rule 2: an automation has one row of work, which names one run at most, so it never has two runs.
Rule 3: the row of work names the worker that holds it and when that lease ends; after that any
        worker may take it.
"""

from datetime import datetime
from typing import Annotated, Final, Literal

from attrs import frozen

from svc_core.operation.members import (
    NOT_BLANK,
    AutomationId,
    CreatedAt,
    OwnerId,
    ProjectId,
    RunId,
    ThreadId,
    UpdatedAt,
    micros_or_never,
)
from svc_core.operation.ports import Collection, attribute_keys
from svc_core.operation.schedule import Schedule
from svc_core.projects.model import Archivable
from svc_core.reports.profiles.model import Name, ScheduleDay, TimeOfDay, TimeZone
from svc_core.wire.constraints import Doc, Ge, MaxLen, MinLen

TEXT_MAX: Final = 16_000
SOURCES_MAX: Final = 20
"""Characters and sources of an answer: as many as the agent gives."""

Instructions = Annotated[
    str, MinLen(3), MaxLen(4_000), NOT_BLANK, Doc("What the agent is asked at every run.")
]
Cadence = Annotated[
    Literal["hourly", "daily", "weekdays", "weekly", "monthly"], Doc("How often it runs.")
]


@frozen
class Timetable:
    """How often an automation runs, in its own time zone."""

    frequency: Cadence
    time_of_day: TimeOfDay | None = None
    timezone: TimeZone = "UTC"
    day: ScheduleDay | None = None

    @property
    def schedule(self) -> Schedule:
        """When runs are due."""
        return Schedule(self.frequency, self.time_of_day, self.timezone, self.day)


RunStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]
Status = Annotated[RunStatus, Doc("How far it is; the last three are ends.")]
OVER: Final = ("succeeded", "failed", "cancelled")
"""The ends of runs."""
Trigger = Annotated[Literal["schedule", "manual"], Doc("What asked for it.")]
StartedAt = Annotated[datetime | None, Doc("When it was last begun; null before.")]
FinishedAt = Annotated[datetime | None, Doc("When it ended; null before.")]


@frozen
class RunSummary:
    """The newest run of an automation, in short."""

    id: RunId
    status: Status
    trigger: Trigger
    started_at: StartedAt
    finished_at: FinishedAt


@frozen
class RunSource:
    """What an answer cites: the source of its number, with where the service has it."""

    number: Annotated[int, Ge(1)]
    """`[n]` in the text cites it."""
    id: str
    """Its identifier."""
    title: str
    """Its title."""
    url: str | None
    """Where the service has it; null where nowhere."""


@frozen
class RunOutput:
    """What the agent answered."""

    text: Annotated[str, MaxLen(TEXT_MAX)]
    """The answer; `[n]` cites a source."""
    sources: Annotated[tuple[RunSource, ...], MaxLen(SOURCES_MAX)]
    """What it cites."""


@frozen
class RunError:
    """Why a run failed."""

    code: str
    """The code of a problem."""
    detail: str
    """What went wrong."""


@frozen(kw_only=True)
class AutomationRun:
    """One run of an automation, with what came of it."""

    id: RunId
    automation_id: AutomationId
    owner_id: OwnerId
    status: Status = "queued"
    trigger: Trigger
    instructions: Instructions
    thread_id: ThreadId | None = None
    """The thread that it was answered in."""
    output: RunOutput | None = None
    """The answer; null unless it succeeded."""
    error: RunError | None = None
    """Why it failed; null unless it did."""
    created_at: CreatedAt
    updated_at: UpdatedAt
    started_at: StartedAt = None
    finished_at: FinishedAt = None

    @property
    def summary(self) -> RunSummary:
        """It in short."""
        return RunSummary(self.id, self.status, self.trigger, self.started_at, self.finished_at)


OptionalTimetable = Annotated[
    Timetable | None, Doc("When it runs by itself; null for by hand alone.")
]
OptionalProject = Annotated[ProjectId | None, Doc("The project it belongs to; null for none.")]


@frozen(kw_only=True)
class Automation:
    """A question that the agent is asked again and again."""

    id: AutomationId
    owner_id: OwnerId
    name: Name
    instructions: Instructions
    schedule: OptionalTimetable
    project_id: OptionalProject
    status: Archivable = "active"
    last_run: RunSummary | None = None
    """Its newest run; null before the first."""
    next_run_at: datetime | None = None
    """When it is due; null for by hand alone."""
    created_at: CreatedAt
    updated_at: UpdatedAt


@frozen
class AutomationInput:
    """A whole automation as a client sends it; what is left out takes its default."""

    name: Name
    instructions: Instructions
    schedule: OptionalTimetable = None
    project_id: OptionalProject = None


@frozen
class Work:
    """What is to be done for an automation: its next run, or the one that is not over yet.

    `due_at` is when to look at it: when the next run is due, when the queued one may begin, or
    until when `holder` has it. `attempts` are those that have begun of the run.
    """

    automation_id: str
    due_at: datetime | None
    run_id: str | None = None
    holder: str | None = None
    attempts: int = 0


AUTOMATIONS: Collection[Automation] = Collection(
    name="automations",
    model=Automation,
    prefix="aut",
    keys=attribute_keys("owner_id", "status"),
    kind="automation",
    owner="owner_id",
)


RUNS: Collection[AutomationRun] = Collection(
    name="runs",
    model=AutomationRun,
    prefix="run",
    keys=attribute_keys("owner_id", "automation_id", "status"),
    kind="automationRun",
    path="/automations/*/runs",
    parent=lambda run: run.automation_id,
    owner="owner_id",
)

WORK: Collection[Work] = Collection(
    name="work",
    model=Work,
    prefix="aut",
    order=lambda work: micros_or_never(work.due_at),
    # So that a server finds what the one before it held.
    keys={"is_held": lambda work: None if work.holder is None else "true"},
)
"""One row an automation, under its id; workers read the lowest `due_at` of every tenant."""
