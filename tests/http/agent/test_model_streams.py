"""The agent's streams with a model behind an address, from socket to socket."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from svc_core.agent.agent_ports import Backend
from svc_http.outside.chat import Chat, ChatEndpoint
from tests.upstream import Upstream, call, chunk, upstream, words

NATIVE, CHAT = "/api/v1/agent-svc/chat/stream", "/api/v1/chat/completions"
PATHS = pytest.mark.parametrize("path", [NATIVE, CHAT])
SOON = 60.0


class Beside:
    """The model on a loop of its own, beside the server's and the test's."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.place: Upstream
        self._is_up = threading.Event()
        self._over: asyncio.Event
        self._thread = threading.Thread(target=self.loop.run_until_complete, args=(self._run(),))
        self._thread.start()
        assert self._is_up.wait(SOON)

    async def _run(self) -> None:
        self._over = asyncio.Event()
        async with upstream() as self.place:
            self._is_up.set()
            await self._over.wait()

    def wait(self, event: Callable[[], asyncio.Event], seconds: float = SOON) -> None:
        """Return once an event of the model's came."""
        waiting = asyncio.wait_for(event().wait(), seconds)
        asyncio.run_coroutine_threadsafe(waiting, self.loop).result(SOON)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def beside() -> Iterator[Beside]:
    beside = Beside()
    yield beside
    beside.close()


@pytest.fixture
def model_scene(scene: Any, beside: Beside) -> Any:
    """The server whose agent asks that model."""
    runtime = scene.wire.service.runtime
    lends = {
        **runtime.host.providers,
        Backend: Chat(ChatEndpoint(beside.place.url, "secret-model")),
    }
    runtime.host = attrs.evolve(runtime.host, providers=lends)
    return scene


@PATHS
def test_a_model_looks_things_up_and_what_nothing_supports_is_not_said(
    model_scene: Any, beside: Beside, path: str
) -> None:
    beside.place.says(
        call("list_incidents", '{"q": "Hull", "limit": 3}', index=0), chunk("tool_calls")
    )
    beside.place.says(call("list_news", '{"color": "red"}', index=0), chunk("tool_calls"))
    beside.place.says(*words("The port of Hull is closed [1]. I made that up."))
    answer = model_scene.ask(path, "What is at Hull?")
    body = answer.whole()
    assert body.startswith(b"HTTP/1.1 200")
    assert b"made that up" not in body
    assert b"secret-model" not in body
    assert answer.frames[-1] == "[DONE]"
    second, third = (body["messages"][-1] for _, body in beside.place.requests[1:])
    assert second["content"] == '{"results": [], "more": false}'
    assert "VALIDATION_FAILED" in third["content"]
    assert model_scene.account()["used"] == 1


@PATHS
@pytest.mark.parametrize(
    ("how", "status", "code"),
    [
        ({"status": 402}, 402, "PROVIDER_CREDITS_EXHAUSTED"),
        ({"status": 429, "fields": (("Retry-After", "7"),)}, 429, "UPSTREAM_RATE_LIMITED"),
        ({"status": 503}, 500, "UPSTREAM_ERROR"),
    ],
)
def test_a_model_that_refuses_is_a_problem_that_costs_nothing(
    model_scene: Any, beside: Beside, path: str, how: Any, status: int, code: str
) -> None:
    beside.place.says(b'{"error": {"message": "secret"}}', **how)
    answer = model_scene.ask(path)
    body = answer.until(b"}")
    assert body.startswith(f"HTTP/1.1 {status} ".encode())
    assert answer.fields["content-type"] == "application/problem+json"
    assert code.encode() in body
    assert b"secret" not in body
    assert b"payment-required" not in body.lower()
    assert answer.fields.get("retry-after") == ("7" if status == 429 else None)
    model_scene.quiet()
    account = model_scene.account()
    assert (account["used"], account["held"], account["threads"]) == (0, 0, 0)


@PATHS
@pytest.mark.parametrize("how", [{}, {"is_cut": True}])
def test_a_model_that_breaks_off_ends_the_stream_with_one_error(
    model_scene: Any, beside: Beside, path: str, how: Any
) -> None:
    beside.place.says(*words("The port", finish=None), **how)
    answer = model_scene.ask(path)
    body = answer.whole()
    assert body.startswith(b"HTTP/1.1 200")
    last, done = answer.frames[-2:]
    assert done == "[DONE]"
    assert "UPSTREAM_ERROR" in str(last)
    assert (last["type"] == "error") if path == NATIVE else ("error" in last)
    assert str(answer.frames).count("UPSTREAM_ERROR") == 1


LEAVES: dict[str, tuple[list[Any], bytes]] = {
    "before any head": ([None], b""),
    "in a silence": ([*words("The port", finish=None), None], b"\r\n\r\n"),
}


@PATHS
@pytest.mark.parametrize("case", LEAVES)
def test_whoever_leaves_ends_the_request_to_the_model_within_a_second(
    model_scene: Any, beside: Beside, path: str, case: str
) -> None:
    parts, seen = LEAVES[case]
    beside.place.says(*parts)
    answer = model_scene.ask(path)
    beside.wait(lambda: beside.place.is_asked)
    if seen:
        answer.until(seen)
    answer.leave()
    beside.wait(lambda: beside.place.departure, 1.0)
    model_scene.quiet()
    assert model_scene.account()["held"] == 0
