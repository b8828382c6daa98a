"""A client of language models that speak OpenAI's API: `POST {base}/chat/completions`.

Rule 1: a failure before the first event raises; a later one ends the answer with an error event.
Rule 2: everything is bounded: steps, tokens, bytes, concurrent tools, and each wait.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from http import HTTPStatus
from itertools import count
from typing import Any, Final

from attrs import field, frozen

from svc_core.agent.agent_ports import Backend, ToolAnswer, Toolbox, Turn
from svc_core.agent.answer_events import (
    AnswerDone,
    AnswerFailure,
    Event,
    Step,
    ToolCall,
    Usage,
)
from svc_core.agent.completions import Completion, Frames, ModelCall, UpstreamFailure, refusal
from svc_core.agent.dialogue import Dialogue
from svc_core.agent.rule_backend import RuleBackend
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.text.citations import Sieve
from svc_http.outside.upstream import NoAnswer, Upstream

OPENAI: Final = "api.openai.com"
REFUSAL_BYTES: Final = 64 * 1024
REFUSAL_CHARS: Final = 500
ANSWER_BYTES: Final = 8 * 1024 * 1024
"""The largest answer of the model: 16,000 characters in frames of 300 bytes each are 5 MB."""
STEPS_MAX: Final = 6
"""How often the model is asked for one answer; the last time it has no tools."""
TOKENS_MAX: Final = 2_000
"""How many tokens the model may write each time."""
TRAILER_SECONDS: Final = 2.0
"""How long to wait for what may follow the end of an answer: its usage, the end of the body."""
TOOLS_AT_ONCE: Final = 4
TOOL_SECONDS: Final = 10.0
PASSAGES_AT_ONCE: Final = 4


@frozen
class ChatEndpoint:
    """The address, name and key of a language model."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of every request; OpenAI's newest models need other ones than the rest."""
        if OPENAI in self.url:
            return {"model": self.model, "max_completion_tokens": TOKENS_MAX}
        return {"model": self.model, "max_tokens": TOKENS_MAX, "temperature": 0}


@frozen
class ChatTimeouts:
    """How long the model may be silent, and how long an answer may take, in seconds."""

    idle: float = 60.0
    total: float = 120.0


class Chat:
    """A language model that answers questions with tools (`agent.ports.Backend`) and rewrites text.

    `on_failure` gets failures. If the model cannot begin, the `fallback` answers, where there is
    one, unless the provider has no credits left. If none of its sentences stands, the embedded
    answer does, with the usage of that.
    """

    def __init__(
        self,
        endpoint: ChatEndpoint,
        *,
        timeouts: ChatTimeouts | None = None,
        fallback: Backend | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts or ChatTimeouts()
        self._fallback = fallback
        self._upstream = Upstream(f"{endpoint.url}/chat/completions", endpoint.key, "svc-agent")
        self.on_failure: Callable[[BaseException], None] = lambda _: None

    async def open(self, turn: Turn, tools: Toolbox) -> AsyncIterator[Event]:
        """Begin an answer.

        Raises:
            Problem: PROVIDER_CREDITS_EXHAUSTED, UPSTREAM_RATE_LIMITED or UPSTREAM_ERROR.
        """
        events = self._answer(turn, tools)
        try:
            await anext(events)
            return events
        except UpstreamFailure as failure:
            self._report(failure)
            if self._fallback is None or failure.type is problem.PROVIDER_CREDITS_EXHAUSTED:
                raise
            return await self._fallback.open(turn, tools)

    async def write(self, questions: Sequence[tuple[str, str]]) -> Sequence[str | None]:
        """Rewrite passages, given as (instructions, text); None for each that failed.

        All of them together take no longer than one answer.
        """
        turns = asyncio.Semaphore(PASSAGES_AT_ONCE)

        async def rewrite(instructions: str, words: str) -> str | None:
            messages = [
                {"role": "system", "content": instructions},
                {"role": "user", "content": words},
            ]
            try:
                async with (
                    turns,
                    aclosing(
                        self._deltas({"messages": messages}, Completion(), deadline)
                    ) as deltas,
                ):
                    return "".join([text async for text in deltas])
            except UpstreamFailure as failure:
                self._report(failure)
                return None

        deadline = self._deadline()
        return await asyncio.gather(*(rewrite(*passage) for passage in questions))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._upstream.aclose()

    def _report(self, failure: UpstreamFailure) -> None:
        """Report a failure to `on_failure`, without the key."""
        self.on_failure(
            NoAnswer(f"{self._upstream.url} {self._upstream.without_key(failure.diagnosis)}")
        )

    def _deadline(self) -> float:
        return asyncio.get_running_loop().time() + self._timeouts.total

    # -- one exchange ----------------------------------------------------------------------------

    async def _deltas(
        self, request: dict[str, Any], completion: Completion, deadline: float
    ) -> AsyncGenerator[str]:
        """Yield the text of an answer as it arrives, possibly empty; `completion` gets the rest.

        Raises:
            UpstreamFailure: it was refused, cut short, filtered or too late.
        """
        question = {
            **self._endpoint.parameters,
            **request,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        try:
            async with AsyncExitStack() as stack:
                # No wait spans a `yield`: it would end whoever reads, wherever they are by then.
                async with self._timeout(deadline):
                    asking = self._upstream.open(question, "text/event-stream")
                    response = await stack.enter_async_context(asking)
                if response.status != HTTPStatus.OK:
                    async with self._timeout(deadline):
                        body = await response.body(REFUSAL_BYTES)
                    reason = " ".join(body.decode("utf-8", "replace").split())[:REFUSAL_CHARS]
                    raise refusal(response.status, reason, response.wait_seconds)
                frames, size = Frames(), 0
                chunks = await stack.enter_async_context(aclosing(response.chunks()))
                while True:
                    async with self._timeout(deadline, completion):
                        chunk = await anext(chunks, None)
                    size += len(chunk or b"")
                    if size > ANSWER_BYTES:
                        raise UpstreamFailure(f"answers more than {ANSWER_BYTES} bytes")
                    for data in frames.end() if chunk is None else frames.feed(chunk):
                        yield completion.feed(data)
                    if chunk is None:
                        break
        except (NoAnswer, TimeoutError) as error:
            if completion.finish is None:
                reason = (
                    str(error) if isinstance(error, NoAnswer) else "is silent, or takes too long"
                )
                raise UpstreamFailure(reason) from error
        completion.end()

    def _timeout(self, deadline: float, completion: Completion | None = None) -> asyncio.Timeout:
        """The timeout for the next bytes; it is short after the end of the answer was announced."""
        is_over = completion is not None and completion.finish is not None
        idle = TRAILER_SECONDS if is_over else self._timeouts.idle
        return asyncio.timeout_at(min(deadline, asyncio.get_running_loop().time() + idle))

    # -- a whole answer --------------------------------------------------------------------------

    async def _answer(self, turn: Turn, tools: Toolbox) -> AsyncGenerator[Event]:
        """Yield the events of an answer, the first one twice: `open` consumes it once."""
        async with aclosing(self._events(turn, tools)) as events:
            first = await anext(events)
            yield first
            yield first
            try:
                async for event in events:
                    yield event
            except UpstreamFailure as failure:
                self._report(failure)
                yield AnswerFailure(failure.type.code, failure.detail)

    async def _events(self, turn: Turn, tools: Toolbox) -> AsyncGenerator[Event]:
        """Yield the events of an answer: text, steps, tool calls and their results."""
        deadline = self._deadline()
        dialogue = Dialogue(turn, tools.specs, tools.origin)
        used = Usage()
        for step in count(1):
            is_last = step == STEPS_MAX
            completion = Completion()
            deltas = self._deltas(dialogue.request(is_last=is_last), completion, deadline)
            async with aclosing(_sentence_events(deltas, dialogue, step)) as events:
                async for event in events:
                    yield event
            usage = completion.usage or Usage(dialogue.words, completion.pieces)
            used = Usage(used.read + usage.read, used.written + usage.written)
            calls = [] if is_last or dialogue.is_full else completion.calls(step)
            if not calls:
                break
            if not completion.pieces:
                yield Step()
            async with aclosing(_tool_events(calls, dialogue, tools)) as tool_events:
                async for event in tool_events:
                    yield event
        if dialogue.is_silent:
            if not completion.pieces:
                raise UpstreamFailure("said no word in its answer")
            # Nothing is left of the model's words, so neither they nor their count are its answer.
            embedded: Any = await (self._fallback or RuleBackend()).open(turn, tools)
            async with aclosing(embedded):
                async for event in embedded:
                    yield event
            return
        is_cut = dialogue.is_full or completion.finish == "length"
        yield AnswerDone("length" if is_cut else "stop", used)


async def _sentence_events(
    deltas: AsyncGenerator[str], dialogue: Dialogue, step: int
) -> AsyncGenerator[Event]:
    """Yield the start of a step with its first text, then its sentences that have evidence."""
    sieve, is_begun = Sieve(dialogue.facts), False
    async with aclosing(deltas):
        async for text in deltas:
            if not is_begun and text.strip():
                is_begun = True
                yield Step()
            # Reading a long row takes some ten milliseconds: other answers go on meanwhile.
            for event in dialogue.text_events(await asyncio.to_thread(sieve.feed, text), step):
                yield event
            if dialogue.is_full:
                return
    for event in dialogue.text_events(await asyncio.to_thread(sieve.end), step):
        yield event


async def _tool_events(
    calls: Sequence[ModelCall], dialogue: Dialogue, tools: Toolbox
) -> AsyncGenerator[Event]:
    """Run all tool calls; yield the calls, then the result of each."""
    turns = asyncio.Semaphore(TOOLS_AT_ONCE)

    async def run(call: ModelCall) -> ToolAnswer | str:
        if call.arguments is None:
            return "The arguments are no JSON object."
        try:
            async with turns, asyncio.timeout(TOOL_SECONDS):
                return await tools.call(call.name, call.arguments)
        except Problem as refusal:
            return f"{refusal.detail} ({refusal.type.code})"
        except TimeoutError:
            return f"It took longer than {TOOL_SECONDS:g} seconds."

    dialogue.add_calls(calls)
    for call in calls:
        yield ToolCall(call.id, dialogue.public_name(call.name), call.arguments or {})
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(run(call)) for call in calls]
    for call, task in zip(calls, running, strict=True):
        outcome = task.result()
        if isinstance(outcome, str):
            yield dialogue.add_failure(call, outcome)
        else:
            yield dialogue.add_answer(call, outcome)
