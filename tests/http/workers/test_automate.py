"""Automations are carried out once, however many workers there are and whatever becomes of them."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

import attrs
import pytest

from svc_core.access import operations as accounts
from svc_core.access.chat_credits import CREDITS
from svc_core.access.limits import AGENT_ACCOUNT_RATE
from svc_core.access.plans import PlanTable
from svc_core.access.quotas import MemoryCounters
from svc_core.agent.agent_ports import Backend, Tools, Turn
from svc_core.agent.answer_events import AnswerDone, AnswerFailure, AnswerSource, Event, Step, Text
from svc_core.agent.threads import THREAD_TURNS
from svc_core.automations import operations as automations
from svc_core.automations import run_queue as running
from svc_core.automations.model import (
    AUTOMATIONS,
    RUNS,
    WORK,
    AutomationInput,
    AutomationRun,
    RunOutput,
    Timetable,
)
from svc_core.contract.problem import UPSTREAM_UNAVAILABLE, Problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from svc_core.operation.ports import SYSTEM, StorageUnavailable
from svc_http.exchange.fair_shares import BOUNDS
from svc_http.service.commits import Commits
from svc_http.service.workers import automation_runs as automate
from svc_http.service.workers import claim_loop as claims
from svc_http.service.workers.automation_runs import AutomationRounds
from svc_http.service.workers.claim_loop import CLAIM

pytestmark = pytest.mark.anyio

SOURCE = AnswerSource(1, "inc_" + "1" * 24, "Strike at the port", "https://api.example/1")


class Agent:
    """A backend that a test scripts: what it says, whom it waits for, how many ask at once."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.at_once: Counter[str] = Counter()
        self.most_at_once = 0
        self.starts = asyncio.Semaphore(0)
        self.waits: Callable[[str], Awaitable[object]] | None = None
        self.fails: Exception | None = None
        self.says: tuple[Event, ...] = (
            Step(),
            SOURCE,
            Text("It "),
            Text("closed [1]."),
            AnswerDone(),
        )

    async def open(self, turn: Turn, tools: Any) -> AsyncIterator[Event]:
        if self.fails is not None:
            raise self.fails
        return self._answer(turn)

    async def _answer(self, turn: Turn) -> AsyncIterator[Event]:
        self.questions.append(turn.question)
        self.at_once[turn.question] += 1
        self.most_at_once = max(self.most_at_once, self.at_once.total())
        self.starts.release()
        try:
            if self.waits is not None:
                await self.waits(turn.question)
            for event in self.says:
                yield event
        finally:
            self.at_once[turn.question] -= 1


class Toolbox:
    """Says for whom tools were lent."""

    def __init__(self) -> None:
        self.actors: list[Actor] = []

    def of(self, work: Any, actor: Actor, now: Any) -> Any:
        self.actors.append(actor)
        return object()


class Office:
    """Workspaces with automations over one store, and a worker."""

    def __init__(self, house: Any) -> None:
        self.house, self.clock = house, house.clock
        self.agent, self.tools = Agent(), Toolbox()
        self.counters: Any = MemoryCounters()
        self.failures: list[BaseException] = []
        lends = {Backend: self.agent, Tools: self.tools, PlanTable: house.service.plans}
        host = Host(thread_retention=timedelta(days=30), providers=lends)
        self.service = attrs.evolve(house.service, host=host)

    async def workspace(self, name: str = "A", plan: str = "elite") -> tuple[str, str]:
        """A workspace and its owner."""

        async def unit(ctx: Context) -> tuple[str, str]:
            plans = self.service.plans
            user = await accounts.create_user(ctx, name=name, plans=plans)
            workspace = await accounts.create_workspace(
                ctx, name=name, plan=plan, plans=plans, owner=user.id
            )
            return workspace.id, user.id

        return await self.service.write(SYSTEM, unit)

    async def automation(self, place: tuple[str, str], **members: Any) -> str:
        tenant, owner = place
        members_ = AutomationInput(**{"name": "Look", "instructions": "What happened?", **members})

        async def unit(ctx: Context) -> str:
            own = attrs.evolve(ctx, actor=Actor(tenant, tenant, owner))
            creation = await automations.AUTOMATION_ROWS.create_row(own, members_)
            return creation.location.rpartition("/")[2]

        return await self.service.write(tenant, unit)

    async def run_by_hand(self, place: tuple[str, str], **members: Any) -> str:
        """An automation that somebody has run by hand."""
        id_ = await self.automation(place, **members)
        await self.run(place, id_)
        return id_

    async def run(self, place: tuple[str, str], id_: str) -> None:
        async def unit(ctx: Context) -> object:
            return await running.queue_run(ctx, await ctx.value(AUTOMATIONS, id_), "manual")

        async def own(ctx: Context) -> object:
            return await unit(attrs.evolve(ctx, actor=Actor(place[0], place[0], place[1])))

        await self.service.write(place[0], own)

    async def rows(self, collection: Any, tenant: str) -> list[Any]:
        return list(await self.house.rows(collection, tenant))

    async def runs(self, tenant: str) -> list[AutomationRun]:
        return await self.rows(RUNS, tenant)

    def rounds(self) -> AutomationRounds:
        return AutomationRounds(self.service, self.counters, self.failures.append)

    async def work(self) -> None:
        """Carry out what is due now."""
        rounds = self.rounds()
        await rounds.begin_due()
        await rounds.wait()

    async def credits(self, tenant: str) -> tuple[int, int]:
        """Used, and under way."""
        rows = await self.rows(CREDITS, tenant)
        return sum(row.used for row in rows), sum(len(row.held) for row in rows)


@pytest.fixture
def office(house: Any) -> Office:
    return Office(house)


@pytest.fixture
def any_office(any_house: Any) -> Office:
    return Office(any_house)


# -- what comes of a run -----------------------------------------------------------------------


async def test_a_run_keeps_its_answer_its_thread_and_one_credit(any_office: Office) -> None:
    office = any_office
    place = tenant, owner = await office.workspace()
    id_ = await office.run_by_hand(place)
    await office.work()
    (run,) = await office.runs(tenant)
    assert (run.status, run.error, office.failures) == ("succeeded", None, [])
    assert run.output is not None
    assert run.output.text == "It closed [1]."
    assert [attrs.astuple(source) for source in run.output.sources] == [attrs.astuple(SOURCE)]
    (turn,) = await office.rows(THREAD_TURNS, tenant)
    assert (turn.thread_id, turn.question, turn.text) == (
        run.thread_id, "What happened?", "It closed [1].",
    )  # fmt: skip
    assert await office.credits(tenant) == (1, 0)
    (actor,) = office.tools.actors
    assert (actor.tenant, actor.workspace_id, actor.user_id) == (tenant, tenant, owner)
    (work,) = await office.rows(WORK, tenant)
    assert (work.automation_id, work.due_at, work.run_id, work.holder) == (id_, None, None, None)


async def test_a_personal_workspace_of_one_runs_in_the_name_of_its_person(office: Office) -> None:
    async def unit(ctx: Context) -> str:
        user = await accounts.create_user(ctx, name="Ann", plans=office.service.plans, plan="pro")
        return user.id

    user = await office.service.write(SYSTEM, unit)
    await office.run_by_hand((user, user))
    await office.work()
    (actor,) = office.tools.actors
    assert (actor.tenant, actor.workspace_id, actor.user_id) == (user, None, user)


@pytest.mark.parametrize(
    ("events", "code", "used"),
    [
        ((AnswerFailure("UPSTREAM_UNAVAILABLE", "Gone."),), "UPSTREAM_UNAVAILABLE", 0),
        ((Text("Half"), AnswerFailure("UPSTREAM_TIMEOUT", "Late.")), "UPSTREAM_TIMEOUT", 1),
        ((), "INTERNAL_ERROR", 0),
        ((Text("Half"),), "INTERNAL_ERROR", 1),
    ],
)
async def test_what_ends_short_fails_and_is_charged_where_it_said_anything(
    office: Office, events: tuple[Event, ...], code: str, used: int
) -> None:
    place = tenant, _ = await office.workspace()
    office.agent.says = events
    await office.run_by_hand(place)
    await office.work()
    (run,) = await office.runs(tenant)
    assert run.error is not None
    assert (run.status, run.error.code, run.output) == ("failed", code, None)
    assert await office.credits(tenant) == (used, 0)


async def test_nothing_is_heard_after_the_end_nor_kept_where_no_threads_are(
    office: Office,
) -> None:
    place = tenant, _ = await office.workspace()
    host = attrs.evolve(office.service.host, thread_retention=timedelta())
    office.service = attrs.evolve(office.service, host=host)
    office.agent.says = (Text("It did."), AnswerDone(), Text(" Late."), AnswerFailure("X", "Late."))
    await office.run_by_hand(place)
    await office.work()
    (run,) = await office.runs(tenant)
    assert run.output == RunOutput("It did.", ())
    assert await office.rows(THREAD_TURNS, tenant) == []


async def test_a_refusal_is_the_error_of_the_run(office: Office) -> None:
    place = tenant, _ = await office.workspace()
    office.agent.fails = Problem(UPSTREAM_UNAVAILABLE, "Nobody answers.")
    await office.run_by_hand(place)
    await office.work()
    (run,) = await office.runs(tenant)
    assert run.error is not None
    assert attrs.astuple(run.error) == ("UPSTREAM_UNAVAILABLE", "Nobody answers.")
    assert office.failures == []


async def test_a_defect_is_told_of_and_its_words_are_not_shown(office: Office) -> None:
    place = tenant, _ = await office.workspace()
    office.agent.fails = RuntimeError("secret words")
    await office.run_by_hand(place)
    await office.work()
    (run,) = await office.runs(tenant)
    assert run.error is not None
    assert run.error.code == "INTERNAL_ERROR"
    assert "secret" not in run.error.detail
    assert [str(failure) for failure in office.failures] == ["secret words"]


async def test_an_answer_that_takes_too_long_fails(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automate, "SECONDS_MAX", 0.01)
    place = tenant, _ = await office.workspace()
    office.agent.waits = lambda _: asyncio.Event().wait()
    await office.run_by_hand(place)
    await office.work()
    (run,) = await office.runs(tenant)
    assert run.error is not None
    assert run.error.code == "UPSTREAM_TIMEOUT"
    assert office.agent.at_once.total() == 0
    assert await office.credits(tenant) == (0, 0)


async def test_a_plan_without_the_agent_fails_the_run(office: Office) -> None:
    place = tenant, _ = await office.workspace(plan="free")
    await office.run_by_hand(place)
    await office.work()
    (run,) = await office.runs(tenant)
    assert run.error is not None
    assert (run.error.code, office.agent.questions) == ("SUBSCRIPTION_REQUIRED", [])


async def test_an_owner_who_has_left_has_nothing_done_in_their_name(office: Office) -> None:
    tenant, _ = await office.workspace()
    await office.run_by_hand((tenant, "usr_" + "9" * 24))
    await office.work()
    (run,) = await office.runs(tenant)
    assert run.error is not None
    assert (run.error.code, office.tools.actors) == ("FORBIDDEN", [])


# -- when, and how many ------------------------------------------------------------------------


async def test_a_schedule_is_kept_hour_by_hour(office: Office) -> None:
    place = tenant, _ = await office.workspace()
    await office.automation(place, schedule=Timetable("hourly"))
    for hours in range(3):
        await office.work()
        assert len(await office.runs(tenant)) == hours
        office.clock.advance(3_600)
        await office.work()
        (row,) = await office.rows(AUTOMATIONS, tenant)
        assert row.last_run.trigger == "schedule"
        assert timedelta() < row.next_run_at - office.clock.now() <= timedelta(hours=1)


async def test_a_full_pool_leaves_runs_queued_until_it_opens(office: Office) -> None:
    place = tenant, _ = await office.workspace()
    for number in range(AGENT_ACCOUNT_RATE.per_minute + 2):
        await office.run_by_hand(place, instructions=f"Question {number}")
    other_tenant = await office.workspace("B")
    await office.run_by_hand(other_tenant)
    await office.work()
    await office.work()
    states = Counter(run.status for run in await office.runs(tenant))
    assert states == {"succeeded": AGENT_ACCOUNT_RATE.per_minute, "queued": 2}
    assert [run.status for run in await office.runs(other_tenant[0])] == ["succeeded"]
    (first, *_) = [work.due_at for work in await office.rows(WORK, tenant) if work.run_id]
    assert (first.second, first.microsecond) == (0, 0)
    office.clock.advance((first - office.clock.now()).total_seconds())
    await office.work()
    assert {run.status for run in await office.runs(tenant)} == {"succeeded"}


async def test_without_counters_nothing_is_counted(office: Office) -> None:
    office.counters = None
    place = tenant, _ = await office.workspace()
    for number in range(AGENT_ACCOUNT_RATE.per_minute + 2):
        await office.run_by_hand(place, instructions=f"Question {number}")
    await office.work()
    assert {run.status for run in await office.runs(tenant)} == {"succeeded"}


async def test_slow_runs_of_one_workspace_hold_up_no_other(office: Office) -> None:
    slow, quick = await office.workspace("slow"), await office.workspace("quick")
    gate, both_answered = asyncio.Event(), asyncio.Event()

    async def waits(question: str) -> None:
        if question == "slow":
            await gate.wait()
        both_answered.set()

    office.agent.waits = waits
    for _ in range(BOUNDS["automations"].places * 2):
        await office.run_by_hand(slow, instructions="slow")
    await office.run_by_hand(quick, instructions="quick")
    office.counters = None
    working = asyncio.create_task(office.work())

    async with asyncio.timeout(30):
        await both_answered.wait()
    assert office.agent.at_once["slow"] == BOUNDS["automations"].places // 2
    gate.set()
    await working
    assert [run.status for run in await office.runs(quick[0])] == ["succeeded"]
    assert {run.status for run in await office.runs(slow[0])} == {"succeeded"}
    assert office.agent.most_at_once <= BOUNDS["automations"].places


async def test_workers_side_by_side_carry_out_each_run_once(any_office: Office) -> None:
    office = any_office
    place = tenant, _ = await office.workspace()
    questions = [f"Question {number}" for number in range(8)]
    for question in questions:
        await office.run_by_hand(place, instructions=question)
    for _ in range(2):
        await asyncio.gather(*(office.work() for _ in range(4)))
    assert sorted(office.agent.questions) == questions
    runs = await office.runs(tenant)
    assert [run.status for run in runs] == ["succeeded"] * len(questions)
    assert await office.credits(tenant) == (len(questions), 0)
    assert office.failures == []


# -- ends that come too soon -------------------------------------------------------------------


async def test_who_is_told_to_end_gives_back_what_it_has(any_office: Office) -> None:
    office = any_office
    place = tenant, _ = await office.workspace()
    office.agent.waits = lambda _: asyncio.Event().wait()
    await office.run_by_hand(place)
    task = asyncio.create_task(office.rounds().run(Commits(office.house.storage)))
    async with asyncio.timeout(30):
        await office.agent.starts.acquire()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (work,) = await office.rows(WORK, tenant)
    assert (work.holder, work.attempts, work.due_at) == (None, 0, office.clock.now())
    assert await office.credits(tenant) == (0, 0)
    office.agent.waits = None
    await office.work()
    (run,) = await office.runs(tenant)
    assert run.status == "succeeded"


async def test_a_run_is_kept_as_long_as_it_takes(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "RENEW_SECONDS", 0.001)
    place = tenant, _ = await office.workspace()
    gate, commits = asyncio.Event(), Commits(office.house.storage)
    office.agent.waits = lambda _: gate.wait()
    await office.run_by_hand(place)
    working = asyncio.create_task(office.work())
    async with asyncio.timeout(30):
        await office.agent.starts.acquire()
        for _ in range(3):  # each longer than half of a claim
            office.clock.advance(20)
            until = office.clock.now() + CLAIM
            version = commits.version
            while (await office.rows(WORK, tenant))[0].due_at != until:
                await commits.after(version, 1)
                version = commits.version
        await office.work()  # another worker finds nothing to do
        gate.set()
        await working
    assert len(office.agent.questions) == 1


async def test_what_cannot_be_renewed_is_told_of(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "RENEW_SECONDS", 0.001)
    attempts_made = asyncio.Event()

    async def away(*_: Any, **__: Any) -> bool:
        attempts_made.set()
        raise StorageUnavailable("away")

    monkeypatch.setattr(running, "renew_run", away)
    place = tenant, _ = await office.workspace()
    office.agent.waits = lambda _: attempts_made.wait()
    await office.run_by_hand(place)
    await office.work()
    assert {type(failure) for failure in office.failures} == {StorageUnavailable}
    assert [run.status for run in await office.runs(tenant)] == ["succeeded"]


async def test_a_store_that_is_away_is_no_fault_of_the_run(office: Office) -> None:
    place = tenant, _ = await office.workspace()
    office.agent.fails = StorageUnavailable("away")
    await office.run_by_hand(place)
    await office.work()
    assert [type(failure) for failure in office.failures] == [StorageUnavailable]
    office.agent.fails = None
    await office.work()
    assert [run.status for run in await office.runs(tenant)] == ["running"]
    office.clock.advance(CLAIM.total_seconds())
    await office.work()
    assert [run.status for run in await office.runs(tenant)] == ["succeeded"]


async def test_a_run_that_is_archived_between_its_taking_and_its_beginning_is_not_begun(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tenant, owner = await office.workspace()
    id_ = await office.run_by_hand(place)
    hit = office.counters.hit

    async def archive(ctx: Context) -> None:
        own = attrs.evolve(ctx, actor=Actor(tenant, tenant, owner))
        row = await own.load(AUTOMATIONS, id_)
        own = attrs.evolve(own, target=row)
        await automations.AUTOMATION_ROWS.set_members(own, status="archived")

    async def slow(*arguments: Any) -> Any:
        await office.service.write(tenant, archive)
        return await hit(*arguments)

    monkeypatch.setattr(office, "counters", type("Slow", (), {"hit": staticmethod(slow)}))
    await office.work()
    (run,) = await office.runs(tenant)
    assert (run.status, office.agent.questions) == ("cancelled", [])
    assert await office.credits(tenant) == (0, 0)


# -- one machine over every store --------------------------------------------------------------

STEPS = (
    "run",
    "archive",
    "restore",
    "take",
    "begin",
    "succeed",
    "fail",
    "release",
    "lapse",
    "over",
)


async def _walk(office: Office, seed: int) -> list[Any]:
    """What a walk of happenings, the same over every store, comes to; its laws are held."""
    chance, trace = random.Random(seed), []
    tenant, owner = "wsp_" + "a" * 24, "usr_" + "a" * 24
    place = tenant, owner
    ids = [
        await office.automation(place),
        await office.automation(place, schedule=Timetable("hourly")),
    ]
    tasks: list[running.RunTask] = []
    final: dict[str, AutomationRun] = {}
    for _ in range(120):
        step, id_ = chance.choice(STEPS), chance.choice(ids)
        task = chance.choice(tasks) if tasks else None
        outcome = await office.service.write(
            tenant, lambda ctx, at=(step, id_, task): _step(ctx, owner, *at)
        )
        if isinstance(outcome, running.RunTask):
            tasks.append(outcome)
        if step == "lapse":
            office.clock.advance(chance.choice([1, 31, 3_600]))
        runs = {run.id: run for run in await office.runs(tenant)}
        works = {work.automation_id: work for work in await office.rows(WORK, tenant)}
        for id_ in ids:
            open_ = [r.id for r in runs.values() if r.automation_id == id_ and r.id not in final
                     and r.status in ("queued", "running")]  # fmt: skip
            assert len(open_) <= 1
            work = works.get(id_)
            assert open_ == ([] if work is None or work.run_id is None else [work.run_id])
        for row in await office.rows(AUTOMATIONS, tenant):
            newest = row.last_run and runs[row.last_run.id]
            assert row.last_run == (newest and newest.summary)
        assert all(runs[key] == value for key, value in final.items())
        final |= {r.id: r for r in runs.values() if r.finished_at is not None}
        trace.append((step, type(outcome).__name__, sorted(Counter(
            (r.status, r.trigger) for r in runs.values()).items())))  # fmt: skip
    return trace


async def _step(
    ctx: Context, owner: str, step: str, id_: str, task: running.RunTask | None
) -> object:
    own = attrs.evolve(ctx, actor=Actor(ctx.actor.tenant, ctx.actor.tenant, owner))
    target = attrs.evolve(own, target=await own.load(AUTOMATIONS, id_))
    request = automations.AutomationRequest(id_)
    try:
        match step:
            case "run":
                return await automations.run_automation(target, request)
            case "archive":
                return await automations.AUTOMATION_ROWS.set_members(target, status="archived")
            case "restore":
                return await automations.AUTOMATION_ROWS.set_members(target, status="active")
            case "take":
                until = ctx.now + CLAIM
                return await running.take_run(ctx, id_, ctx.ids.new("req"), until)
            case "over":
                return await running.free_run(ctx, id_)
    except Problem as refusal:
        return refusal
    if task is None:
        return None
    match step:
        case "begin":
            return await running.begin_run(ctx, task)
        case "succeed":
            run = await ctx.find(RUNS, task.run.id)
            if run is not None and run.status == "running":
                return await running.end_run(ctx, task, "succeed", output=RunOutput("Done.", ()))
        case "fail":
            return await running.end_run(ctx, task, "fail")
        case "release":
            return await running.release_run(ctx, task, ctx.now)
    return None


@pytest.mark.parametrize("seed", range(3))
async def test_a_walk_of_happenings_comes_to_the_same_over_every_store(
    make_house: Any, seed: int
) -> None:
    traces = []
    for kind in ("memory", "sqlite", "postgres"):
        house = make_house(kind)
        traces.append(await _walk(Office(house), seed))
        await house.close()
    assert traces[0] == traces[1] == traces[2]
    assert {step for step, *_ in traces[0]} == set(STEPS)
