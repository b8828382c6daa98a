"""Runs automations: asks the agent in the name of the owner when a run is due or requested.

Rule 1: a run is claimed in the store before anything is done for it, so that of any number of
        workers one carries it out. The claim is renewed; that of a dead worker expires, and the
        run begins again soon after.
Rule 2: a few run at once, in fair shares of workspaces: a slow answer holds up its own run only,
        and many runs of one workspace hold up no other's.
Rule 3: a run counts in the agent pool of its account before it begins. Where the pool is full the
        run stays queued until it opens.
Rule 4: a failure is stored as the error of the run, and costs no credit unless text was produced.
"""

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Final

from attrs import frozen

from svc_core.access import chat_credits, limits
from svc_core.access import operations as accounts
from svc_core.agent import threads
from svc_core.agent.agent_ports import Backend, Tools, Turn
from svc_core.agent.answer_events import AnswerFailure as Unanswered
from svc_core.agent.transcript import Transcript, transcribe
from svc_core.automations import run_queue as running
from svc_core.automations.model import WORK, AutomationRun, RunError, RunOutput, RunSource, Work
from svc_core.automations.run_queue import RunTask
from svc_core.contract import problem
from svc_core.contract.problem import Problem, ProblemType
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Counters, Overloaded, StorageUnavailable, TenantRow
from svc_http import system
from svc_http.exchange.fair_shares import BOUNDS, Shares
from svc_http.service.service_units import OnFailure, Service
from svc_http.service.workers.claim_loop import CLAIM, Claim, ClaimLoop

SECONDS_MAX: Final = 120.0
"""How long an answer may take: as long as a streamed one."""


class AutomationRounds(ClaimLoop[Work, None]):
    """The runs that one process has claimed, or will claim as soon as there is a place."""

    queue = WORK
    look_seconds = 5.0
    gather_seconds = 0.1
    window = 32
    """Four times the runs that may go on at once."""

    def __init__(self, service: Service, counters: Counters | None, on_failure: OnFailure) -> None:
        """Count in `counters`, where there are any, and tell `on_failure` of defects."""
        super().__init__(service, on_failure)
        self._counters = counters
        self._shares: Shares[asyncio.Future[None]] = Shares(BOUNDS["automations"])

    async def free(self, ctx: Context, id_: str) -> None:
        """Queue again the run that a process had claimed which has ended."""
        await running.free_run(ctx, id_)

    async def attend(self, row: TenantRow[Work]) -> None:
        """Carry out a run, when there is a place for its workspace."""
        async with self._shares.turn(row.tenant):
            until, holder = self._service.now() + CLAIM, system.new_request_id()
            take = partial(
                running.take_run, automation_id=row.document.id, holder=holder, until=until
            )
            task = await self._service.write(row.tenant, take)
            if task is not None:
                await self._run(row.tenant, task)

    async def _run(self, tenant: str, task: RunTask) -> None:
        service = self._service
        claim = Claim(
            tenant,
            renew=partial(running.renew_run, task=task),
            release=lambda ctx: running.release_run(ctx, task, ctx.now),
        )
        async with claim.held(service, self._on_failure):
            opening = await self._pool_opening(tenant)
            if opening is None:
                await _Run(service, tenant, task).carry_out(self._on_failure)
            else:
                await service.write(tenant, partial(running.release_run, task=task, until=opening))

    async def _pool_opening(self, tenant: str) -> datetime | None:
        """Count a turn of the account; return when its pool opens, or None if it was not full."""
        if self._counters is None:
            return None
        pools, second = limits.account_agent_pools(tenant), int(self._service.now().timestamp())
        counts = await self._counters.hit(pools, second)
        opening = limits.opens_at(pools, counts, second)
        return None if opening is None else datetime.fromtimestamp(opening, UTC)


@frozen
class _Run:
    """One claimed run."""

    service: Service
    tenant: str
    task: RunTask

    async def carry_out(self, on_failure: OnFailure) -> None:
        """Let the agent answer, and write the outcome; defects also go to `on_failure`."""
        try:
            await self._ask()
        except (StorageUnavailable, Overloaded):
            raise  # no run's fault: it is taken up again when its time is over
        except Problem as refusal:
            await self._fail(refusal.type, refusal.detail)
        except Exception as defect:
            on_failure(defect)
            await self._fail(problem.INTERNAL_ERROR, "The run could not be completed.")

    async def _ask(self) -> None:
        owner = self.task.run.owner_id
        actor = await self.service.read(
            SYSTEM, partial(accounts.person_actor, tenant=self.tenant, user_id=owner)
        )
        credit = await chat_credits.reserve(self.service, self.tenant)
        transcript = Transcript()
        try:
            run = await self.service.write(self.tenant, partial(_begin_run, task=self.task))
            if run is not None:
                await self._answer(run, actor, transcript)
        finally:
            await chat_credits.settle(self.service, credit, refund=not transcript.is_answered)

    async def _answer(self, run: AutomationRun, actor: Actor, transcript: Transcript) -> None:
        turn, lends = Turn(run.instructions, self.service.now()), self.service.host.providers
        tools = lends[Tools].of(self.service, actor, turn.now)
        try:
            async with asyncio.timeout(SECONDS_MAX):
                await transcribe(await lends[Backend].open(turn, tools), transcript)
        except TimeoutError:
            text = f"The agent took longer than {SECONDS_MAX:.0f} seconds."
            transcript.end = Unanswered(problem.UPSTREAM_TIMEOUT.code, text)
        await self.service.write(
            self.tenant,
            partial(_end_run, task=self.task, run=run, turn=turn, transcript=transcript),
        )

    async def _fail(self, kind: ProblemType, detail: str) -> None:
        error = RunError(kind.code, detail or kind.title)
        unit = partial(running.end_run, task=self.task, happening="fail", error=error)
        await self.service.write(self.tenant, unit)


async def _begin_run(ctx: Context, task: RunTask) -> AutomationRun | None:
    thread_id = task.run.thread_id or ctx.ids.new("thr")
    return await running.begin_run(ctx, task, thread_id=thread_id)


async def _end_run(
    ctx: Context, task: RunTask, run: AutomationRun, turn: Turn, transcript: Transcript
) -> None:
    """Write the end of a run, and its turn in its thread."""
    if isinstance(transcript.end, Unanswered):
        error = RunError(transcript.end.code, transcript.end.text)
        is_ours = await running.end_run(ctx, task, "fail", error=error)
    else:
        sources = (
            RunSource(source.number, source.id, source.title, source.url)
            for source in transcript.sources
        )
        output = RunOutput(transcript.text, tuple(sources))
        is_ours = await running.end_run(ctx, task, "succeed", output=output)
    if is_ours and run.thread_id is not None and ctx.host.thread_retention:
        message_id = run.id.replace("run_", "msg_")
        row = transcript.thread_turn(run.thread_id, turn)
        await threads.append_turn(ctx, message_id, row, owner_id=run.owner_id)
