"""An answer as it comes: what of its events counts, and its text, sources and end.

Rule 1: an answer has one end, and nothing follows it; a source comes once; no more text or sources
        than `TEXT_MAX` and `SOURCES_MAX`.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from attrs import define, field

from svc_core.agent.agent_ports import Turn
from svc_core.agent.answer_events import (
    CUT_SHORT,
    SOURCES_MAX,
    TEXT_MAX,
    AnswerDone,
    AnswerFailure,
    AnswerSource,
    Event,
    Text,
    Usage,
)
from svc_core.agent.request import Metadata
from svc_core.agent.threads import ThreadTurn


@define
class Transcript:
    """The text, the sources and the end of an answer."""

    text: str = ""
    sources: list[AnswerSource] = field(factory=list)
    end: AnswerDone | AnswerFailure | None = None

    def add(self, event: Event) -> tuple[Event, ...]:
        """Take in an event, and return what of it counts."""
        if self.end is not None:
            return ()
        match event:
            case Text(text):
                part = text[: TEXT_MAX - len(self.text)]
                self.text += part
                if part != text:
                    self.end = AnswerDone("length", Usage(written=len(self.text.split())))
                    return (Text(part), self.end) if part else (self.end,)
                if not text:
                    return ()
            case AnswerSource(number):
                numbers = [source.number for source in self.sources]
                if number in numbers or len(numbers) == SOURCES_MAX:
                    return ()
                self.sources.append(event)
            case AnswerDone() | AnswerFailure():
                self.end = event
        return (event,)

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
    transcript.end = transcript.end or CUT_SHORT
