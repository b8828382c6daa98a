"""What a command is: a name, the form of its arguments and what it does.

Rule 1: a command is a plain function over the service: it may run inside the server, asked through
        the control socket, or in a process that opened the store itself, and cannot tell which.
Rule 2: it takes one value of its arguments class, read as strictly as a request body.
Rule 3: it returns JSON and refuses with a `Problem`.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Generic, TypeVar

from attrs import field, frozen

from svc_core import problem, wire
from svc_core.constraints import Ge, Le
from svc_core.problem import Problem, describe
from svc_core.wire import Json, WireError
from svc_http.commands.progress import Tell, silent
from svc_http.runtime.service import Service

A = TypeVar("A")

Rows = Annotated[int, Ge(1), Le(1_000)]
"""How many rows one listing shows: more than a terminal holds, less than a control answer."""


@frozen(eq=False)
class Command(Generic[A]):
    """One command. `founds` says that it may be the first thing that a new store sees."""

    name: str
    arguments: type[A]
    run: Callable[[Service, A, Tell], Awaitable[Json]]
    founds: bool = field(default=False, kw_only=True)

    async def __call__(self, service: Service, arguments: Json, tell: Tell = silent) -> Json:
        """Run it with arguments that anybody may have written.

        Raises:
            Problem: VALIDATION_FAILED for the arguments, or what the command refuses with.
        """
        return await self.run(service, self._read(arguments), tell)

    def _read(self, arguments: Json) -> A:
        try:
            return wire.structure(self.arguments, arguments)
        except WireError as wrong:
            raise Problem(problem.VALIDATION_FAILED, describe(wrong.faults)) from wrong


def short(
    name: str,
    arguments: type[A],
    run: Callable[[Service, A], Awaitable[Json]],
    *,
    founds: bool = False,
) -> Command[A]:
    """A command that is done before anybody would look at its progress."""

    async def told(service: Service, given: A, _: Tell) -> Json:
        return await run(service, given)

    return Command(name, arguments, told, founds=founds)


def row(raw: bytes) -> Json:
    """A stored row as a command tells it."""
    told: Json = json.loads(raw)
    return told


def table(*commands: Command[Any]) -> dict[str, Command[Any]]:
    """The commands by name."""
    return {command.name: command for command in commands}
