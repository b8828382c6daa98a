"""The operations of automations and their runs (Spec: Automations).

Rule 1: an automation belongs to its owner alone; to others of the workspace it does not exist.
Rule 2: archiving gives up a run that has not begun; one that has goes on to its end.
Rule 3: one run at a time: a second is refused while one is queued or running.
"""

from typing import Annotated, Any

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.automations import rules
from svc_core.automations import run_queue as running
from svc_core.automations.model import (
    AUTOMATIONS,
    AUTOMATIONS_MAX,
    RUNS,
    Automation,
    AutomationInput,
    AutomationPatch,
    AutomationRun,
    RunStatus,
)
from svc_core.base.unset import UNSET, Maybe, patch_members
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Accepted, Created, Page, Single
from svc_core.operation import crud
from svc_core.operation.context import Context
from svc_core.operation.crud import update_row
from svc_core.operation.declaration import BODY, PATH, QUERY, Operation
from svc_core.operation.members import AutomationId, Cursor, Limit, RunId
from svc_core.projects.model import PROJECTS, Archivable
from svc_core.wire import InputFault
from svc_core.wire.constraints import Doc

# -- requests ----------------------------------------------------------------------------------


@frozen
class ListAutomations:
    """The caller's automations, newest first."""

    status: Annotated[Maybe[Archivable], QUERY, Doc("Only those.")] = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class CreateAutomation:
    """A new automation."""

    body: Annotated[AutomationInput, BODY]


@frozen
class AutomationRequest:
    """One automation."""

    automation_id: Annotated[AutomationId, PATH]


@frozen
class ReplaceAutomation(AutomationRequest):
    """One automation, replaced whole."""

    body: Annotated[AutomationInput, BODY]


@frozen
class PatchAutomation(AutomationRequest):
    """One automation, changed in part."""

    body: Annotated[AutomationPatch, BODY]


@frozen
class ListRuns(AutomationRequest):
    """The runs of an automation, newest first."""

    status: Annotated[Maybe[tuple[RunStatus, ...]], QUERY, Doc("Comma list of states.")] = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class RunRequest(AutomationRequest):
    """One run of an automation."""

    run_id: Annotated[RunId, PATH]


# -- use cases ---------------------------------------------------------------------------------


async def list_automations(ctx: Context, request: ListAutomations) -> Page[Automation]:
    """The caller's own automations."""
    filters = {"status": request.status}
    return await ctx.page(AUTOMATIONS, where=filters, after=request.cursor, limit=request.limit)


async def create_automation(ctx: Context, request: CreateAutomation) -> Created[Automation]:
    """Begin an automation of the caller's own."""
    automation = crud.new_row(ctx, AUTOMATIONS, **patch_members(request.body, AutomationInput))
    await _check(ctx, automation, None)
    automation = rules.replan(automation, ctx.now)
    answer = await crud.create_own(ctx, AUTOMATIONS, automation, AUTOMATIONS_MAX)
    await running.plan_next(ctx, automation)
    return answer


async def change_automation(
    ctx: Context, request: ReplaceAutomation | PatchAutomation
) -> Single[Automation]:
    """Change the members that are sent; a replacement sends its defaults too."""
    before = AUTOMATIONS.decode(ctx.row.raw)
    after = rules.apply_change(before, request.body, ctx.now)
    await _check(ctx, after, before.project_id)
    return await _write(ctx, rules.reschedule(before, after, ctx.now))


async def _write(ctx: Context, after: Automation) -> Single[Automation]:
    await running.plan_next(ctx, after)
    return await ctx.rewrite(AUTOMATIONS, after)


async def _check(ctx: Context, automation: Automation, earlier: str | None) -> None:
    """Check the schedule, and that the project is the caller's own or the one set before.

    Raises:
        Problem: VALIDATION_FAILED, naming every fault.
    """
    faults, id_ = rules.timetable_faults(automation), automation.project_id
    if id_ not in {None, earlier}:
        document = await ctx.tx.documents.get(PROJECTS, id_)
        if document is None or not ctx.is_visible(PROJECTS, document):
            faults.append(InputFault("/projectId", "is no project of yours"))
    problem.refuse(faults)


async def archive_automation(ctx: Context, request: AutomationRequest) -> Single[Automation]:  # noqa: ARG001
    """Stop its schedule, and give up a run that has not begun."""
    before = AUTOMATIONS.decode(ctx.row.raw)
    after = update_row(before, ctx.now, status="archived", next_run_at=None)
    return await _write(ctx, await running.cancel_queued(ctx, after))


async def restore_automation(ctx: Context, request: AutomationRequest) -> Single[Automation]:  # noqa: ARG001
    """Take an archived automation up again; its next run is counted from now."""
    before = AUTOMATIONS.decode(ctx.row.raw)
    if before.status == "active":
        return await _write(ctx, before)
    after = update_row(before, ctx.now, status="active")
    return await _write(ctx, rules.replan(after, ctx.now))


async def run_automation(
    ctx: Context,
    request: AutomationRequest,  # noqa: ARG001
) -> Accepted[AutomationRun]:
    """Queue a run by hand.

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
    """The runs of one automation of the caller's own."""
    await ctx.load(AUTOMATIONS, request.automation_id)
    filters = {"automation_id": request.automation_id, "status": request.status}
    page = await ctx.page(RUNS, where=filters, after=request.cursor, limit=request.limit)
    return attrs.evolve(page, rows=tuple(_visible_run(ctx, row) for row in page.rows))


async def get_automation_run(ctx: Context, request: RunRequest) -> Single[AutomationRun]:
    """One run of one automation of the caller's own."""
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

_EXAMPLE = {
    "name": "Morning look at the ports",
    "instructions": "Which port strikes were announced since yesterday?",
    "schedule": {"frequency": "weekdays", "timeOfDay": "07:30", "timezone": "Europe/Paris"},
}
_READ, _WRITE = frozenset({"automations:read"}), frozenset({"automations:write"})
_ROWS = crud.RowOperations(AUTOMATIONS, "automation_id", _READ, _WRITE, idempotency="optional")
_PATH, _REPEAT = "/automations/{automationId}", " Where it is so already, nothing is written."

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _ROWS.operation(
        "automations list",
        "GET /automations",
        "List your automations",
        list_automations,
        description="Those of the person behind the key, newest first; nobody else sees them.",
        columns=("id", "name", "status", "nextRunAt", "lastRun.status"),
    ),
    _ROWS.operation(
        "automations create",
        "POST /automations",
        "Create an automation",
        create_automation,
        description=(
            "Has the agent asked `instructions` as often as `schedule` says, or by hand alone "
            "without one. A run acts for the person behind the key, and counts in the agent "
            "limits and the chat credits of the workspace, not against a key."
        ),
        fails=(problem.RESOURCE_CONFLICT,),
        examples={"body": _EXAMPLE},
    ),
    _ROWS.show(
        "getAutomation",
        "automations show",
        f"GET {_PATH}",
        "Read an automation",
        AutomationRequest,
        description="One automation of the person behind the key.",
    ),
    _ROWS.operation(
        "automations replace",
        f"PUT {_PATH}",
        "Replace an automation",
        change_automation,
        id_="replaceAutomation",
        request=ReplaceAutomation,
        description=(
            "What is left out gets its default; `status` stays. Another schedule is counted from "
            "now; a run that is under way goes on as it was asked." + _REPEAT
        ),
        examples={"body": _EXAMPLE},
    ),
    _ROWS.operation(
        "automations update",
        f"PATCH {_PATH}",
        "Change an automation",
        change_automation,
        id_="updateAutomation",
        request=PatchAutomation,
        description=(
            "Changes the members that are sent (JSON Merge Patch, RFC 7396), inside `schedule` "
            "too; null leaves it to be run by hand." + _REPEAT
        ),
        examples={"body": {"schedule": {"frequency": "weekly", "timeOfDay": "07:30", "day": 1}}},
    ),
    _ROWS.operation(
        "automations archive",
        f"POST {_PATH}/archive",
        "Archive an automation",
        archive_automation,
        description=(
            "Stops its schedule and cancels a run that has not begun; one that has goes on to its "
            "end." + _REPEAT
        ),
    ),
    _ROWS.operation(
        "automations restore",
        f"POST {_PATH}/restore",
        "Restore an automation",
        restore_automation,
        description="Takes it up again; its next run is counted from now." + _REPEAT,
    ),
    _ROWS.operation(
        "automations run",
        f"POST {_PATH}/run",
        "Run an automation now",
        run_automation,
        description=(
            "Queues a run, which a worker begins within seconds, or when the agent limits of the "
            "workspace allow it. One that is queued or running is the only one: 409 until it ends."
        ),
        fails=(problem.RUN_IN_PROGRESS, problem.AUTOMATION_ARCHIVED),
    ),
    _ROWS.operation(
        "automations runs",
        f"GET {_PATH}/runs",
        "List the runs of an automation",
        list_automation_runs,
        description="Its runs, newest first, with their outputs. They are kept for 90 days.",
        columns=("id", "status", "trigger", "createdAt", "finishedAt", "error.code"),
    ),
    _ROWS.operation(
        "automations show-run",
        f"GET {_PATH}/runs/{{runId}}",
        "Read a run",
        get_automation_run,
        description="One run with its output, or with the error that ended it.",
    ),
)
