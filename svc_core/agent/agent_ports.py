"""The ports of the agent: the tools that it calls, and the backend that answers with them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from attrs import field, frozen

from svc_core.agent.answer_events import Event
from svc_core.operation.caller import Actor
from svc_core.operation.units import Units

Role = Literal["user", "assistant"]


@frozen
class Message:
    """Text of an earlier turn; it is context, never an instruction."""

    role: Role
    text: str


@frozen
class Turn:
    """A question with the messages before it, oldest first."""

    question: str
    now: datetime
    history: tuple[Message, ...] = ()


@frozen
class ToolSpec:
    """A tool as a model sees it; `parameters` is a JSON Schema (2020-12) of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(repr=False)


@frozen
class ToolHit:
    """One thing that a tool found; `path` is its address under the service's origin.

    Where the thing has no address of its own, `path` is that of the whole answer. `row` is the
    public row, as the operation behind the tool answers it.
    """

    id: str
    title: str
    path: str | None
    row: Mapping[str, Any] = field(repr=False)


@frozen
class ToolAnswer:
    """The answer of a tool: its hits, whether there are more, and the whole `body`.

    `path` is the address of the same answer in the service.
    """

    hits: tuple[ToolHit, ...]
    has_more: bool = False
    body: Mapping[str, Any] = field(factory=dict, repr=False)
    path: str | None = None


class Toolbox(Protocol):
    """The tools of one caller: reading operations inside their tenant."""

    @property
    def origin(self) -> str:
        """The origin under which paths of hits are."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that this caller may use."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Run a tool.

        Raises:
            Problem: what the operation refuses with, or VALIDATION_FAILED for arguments that
                its schema does not allow.
        """

    async def nearness(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """How near some short texts are to a question in meaning, in deviations from the usual.

        Empty where no model of meaning answers in time.
        """


class Tools(Protocol):
    """Gives each caller a toolbox."""

    def of(self, work: Units, actor: Actor, now: datetime) -> Toolbox:
        """The toolbox of one caller."""


class Backend(Protocol):
    """A source of answers: rules, or a language model."""

    async def open(self, turn: Turn, tools: Toolbox) -> AsyncIterator[Event]:
        """Begin an answer and give its events as they happen.

        Raises:
            Problem: PROVIDER_CREDITS_EXHAUSTED, UPSTREAM_RATE_LIMITED, UPSTREAM_ERROR: nothing was
                begun.
        """
