"""What the agent is given: its tools, and who answers with them."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, Literal, Protocol

from attrs import field, frozen

from svc_core.agent.events import Event
from svc_core.operation.caller import Actor
from svc_core.operation.units import Units

Role = Literal["user", "assistant"]


@frozen
class Message:
    """Words of an earlier turn; they are context, never instructions."""

    role: Role
    text: str


@frozen
class Turn:
    """A question with what was said before it, oldest first."""

    question: str
    now: datetime
    history: tuple[Message, ...] = ()


@frozen
class ToolSpec:
    """A tool as a model is told of it; `parameters` is a JSON Schema (2020-12) of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(repr=False)


@frozen
class Found:
    """One thing that a tool found; `path` is where the service has it, under its origin.

    What has no place of its own is where the call's answer is.

    `row` is the public row, as the operation behind the tool answers it.
    """

    id: str
    title: str
    path: str | None
    row: Mapping[str, Any] = field(repr=False)


@frozen
class Answered:
    """What a tool answered: the things it found, whether there are more, and the whole `body`.

    `path` is where the service answers the same.
    """

    found: tuple[Found, ...]
    has_more: bool = False
    body: Mapping[str, Any] = field(factory=dict, repr=False)
    path: str | None = None


class Toolbox(Protocol):
    """The tools of one caller: reading operations inside their tenant."""

    @property
    def origin(self) -> str:
        """Under which paths are."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that there are for this caller."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Answered:
        """Run a tool.

        Raises:
            Problem: what the operation refuses with, or VALIDATION_FAILED for arguments that
                its schema does not allow.
        """


class Tools(Protocol):
    """Tools for questions."""

    def of(self, work: Units, actor: Actor, now: datetime) -> Toolbox:
        """Those of one caller."""


class Backend(Protocol):
    """Somebody who answers questions."""

    async def open(self, turn: Turn, tools: Toolbox) -> AsyncIterator[Event]:
        """Begin an answer; its events come as they happen.

        Raises:
            Problem: PROVIDER_CREDITS_EXHAUSTED, UPSTREAM_RATE_LIMITED, UPSTREAM_ERROR: nothing was
                begun.
        """
