"""The client of the control socket, by which commands reach a running server on this machine.

A connection carries one request line, then any number of `{"progress": ...}` and, of an answer that
comes as a stream, `{"part": TEXT}` lines, then one line with the answer (`control.operator`).

Rule 1: only the user who runs the server can open the socket (mode 0600); there is no other check.
Rule 2: a command runs to its end, whether or not anybody still listens; a stream ends with whoever
        listened.
"""

import json
import os
import socket
import stat
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from svc_core.base.compact import ascii_text
from svc_core.operation.host import Progress, ProgressListener

PREFIX = "unix:"

Take = Callable[[str], None]
"""Takes a part of an answer that comes as a stream."""

PATH_BYTES_MAX = 100
"""Of a socket's path: the least that systems hold is 104 bytes, the final zero included."""

LINE_BYTES_MAX = 8 * 1024 * 1024
"""Of a request or an answer: the health of 10,000 sources."""

SILENCE_SECONDS = 300.0
"""How long a client waits for the next line: longer than the slowest single step."""


class Unreachable(Exception):  # noqa: N818 - said as the state that it is
    """No server answers at the address; the message is one line."""

    exit_code = 3


class BrokeOff(Unreachable):
    """The server was asked and ended before it answered: the command may have been done."""


class BadSocketAddress(Exception):  # noqa: N818 - said as the state that it is
    """The text is no address of a server; the message is one line."""

    exit_code = 2


class Unsafe(Exception):  # noqa: N818 - said as the state that it is
    """The folder of the socket belongs to somebody else; the message is one line."""

    exit_code = 1


class OperationRefused(Exception):  # noqa: N818 - said as what happened
    """An operation was refused; `problem` has the eight members (Spec: Errors)."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(str(body["detail"]))
        self.problem = body

    def saying(self, detail: str) -> "OperationRefused":
        """The same refusal in other words."""
        return OperationRefused({**self.problem, "detail": detail})


# -- where the socket is -----------------------------------------------------------------------


def socket_path(file: str | None, number: int | None = None) -> Path:
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


def _own_folder(name: str) -> Path:
    return _own() / f"{sha256(os.fsencode(name)).hexdigest()[:24]}.sock"


def _own_name() -> str:
    return f"svc-{os.getuid()}"


def _own() -> Path:
    """The folder; where the one for temporary files has a long name, it is in that of the system.

    The names of sockets in it have 29 bytes and a slash.
    """
    from tempfile import gettempdir  # noqa: PLC0415 - sockets mostly stand beside their file

    folder = Path(gettempdir()) / _own_name()
    is_short = len(os.fsencode(folder)) + 30 <= PATH_BYTES_MAX
    return folder if is_short else Path("/tmp") / folder.name  # noqa: S108 - checked as the other


def parse_socket_address(text: str) -> Path:
    """The path in `unix:PATH`.

    Raises:
        BadSocketAddress: the address is of another kind.
    """
    if not text.startswith(PREFIX) or len(text) == len(PREFIX):
        detail = f"must be {PREFIX}PATH, as `svc serve --json` prints it under `admin`"
        raise BadSocketAddress(f"--server {detail}")
    return Path(text[len(PREFIX) :])


def check_folder(path: Path) -> None:
    """See that nobody else can put a socket where the user's own folder is.

    Raises:
        Unsafe: they can.
    """
    folder = path.parent
    if folder.name != _own_name() or folder != _own():
        return
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise Unsafe(f"{folder} is not a folder of this user alone; remove it")


# -- the client's side -------------------------------------------------------------------------


def line(request: Mapping[str, Any]) -> bytes:
    """The line that asks for an operation (`control.operator.OperatorRequest`)."""
    return ascii_text(request).encode() + b"\n"


def ignore(_: str) -> None:
    """Take no part of an answer."""


def ask_server(
    path: Path, request: Mapping[str, Any], tell: ProgressListener, take: Take = ignore
) -> Mapping[str, Any]:
    """What the server at `path` answers to a request (`control.operator.OperatorRequest`).

    Raises:
        Unreachable: no server is there.
        BrokeOff: it ended before it answered.
        Unsafe: somebody else's server could be there.
        OperationRefused: the operation was refused.
    """
    with closing(_answer_lines(path, request)) as lines:
        for answer in lines:
            if "part" in answer:
                take(answer["part"])
            elif "progress" in answer:
                tell(Progress(**answer["progress"]))
            else:
                return answer_result(answer)
    raise BrokeOff(f"the server at {path} ended before it answered; look before repeating")


def _answer_lines(
    path: Path, request: Mapping[str, Any]
) -> Generator[Mapping[str, Any], None, None]:
    """The lines of an answer, as they come."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        _connect(connection, path)
        connection.settimeout(SILENCE_SECONDS)
        try:
            with suppress(ConnectionError):  # a refusal may come before all is said; it is read
                connection.sendall(line(request))
            with connection.makefile("rb") as lines:
                yield from map(json.loads, lines)
        except OSError as error:
            raise BrokeOff(
                f"the server at {path} broke off: {error}; look before repeating"
            ) from error
        except ValueError as error:
            raise BrokeOff(f"the server at {path} ended within its answer") from error


def _connect(connection: socket.socket, path: Path) -> None:
    try:
        check_folder(path)
        connection.connect(str(path))
    except OSError as error:
        raise Unreachable(f"no server answers at {PREFIX}{path}") from error


def answer_result(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the line of an answer says.

    Raises:
        OperationRefused: that the command was refused.
    """
    if "ok" in answer:
        result: Mapping[str, Any] = answer["ok"]
        return result
    raise OperationRefused(answer["problem"])
