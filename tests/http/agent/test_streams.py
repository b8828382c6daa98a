"""Answers of the agent over a real socket: whoever leaves is noticed, whatever breaks is told."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from svc_core.access import operations as accounts
from svc_core.agent.agent_ports import Turn
from svc_core.agent.answer_events import (
    AnswerDone,
    AnswerFailure,
    AnswerSource,
    Event,
    Step,
    Text,
    Usage,
)
from svc_core.agent.answer_stream import FIRST_SECONDS
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.exchange import flow
from tests.http.agent.conftest import CHAT, NATIVE, SOON

DISCONNECTED_SECONDS = 1.0


async def silent(_: Turn) -> AsyncIterator[Event]:
    """Three frames, then nothing."""
    yield Step()
    yield Text("one")
    yield Text("two")
    await asyncio.Event().wait()


async def busy(_: Turn) -> AsyncIterator[Event]:
    """Words without an end, from somebody who waits for nothing."""
    yield Step()
    while True:
        yield Text("")
        yield Text("w")


async def mute(_: Turn) -> AsyncIterator[Event]:
    """Somebody who works without a word, and waits for nothing."""
    while True:
        yield Text("")


async def never(_: Turn) -> AsyncIterator[Event]:
    """An upstream that does not answer."""
    await asyncio.Event().wait()
    raise AssertionError


async def whole(turn: Turn) -> AsyncIterator[Event]:
    yield Step()
    yield AnswerSource(1, "inc_1", "A port", "https://a.example/1")
    yield Text(f"You asked: {turn.question} [1].")
    yield AnswerDone(usage=Usage(3, 4))


def leave(scene: Any, path: str, phase: str, *, goes_on: bool = False) -> None:
    """Ask, perhaps for more, leave in a phase, and wait until the run is over."""
    if phase == "before the head":
        scene.stage.play = never
        asker = scene.ask(path)
        assert scene.stage.starts.acquire(timeout=SOON)
    else:
        scene.stage.plays({"silence": silent, "work": busy, "mute work": mute}[phase])
        asker = scene.ask(path)
        asker.until(b"data: ")
        if phase in ("silence", "work"):
            asker.until(b"two" if phase == "silence" else b'"w"')
    if goes_on:
        asker.ask_again()
    asker.leave()
    began = time.monotonic()
    assert scene.stage.over.acquire(timeout=SOON)
    assert time.monotonic() - began < DISCONNECTED_SECONDS


@pytest.mark.parametrize("path", [NATIVE, CHAT])
@pytest.mark.parametrize("goes_on", [False, True], ids=["alone", "pipelined"])
@pytest.mark.parametrize(
    ("phase", "used", "turns"),
    [
        ("before the head", 0, 0),
        ("silence", 1, 1),
        ("work", 1, 1),
        ("mute work", 0, 1),
    ],
)
def test_whoever_leaves_ends_the_run_within_a_second_and_pays_for_what_came(
    scene: Any, path: str, phase: str, used: int, turns: int, goes_on: bool
) -> None:
    leave(scene, path, phase, goes_on=goes_on)
    scene.quiet()
    assert scene.account() == {"used": used, "held": 0, "threads": turns, "turns": turns}
    for turn in scene.turns():
        assert turn.incomplete
        assert turn.text.startswith({"silence": "onetwo", "work": "w"}.get(phase, ""))


def test_nothing_is_left_of_many_who_leave(scene: Any) -> None:
    leave(scene, NATIVE, "silence")
    scene.quiet()
    before = scene.tasks
    for number in range(200):
        phase = ("silence", "work", "before the head", "mute work")[number % 4]
        leave(scene, NATIVE, phase, goes_on=number % 8 < 4)
    scene.quiet()
    assert scene.tasks <= before + 2  # connections that are being closed
    assert scene.account()["held"] == 0
    assert scene.account()["used"] == 101
    assert sum(map(len, scene.wire.service.runtime.streams.values())) == 0


def test_no_silence_before_the_head_is_longer_than_one_behind_it() -> None:
    assert FIRST_SECONDS <= flow.HEARTBEAT_SECONDS


@pytest.mark.parametrize("path", [NATIVE, CHAT])
def test_the_end_of_the_server_is_told_in_the_words_of_the_stream(scene: Any, path: str) -> None:
    scene.stage.plays(silent)
    asker = scene.ask(path)
    asker.until(b"two")
    began = time.monotonic()
    scene.drain()
    asker.whole()
    assert time.monotonic() - began < 1.0
    assert asker.frames[-1] == "[DONE]"
    ends(asker.frames[:-1], path, "SHUTTING_DOWN")
    assert scene.stage.over.acquire(timeout=SOON)


def ends(frames: list[Any], path: str, code: str) -> None:
    """Assert that all parts are closed and one error says why."""
    last = frames[-1]
    if path == CHAT:
        assert last["error"]["code"] == code
        assert not any(
            choice["finish_reason"] for frame in frames[:-1] for choice in frame["choices"]
        )
        return
    types = [frame["type"] for frame in frames]
    assert types.count("error") == 1
    assert types[-1] == "error"
    assert types.count("text-start") == types.count("text-end")
    assert code in last["errorText"]
    assert "finish" not in types


def test_a_key_that_is_revoked_ends_its_answer(scene: Any) -> None:
    revocation = asyncio.Event()

    async def waits(_: Turn) -> AsyncIterator[Event]:
        yield Text("one")
        await revocation.wait()
        yield Text("two")

    scene.stage.plays(waits)
    asker = scene.ask()
    asker.until(b"one")
    runtime = scene.wire.service.runtime
    [entry] = runtime.principals._entries.values()

    async def revoke() -> None:
        await runtime.service.system(lambda ctx: accounts.revoke_key(ctx, entry.principal.key.id))
        revocation.set()

    scene.on_loop(revoke)
    asker.whole()
    ends(asker.frames[:-1], NATIVE, "API_KEY_REVOKED")
    assert not any(frame.get("delta") == "two" for frame in asker.frames[:-1])
    scene.quiet()
    assert scene.account()["used"] == 1


def broken_agent(failure: BaseException, text: str = "") -> Any:
    async def run(_: Turn) -> AsyncIterator[Event]:
        yield Step()
        if text:
            yield Text(text)
        raise failure

    return run


async def cut(_: Turn) -> AsyncIterator[Event]:
    yield Text("one")


async def failing_agent(_: Turn) -> AsyncIterator[Event]:
    yield AnswerFailure("UPSTREAM_ERROR", "The provider failed.")


@pytest.mark.parametrize("path", [NATIVE, CHAT])
@pytest.mark.parametrize(
    ("run", "code", "used"),
    [
        (broken_agent(RuntimeError("at /secret")), "INTERNAL_ERROR", 0),
        (broken_agent(RuntimeError("at /secret"), "some"), "INTERNAL_ERROR", 1),
        (broken_agent(Problem(problem.OVERLOADED), "some"), "OVERLOADED", 1),
        (broken_agent(TimeoutError(), "some"), "INTERNAL_ERROR", 1),
        (cut, "INTERNAL_ERROR", 1),
        (failing_agent, "UPSTREAM_ERROR", 0),
    ],
)
def test_what_breaks_is_told_within_and_refunded_where_nothing_was_said(
    scene: Any, path: str, run: Any, code: str, used: int
) -> None:
    scene.stage.plays(run)
    asker = scene.ask(path)
    asker.whole()
    assert asker.frames[-1] == "[DONE]"
    ends(asker.frames[:-1], path, code)
    assert b"secret" not in asker.received
    scene.quiet()
    assert scene.account() == {"used": used, "held": 0, "threads": 1, "turns": 1}


@pytest.mark.parametrize("path", [NATIVE, CHAT])
def test_what_refuses_before_the_first_frame_refuses_the_whole(scene: Any, path: str) -> None:
    async def refuses(_: Turn) -> AsyncIterator[Event]:
        raise Problem(problem.PROVIDER_CREDITS_EXHAUSTED)

    scene.stage.play = refuses
    asker = scene.ask(path)
    asker.until(b"PROVIDER_CREDITS_EXHAUSTED")
    assert asker.received.startswith(b"HTTP/1.1 402")
    assert "x-thread-id" not in asker.fields
    assert "payment-required" not in asker.fields
    scene.quiet()
    assert scene.account() == {"used": 0, "held": 0, "threads": 0, "turns": 0}


def test_a_whole_answer_has_its_fields_and_is_charged_and_kept(scene: Any) -> None:
    scene.stage.plays(whole)
    asker = scene.ask(metadata={"source": "desk"})
    asker.whole()
    fields = asker.fields
    assert asker.received.startswith(b"HTTP/1.1 200")
    assert fields["content-type"] == "text/event-stream"
    assert fields["cache-control"] == "no-cache, no-transform"
    assert fields["x-accel-buffering"] == "no"
    assert fields["x-svc-agent"] == "svc-agent"
    assert fields["x-svc-agent-mode"] == "standard"
    assert fields["x-vercel-ai-ui-message-stream"] == "v1"
    assert fields["x-svc-api-version"] == "1.0"
    assert fields["x-thread-id"] == asker.frames[0]["messageMetadata"]["threadId"]
    assert "connection" not in fields
    [turn] = scene.turns()
    assert (turn.question, turn.text) == ("Who?", "You asked: Who? [1].")
    assert (turn.finish_reason, turn.usage, turn.incomplete) == ("stop", Usage(3, 4), False)
    assert [source.id for source in turn.sources] == ["inc_1"]
    assert (turn.metadata, turn.thread_id) == ({"source": "desk"}, fields["x-thread-id"])
    scene.quiet()
    assert scene.account() == {"used": 1, "held": 0, "threads": 1, "turns": 1}


def test_completions_say_nothing_of_the_agent(scene: Any) -> None:
    scene.stage.plays(whole)
    asker = scene.ask(CHAT)
    asker.whole()
    names = {name for name in asker.fields if name.startswith("x-svc-agent")}
    assert not {name for name in names if "ratelimit" not in name}
    assert "x-vercel-ai-ui-message-stream" not in asker.fields


@pytest.mark.parametrize(
    "again", [{"trigger": "regenerate-message"}, {"trigger": "submit-message", "messageId": "u0"}]
)
def test_a_first_question_that_is_asked_anew_is_answered_without_its_old_answer(
    scene: Any, again: dict[str, str]
) -> None:
    scene.stage.plays(whole)
    for members in ({"trigger": "submit-message"}, {}, again):
        scene.ask(id="chat-1", **members).whole()
    assert [len(turn.history) for turn in scene.stage.turns] == [0, 2, 0]
    assert len({turn.thread_id for turn in scene.turns()}) == 1


def test_whoever_has_read_an_answer_goes_on_from_it_at_once(scene: Any) -> None:
    scene.stage.plays(whole)
    first = scene.ask(CHAT)
    first.whole()
    thread = first.fields["x-thread-id"]
    for ways in ({"threadId": thread}, {"threadId": thread}):
        asker = scene.ask(CHAT, "And then?", **ways)
        asker.whole()
        assert asker.fields["x-thread-id"] == thread
    assert [turn.question for turn in scene.turns()] == ["Who?", "And then?", "And then?"]
    assert [item.text for item in scene.stage.turns[-1].history] == [
        "Who?", "You asked: Who? [1].", "And then?", "You asked: And then? [1].",
    ]  # fmt: skip
