"""The server end of the control socket: takes commands and hands them to the operator.

`control.channel`, the client end, describes the lines of a connection and who may open one.
"""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from svc_core.base.compact import ascii_text
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.host import Progress
from svc_http.exchange.task_ends import end_tasks
from svc_http.run.control.channel import LINE_BYTES_MAX, PREFIX, check_folder

if TYPE_CHECKING:
    from svc_http.run.control.operator import Operator  # which loads every operation

CONNECTIONS_MAX = 16
"""Commands at once: a person has a few terminals, a script a few workers."""

REQUEST_SECONDS = 10.0
"""How long the request line may take: it was written before anybody connected."""

BUFFER_BYTES_MAX = 64 * 1024
"""Progress that nobody reads is dropped beyond this; the answer never is."""


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
        listener, control._inode = _bind(path)
        control._server = await asyncio.start_unix_server(
            control._serve_connection, sock=listener, limit=LINE_BYTES_MAX
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
        await end_tasks(self._running, seconds)

    async def _serve_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
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

        async with asyncio.timeout(None) as deadline:
            watching: list[asyncio.Task[None]] = []

            async def watch() -> None:
                with suppress(OSError):
                    await reader.read()
                deadline.reschedule(0)

            async def pass_on(part: bytes) -> None:
                if not watching:
                    watching.append(asyncio.create_task(watch()))
                writer.write(ascii_text({"part": part.decode()}).encode() + b"\n")
                await writer.drain()

            try:
                return await self._operator.answer(body, tell, pass_on)
            finally:
                for task in watching:
                    task.cancel()


def _bind(path: Path) -> tuple[socket.socket, int]:
    """A socket at the path, and by what it is known that it still stands there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_folder(path)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)  # before listening: until then nobody can connect
    except OSError:
        listener.close()
        raise
    return listener, path.stat().st_ino


def _remove(path: Path, inode: int) -> None:
    """Remove a socket from its path, unless another one stands there now."""
    with suppress(FileNotFoundError):
        if path.stat().st_ino == inode:
            path.unlink()


def _progress_line(progress: Progress) -> bytes:
    return ascii_text({"progress": attrs.asdict(progress)}).encode() + b"\n"
