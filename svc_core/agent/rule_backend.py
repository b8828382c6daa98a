"""The backend without a language model: plans tool calls by rules, answers from rows and texts."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from svc_core.agent.agent_ports import ToolAnswer, Toolbox, ToolHit, Turn
from svc_core.agent.answer_events import (
    SOURCES_MAX,
    AnswerDone,
    AnswerSource,
    Event,
    Step,
    Text,
    ToolCall,
    ToolFailure,
    ToolResult,
    Usage,
)
from svc_core.agent.planner import plan_answer
from svc_core.agent.row_facts import CitedSentence
from svc_core.agent.sentence_meaning import Comparison
from svc_core.contract.problem import Problem

_SHOWN_MAX = 5  # hits of a tool call: clients send them back with every question


class RuleBackend:
    """Answers by rules: the same question over the same rows has the same answer."""

    async def open(self, turn: Turn, tools: Toolbox) -> AsyncIterator[Event]:
        """Begin an answer; this backend refuses nothing."""
        return _answer(turn, tools)


async def _answer(turn: Turn, tools: Toolbox) -> AsyncIterator[Event]:
    yield Step()
    calls = plan_answer(turn, [spec.name for spec in tools.specs])
    answer: Any = None
    number = 0
    while True:
        number += 1
        try:
            call = next(calls) if answer is None else calls.send(answer)
        except StopIteration as stop:
            sentences: list[CitedSentence] = stop.value
            break
        if isinstance(call, Comparison):
            answer = await tools.nearness(call.question, call.texts)
            continue
        id_ = f"call_{number}"
        yield ToolCall(id_, call.name, call.arguments)
        try:
            answer = await tools.call(call.name, call.arguments)
            hits = enumerate(answer.hits[:_SHOWN_MAX], 1)
            yield ToolResult(id_, tuple(_source(tools, position, hit) for position, hit in hits))
        except Problem as refusal:
            answer = ToolAnswer((), has_more=True)
            yield ToolFailure(id_, f"{refusal.type.title} ({refusal.type.code})")
    yield Step()
    words = 0
    for event in _text_events(sentences, tools):
        words += len(event.text.split()) if isinstance(event, Text) else 0
        yield event
    yield AnswerDone(usage=Usage(len(turn.question.split()), words))


def _text_events(sentences: Sequence[CitedSentence], tools: Toolbox) -> Iterator[Event]:
    """The sentences with their citation marks, each source before the first that cites it."""
    numbers: dict[tuple[str, str | None], int] = {}
    for sentence in sentences:
        hits = {(hit.id, hit.path): hit for hit in sentence.hits}
        new_keys = [key for key in hits if key not in numbers]
        if len(numbers) + len(new_keys) > SOURCES_MAX:
            continue
        for key in new_keys:
            numbers[key] = len(numbers) + 1
            yield _source(tools, numbers[key], hits[key])
        marks = "".join(f"[{numbers[key]}]" for key in hits)
        bare = sentence.text.rstrip()
        end = bare[-1] if bare[-1:] in (".", "!", "?", "…") else "."
        body = bare[:-1] if bare.endswith(end) else bare
        yield Text(f"{body} {marks}{end}\n" if marks else f"{body}{end}\n")


def _source(tools: Toolbox, number: int, hit: ToolHit) -> AnswerSource:
    return AnswerSource(number, hit.id, hit.title, tools.origin + hit.path if hit.path else None)
