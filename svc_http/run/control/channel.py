"""The control socket: operations for a running server, from its own user on its own machine.

A connection carries one request line, then any number of `{"progress": ...}` and, of an answer that
comes as a stream, `{"part": TEXT}` lines, then one line with the answer (`control.operator`).

Rule 1: only the user who runs the server can open the socket (mode 0600); there is no other check.
Rule 2: a command runs to its end, whether or not anybody still listens; a stream ends with whoever
        listened.
"""

import asyncio
import json
import os
import socket
import stat
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from svc_core.base import compact
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.host import Progress, Tell

if TYPE_CHECKING:
    from svc_http.run.control.operator import Operator  # a client needs none of the operations

_text = compact.encoder(ascii_only=True)

PREFIX = "unix:"

Take = Callable[[str], None]
"""Takes a part of an answer that comes as a stream."""

PATH_BYTES_MAX = 100
"""Of a socket's path: the least that systems hold is 104 bytes, the final zero included."""

LINE_BYTES_MAX = 8 * 1024 * 1024
"""Of a request or an answer: the health of 10,000 sources."""

CONNECTIONS_MAX = 16
"""Commands at once: a person has a few terminals, a script a few workers."""

REQUEST_SECONDS = 10.0
"""How long the request line may take: it was written before anybody connected."""

BUFFER_BYTES_MAX = 64 * 1024
"""Progress that nobody reads is dropped beyond this; the answer never is."""

SILENCE_SECONDS = 300.0
"""How long a client waits for the next line: longer than the slowest single step."""


class Unreachable(Exception):  # noqa: N818 - said as the state that it is
    """No server answers at the address; the message is one line."""

    exit_code = 3


class BrokeOff(Unreachable):
    """The server was asked and ended before it answered: the command may have been done."""


class Misnamed(Exception):  # noqa: N818 - said as the state that it is
    """What was given is no address of a server; the message is one line."""

    exit_code = 2


class Unsafe(Exception):  # noqa: N818 - said as the state that it is
    """The folder of the socket belongs to somebody else; the message is one line."""

    exit_code = 1


class Refused(Exception):  # noqa: N818 - said as what happened
    """An operation was refused; `problem` has the eight members (Spec: Errors)."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(str(body["detail"]))
        self.problem = body

    def saying(self, detail: str) -> "Refused":
        """The same refusal in other words."""
        return Refused({**self.problem, "detail": detail})


# -- where the socket is -----------------------------------------------------------------------


def address(file: str | None, number: int | None = None) -> Path:
    """The socket of the server that has the SQLite file open; None: of this process.

    It stands beside the file, or, where there is none or its path is too long for a socket, under
    a name made from it in a folder of the user's own. One of several processes has the same as the
    one of its `number` that it replaces.
    """
    if file is None:
        process = os.getpid() if number is None else os.getppid()
        return _own_folder(f"process:{process}:{number}")
    beside = Path(f"{Path(file).resolve()}.sock")
    return beside if len(os.fsencode(beside)) <= PATH_BYTES_MAX else _own_folder(str(beside))


def _own_folder(named: str) -> Path:
    return _own() / f"{sha256(os.fsencode(named)).hexdigest()[:24]}.sock"


def _own() -> Path:
    """The folder; where the one for temporary files has a long name, it is in that of the system.

    The names of sockets in it have 29 bytes and a slash.
    """
    folder = Path(tempfile.gettempdir()) / f"svc-{os.getuid()}"
    is_short = len(os.fsencode(folder)) + 30 <= PATH_BYTES_MAX
    return folder if is_short else Path("/tmp") / folder.name  # noqa: S108 - checked as the other


def parse(text: str) -> Path:
    """The path in `unix:PATH`.

    Raises:
        Misnamed: the address is of another kind.
    """
    if not text.startswith(PREFIX) or len(text) == len(PREFIX):
        detail = f"must be {PREFIX}PATH, as `svc serve --json` prints it under `admin`"
        raise Misnamed(f"--server {detail}")
    return Path(text[len(PREFIX) :])


def _check_folder(path: Path) -> None:
    """See that nobody else can put a socket where the user's own folder is.

    Raises:
        Unsafe: they can.
    """
    folder = path.parent
    if folder != _own():
        return
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise Unsafe(f"{folder} is not a folder of this user alone; remove it")


# -- the server's side -------------------------------------------------------------------------


class Control:
    """The socket of a running server; made by `open`, given back by `close`."""

    def __init__(self, path: Path, operator: "Operator") -> None:
        self.path = path
        self._operator = operator
        self._running: set[asyncio.Task[Any]] = set()
        self._server: asyncio.AbstractServer | None = None
        self._inode = 0

    @classmethod
    async def open(cls, path: Path, operator: "Operator") -> "Control":
        """Listen at `path`, in place of what an ended server left there.

        Nobody else listens there, or only the process that this one replaces.

        Raises:
            Unsafe: somebody else could be.
        """
        control = cls(path, operator)
        bound, control._inode = _bound(path)
        control._server = await asyncio.start_unix_server(
            control._connected, sock=bound, limit=LINE_BYTES_MAX
        )
        return control

    @property
    def text(self) -> str:
        """The address as people give it."""
        return f"{PREFIX}{self.path}"

    async def close(self, seconds: float = 0.0) -> None:
        """Take no more commands; those that run have so many seconds to come to their end."""
        if self._server is None:
            return
        self._server.close()
        _remove(self.path, self._inode)
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            raise AssertionError("connections are served by tasks")
        self._running.add(task)
        try:
            writer.write(await self._answer(reader, writer))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            return  # whoever asked has gone; what was asked is done
        finally:
            self._running.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        if len(self._running) > CONNECTIONS_MAX:
            return self._operator.refuse(Problem(problem.OVERLOADED))
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                body = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            return self._operator.refuse(
                Problem(problem.BODY_TOO_LARGE, f"A request has at most {LINE_BYTES_MAX} bytes.")
            )

        def tell(progress: Progress) -> None:
            transport = writer.transport
            if not transport.is_closing() and transport.get_write_buffer_size() < BUFFER_BYTES_MAX:
                writer.write(_progress_line(progress))

        async with asyncio.timeout(None) as listened:
            watching: list[asyncio.Task[None]] = []

            async def watch() -> None:
                with suppress(OSError):
                    await reader.read()
                listened.reschedule(0)

            async def pass_on(part: bytes) -> None:
                if not watching:
                    watching.append(asyncio.create_task(watch()))
                writer.write(_text({"part": part.decode()}).encode() + b"\n")
                await writer.drain()

            try:
                return await self._operator.answer(body, tell, pass_on)
            finally:
                for task in watching:
                    task.cancel()


def _bound(path: Path) -> tuple[socket.socket, int]:
    """A socket at the path, and by what it is known that it still stands there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_folder(path)
    path.unlink(missing_ok=True)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        bound.bind(str(path))
        path.chmod(0o600)  # before listening: until then nobody can connect
    except OSError:
        bound.close()
        raise
    return bound, path.stat().st_ino


def _remove(path: Path, inode: int) -> None:
    """Remove a socket from its path, unless another one stands there now."""
    with suppress(FileNotFoundError):
        if path.stat().st_ino == inode:
            path.unlink()


def _progress_line(progress: Progress) -> bytes:
    return _text({"progress": attrs.asdict(progress)}).encode() + b"\n"


# -- the client's side -------------------------------------------------------------------------


def line(request: Mapping[str, Any]) -> bytes:
    """The line that asks for an operation (`control.operator.Asked`)."""
    return _text(request).encode() + b"\n"


def ignore(_: str) -> None:
    """Take no part of an answer."""


def ask(
    path: Path, request: Mapping[str, Any], tell: Tell, take: Take = ignore
) -> Mapping[str, Any]:
    """What the server at `path` answers to a request (`control.operator.Asked`).

    Raises:
        Unreachable: no server is there.
        BrokeOff: it ended before it answered.
        Unsafe: somebody else's server could be there.
        Refused: the operation was refused.
    """
    with closing(_heard(path, request)) as lines:
        for answer in lines:
            if "part" in answer:
                take(answer["part"])
            elif "progress" in answer:
                tell(Progress(**answer["progress"]))
            else:
                return told(answer)
    raise BrokeOff(f"the server at {path} ended before it answered; look before repeating")


def _heard(path: Path, request: Mapping[str, Any]) -> Generator[Mapping[str, Any], None, None]:
    """The lines of an answer, as they come."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        _connect(connection, path)
        connection.settimeout(SILENCE_SECONDS)
        try:
            with suppress(ConnectionError):  # a refusal may come before all is said; it is read
                connection.sendall(line(request))
            with connection.makefile("rb") as lines:
                yield from map(json.loads, lines)
        except OSError as broken:
            raise BrokeOff(
                f"the server at {path} broke off: {broken}; look before repeating"
            ) from broken
        except ValueError as broken:
            raise BrokeOff(f"the server at {path} ended within its answer") from broken


def _connect(connection: socket.socket, path: Path) -> None:
    try:
        _check_folder(path)
        connection.connect(str(path))
    except OSError as refused:
        raise Unreachable(f"no server answers at {PREFIX}{path}") from refused


def told(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the line of an answer says.

    Raises:
        Refused: that the command was refused.
    """
    if "ok" in answer:
        result: Mapping[str, Any] = answer["ok"]
        return result
    raise Refused(answer["problem"])
