"""One request for a command and its answer, the same over the socket and inside a process.

A request is `{"command": NAME, "arguments": {...}}`; an answer is `{"ok": RESULT}` or
`{"problem": {...}}` with the eight members of every problem (Spec: Errors).
"""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from attrs import frozen

from svc_core import problem, wire
from svc_core.problem import Problem, describe
from svc_core.wire import Json, JsonError, WireError
from svc_http import system
from svc_http.commands.command import Command
from svc_http.commands.progress import Tell
from svc_http.runtime.service import Service
from svc_http.storage.errors import Overloaded, StorageUnavailable


@frozen
class Request:
    """Which command, with what."""

    command: str
    arguments: Json


@frozen(eq=False)
class Answering:
    """Carries out requests; `origin` is where problem pages are, `failed` hears of defects."""

    service: Service
    commands: Mapping[str, Command[Any]]
    origin: str
    failed: Callable[[BaseException], None]

    async def answer(self, body: bytes, tell: Tell) -> bytes:
        """The answer to one request, whatever it is: one line of JSON."""
        try:
            return wire.dumps({"ok": await self._run(body, tell)}) + b"\n"
        except Problem as refusal:
            return self.refuse(refusal)
        except StorageUnavailable as failure:
            self.failed(failure)
            return self.refuse(Problem(problem.STORAGE_UNAVAILABLE))
        except Overloaded:
            return self.refuse(Problem(problem.OVERLOADED))
        except Exception as failure:  # The boundary: whatever escaped is a defect of ours.
            self.failed(failure)
            return self.refuse(
                Problem(problem.INTERNAL_ERROR, "The command could not be completed.")
            )

    def refuse(self, refusal: Problem) -> bytes:
        """A refusal as an answer."""
        told = problem.body(refusal, base_url=self.origin, request_id=system.new_request_id())
        return b'{"problem":' + told + b"}\n"

    async def _run(self, body: bytes, tell: Tell) -> Json:
        request = _read(body)
        command = self.commands.get(request.command)
        if command is None:
            raise Problem(problem.VALIDATION_FAILED, f"/command: {self._unknown(request.command)}")
        return await command(self.service, request.arguments, tell)

    def _unknown(self, name: str) -> str:
        near = get_close_matches(name, self.commands, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"there is no command {name!r}{hint}"


def _read(body: bytes) -> Request:
    try:
        return wire.structure(Request, wire.read_json(body))
    except JsonError as broken:
        raise Problem(problem.MALFORMED_JSON, f"{broken}.") from broken
    except WireError as wrong:
        raise Problem(problem.VALIDATION_FAILED, describe(wrong.faults)) from wrong
