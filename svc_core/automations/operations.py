"""The operations of automations and their runs (Spec: Automations).

Rule 1: an automation belongs to its owner alone; to others of the workspace it does not exist.
Rule 2: archiving gives up a run that has not begun; one that has goes on to its end.
Rule 3: one run at a time: a second is refused while one is queued or running.
"""

from typing import Annotated, Any

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.access.model import LARGER_PLAN, plan_bound
from svc_core.automations import rules
from svc_core.automations import run_queue as running
from svc_core.automations.model import (
    AUTOMATIONS,
    RUNS,
    Automation,
    AutomationInput,
    AutomationRun,
    RunStatus,
    Timetable,
)
from svc_core.base.unset import UNSET, Maybe
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Accepted, Page, Single
from svc_core.operation.context import Context
from svc_core.operation.crud import Crud, RowEdit
from svc_core.operation.declaration import PATH, QUERY, Operation
from svc_core.operation.members import AutomationId, Cursor, Limit, PageRequest, RunId
from svc_core.operation.merge_patch import nullable, patch_of
from svc_core.projects.model import PROJECTS, Archivable
from svc_core.wire import InputFault

# -- requests ----------------------------------------------------------------------------------


@frozen
class ListAutomations(PageRequest):
    """The caller's automations, newest first."""

    status: Annotated[Maybe[Archivable], QUERY] = UNSET
    """Only those."""


@frozen
class AutomationRequest:
    """One automation."""

    automation_id: Annotated[AutomationId, PATH]


@frozen
class ListRuns(AutomationRequest):
    """The runs of an automation, newest first."""

    status: Annotated[Maybe[tuple[RunStatus, ...]], QUERY] = UNSET
    """Comma list of states."""
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class RunRequest(AutomationRequest):
    """One run of an automation."""

    run_id: Annotated[RunId, PATH]


# -- use cases ---------------------------------------------------------------------------------


async def _complete(ctx: Context, change: RowEdit[Automation]) -> Automation:
    """Check a new schedule and a new project, and plan the next run anew where that is due.

    Archiving gives up a run that has not begun.

    Raises:
        Problem: VALIDATION_FAILED, naming every fault.
    """
    after, id_ = change.after, change.after.project_id
    faults = rules.timetable_faults(after) if after.schedule != change.former("schedule") else []
    if id_ not in {None, change.former("project_id")}:
        document = await ctx.tx.documents.get(PROJECTS, id_)
        if document is None or not ctx.is_visible(PROJECTS, document):
            faults.append(InputFault("/projectId", "is no project of yours"))
    problem.refuse(faults)
    planned = rules.reschedule(change.before, after, ctx.now)
    return await running.cancel_queued(ctx, planned) if after.status == "archived" else planned


async def _plan(ctx: Context, change: RowEdit[Automation]) -> None:
    await running.plan_next(ctx, change.after)


async def run_automation(
    ctx: Context,
    request: AutomationRequest,  # noqa: ARG001
) -> Accepted[AutomationRun]:
    """Queues a run, which a worker begins within seconds, or when the agent limits of the workspace
    allow it. Only one run at a time is queued or running; until it ends, another request answers
    409.

    Raises:
        Problem: AUTOMATION_ARCHIVED, RUN_IN_PROGRESS.
    """
    automation = AUTOMATIONS.decode(ctx.row.raw)
    if automation.status == "archived":
        raise Problem(problem.AUTOMATION_ARCHIVED, f"{automation.id} is archived.")
    work = await running.work_of(ctx, automation.id)
    if work.run_id is not None:
        raise Problem(problem.RUN_IN_PROGRESS, f"{work.run_id} has not finished.")
    run = await running.queue_run(ctx, automation, "manual")
    document = await ctx.load(RUNS, run.id)
    return Accepted(document.raw, document.tag, str(RUNS.row_path(run, run.id)))


async def list_automation_runs(ctx: Context, request: ListRuns) -> Page[AutomationRun]:
    """Its runs, newest first, with their outputs. They are kept for 90 days."""
    await ctx.load(AUTOMATIONS, request.automation_id)
    filters = {"automation_id": request.automation_id, "status": request.status}
    page = await ctx.page(RUNS, where=filters, after=request.cursor, limit=request.limit)
    return attrs.evolve(page, rows=tuple(_visible_run(ctx, row) for row in page.rows))


async def get_automation_run(ctx: Context, request: RunRequest) -> Single[AutomationRun]:
    """One run with its output, or with the error that ended it."""
    document = await ctx.load(RUNS, request.run_id)
    if RUNS.decode(document.raw).automation_id != request.automation_id:
        raise Problem(problem.NOT_FOUND, "The automation has no such run.")
    return Single(_visible_run(ctx, document.raw), document.tag)


def _visible_run(ctx: Context, raw: bytes) -> bytes:
    """The run with the URLs of its sources rewritten for the caller's origin."""
    if ctx.origin == ctx.host.origin or (run := RUNS.decode(raw)).output is None:
        return raw
    sources = (
        attrs.evolve(source, url=ctx.visible_url(source.url)) for source in run.output.sources
    )
    output = attrs.evolve(run.output, sources=tuple(sources))
    return wire.to_bytes(attrs.evolve(run, output=output))


# -- declarations ------------------------------------------------------------------------------

_PATH = "/automations/{automationId}/runs"
_TIMETABLE_PATCH = patch_of(
    Timetable,
    "",
    "The members of the schedule to change; null resets an optional one (RFC 7396).",
)
AUTOMATION_ROWS = Crud(
    AUTOMATIONS,
    idempotency="optional",
    body=AutomationInput,
    patch=patch_of(
        AutomationInput,
        schedule=nullable(_TIMETABLE_PATCH, "Its members; null: by hand."),
    ),
    bound=plan_bound("automations"),
    cure=LARGER_PLAN,
    example={
        "name": "Morning look at the ports",
        "instructions": "Which port strikes were announced since yesterday?",
        "schedule": {"frequency": "weekdays", "timeOfDay": "07:30", "timezone": "Europe/Paris"},
    },
    complete=_complete,
    follow=_plan,
)
_REPEAT = " A request that changes nothing writes nothing."

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    AUTOMATION_ROWS.listing(
        ListAutomations,
        "Those of the person behind the key, newest first; nobody else sees them.",
        columns=("id", "name", "status", "nextRunAt", "lastRun.status"),
    ),
    AUTOMATION_ROWS.declare(
        "create",
        "Asks the agent the `instructions` on the `schedule`, or only by hand where there is "
        "none. A run acts for the person behind the key, and counts in the agent "
        "limits and the chat credits of the workspace, not against a key.",
    ),
    AUTOMATION_ROWS.declare("show", "One automation of the person behind the key."),
    AUTOMATION_ROWS.declare(
        "replace",
        "Omitted members get their defaults; `status` stays. A new schedule counts from "
        "now; a run that is under way does not change." + _REPEAT,
    ),
    AUTOMATION_ROWS.declare(
        "update",
        "Changes the members that are sent (JSON Merge Patch, RFC 7396), inside `schedule` "
        "too; null leaves it to be run by hand." + _REPEAT,
        examples={"body": {"schedule": {"frequency": "weekly", "timeOfDay": "07:30", "day": 1}}},
    ),
    AUTOMATION_ROWS.switch(
        "archive",
        "Stops its schedule and cancels a run that has not begun; a run that has begun is "
        "finished." + _REPEAT,
        {"status": "archived"},
    ),
    AUTOMATION_ROWS.switch(
        "restore",
        "Starts the schedule again; the next run counts from now." + _REPEAT,
        {"status": "active"},
    ),
    AUTOMATION_ROWS.declare(
        "run",
        run_automation,
        summary="Run an automation now",
        fails=(problem.RUN_IN_PROGRESS, problem.AUTOMATION_ARCHIVED),
    ),
    AUTOMATION_ROWS.operation(
        "automations runs",
        f"GET {_PATH}",
        "List the runs of an automation",
        list_automation_runs,
        columns=("id", "status", "trigger", "createdAt", "finishedAt", "error.code"),
    ),
    AUTOMATION_ROWS.operation(
        "automations show-run",
        f"GET {_PATH}/{{runId}}",
        "Read a run",
        get_automation_run,
    ),
)
