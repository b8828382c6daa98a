"""The command line, called in this process or run as a process of its own."""

import json
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import httpx2
import pytest
from attrs import frozen

from svc_http.run.cli import main
from tests import plain_http
from tests.extras import NONE
from tests.nursery import Child, environment

START_SECONDS = 120.0
"""A start that takes longer hangs; a free machine needs about two, and one that fails ends."""


@frozen
class Ran:
    """What came of one command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on stdout; anything beside it is an error."""
        assert self.out, self.err
        return json.loads(self.out)


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with no setting from outside."""
    for name in list(os.environ):  # noqa: TID251 - cleared, not read
        if name.startswith("SVC_"):
            monkeypatch.delenv(name)
    for name, value in NONE.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def svc(cwd: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a command line in this process, in the folder `here`."""

    def run(*arguments: object) -> Ran:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


def process(*arguments: object, cwd: Path, **env: str) -> Ran:
    """Run a command line as a process of its own, to its end."""
    child = Child(*arguments, cwd=cwd, env=environment(**env))
    out, err = child.communicate(timeout=60)
    return Ran(child.wait(), out, err)


def call(*arguments: object, cwd: Path, **env: str) -> Ran:
    """Run a command line in this process, with no setting but these."""
    out, err = (TextIOWrapper(BytesIO(), "utf-8", newline="", write_through=True) for _ in "oe")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name in list(os.environ):  # noqa: TID251 - cleared, not read
            if name.startswith("SVC_"):
                patch.delenv(name)
        for name, value in env.items():
            patch.setenv(name, value)
        patch.chdir(cwd)
        code = main([str(argument) for argument in arguments])
    return Ran(code, *(row.buffer.getvalue().decode() for row in (out, err)))


class Server:
    """A server in a process of its own that prints its addresses in one JSON line."""

    def __init__(self, *arguments: object, cwd: Path, **env: str) -> None:
        self.process = Child("serve", "--json", *arguments, cwd=cwd, env=environment(**env))
        self.log: list[str] = []
        self._reading = threading.Thread(target=self._read, args=(self.process.stderr,))
        self._reading.start()
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.stop(signal.SIGKILL)
            raise AssertionError(f"the server did not start: {''.join(self.log)}")
        self.addresses: dict[str, str] = json.loads(line)
        self.http = plain_http.client(timeout=10)

    def _read(self, stream: Any) -> None:
        self.log.extend(stream)

    def get(self, path: str, key: str | None = None) -> httpx2.Response:
        origin = self.addresses["api"].removesuffix("/api/v1")
        fields = {"authorization": f"Bearer {key or self.addresses.get('key')}"}
        return self.http.get(origin + path, headers=fields)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """End it; its exit code and what else it printed on stdout."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(20)
        self._reading.join(10)
        rest = self.process.stdout.read()
        self.process.stdout.close()
        self.process.stderr.close()
        if hasattr(self, "http"):
            self.http.close()
        return code, rest


@contextmanager
def server(*arguments: object, cwd: Path, **env: str) -> Iterator[Server]:
    """A running server, ended at the end if the test has not done so."""
    running = Server(*arguments, cwd=cwd, **env)
    try:
        yield running
    finally:
        if running.process.returncode is None:
            running.stop()


@pytest.fixture(scope="session", name="environment")
def environment_() -> Callable[..., dict[str, str]]:
    return environment


@pytest.fixture(scope="session")
def spawn() -> Callable[..., Ran]:
    """Runs a command line as a process, where that it is one matters."""
    return process


@pytest.fixture(scope="session")
def svc_in() -> Callable[..., Ran]:
    """Runs a command line as `spawn` does, in this process: it starts in a tenth of the time."""
    return call


@pytest.fixture(scope="session")
def serving() -> Callable[..., Any]:
    return server


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One demo for all; its tests leave it as usable as they found it."""
    with server("--demo", "--port", 0, cwd=tmp_path_factory.mktemp("demo")) as running:
        yield running
