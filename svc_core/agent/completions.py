"""Reads what a chat endpoint of OpenAI's form streams (`chat.completion.chunk`).

Rule 1: a tool is called where a chunk has a call, whatever the finish reason; an answer that ends
        without a finish reason was cut short.
Rule 2: callers see only the kind of a failure; its text is for the operator.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from attrs import define, field, frozen

from svc_core.agent.answer_events import Usage
from svc_core.contract import problem
from svc_core.contract.problem import Problem

LINE_BYTES_MAX: Final = 1024 * 1024
CALLS_MAX: Final = 8
"""Calls of one step; further ones are skipped."""
ARGUMENTS_CHARS_MAX: Final = 8_000
_WAIT_SECONDS: Final = 10
_WAIT_SECONDS_MAX: Final = 3_600
_NO_CREDIT: Final = ("insufficient_quota", "credit balance is too low", "insufficient credits")


class UpstreamFailure(Problem):
    """The endpoint refused, broke off or sent nonsense; `diagnosis` is its text, for operators
    only."""

    def __init__(self, diagnosis: str, type_: problem.ProblemType = problem.UPSTREAM_ERROR) -> None:
        super().__init__(type_)
        self.diagnosis = diagnosis


def refusal(status: int, diagnosis: str, wait_seconds: float | None = None) -> UpstreamFailure:
    """The failure that a status other than 200 means for a caller."""
    message = f"answered {status}: {diagnosis}"
    is_spent = status in (400, 429) and any(text in diagnosis.lower() for text in _NO_CREDIT)
    if status == 402 or is_spent:
        return UpstreamFailure(message, problem.PROVIDER_CREDITS_EXHAUSTED)
    if status != 429:
        return UpstreamFailure(message)
    failure = UpstreamFailure(message, problem.UPSTREAM_RATE_LIMITED)
    wait = min(max(int(wait_seconds or _WAIT_SECONDS), 1), _WAIT_SECONDS_MAX)
    failure.headers = {"Retry-After": str(wait)}
    return failure


class Frames:
    """Splits bytes of a stream into the data of its server-sent events."""

    def __init__(self) -> None:
        self._buffer = b""

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The data of each complete line; comments and other fields are skipped.

        Raises:
            UpstreamFailure: a line is longer than `LINE_BYTES_MAX`.
        """
        *lines, self._buffer = (self._buffer + chunk).replace(b"\r", b"\n").split(b"\n")
        if len(self._buffer) > LINE_BYTES_MAX:
            raise UpstreamFailure("a line of its answer has no end")
        for line in lines:
            name, _, value = line.partition(b":")
            text = value.decode("utf-8", "replace").strip()
            if name == b"data" and text:
                yield text
            elif name == b"error":  # llama.cpp names the field so
                yield '{"error": %s}' % (text or '""')

    def end(self) -> Iterator[str]:
        """The data of a last line without a line end."""
        return self.feed(b"\n")


@frozen
class ModelCall:
    """A tool call of the model; `arguments` are None where they are no JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] | None


@define
class _Slot:
    id: str = ""
    name: str = ""
    arguments: str = ""

    @property
    def is_whole(self) -> bool:
        return _object(self.arguments) is not None


@define
class Completion:
    """Collects one answer of the endpoint from its chunks; `pieces` counts those with text."""

    finish: str | None = None
    usage: Usage | None = None
    pieces: int = 0
    _slots: list[_Slot] = field(factory=list)
    _by_index: dict[int, _Slot] = field(factory=dict)

    def feed(self, data: str) -> str:
        """The text that a chunk adds.

        Raises:
            UpstreamFailure: the chunk reports a failure, or is none.
        """
        if data == "[DONE]":
            return ""
        try:
            chunk = json.loads(data)
            if chunk.get("error") is not None:
                raise _failure_of(chunk["error"])
            self.usage = _usage(chunk.get("usage")) or self.usage
            return "".join([self._choice(choice) for choice in (chunk.get("choices") or ())[:1]])
        except (ValueError, AttributeError, TypeError, KeyError, RecursionError) as fault:
            raise UpstreamFailure("sends what is no chunk of an answer") from fault

    def _choice(self, choice: dict[str, Any]) -> str:
        self.finish = choice.get("finish_reason") or self.finish
        delta = choice.get("delta") or choice.get("message") or {}
        for fragment in delta.get("tool_calls") or ():
            self._take(fragment, fragment.get("function") or {})
        if delta.get("function_call"):  # of the form before `tool_calls`
            self._take({"index": 0}, delta["function_call"])
        content = _text(delta.get("content"))
        self.pieces += bool(content.strip())
        return content

    def _take(self, fragment: dict[str, Any], function: dict[str, Any]) -> None:
        id_, name = fragment.get("id") or "", function.get("name") or ""
        slot = self._slot(fragment.get("index"), id_, name)
        slot.id = slot.id or id_
        if not slot.arguments:  # a name comes in pieces, as it grows, or again with each piece
            slot.name = name if name.startswith(slot.name) else slot.name + name
        arguments = function.get("arguments")
        slot.arguments += json.dumps(arguments) if isinstance(arguments, dict) else arguments or ""
        if len(slot.arguments) > ARGUMENTS_CHARS_MAX:
            raise UpstreamFailure("calls a tool with arguments that have no end")

    def _slot(self, index: int | None, id_: str, name: str) -> _Slot:
        """The call that a fragment continues, or a new one, which has a name.

        Some endpoints leave out the index, the id or both, or give all calls the index 0.
        """
        slots = {slot.id: slot for slot in self._slots if slot.id}
        last = self._slots[-1] if self._slots else None
        slot = self._by_index.get(index) if index is not None else slots.get(id_, last)
        is_other = slot is not None and bool(name) and (
            slot.id != id_ if slot.id and id_ else slot.is_whole or bool(id_ and slot.name)
        )  # fmt: skip
        if slot is None or is_other:
            slot = _Slot()
            self._slots.append(slot)
            if index is not None:
                self._by_index[index] = slot
        return slot

    def calls(self, step: int) -> list[ModelCall]:
        """The tool calls of a step, with ids of our own; a name that only comes again is none."""
        slots = [
            slot
            for before, slot in zip([None, *self._slots], self._slots, strict=False)
            if slot.name and (slot.id or slot.arguments or not before or slot.name != before.name)
        ]
        return [
            ModelCall(f"call_{step}_{number}", slot.name, _object(slot.arguments or "{}"))
            for number, slot in enumerate(slots[:CALLS_MAX], 1)
        ]

    def end(self) -> None:
        """Check that the stream ended as it should.

        Raises:
            UpstreamFailure: it was cut short, or filtered away.
        """
        if self.finish is None:
            raise UpstreamFailure("broke off in the middle of its answer")
        if self.finish in ("content_filter", "error"):
            raise UpstreamFailure(f"ended its answer with {self.finish}")


def _text(content: Any) -> str:
    """The text of a content: a string, or the text parts of a list."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if part.get("type") == "text")
    return content or ""


def _object(arguments: str) -> dict[str, Any] | None:
    try:
        body = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _failure_of(error: Any) -> UpstreamFailure:
    """The failure that a chunk reports; its code is a status where it is a number."""
    code = error.get("code") if isinstance(error, dict) else None
    text = json.dumps(error)
    if any(phrase in text.lower() for phrase in _NO_CREDIT):
        return refusal(402, text)
    return refusal(code if isinstance(code, int) else 500, text)


def _usage(counts: Any) -> Usage | None:
    match counts:
        case {"prompt_tokens": int(read), "completion_tokens": int(written)}:
            return Usage(read, written)
    return None
