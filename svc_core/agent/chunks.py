"""Encodes the events of an answer as OpenAI's `chat.completion.chunk` frames.

Rule 1: tool calls are left out: a client that saw them would run them.
Rule 2: the first chunk has the role, the last with a choice has the reason; one about usage has
        no choice, and a failure is a frame of its own, which every client raises.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from svc_core.agent import answer_events as events
from svc_core.agent.answer_events import AnswerSource, Event, FinishReason
from svc_core.agent.encoder import TITLE_MAX, Chunk, Encoder

MODEL: Final = "svc-agent"
CITATIONS_MAX: Final = 100  # annotations of one answer

_COUNTS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")
_CITATION: Final = re.compile(r"\[([0-9]{1,3})\]")


class ChunkEncoder(Encoder):
    """The frames of one completion; `created` is in seconds of Unix time."""

    def __init__(self, id_: str, created: int, *, includes_usage: bool = False) -> None:
        super().__init__()
        head = {"id": id_, "object": "chat.completion.chunk", "created": created}
        self._envelope = {**head, "model": MODEL}
        self._includes_usage = includes_usage
        self._texts: list[str] = []
        self._by_number: dict[int, AnswerSource] = {}

    def _opening(self) -> Iterator[Chunk]:
        yield self._chunk({"role": "assistant", "content": ""})

    def _chunks(self, event: Event) -> Iterator[Chunk]:
        match event:
            case events.AnswerSource(number):
                self._by_number[number] = event
            case events.Text(text):
                self._texts.append(text)
                yield self._chunk({"content": text})
            case events.AnswerDone(reason, usage):
                annotations = list(islice(self._annotations(), CITATIONS_MAX))
                if annotations:
                    yield self._chunk({"annotations": annotations})
                yield self._chunk({}, reason)
                if self._includes_usage:
                    yield {**self._envelope, "choices": [], "usage": usage.counts(_COUNTS)}
            case events.AnswerFailure(code, text):
                error = {"message": text, "type": "server_error", "param": None, "code": code}
                yield {"error": error}

    def _chunk(self, delta: Chunk, reason: FinishReason | None = None) -> Chunk:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        usage = {"usage": None} if self._includes_usage else {}
        return {**self._envelope, "choices": [choice], **usage}

    def _annotations(self) -> Iterator[Chunk]:
        """The citations of the text: source, and start and end of the mark in code points."""
        for citation in _CITATION.finditer("".join(self._texts)):
            source = self._by_number.get(int(citation[1]))
            if source is not None and source.url is not None:
                target = {"url": source.url, "title": source.title[:TITLE_MAX]}
                span = {"start_index": citation.start(), "end_index": citation.end()}
                yield {"type": "url_citation", "url_citation": {**target, **span}}
