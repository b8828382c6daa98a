"""One answer, wherever it is cut short: one end is told, and what is due is settled, once."""

import asyncio
import json
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import suppress
from typing import Any, TypeVar, cast

import pytest

from svc_core import catalog
from svc_core.access import chat_credits
from svc_core.access import operations as accounts
from svc_core.access.chat_credits import CREDITS, ChatCredits
from svc_core.access.plans import DEFAULT_PLANS, PlanTable
from svc_core.agent.agent_ports import Toolbox, Turn
from svc_core.agent.answer_events import AnswerDone, Event, Step, Text
from svc_core.agent.answer_stream import AnswerStream
from svc_core.agent.chunks import ChunkEncoder
from svc_core.agent.encoder import Encoder
from svc_core.agent.request import ChatRequest
from svc_core.agent.threads import THREAD_TURNS, ThreadContext, ThreadTurn
from svc_core.agent.ui_stream import UiEncoder
from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from svc_core.operation.ports import Overloaded
from svc_core.operation.stream import Stream
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_http.service.service_units import Service
from tests.backends import store_of

R = TypeVar("R")
THREAD = "thr_" + "a" * 24
SHUT = b'{"code": "SHUTTING_DOWN", "detail": "The server ends."}'


@types.coroutine
def pause() -> Generator[None]:
    """A wait, at which an answer can be cut short."""
    yield


class Slow(Service):
    """The service, each of whose writes waits before it begins."""

    async def write(self, tenant: str, usecase: Callable[[Context], Awaitable[R]]) -> R:
        await pause()
        return await super().write(tenant, usecase)


class Speaker:
    """A backend that waits before everything that it says."""

    def __init__(self, *run: Event) -> None:
        self._run = run

    async def open(self, _: Turn, __: Toolbox) -> AsyncIterator[Event]:
        await pause()
        return self._events()

    async def _events(self) -> AsyncIterator[Event]:
        for event in self._run:
            await pause()
            yield event


class Desk:
    """A workspace with one question under way."""

    def __init__(self, encoder: Encoder) -> None:
        clock = FrozenClock()
        store, ids = store_of("memory", catalog.COLLECTIONS), CountingIds(clock)
        surroundings = ids, clock.now, Keyring({1: b"k" * 32}, 1)
        host = Host(providers={PlanTable: DEFAULT_PLANS})
        self.service = Service(store, *surroundings, host, plans=DEFAULT_PLANS)
        self.home = drive.run(
            self.service.system(
                lambda ctx: accounts.create_workspace(
                    ctx, name="a", plan="pro", plans=DEFAULT_PLANS
                )
            )
        ).id
        turn = Turn("Who?", clock.now())
        self.answer = AnswerStream(
            Slow(store, *surroundings, host, plans=DEFAULT_PLANS),
            ChatRequest(turn),
            ThreadContext(THREAD, is_new=True),
            message_id=ids.new("msg"),
            encoder=encoder,
            reservation=drive.run(chat_credits.reserve(self.service, self.home)),
        )

    def rows(self) -> tuple[list[ChatCredits], list[ThreadTurn]]:
        async def read(ctx: Context) -> tuple[list[ChatCredits], list[ThreadTurn]]:
            rows = [CREDITS.decode(row.raw) async for row in ctx.every(CREDITS)]
            return rows, [THREAD_TURNS.decode(row.raw) async for row in ctx.every(THREAD_TURNS)]

        return drive.run(self.service.read(self.home, read))


async def listen(stream: Stream, heard_bytes: bytearray) -> None:
    async for part in stream.parts(cast(Any, None)):
        heard_bytes += part


def end_of(work: Any) -> None:
    """Go on through every wait."""
    with suppress(StopIteration):
        while True:
            work.send(None)


ENCODERS: dict[str, Callable[[], Encoder]] = {
    "ui": lambda: UiEncoder("msg_1", THREAD),
    "chunks": lambda: ChunkEncoder("chatcmpl-1", 0, includes_usage=True),
}
RUNS: dict[str, list[Event]] = {
    "whole": [Step(), Text("The port"), Text(" is shut."), AnswerDone()],
    "without an end": [Step(), Text("The port")],
    "without a word": [Step()],
}
CUTS = {
    "cancelled": asyncio.CancelledError(),
    "failing": Overloaded("The store is busy."),
}


def ends(body: bytes) -> list[Any]:
    """What tells of an end."""
    frames = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: ")]
    assert not frames or frames.pop() == b"[DONE]"
    chunks = [json.loads(frame) for frame in frames]
    return [
        chunk
        for chunk in chunks
        if chunk.get("type") in ("finish", "error")
        or "error" in chunk
        or any(choice["finish_reason"] for choice in chunk.get("choices", ()))
    ]


@pytest.mark.parametrize("how", CUTS)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_one_end_is_told_and_the_turn_is_settled_wherever_an_answer_is_cut_short(
    encoder: str, run: str, how: str
) -> None:
    waits = 0
    while True:
        desk, body, is_whole = Desk(ENCODERS[encoder]()), bytearray(), False
        stream = desk.answer.stream(Speaker(*RUNS[run]), cast(Any, None), ())
        hearing: Any = listen(stream, body)
        try:
            for _ in range(waits + 1):
                hearing.send(None)
            hearing.throw(CUTS[how])
        except StopIteration:
            is_whole = True
        except type(CUTS[how]):
            body += stream.farewell(SHUT) if body else b""
        end_of(stream.settle())
        # What was cut short before its first frame is refused as a whole.
        assert len(ends(bytes(body))) == bool(body), (waits, bytes(body))
        [[month], turns] = desk.rows()
        is_said = b"The port" in body
        assert (month.used, month.held) == (int(is_said), ())
        assert len(turns) == bool(body)
        waits += 1
        if is_whole:
            break
    assert waits > len(RUNS[run])
