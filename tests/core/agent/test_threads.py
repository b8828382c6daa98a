"""Threads: who may go on with one, in which ways, what is told of it, and when it is over."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

import attrs
import pytest

from svc_core import catalog
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.agent import thread_commands, threads
from svc_core.agent.answer_events import AnswerSource, Usage
from svc_core.agent.threads import (
    CONTEXT_BYTES,
    CONTEXT_TURNS,
    THREAD_HEADS,
    THREAD_TURNS,
    THREADS,
    TURNS_MAX,
    ThreadContext,
    ThreadTurn,
)
from svc_core.base.seals import Keyring
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.executor import Execution
from svc_core.operation.parsing import Call, Site, prepare
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_core.wire import to_bytes
from svc_http.service.service_units import Service
from svc_http.service.workers.retention import forget_threads
from tests.backends import NAMES, store_of

ANN, BOB = "usr_" + "a" * 24, "usr_" + "b" * 24
OPERATIONS = {operation.id: operation for operation in thread_commands.LOCAL_OPERATIONS}
OWN, FOREIGN = "wsp_" + "a" * 24, "wsp_" + "b" * 24
RETENTION = timedelta(days=30)
UNKNOWN = "thr_" + "0" * 24


class Desk:
    """Threads in a store, as the use cases of the agent find and write them."""

    def __init__(self, backend: str) -> None:
        self.clock = FrozenClock()
        self.store = store_of(backend, catalog.COLLECTIONS)
        ids, ring = CountingIds(self.clock), Keyring({1: b"k" * 32}, 1)
        self.ids = ids
        self.service = Service(self.store, ids, self.clock.now, ring, plans=DEFAULT_PLANS)

    async def find(
        self, tenant: str = OWN, retention: timedelta = RETENTION, **keys: str
    ) -> ThreadContext:
        ways = {"body_id": None, "header_id": None, "alias": None, **keys}
        keys = tuple(ways.get(name) for name in ("body_id", "header_id", "alias"))
        unit = partial(threads.find, retention=retention, keys=keys)
        return await self.service.read(tenant, unit)

    async def refusal(self, tenant: str = OWN, **names: str) -> tuple[str, str]:
        with pytest.raises(Problem) as failure:
            await self.find(tenant, **names)
        return failure.value.type.code, failure.value.detail

    async def say(
        self,
        thread_id: str,
        question: str = "Who?",
        tenant: str = OWN,
        answer: str = "You asked: {}",
        owner: str | None = None,
    ) -> str:
        turn = ThreadTurn(
            thread_id=thread_id,
            asked_at=self.clock.now(),
            question=question,
            text=answer.format(question),
            sources=(AnswerSource(1, "inc_1", "A port", None),),
            finish_reason="stop",
            usage=Usage(1, 2),
            metadata={"source": "desk", "share": 0.5, "is_new": True, "none": None},
        )
        id_ = self.ids.new("msg")
        append = partial(threads.append_turn, id_=id_, turn=turn, owner_id=owner)
        await self.service.write(tenant, append)
        return id_

    async def run(self, id_: str, user: str = ANN, tenant: str = OWN, **members: Any) -> Any:
        """The body of an answer to a person, with a role that has no rights of its own."""
        call = Call({}, "", {"content-type": "application/json"}.get, to_bytes(members))
        invocation = prepare(OPERATIONS[id_], call, Site("https://api.example"))
        actor = Actor(tenant, workspace_id=tenant, user_id=user, roles=frozenset({"member"}))
        reply = await Execution(invocation, actor, self.clock.now(), self.service).reply()
        return json.loads(reply.body) if reply.body else None

    async def turns(self, tenant: str = OWN) -> list[ThreadTurn]:
        async def read(ctx: Context) -> list[ThreadTurn]:
            return [THREAD_TURNS.decode(row.raw) async for row in ctx.every(THREAD_TURNS)]

        return list(reversed(await self.service.read(tenant, read)))

    async def counts(self, tenant: str = OWN) -> tuple[int, int]:
        async def read(ctx: Context) -> tuple[int, int]:
            documents = ctx.tx.documents
            counts = [await documents.count(item, limit=999) for item in (THREADS, THREAD_TURNS)]
            return counts[0], counts[1]

        return await self.service.read(tenant, read)


def play(backend: str, scene: Callable[[Desk], Awaitable[None]]) -> None:
    async def go() -> None:
        desk = Desk(backend)
        try:
            await scene(desk)
        finally:
            await desk.store.close()

    asyncio.run(go())


every_store = pytest.mark.parametrize("backend", NAMES)


@every_store
def test_a_thread_is_gone_on_with_in_three_ways_and_by_nobody_else(backend: str) -> None:
    async def scene(desk: Desk) -> None:
        first = await desk.find(alias="chat-1")
        assert (first.is_new, first.history) == (True, ())
        assert await desk.counts() == (0, 0)
        await desk.say(first.id)
        for ways in (
            {"body_id": first.id},
            {"header_id": first.id},
            {"alias": "chat-1"},
            {"body_id": first.id, "header_id": first.id, "alias": "another"},
        ):
            thread = await desk.find(**ways)
            assert (thread.id, thread.is_new) == (first.id, False)
            assert [(item.role, item.text) for item in thread.history] == [
                ("user", "Who?"), ("assistant", "You asked: Who?"),
            ]  # fmt: skip
        foreign = await desk.find(FOREIGN, alias="chat-1")
        assert foreign.id != first.id
        assert foreign.is_new
        unknown = ("THREAD_NOT_FOUND", "No such thread is visible to this key.")
        refusals = [
            await desk.refusal(FOREIGN, body_id=first.id),
            await desk.refusal(FOREIGN, header_id=first.id),
            await desk.refusal(body_id=UNKNOWN),
            await desk.refusal(header_id="not an id"),
        ]
        desk.clock.advance(RETENTION.total_seconds() + 1)
        assert [*refusals, await desk.refusal(body_id=first.id)] == [unknown] * 5
        assert (await desk.find(alias="chat-1")).history == ()

    play(backend, scene)


@every_store
def test_two_that_differ_are_refused_and_one_that_is_not_named_is_new(backend: str) -> None:
    async def scene(desk: Desk) -> None:
        code, detail = await desk.refusal(body_id=UNKNOWN, header_id="thr_" + "1" * 24)
        assert (code, "X-Thread-Id" in detail) == ("CONFLICTING_PARAMETERS", True)
        first, second = await desk.find(), await desk.find()
        assert first.is_new
        assert first.id != second.id

    play(backend, scene)


@every_store
def test_one_that_was_begun_is_there_before_its_first_turn_ends(backend: str) -> None:
    async def scene(desk: Desk) -> None:
        thread = await desk.find()
        for _ in range(2):
            await desk.service.write(OWN, partial(threads.begin_thread, id_=thread.id))
        assert (await desk.find(body_id=thread.id)).id == thread.id
        assert await desk.counts() == (1, 0)

    play(backend, scene)


@every_store
def test_turns_stand_in_the_order_in_which_they_ended_each_once(backend: str) -> None:
    async def scene(desk: Desk) -> None:
        places = await asyncio.gather(*(desk.find(alias="both") for _ in range(2)))
        assert len({place.id for place in places}) == 1
        endings = await asyncio.gather(*(desk.say(places[0].id, f"q{n}") for n in range(8)))
        turns = await desk.turns()
        assert [turn.number for turn in turns] == list(range(1, 9))
        assert {turn.question for turn in turns} == {f"q{n}" for n in range(8)}
        again = partial(threads.append_turn, id_=endings[0], turn=turns[0])
        await desk.service.write(OWN, again)
        assert await desk.turns() == turns
        assert turns[0].metadata == {"source": "desk", "share": 0.5, "is_new": True, "none": None}
        assert turns[0].sources == (AnswerSource(1, "inc_1", "A port", None),)

    play(backend, scene)


def test_what_is_told_of_a_thread_is_the_newest_that_there_is_room_for() -> None:
    async def scene(desk: Desk) -> None:
        for number in range(CONTEXT_TURNS + 1):
            await desk.say(UNKNOWN, f"q{number}")
        history = (await desk.find(body_id=UNKNOWN)).history
        assert [item.text for item in history[::2]] == [f"q{n}" for n in range(1, 21)]
        long = "thr_" + "1" * 24
        for letter in "abc":
            await desk.say(long, letter * (CONTEXT_BYTES // 5))
        initials = "".join(item.text[:1] for item in (await desk.find(body_id=long)).history[::2])
        assert initials == "bc"

    play("memory", scene)


def test_a_question_that_was_not_answered_is_context_without_an_answer() -> None:
    async def scene(desk: Desk) -> None:
        await desk.say(UNKNOWN, "Who?", answer="")
        await desk.say(UNKNOWN, "Where?")
        history = (await desk.find(body_id=UNKNOWN)).history
        assert [item.text for item in history] == ["Who?", "Where?", "You asked: Where?"]

    play("memory", scene)


def test_a_thread_holds_no_more_than_so_many_turns() -> None:
    async def scene(desk: Desk) -> None:
        for number in range(TURNS_MAX + 2):
            await desk.say(UNKNOWN, f"q{number}")
        turns = await desk.turns()
        assert (len(turns), turns[0].question) == (TURNS_MAX, "q2")

    play("memory", scene)


@every_store
def test_what_is_over_is_forgotten_and_what_goes_on_is_not(backend: str) -> None:
    async def scene(desk: Desk) -> None:
        for number in range(threads.FORGOTTEN_MAX + 3):
            await desk.say(UNKNOWN, f"q{number}")
        await desk.say("thr_" + "2" * 24, tenant=FOREIGN)
        desk.clock.advance(RETENTION.total_seconds())
        young = "thr_" + "1" * 24
        await desk.say(young)
        await forget_threads(desk.service)
        assert await desk.counts() == (2, threads.FORGOTTEN_MAX + 4)
        desk.clock.advance(1)
        await asyncio.gather(*(forget_threads(desk.service) for _ in range(2)))
        assert (await desk.counts(), await desk.counts(FOREIGN)) == ((1, 1), (0, 0))
        assert (await desk.find(body_id=young)).history

    play(backend, scene)


def test_one_that_is_gone_on_with_meanwhile_is_not_forgotten() -> None:
    async def scene(desk: Desk) -> None:
        await desk.say(UNKNOWN)
        assert not await desk.service.write(
            OWN, partial(threads.forget_thread, id_=UNKNOWN, retention=RETENTION)
        )
        assert not await desk.service.write(
            OWN, partial(threads.forget_thread, id_="thr_" + "1" * 24, retention=RETENTION)
        )
        assert await desk.counts() == (1, 1)

    play("memory", scene)


def test_where_none_are_kept_an_identifier_is_only_repeated() -> None:
    async def scene(desk: Desk) -> None:
        zero = timedelta()
        assert (await desk.find(retention=zero, body_id=UNKNOWN)) == ThreadContext(
            UNKNOWN, is_new=True
        )
        with pytest.raises(Problem):
            await desk.find(retention=zero, body_id="x")
        first, second = [await desk.find(retention=zero, alias="a") for _ in range(2)]
        assert first == second
        await desk.say(UNKNOWN)
        settings = attrs.evolve(
            desk.service, host=attrs.evolve(desk.service.host, thread_retention=zero)
        )
        desk.clock.advance(1)
        await forget_threads(settings)
        assert await desk.counts() == (0, 0)

    play("memory", scene)


# -- what people see of their own --------------------------------------------------------------


@every_store
def test_people_see_what_they_began_the_last_one_first(backend: str) -> None:
    async def scene(desk: Desk) -> None:
        ids = [f"thr_{number:024}" for number in range(5)]
        for id_ in ids[:3]:
            desk.clock.advance(1)
            await desk.say(id_, f"Who   is\n{id_}? " + "x" * 300, owner=ANN)
        await desk.say(ids[3], owner=BOB)
        await desk.say(ids[4])
        desk.clock.advance(1)
        await desk.say(ids[0], "And where?", owner=BOB)
        first = await desk.run("listThreads", limit=2)
        cursor = first["meta"]["page"]["nextCursor"]
        rows = first["data"] + (await desk.run("listThreads", limit=2, cursor=cursor))["data"]
        assert [row["id"] for row in rows] == [ids[0], ids[2], ids[1]]
        assert [row["turns"] for row in rows] == [2, 1, 1]
        assert rows[0]["title"] == f"Who is {ids[0]}? ".ljust(200, "x")
        assert rows[0]["lastAt"] > rows[0]["createdAt"]
        assert [row["id"] for row in (await desk.run("listThreads", BOB))["data"]] == [ids[3]]
        assert (await desk.run("listThreads", ANN, FOREIGN))["data"] == []

    play(backend, scene)


@every_store
def test_a_thread_is_read_oldest_message_first_and_by_nobody_else(backend: str) -> None:
    async def scene(desk: Desk) -> None:
        for number in range(3):
            await desk.say(UNKNOWN, f"q{number}", owner=ANN)
        detail = (await desk.run("showThread", threadId=UNKNOWN, limit=2))["data"]
        assert [item["question"] for item in detail["messages"]] == ["q1", "q2"]
        assert detail["messages"][1]["answer"] == "You asked: q2"
        assert detail["messages"][1]["sources"][0]["id"] == "inc_1"
        assert (detail["turns"], detail["title"]) == (3, "q0")
        before = desk.store.version
        for user, tenant in ((BOB, OWN), (ANN, FOREIGN)):
            for id_ in ("showThread", "deleteThread"):
                with pytest.raises(Problem) as failure:
                    await desk.run(id_, user, tenant, threadId=UNKNOWN)
                assert failure.value.type.code == "NOT_FOUND"
        assert desk.store.version == before

    play(backend, scene)


@every_store
def test_what_is_deleted_is_gone_for_good_and_nothing_else(backend: str) -> None:
    async def scene(desk: Desk) -> None:
        other = "thr_" + "1" * 24
        for number in range(threads.FORGOTTEN_MAX + 3):
            await desk.say(UNKNOWN, f"q{number}", owner=ANN)
        await desk.say(other, owner=ANN)
        await desk.run("deleteThread", threadId=UNKNOWN)
        assert await desk.counts() == (1, 1)
        assert [row["id"] for row in (await desk.run("listThreads"))["data"]] == [other]
        unknown = ("THREAD_NOT_FOUND", "No such thread is visible to this key.")
        assert await desk.refusal(body_id=UNKNOWN) == unknown

    play(backend, scene)


def test_a_deletion_that_was_cut_off_is_ended_with_the_old_threads() -> None:
    async def scene(desk: Desk) -> None:
        for number in range(threads.FORGOTTEN_MAX + 3):
            await desk.say(UNKNOWN, f"q{number}", owner=ANN)
        actor = Actor(OWN, workspace_id=OWN, user_id=ANN)
        end = partial(threads._end_thread, actor=actor, id_=UNKNOWN)
        assert await desk.service.write(OWN, end) == threads.FORGOTTEN_MAX + 3
        await desk.refusal(body_id=UNKNOWN)
        await forget_threads(desk.service)
        assert await desk.counts() == (0, 0)

    play("memory", scene)


def test_a_thread_of_before_becomes_nobodys_own() -> None:
    async def scene(desk: Desk) -> None:
        await desk.say(UNKNOWN, "q0")
        await desk.say(UNKNOWN, "q1", owner=ANN)
        assert (await desk.run("listThreads"))["data"] == []

    play("memory", scene)


def test_a_question_that_is_answered_meanwhile_begins_the_thread_anew() -> None:
    async def scene(desk: Desk) -> None:
        write, forget = desk.service.write, timedelta(days=1)
        await desk.say(UNKNOWN, "q0", owner=ANN)
        mark = partial(threads._end_thread, actor=Actor(OWN, user_id=ANN), id_=UNKNOWN)
        end = await write(OWN, mark)
        await desk.say(UNKNOWN, "q1", owner=ANN)
        assert await write(OWN, partial(threads._forget_turns, id_=UNKNOWN, end=end)) == 1
        assert not await write(OWN, partial(threads.forget_thread, id_=UNKNOWN, retention=forget))
        detail = (await desk.run("showThread", threadId=UNKNOWN))["data"]
        assert [item["question"] for item in detail["messages"]] == ["q1"]

    play("memory", scene)


def test_a_head_without_its_thread_can_be_deleted_and_goes_with_its_thread() -> None:
    async def scene(desk: Desk) -> None:
        other = "thr_" + "1" * 24
        for id_ in (UNKNOWN, other):
            await desk.say(id_, owner=ANN)
        await desk.service.write(OWN, lambda ctx: ctx.remove(THREADS, UNKNOWN))  # by an old version
        await desk.run("deleteThread", threadId=UNKNOWN)
        desk.clock.advance(RETENTION.total_seconds() + 1)
        await forget_threads(desk.service)
        count = await desk.service.read(
            OWN, lambda ctx: ctx.tx.documents.count(THREAD_HEADS, limit=9)
        )
        assert (count, await desk.counts()) == (0, (0, 0))

    play("memory", scene)
