"""Supervises several processes that serve one port over one PostgreSQL database.

Rule 1: the socket is bound once, here, and every process has it: what one of them no longer takes,
        another does, and no connection waits in a queue that goes.
Rule 2: a process is a fresh interpreter, told on its stdin what it is to be; a line on its stdout
        says that it answers. It ends when that stdin does, so none outlives this one.
Rule 3: the first process alone opens the store first, so that what is wrong is said once.
Rule 4: one that dies is started again, later each time it dies young.
Rule 5: SIGHUP replaces them one after another: a new one answers before an old one is told to end.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from svc_http import system
from svc_http.run.server import configuration, hypercorn
from svc_http.run.server.launch import (
    OnReady,
    StartedServer,
    check_shared_database,
    settings_at_port,
)
from svc_http.service.equipment import validate_settings
from svc_http.service.journal import Journal
from svc_http.settings import Settings

START_SECONDS = 60.0
"""How long a process may take until it answers; migrating a large database is its longest part."""

RESTART_SECONDS = 0.5
RESTART_SECONDS_MAX = 30.0
"""How long the first death is waited out, and the tenth in a row."""

YOUNG_SECONDS = 60.0
"""A process that dies younger than this is started again later than the one before it."""

LATE_SECONDS = 30.0
"""After its own time to end a process has this long until it is killed."""

_CHILD = (
    "import json, sys; given = json.loads(sys.stdin.readline()); sys.path[:] = given.pop('path'); "
    "from svc_http.run.cli.child import child_main; sys.exit(child_main(**given))"
)
COMMAND = (sys.executable, "-P", "-c", _CHILD)

Ready = Callable[[Mapping[str, Any]], None]
"""Told what the first process said of itself, once all of them answer."""


class ProcessFailed(Exception):  # noqa: N818 - said as what happened
    """A process ended before it answered. One that ends with a code of its own has said why."""

    def __init__(self, number: int, code: int) -> None:
        super().__init__(f"process {number} ended with {code} before it answered")
        self.code = code


def run_processes(
    settings: Settings, config: str | None, flags: Mapping[str, Any], on_ready: OnReady
) -> int | None:
    """Serve with several processes until SIGTERM or SIGINT; the code of one that said why not.

    Each reads its settings anew, from `config` and `flags`, so that a restart takes new ones.

    Raises:
        SettingsError, PortBusy, ProcessFailed, OSError: they cannot start, and why.
    """
    check_shared_database(validate_settings(settings))
    listening = hypercorn.listen(settings.host, settings.port)

    def ready(message: Mapping[str, Any]) -> None:
        on_ready(
            StartedServer(
                settings_at_port(settings, listening),
                message["admin"],
                message["isEmpty"],
                sign_in=message["signIn"],
            )
        )

    journal = Journal.of(settings)
    processes = Processes(
        listening,
        settings.processes or 1,
        {"config": config, "flags": flags},
        seconds=configuration.Listening.keep_alive_timeout + 3 * settings.graceful_seconds,
        journal=journal,
    )
    try:
        asyncio.run(processes.run(ready))
    except ProcessFailed as failure:
        if failure.code <= 0:
            raise
        return failure.code
    finally:
        journal.close()
    return None


class Processes:
    """The processes of one port; made and run in a loop of this process's own."""

    def __init__(
        self,
        listening: socket.socket,
        count: int,
        flags: Mapping[str, Any],
        *,
        seconds: float,
        command: Sequence[str] = COMMAND,
        journal: Journal | None = None,
    ) -> None:
        self._listening = listening
        self._numbers = range(1, count + 1)
        self._child_flags = {**flags, "path": sys.path, "fd": listening.fileno()}
        self._seconds = seconds + LATE_SECONDS
        self._command = command
        self._journal = journal or Journal()
        self._alive: set[Process] = set()
        self._serving: dict[int, Process] = {}
        self._changing = asyncio.Lock()
        self._rolling = asyncio.Event()
        self._ending = asyncio.Event()

    async def run(self, on_ready: Ready) -> None:
        """Serve until SIGTERM or SIGINT; the second of them kills what is left.

        Raises:
            ProcessFailed: a process could not be started.
        """
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._rolling.set)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end, number)
        work = asyncio.create_task(self._work(on_ready))
        ending = asyncio.create_task(self._ending.wait())
        try:
            await asyncio.wait((work, ending), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
        finally:
            ending.cancel()
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            self._listening.close()  # who comes now is refused, and waits for nobody
            await asyncio.gather(*map(self._stop, tuple(self._alive)))

    async def _work(self, on_ready: Ready) -> NoReturn:
        message = await self._start(1)
        await asyncio.gather(*map(self._start, self._numbers[1:]))
        on_ready(message)
        async with asyncio.TaskGroup() as group:
            for number in self._numbers:
                group.create_task(self._keep(number))
            while True:
                await self._rolling.wait()
                self._rolling.clear()
                await self._roll()

    async def _start(self, number: int) -> Mapping[str, Any]:
        """Put a process in this place, once it answers; what it says of itself.

        Raises:
            ProcessFailed: it ended, or took too long.
        """
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            pass_fds=(self._listening.fileno(),),
            start_new_session=True,  # Ctrl-C reaches this process, which tells the others once
        )
        self._alive.add(process)
        if process.stdin is None or process.stdout is None:
            raise AssertionError("both are pipes")
        process.stdin.write(json.dumps({**self._child_flags, "number": number}).encode() + b"\n")
        line = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                line = await process.stdout.readline()
        if line:
            self._serving[number] = process
            message: Mapping[str, Any] = json.loads(line)
            return message
        if not process.stdout.at_eof():
            _tell(process, signal.SIGKILL)
        raise ProcessFailed(number, await self._exit_code(process))

    async def _keep(self, number: int) -> NoReturn:
        """Have a process in this place, whatever becomes of it."""
        wait = RESTART_SECONDS
        while True:
            process, since = self._serving[number], system.monotonic()
            code = await self._exit_code(process)
            if self._serving[number] is not process:
                continue  # it was replaced
            self._journal.note("error", "process ended", process=number, code=code)
            wait = RESTART_SECONDS if system.monotonic() - since > YOUNG_SECONDS else wait
            while self._serving[number] is process:
                await asyncio.sleep(wait)
                wait = min(2 * wait, RESTART_SECONDS_MAX)
                with suppress(ProcessFailed, OSError):
                    await self._replace(number, process)

    async def _roll(self) -> None:
        for number in self._numbers:
            old = self._serving[number]
            try:
                await self._replace(number, old)
            except (ProcessFailed, OSError) as failure:
                self._journal.note("error", "restart given up", process=number, why=str(failure))
                return
            await self._stop(old)
        self._journal.note("info", "restarted", processes=len(self._numbers))

    async def _replace(self, number: int, old: Process) -> None:
        """Put a new process in this place, unless somebody else has.

        Raises:
            ProcessFailed, OSError: it could not be started; the old one stays.
        """
        async with self._changing:
            if self._serving[number] is old:
                await self._start(number)

    async def _stop(self, process: Process) -> None:
        """Tell a process to end, and see to it that it does."""
        _tell(process, signal.SIGTERM)
        try:
            await asyncio.wait_for(self._exit_code(process), self._seconds)
        except TimeoutError:
            _tell(process, signal.SIGKILL)
            await self._exit_code(process)

    async def _exit_code(self, process: Process) -> int:
        code = await process.wait()
        self._alive.discard(process)
        return code

    def _end(self, number: int) -> None:
        if not self._ending.is_set():
            self._ending.set()
            return
        for process in self._alive:
            _tell(process, signal.SIGKILL)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def _tell(process: Process, number: signal.Signals) -> None:
    """Send a signal, if there is still somebody to hear it.

    The method for it also collects a process that has just ended, and its exit code is lost.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)
