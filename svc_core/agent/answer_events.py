"""The events of an answer, independent of any wire format.

A backend gives a run of events: steps that hold tool calls or text, sources before the text that
cites them, and one end. Encoders (`ui_stream`, `chunks`) turn them into frames.
"""

from typing import Final, Literal

from attrs import frozen

from svc_core.contract import problem

TEXT_MAX: Final = 16_000  # characters of an answer: clients send it back with every turn
SOURCES_MAX: Final = 20  # of an answer

FinishReason = Literal["stop", "length"]


@frozen
class Step:
    """A step begins: tool calls, or text; it ends where the next begins, or with the answer."""


@frozen
class ToolCall:
    """A tool is called with these arguments, as JSON."""

    id: str
    name: str
    arguments: dict[str, object]


@frozen
class AnswerSource:
    """A source that an answer may cite by its number, from 1; `url` is where the service has it."""

    number: int
    id: str
    title: str
    url: str | None


@frozen
class ToolResult:
    """A tool call succeeded; `sources` are its first hits: clients send them back every turn."""

    id: str
    sources: tuple[AnswerSource, ...]


@frozen
class ToolFailure:
    """A tool call failed; the text may be shown."""

    id: str
    text: str


@frozen
class Text:
    """Text of the answer; `[n]` in it cites the source of that number."""

    text: str


@frozen
class Usage:
    """How many words were read and written; estimates, unless a model reports them."""

    read: int = 0
    written: int = 0

    def counts(self, names: tuple[str, str, str]) -> dict[str, int]:
        """What was read, written, and both together, under these names."""
        return dict(zip(names, (self.read, self.written, self.read + self.written), strict=True))


@frozen
class AnswerDone:
    """The answer is complete, or as long as it may be."""

    reason: FinishReason = "stop"
    usage: Usage = Usage()


@frozen
class AnswerFailure:
    """The answer ends early; `text` may be shown, and `code` is that of a problem."""

    code: str
    text: str


CUT_SHORT: Final = AnswerFailure(
    problem.INTERNAL_ERROR.code, "The answer ended before it was whole."
)

Event = (
    Step | ToolCall | ToolResult | ToolFailure | AnswerSource | Text | AnswerDone | AnswerFailure
)
"""`Finished` and `Failed` end a run: one of them, once, and nothing after it."""
