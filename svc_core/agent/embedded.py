"""The backend without a model: plans tool calls by rules, and answers in sentences it found."""

from collections.abc import AsyncIterator, Iterator, Sequence

from svc_core.agent.events import (
    Event,
    Finished,
    Source,
    Step,
    Text,
    ToolCall,
    ToolDone,
    ToolFailed,
    Usage,
)
from svc_core.agent.facts import Said
from svc_core.agent.planner import plan
from svc_core.agent.ports import Answered, Found, Toolbox, Turn
from svc_core.contract.problem import Problem

SOURCES_MAX = 20
_SHOWN_MAX = 5  # of what a tool found: clients send it back with every question


class Embedded:
    """Answers by rules: the same question over the same rows has the same answer."""

    async def open(self, turn: Turn, tools: Toolbox) -> AsyncIterator[Event]:
        """Begin an answer; it refuses nothing."""
        return _answer(turn, tools)


async def _answer(turn: Turn, tools: Toolbox) -> AsyncIterator[Event]:
    yield Step()
    planned = plan(turn, [spec.name for spec in tools.specs])
    answered, number = None, 0
    while True:
        number += 1
        try:
            call = next(planned) if answered is None else planned.send(answered)
        except StopIteration as stop:
            said: list[Said] = stop.value
            break
        id_ = f"call_{number}"
        yield ToolCall(id_, call.name, call.arguments)
        try:
            answered = await tools.call(call.name, call.arguments)
            shown = enumerate(answered.found[:_SHOWN_MAX], 1)
            yield ToolDone(id_, tuple(_source(tools, at, one) for at, one in shown))
        except Problem as refused:
            answered = Answered((), has_more=True)
            yield ToolFailed(id_, f"{refused.type.title} ({refused.type.code})")
    yield Step()
    written = 0
    for event in _told(said, tools):
        written += len(event.text.split()) if isinstance(event, Text) else 0
        yield event
    yield Finished(usage=Usage(len(turn.question.split()), written))


def _told(said: Sequence[Said], tools: Toolbox) -> Iterator[Event]:
    """Sentences with their numbers, each source before the first that cites it."""
    numbers: dict[str, int] = {}
    for one in said:
        new = {found.path or found.id: found for found in one.found}
        fresh = [key for key in new if key not in numbers]
        if len(numbers) + len(fresh) > SOURCES_MAX:
            continue
        for key in fresh:
            numbers[key] = len(numbers) + 1
            yield _source(tools, numbers[key], new[key])
        marks = "".join(f"[{numbers[key]}]" for key in new)
        bare = one.text.rstrip()
        end = bare[-1] if bare[-1:] in (".", "!", "?", "…") else "."
        body = bare[:-1] if bare.endswith(end) else bare
        yield Text(f"{body} {marks}{end}\n" if marks else f"{body}{end}\n")


def _source(tools: Toolbox, number: int, found: Found) -> Source:
    return Source(number, found.id, found.title, tools.origin + found.path if found.path else None)
