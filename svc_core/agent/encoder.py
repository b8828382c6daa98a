"""The part of both wire encoders that makes any run of events a lawful stream.

Rule 1: a stream has exactly one end, `[DONE]` is its last frame, and nothing follows; a run without
        an end of its own failed.
Rule 2: every tool call has its result before its step ends, by an id of its own.
Rule 3: a frame is one line of JSON in ASCII, so that half a surrogate pair stops no answer.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias, TypeVar

import attrs

from svc_core.agent import answer_events as events
from svc_core.agent.answer_events import (
    CUT_SHORT,
    AnswerDone,
    AnswerFailure,
    Event,
    Text,
    ToolFailure,
)
from svc_core.base.compact import ascii_text
from svc_core.contract import problem

Chunk: TypeAlias = dict[str, Any]
E = TypeVar("E")

TITLE_MAX: Final = 200  # characters of a source's title
TOOL_BYTES_MAX: Final = 4096  # of what a tool was asked, and of what it found

_OPEN_COMMENT: Final = b": stream-open\n\n"
_DONE_FRAME: Final = b"data: [DONE]\n\n"
_TOO_LATE: Final = AnswerFailure(
    problem.UPSTREAM_TIMEOUT.code, "The answer took longer than it may."
)
_NO_RESULT: Final = "The tool gave no answer."


class Encoder(ABC):
    """Encodes the events of one answer as frames; `end` is how it ended, once it has.

    `locate` turns the addresses of sources into those that the caller may follow.
    """

    def __init__(self) -> None:
        self.end: AnswerDone | AnswerFailure | None = None
        self.locate: Callable[[str | None], str | None] = lambda url: url
        self._is_open = False
        self._calls = 0
        self._pending: dict[str, str] = {}

    def open(self) -> bytes:
        """The first frames, behind a comment that proves at once that the stream is open."""
        if self._is_open:
            return b""
        self._is_open = True
        return _OPEN_COMMENT + _frames_of(self._opening())

    def feed(self, event: Event) -> bytes:
        """The frames of one event; none after the end."""
        if self.end is not None:
            return b""
        if type(event) is Text and self._is_open:  # nearly every event, at a third of the cost
            return _frames_of(self._chunks(event))
        chunks = (chunk for part in self._legal_events(event) for chunk in self._chunks(part))
        frames = self.open() + _frames_of(chunks)
        return frames if self.end is None else frames + _DONE_FRAME

    def close(self, failure: AnswerFailure | None = None) -> bytes:
        """The last frames of a run that stopped; empty where it had its end."""
        return self.feed(failure or CUT_SHORT)

    def farewell(self, refusal: bytes | None) -> bytes:
        """The last frames where the host ends the stream (`svc_core.operation.stream.Stream`)."""
        if refusal is None:
            return self.close(_TOO_LATE)
        members = json.loads(refusal)
        return self.close(AnswerFailure(members["code"], members["detail"]))

    @abstractmethod
    def _opening(self) -> Iterable[Chunk]: ...

    @abstractmethod
    def _chunks(self, event: Event) -> Iterable[Chunk]: ...

    def _legal_events(self, event: Event) -> Iterator[Event]:
        """The events that the rules allow in place of this one, with those that must precede it."""
        match event:
            case events.Step():
                yield from self._close_calls(list(self._pending))
                yield event
            case events.ToolCall(id_):
                yield from self._close_calls([id_])
                self._calls += 1
                self._pending[id_] = f"call_{self._calls}"
                yield attrs.evolve(event, id=self._pending[id_])
            case events.ToolResult(id_) | events.ToolFailure(id_):
                if id_ in self._pending:
                    yield self._with_links(attrs.evolve(event, id=self._pending.pop(id_)))
            case events.AnswerDone() | events.AnswerFailure():
                yield from self._close_calls(list(self._pending))
                self.end = event
                yield event
            case _:
                yield self._with_links(event)

    def _with_links(self, event: E) -> E:
        """An event whose sources have the addresses for this caller."""
        match event:
            case events.AnswerSource(url=url):
                return attrs.evolve(event, url=self.locate(url))
            case events.ToolResult(sources=sources):
                return attrs.evolve(event, sources=tuple(map(self._with_links, sources)))
        return event

    def _close_calls(self, ids: Iterable[str]) -> Iterator[Event]:
        for id_ in ids:
            if id_ in self._pending:
                yield ToolFailure(self._pending.pop(id_), _NO_RESULT)


def json_or_empty(value: object) -> object:
    """The value, or an empty object where it has no JSON form of at most `TOOL_BYTES_MAX`."""
    try:
        return value if len(ascii_text(value)) <= TOOL_BYTES_MAX else {}
    except (TypeError, ValueError, RecursionError):
        return {}


def _frames_of(chunks: Iterable[Chunk]) -> bytes:
    return b"".join(b"data: %b\n\n" % ascii_text(chunk).encode() for chunk in chunks)
