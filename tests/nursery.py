"""`svc` as processes of their own, forked from one that has loaded everything.

To start an interpreter and load us costs a second, more than most tests of processes are about;
what the first service of a process reads and compiles costs half as much again.
What is forked has a pid, memory, files and signals of its own, and ends as any other; only its
start is not the one that people see. Who tests that runs `python -m svc_http` in earnest.
"""

import asyncio
import gc
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from tests.extras import NONE

ROOT = Path(__file__).parents[1]
NUMBER = struct.Struct("=i")
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL


def environment(**extras: str) -> dict[str, str]:
    """The environment without settings of whoever runs the tests."""
    outside = os.environ  # noqa: TID251 - what a child process is given
    variables = {name: value for name, value in outside.items() if not name.startswith("SVC_")}
    return variables | NONE | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"} | extras


# -- who asks for children ---------------------------------------------------------------------


class Child:
    """A process that runs `svc`, to be used as one of `subprocess.Popen`, in text."""

    def __init__(
        self,
        *arguments: object,
        cwd: Path,
        env: dict[str, str],
        stdin: Any = DEVNULL,
        stdout: Any = PIPE,
        stderr: Any = PIPE,
        first: str = "",
    ) -> None:
        """Begin it; `first` is a program in Python that it runs before."""
        line = list(map(str, arguments))
        request = {"line": line, "cwd": str(cwd), "env": env, "first": first}
        self.returncode: int | None = None
        self._nursery = socket.socket(socket.AF_UNIX)
        self._nursery.connect(NURSERY.address())
        with ExitStack() as stack:
            self.stdin, read = self._pipe(stdin, "w", stack)
            self.stdout, out = self._pipe(stdout, "r", stack)
            self.stderr, err = self._pipe(stderr, "r", stack)
            message = json.dumps(request).encode() + b"\n"
            socket.send_fds(self._nursery, [message], [read, out, err])
            self.pid = self._number()

    @staticmethod
    def _pipe(target: Any, mode: str, stack: ExitStack) -> tuple[Any, int]:
        """Our end, if there is one, and theirs."""
        if target is PIPE:
            read, write = os.pipe()
            near, fd = (write, read) if mode == "w" else (read, write)
            stack.callback(os.close, fd)
            return open(near, mode, encoding="utf-8"), fd
        if target is DEVNULL:
            fd = os.open(os.devnull, os.O_RDWR)
            stack.callback(os.close, fd)
            return None, fd
        return None, target if isinstance(target, int) else target.fileno()

    def _number(self) -> int:
        (number,) = NUMBER.unpack(self._nursery.recv(NUMBER.size))
        return int(number)

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended."""
        if self.returncode is None:
            if not select.select([self._nursery], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("svc", timeout or 0)
            self.returncode = self._number()
            self._nursery.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it is still there."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str | None, str | None]:
        """All that it prints until it ends."""
        with ThreadPoolExecutor(2) as pool:
            outputs = [file and pool.submit(file.read) for file in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            out, err = (output and output.result() for output in outputs)
        self._close()
        return out, err

    def _close(self) -> None:
        for file in (self.stdin, self.stdout, self.stderr):
            if file is not None:
                file.close()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        self.wait()


def program(code: str, *arguments: object, cwd: Path = ROOT, **streams: Any) -> Child:
    """A process that runs a program of a test in place of `svc`."""
    first = f"{code}\nimport sys\nsys.exit()"
    return Child(*arguments, cwd=cwd, env=environment(), first=first, **streams)


class Nursery:
    """Where children come from: one for all tests of this process, once somebody needs it."""

    _process: subprocess.Popen[str] | None = None

    def __init__(self) -> None:
        self._turn = threading.Lock()

    def address(self) -> str:
        """The socket where a child is asked for."""
        with self._turn:
            if self._process is None:
                self._open()
            return self._address

    def _open(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="svc-nursery-")
        self._address = str(Path(self._folder.name, "socket"))
        line = [sys.executable, "-m", "tests.nursery", self._address]
        process = subprocess.Popen(
            line, cwd=ROOT, env=environment(), stdin=PIPE, stdout=PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        self._process = process

    def write_command(self, path: Path) -> None:
        """Make a program that does what `svc` does, and is a child of this place."""
        path.write_text(f"#!{sys.executable} -IS\n{COMMAND}live({self.address()!r})\n")
        path.chmod(0o755)

    def close(self) -> None:
        """End it; its children have ended."""
        if self._process is not None:
            self._process.communicate()
            self._folder.cleanup()
            self._process = None


NURSERY = Nursery()

COMMAND = """
import json, os, signal, socket, struct, sys

def live(address):
    nursery = socket.socket(socket.AF_UNIX)
    nursery.connect(address)
    asked = {"line": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ), "first": ""}
    socket.send_fds(nursery, [json.dumps(asked).encode() + b"\\n"], [0, 1, 2])
    (pid,) = struct.unpack("=i", nursery.recv(4))
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(pid, number))
    (code,) = struct.unpack("=i", nursery.recv(4))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)

"""
"""A process that a shell waits for in place of the child."""


# -- where they come from ----------------------------------------------------------------------


def _bear(listening: socket.socket) -> dict[str, Any] | None:
    """Fork a child for each who asks: in a child, what it is to do; None at the end of stdin."""
    wakeup, waker = socket.socketpair()
    waker.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker.fileno())
    living: dict[int, socket.socket] = {}
    with listening, wakeup, waker:
        while True:
            ready, _, _ = select.select([listening, wakeup, 0], [], [])
            if wakeup in ready:
                wakeup.recv(4096)
                _tell_ends(living)
            if 0 in ready:
                break
            if listening in ready:
                asking, _ = listening.accept()
                message, fds, _, _ = socket.recv_fds(asking, 65_536, 3)
                while not message.endswith(b"\n"):
                    message += asking.recv(65_536)
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    # Whoever runs the tests in the background has it ignored.
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    for number, fd in enumerate(fds):
                        os.dup2(fd, number)
                        os.close(fd)
                    for sock in (asking, *living.values()):
                        sock.close()
                    request: dict[str, Any] = json.loads(message)
                    return request
                asking.sendall(NUMBER.pack(pid))
                living[pid] = asking
                for fd in fds:
                    os.close(fd)
    for asking in living.values():
        asking.close()
    return None


def _tell_ends(living: dict[int, socket.socket]) -> None:
    while living:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with living.pop(pid) as asking, suppress(BrokenPipeError):  # nobody may wait any more
            asking.sendall(NUMBER.pack(os.waitstatus_to_exitcode(status)))


def _main(address: str) -> None:
    # What is loaded once for all, and not by who asks for them.
    from svc_http import settings  # noqa: PLC0415
    from svc_http.dashboard.page_markup import compile_pages  # noqa: PLC0415
    from svc_http.run.cli import app, command_derivation, serve_commands  # noqa: F401, PLC0415
    from svc_http.run.control import operator  # noqa: F401, PLC0415
    from svc_http.run.server import connection, launch, worker  # noqa: F401, PLC0415
    from svc_http.service.runtime.assembly import open_application  # noqa: PLC0415
    from svc_http.stores import postgres  # noqa: F401, PLC0415

    async def start() -> None:
        """Start a service, by which most is read that every service reads."""
        async with open_application(settings.load({"SVC_DB": ":memory:", **NONE})):
            pass

    compile_pages()
    asyncio.run(start())
    gc.freeze()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    request = _bear(listening)
    if request is not None:
        os.chdir(request["cwd"])
        os.environ.clear()  # noqa: TID251 - it is that of a child
        os.environ.update(request["env"])  # noqa: TID251
        time.tzset()
        sys.argv = ["svc", *request["line"]]
        exec(request["first"], {"__name__": "__main__"})
        runpy.run_module("svc_http", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main(sys.argv[1])
