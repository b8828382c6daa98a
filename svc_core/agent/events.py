"""What happens while a question is answered, whatever the wire says of it.

A backend gives a run of events: steps that hold tool calls or text, sources before the text that
cites them, and one end. Encoders (`ui_stream`, `chunks`) make frames of them.
"""

from typing import Literal

from attrs import frozen

FinishReason = Literal["stop", "length"]


@frozen
class Step:
    """A step begins: calls of tools, or text; it ends where the next begins, or with the answer."""


@frozen
class ToolCall:
    """A tool is called with these arguments, as JSON."""

    id: str
    name: str
    arguments: dict[str, object]


@frozen
class Source:
    """What an answer may cite, by its number from 1; `url` is where the service has it."""

    number: int
    id: str
    title: str
    url: str | None


@frozen
class ToolDone:
    """What the tool that was called found: little of each, for clients send it back."""

    id: str
    sources: tuple[Source, ...]


@frozen
class ToolFailure:
    """The tool that was called gave nothing; the text may be shown."""

    id: str
    text: str


@frozen
class Text:
    """Words of the answer; `[n]` in them cites the source of that number."""

    text: str


@frozen
class Usage:
    """Words read and written; estimates, unless a model says."""

    read: int = 0
    written: int = 0


@frozen
class Finished:
    """The answer is whole, or as long as it may be."""

    reason: FinishReason = "stop"
    usage: Usage = Usage()


@frozen
class Failed:
    """The answer ends short; `text` may be shown, and `code` is that of a problem."""

    code: str
    text: str


Event = Step | ToolCall | ToolDone | ToolFailure | Source | Text | Finished | Failed
"""`Finished` and `Failed` end a run: one of them, once, and nothing after it."""
