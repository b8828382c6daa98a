"""Has an operation carried out: by the running server, else by opening the store in this process.

One process has a SQLite file at a time, so a command that meets another one waits for it a while.
A PostgreSQL database is everybody's: a command works on it whatever servers run.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svc_core.operation.host import ProgressListener, silent
from svc_http.run.cli.exit_codes import UsageError
from svc_http.run.cli.options import Common
from svc_http.run.cli.show import bar, wire_words
from svc_http.run.control import channel
from svc_http.run.control.channel import Take

if TYPE_CHECKING:
    from svc_http.settings import Settings

PATIENCE_SECONDS = 10.0
"""How long a command waits for another one to give the file back."""

LOOK_SECONDS = 0.05
"""How often it looks."""


def perform_operation(
    common: Common, operation: str, take: Take = channel.ignore, **members: Any
) -> Mapping[str, Any]:
    """The answer of an operation; `members` are those of an `OperatorRequest`.

    `take` gets the parts of an answer that comes as a stream.

    Raises:
        OperationRefused: it was refused.
        Unreachable: a server was named and does not answer.
        SettingsError, StoreBusy, StoreUnusable, Unsafe: the store cannot be found or opened.
    """
    request = {"operation": operation} | {name: v for name, v in members.items() if v is not None}
    server = common.named_server()
    with bar(wire_words(operation)) as tell, _naming("workspace"):
        if server is not None:
            return channel.ask_server(channel.parse_socket_address(server), request, tell, take)
        if (path := common.socket()) is not None:
            with suppress(_NotThere):
                return _ask(path, request, tell, take)
        return _find(common.settings(), request, tell, take)


@contextmanager
def _naming(member: str) -> Iterator[None]:
    """Have a refusal of a member name the option that was typed for it."""
    try:
        yield
    except channel.OperationRefused as refusal:
        detail = str(refusal).replace(f"/{member}: ", f"--{member}: ", 1)
        raise refusal.saying(detail) from refusal


def call(common: Common, operation: str, *, option: str = "", **members: Any) -> Any:
    """The data of a local operation's answer, without the envelope.

    A refusal of the member `option` names the option, as it was typed.

    Raises:
        OperationRefused: it was refused, and others as `perform_operation`.
    """
    with _naming(option):
        return perform_operation(common, operation, **members)["body"]["data"]


def server_address(socket_path: Path) -> str | None:
    """Where the server at the socket listens, "" where it is too busy to say; None without one."""
    try:
        answer = channel.ask_server(socket_path, {"operation": "listPlans"}, silent)
    except channel.OperationRefused:
        return ""
    except (channel.Unreachable, channel.Unsafe):
        return None
    return str(answer.get("server", ""))  # one of a version before does not say


class _NotThere(Exception):  # noqa: N818 - said as the state that it is
    """No server answers at the address."""


def _ask(
    path: Path, request: dict[str, Any], tell: ProgressListener, take: Take
) -> Mapping[str, Any]:
    """The answer of the server at the address, if there is one.

    Raises:
        _NotThere: none is.
        BrokeOff: what was asked may have been done: it is not done again here.
    """
    try:
        return channel.ask_server(path, request, tell, take)
    except channel.BrokeOff:
        raise
    except channel.Unreachable as absent:
        raise _NotThere from absent


def _find(
    settings: "Settings", request: dict[str, Any], tell: ProgressListener, take: Take
) -> Mapping[str, Any]:
    from svc_http.stores.errors import StoreBusy  # noqa: PLC0415 - a server saves us the import

    if settings.dsn is not None:
        return _locally(settings, request, tell, take)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        with suppress(_NotThere):
            return _ask(channel.socket_path(settings.file), request, tell, take)
        try:
            return _locally(settings, request, tell, take)
        except StoreBusy:
            # A server that is starting, or another command.
            if time.monotonic() > deadline:
                raise
        time.sleep(LOOK_SECONDS)


_FOUNDING = {"create", "add", "import", "link"}
"""Verbs that make the database where there is none."""

_OFFERS = {"listFormats", "listPresets"}
"""Operations that need no database: an empty one in memory answers them."""


def _locally(
    settings: "Settings", request: dict[str, Any], tell: ProgressListener, take: Take
) -> Mapping[str, Any]:
    """The answer of this process, with the store opened for as long as it takes."""
    # A server saves us these imports.
    import asyncio  # noqa: PLC0415
    from shlex import quote  # noqa: PLC0415

    import attrs  # noqa: PLC0415

    from svc_http.run.control import operator, services  # noqa: PLC0415
    from svc_http.service.equipment import validate_settings  # noqa: PLC0415
    from svc_http.service.runtime.assembly import open_command_runtime  # noqa: PLC0415
    from svc_http.settings import MEMBERS, MEMORY  # noqa: PLC0415
    from svc_http.stores import StoreUnusable  # noqa: PLC0415

    if settings.db == MEMORY:
        raise UsageError("a store in memory has no commands of its own; name a file with --db")
    operation = operator.OPERATIONS_BY_ID[request["operation"]]
    may_found = operation.binding == "system" and operation.verb in _FOUNDING
    is_missing = settings.file is not None and not Path(settings.file).exists()
    if is_missing and operation.id in _OFFERS and not request.get("body", {}).get("add"):
        settings = attrs.evolve(settings, db=MEMORY)
    elif is_missing and not may_found and operation.id not in _OFFERS:
        db_flag = "" if settings.db == MEMBERS["db"].default else f" --db {quote(settings.db)}"
        raise StoreUnusable(
            f"there is no database {settings.db}; make one: svc keys create --name NAME{db_flag}"
        )
    validate_settings(settings)
    failures: list[BaseException] = []

    async def pass_on(part: bytes) -> None:
        take(part.decode())

    async def carry_out() -> bytes:
        async with open_command_runtime(settings) as runtime:
            line = channel.line(request)
            return await services.operator_of(runtime, failures.append).answer(line, tell, pass_on)

    answer = asyncio.run(carry_out())
    if failures:
        raise failures[0]  # nobody else is here to hear of it
    return channel.answer_result(json.loads(answer))
