"""The queue of runs: how a worker takes, renews, begins and ends one, each in one unit of work.

Rule 1: a run is held by one worker at a time, under a lease that it renews; the lease of a dead
        worker ends by itself.
Rule 2: a worker whose lease has passed to another writes nothing about the run.
Rule 3: a run, its automation and the event of its end are written together.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import attrs
from attrs import frozen

from svc_core.automations import rules
from svc_core.automations.model import (
    AUTOMATIONS,
    RUNS,
    WORK,
    Automation,
    AutomationRun,
    RunError,
    RunOutput,
    Trigger,
    Work,
)
from svc_core.automations.rules import Happening
from svc_core.base import instants
from svc_core.contract import problem
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection
from svc_core.outbox.cloud_events import cloud_event, enabled_webhooks, publish
from svc_core.outbox.model import RUN_FINISHED

T = TypeVar("T")

RUN_RETENTION: Final = timedelta(days=90)
"""How long runs are kept: a quarter can be looked back on."""


@frozen
class RunTask:
    """A run that a worker holds, as it was when it was taken, with its earlier attempts."""

    run: AutomationRun
    holder: str
    attempts: int

    @property
    def automation_id(self) -> str:
        """Whose run it is."""
        return self.run.automation_id


async def _value(ctx: Context, collection: Collection[T], id_: str) -> T:
    """The value of a row that exists for as long as its row of work."""
    return collection.decode((await ctx.tx.documents.get_many(collection, [id_]))[id_].raw)


async def work_of(ctx: Context, automation_id: str) -> Work:
    """The row of work of an automation; an empty one where none is stored."""
    return await ctx.find(WORK, automation_id) or Work(automation_id, None)


async def queue_run(ctx: Context, automation: Automation, trigger: Trigger) -> AutomationRun:
    """Queue a run of an automation that has none under way."""
    run = AutomationRun(
        id=ctx.ids.new("run"),
        automation_id=automation.id,
        owner_id=automation.owner_id,
        trigger=trigger,
        instructions=automation.instructions,
        created_at=ctx.now,
        updated_at=ctx.now,
    )
    if trigger == "schedule":
        automation = rules.replan(automation, ctx.now)
    await _save_run(ctx, automation, run)
    await ctx.save(WORK, automation.id, Work(automation.id, ctx.now, run.id))
    return run


async def _save_run(ctx: Context, automation: Automation, run: AutomationRun) -> None:
    """Write a run, and its summary in the automation."""
    await ctx.save(RUNS, run.id, run)
    after = attrs.evolve(automation, last_run=run.summary, updated_at=ctx.now)
    await ctx.save(AUTOMATIONS, automation.id, after)


async def cancel_queued(ctx: Context, automation: Automation) -> Automation:
    """Cancel the queued run, if there is one; the automation after that."""
    work = await work_of(ctx, automation.id)
    if work.run_id is None:
        return automation
    run = rules.advance_run(await _value(ctx, RUNS, work.run_id), "cancel", ctx.now)
    if run is None:
        return automation
    await ctx.save(RUNS, run.id, run)
    await ctx.save(WORK, automation.id, Work(automation.id, automation.next_run_at))
    await _announce(ctx, automation, run)
    return attrs.evolve(automation, last_run=run.summary)


async def plan_next(ctx: Context, automation: Automation) -> None:
    """Set when the next run is due, unless one is under way."""
    work = await work_of(ctx, automation.id)
    if work.run_id is None and work.due_at != automation.next_run_at:
        await ctx.save(WORK, automation.id, attrs.evolve(work, due_at=automation.next_run_at))


# -- the worker's ------------------------------------------------------------------------------


async def take_run(
    ctx: Context, automation_id: str, holder: str, until: datetime
) -> RunTask | None:
    """Take the due run of an automation under a lease; None where none is due or another has it."""
    work = await work_of(ctx, automation_id)
    if work.due_at is None or work.due_at > ctx.now:
        return None
    if work.run_id is None:
        run = await queue_run(ctx, await _value(ctx, AUTOMATIONS, automation_id), "schedule")
        work = Work(automation_id, ctx.now, run.id)
    else:
        run = await _value(ctx, RUNS, work.run_id)
    await ctx.save(WORK, automation_id, attrs.evolve(work, due_at=until, holder=holder))
    return RunTask(run, holder, work.attempts)


async def _own_work(ctx: Context, task: RunTask) -> Work | None:
    work = await work_of(ctx, task.automation_id)
    return work if (work.run_id, work.holder) == (task.run.id, task.holder) else None


async def renew_run(ctx: Context, task: RunTask, until: datetime) -> bool:
    """Extend the lease of a run; whether the worker still held it."""
    work = await _own_work(ctx, task)
    if work is not None:
        await ctx.save(WORK, task.automation_id, attrs.evolve(work, due_at=until))
    return work is not None


async def release_run(ctx: Context, task: RunTask, until: datetime) -> None:
    """End the lease of a run, to be taken again from `until`; the attempt does not count."""
    work = await _own_work(ctx, task)
    if work is not None:
        free = attrs.evolve(work, due_at=until, holder=None, attempts=task.attempts)
        await ctx.save(WORK, task.automation_id, free)


async def free_run(ctx: Context, automation_id: str) -> None:
    """End the lease of a worker that no longer exists."""
    work = await work_of(ctx, automation_id)
    if work.holder is not None:
        await ctx.save(WORK, automation_id, attrs.evolve(work, due_at=ctx.now, holder=None))


async def begin_run(ctx: Context, task: RunTask, **members: Any) -> AutomationRun | None:
    """Mark a taken run as running; None where it is no longer held, or has too many attempts."""
    work = await _own_work(ctx, task)
    if work is None:
        return None
    if work.attempts >= rules.ATTEMPTS_MAX:
        text = f"It was interrupted {work.attempts} times."
        await end_run(ctx, task, "fail", error=RunError(problem.INTERNAL_ERROR.code, text))
        return None
    run = await _value(ctx, RUNS, task.run.id)
    after = rules.advance_run(run, "begin", ctx.now, **members)
    if after is None:
        raise AssertionError("a run that is over is nobody's work")
    await _save_run(ctx, await _value(ctx, AUTOMATIONS, task.automation_id), after)
    await ctx.save(WORK, task.automation_id, attrs.evolve(work, attempts=work.attempts + 1))
    return after


async def end_run(
    ctx: Context,
    task: RunTask,
    happening: Happening,
    *,
    output: RunOutput | None = None,
    error: RunError | None = None,
) -> bool:
    """Write the end of a run; False where another worker holds it."""
    if await _own_work(ctx, task) is None:
        return False
    run = await _value(ctx, RUNS, task.run.id)
    automation = await _value(ctx, AUTOMATIONS, task.automation_id)
    after = rules.advance_run(run, happening, ctx.now, output=output, error=error)
    if after is None:
        raise AssertionError("a run that is over is nobody's work")
    await _save_run(ctx, automation, after)
    await ctx.save(WORK, automation.id, Work(automation.id, automation.next_run_at))
    await _announce(ctx, automation, after)
    return True


async def remove_runs(ctx: Context, ids: Sequence[str]) -> None:
    """Remove runs that are over and older than they are kept."""
    for id_ in ids:
        await ctx.remove(RUNS, id_)


async def _announce(ctx: Context, automation: Automation, run: AutomationRun) -> None:
    """Publish the event of a finished run to its webhooks; links in it lead to the output."""
    hooks = [hook for hook in await enabled_webhooks(ctx) if RUN_FINISHED in hook.events]
    if not hooks:
        return
    origin, times = ctx.host.origin, (run.started_at, run.finished_at)
    start, finish = (None if time is None else instants.render(time) for time in times)
    data = {
        "runId": run.id,
        "automationId": automation.id,
        "projectId": automation.project_id,
        "name": automation.name,
        "status": run.status,
        "trigger": run.trigger,
        "startedAt": start,
        "finishedAt": finish,
        "links": {
            "self": f"{origin}{RUNS.row_path(run, run.id)}",
            "automation": f"{origin}{AUTOMATIONS.address(automation.id)}",
        },
    }
    id_ = ctx.ids.new("evt")
    event = cloud_event(id_, RUN_FINISHED, run.id, source=origin, at=ctx.now, data=data)
    await publish(ctx, event, hooks)
