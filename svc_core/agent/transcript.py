"""Collects the events of an answer into its text, sources and end."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from attrs import define, field

from svc_core.agent.agent_ports import Turn
from svc_core.agent.answer_events import AnswerDone, AnswerFailure, AnswerSource, Event, Text, Usage
from svc_core.agent.encoder import SOURCES_MAX, TEXT_MAX
from svc_core.agent.request import Metadata
from svc_core.agent.threads import ThreadTurn
from svc_core.contract import problem


@define
class Transcript:
    """The text, the sources and the end of an answer, within the bounds of an answer."""

    text: str = ""
    sources: list[AnswerSource] = field(factory=list)
    end: AnswerDone | AnswerFailure | None = None

    def add(self, event: Event) -> None:
        """Take in an event; nothing counts after the end."""
        if self.end is not None:
            return
        match event:
            case Text(text):
                room = TEXT_MAX - len(self.text)
                self.text += text[:room]
                if len(text) > room:
                    self.end = AnswerDone("length", Usage(written=len(self.text.split())))
            case AnswerSource() if len(self.sources) < SOURCES_MAX and event not in self.sources:
                self.sources.append(event)
            case AnswerDone() | AnswerFailure():
                self.end = event

    @property
    def is_answered(self) -> bool:
        """Whether there is text, or the answer ended well without any."""
        return isinstance(self.end, AnswerDone) or bool(self.text)

    def thread_turn(
        self, thread_id: str, turn: Turn, metadata: Metadata | None = None
    ) -> ThreadTurn:
        """The answer as a turn of a thread."""
        end = self.end if isinstance(self.end, AnswerDone) else None
        return ThreadTurn(
            thread_id=thread_id,
            asked_at=turn.now,
            question=turn.question,
            text=self.text,
            sources=tuple(self.sources),
            finish_reason=None if end is None else end.reason,
            usage=None if end is None else end.usage,
            metadata=metadata or {},
            incomplete=end is None,
        )


async def transcribe(events: AsyncIterator[Event], transcript: Transcript) -> None:
    """Collect an answer to its end; where it breaks off, what came so far stays."""
    stream: Any = events
    async with aclosing(stream):
        async for event in stream:
            transcript.add(event)
    if transcript.end is None:
        text = "The answer ended before it was whole."
        transcript.end = AnswerFailure(problem.INTERNAL_ERROR.code, text)
