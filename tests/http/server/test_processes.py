"""Several processes for one port: who keeps them, with small programs in their place."""

import asyncio
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from svc_http.run.server import hypercorn, processes
from svc_http.run.server.processes import Processes, ProcessFailed
from svc_http.service.journal import Journal

SECONDS = 60.0
ROOT = Path(__file__).parents[3]

PROGRAM = r"""
import json, os, pathlib, signal, socket, sys
given = json.loads(sys.stdin.readline())
folder = pathlib.Path(given["flags"]["folder"])
if (folder / "broken").exists():
    sys.exit(int((folder / "broken").read_text()))
if (folder / "slow").exists():
    signal.pause()
signal.signal(signal.SIGTERM, signal.SIG_IGN if (folder / "deaf").exists() else lambda *_: 1 / 0)
(folder / f"{given['number']}.{os.getpid()}").touch()
print(json.dumps({"admin": f"unix:{given['number']}", "isEmpty": True}), flush=True)
listening = socket.socket(fileno=given["fd"])
listening.setblocking(True)
try:
    while True:
        connection, _ = listening.accept()
        connection.sendall(f"{given['number']} {os.getpid()}".encode())
        connection.close()
except ZeroDivisionError:
    sys.exit(0)
"""


class House:
    """Processes under a keeper that runs in this one."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.log = io.StringIO()
        self.listening = hypercorn.listen("127.0.0.1", 0)
        self.port = self.listening.getsockname()[1]
        self.processes = Processes(
            self.listening,
            count,
            {"config": None, "flags": {"folder": str(folder)}},
            seconds=-processes.LATE_SECONDS + 1.0,
            command=(sys.executable, "-I", "-S", "-c", PROGRAM),
            journal=Journal("all", lambda: self.log),
        )
        self.ready: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self.running = asyncio.create_task(self.processes.run(self.ready.set_result))

    @property
    def serving(self) -> dict[int, int]:
        """The process in each place."""
        return {number: process.pid for number, process in self.processes._serving.items()}

    @property
    def started_names(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("[0-9]*"))

    def events(self) -> list[tuple[str, int | None]]:
        lines = [json.loads(line) for line in self.log.getvalue().splitlines()]
        return [(line["event"], line.get("process")) for line in lines]

    def ask(self) -> tuple[int, int]:
        """Which process answers, and in which place."""
        words: list[bytes] = []
        while not words:  # one that was told to end may have taken a connection at that moment
            with closing(socket.create_connection(("127.0.0.1", self.port), SECONDS)) as connection:
                words = connection.recv(100).split()
        return int(words[0]), int(words[1])

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(SECONDS):
            while not holds():  # noqa: ASYNC110 - other processes set no event here
                await asyncio.sleep(0.01)

    def signal(self, number: signal.Signals) -> None:
        os.kill(os.getpid(), number)


@pytest.fixture
def keeping(tmp_path: Path) -> Any:
    @asynccontextmanager
    async def keep(count: int = 2) -> AsyncIterator[House]:
        house = House(tmp_path, count)
        try:
            yield house
        finally:
            if not house.running.done():
                house.processes._ending.set()
            await asyncio.wait([house.running])
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                asyncio.get_running_loop().remove_signal_handler(number)
            house.ready.cancel()

    return keep


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.anyio
async def test_all_answer_before_it_is_said_and_a_signal_ends_them_all(
    keeping: Any, number: signal.Signals
) -> None:
    async with keeping(3) as house:
        assert await house.ready == {"admin": "unix:1", "isEmpty": True}
        pids = house.serving
        assert sorted(pids) == [1, 2, 3]
        assert house.ask()[1] in pids.values()
        house.signal(number)
        await house.running
        assert not any(map(is_alive, pids.values()))
        with pytest.raises(ConnectionRefusedError):
            house.ask()


@pytest.mark.anyio
async def test_one_that_is_killed_is_started_again_and_the_others_serve_on(
    keeping: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "RESTART_SECONDS", 0.01)
    async with keeping() as house:
        await house.ready
        before = house.serving
        for _ in range(2):
            pid = house.serving[2]
            os.kill(pid, signal.SIGKILL)
            await house.until(lambda pid=pid: house.serving[2] != pid)
            assert house.ask()[1] in house.serving.values()
        assert house.serving[1] == before[1]
        assert house.events() == [("process ended", 2)] * 2


@pytest.mark.anyio
async def test_one_that_dies_young_again_and_again_is_started_later_each_time(
    keeping: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "RESTART_SECONDS", 0.01)
    waits: list[float] = []
    real_sleep = asyncio.sleep
    async with keeping(1) as house:
        await house.ready

        async def sleep(seconds: float) -> None:
            is_restart = seconds < 1  # other tasks of this process wait for longer
            waits.extend([seconds] * is_restart)
            await real_sleep(0 if is_restart else seconds)

        (tmp_path / "broken").write_text("3")
        monkeypatch.setattr(asyncio, "sleep", sleep)
        os.kill(house.serving[1], signal.SIGKILL)
        async with asyncio.timeout(SECONDS):
            while len(waits) < 4:
                await real_sleep(0.01)
        assert waits[:4] == [0.01, 0.02, 0.04, 0.08]


@pytest.mark.anyio
async def test_a_restart_replaces_one_after_another(keeping: Any) -> None:
    async with keeping() as house:
        await house.ready
        before = house.serving
        house.signal(signal.SIGHUP)
        seen = set()
        while ("restarted", None) not in house.events():
            seen.add(house.ask()[0])
            await asyncio.sleep(0.01)
        assert set(house.serving.values()).isdisjoint(before.values())
        assert not any(map(is_alive, before.values()))
        assert [name[0] for name in house.started_names] == ["1", "1", "2", "2"]
        assert house.ask()[1] in house.serving.values()


@pytest.mark.anyio
async def test_a_restart_that_fails_leaves_those_that_serve(keeping: Any, tmp_path: Path) -> None:
    async with keeping() as house:
        await house.ready
        before = house.serving
        (tmp_path / "broken").write_text("2")
        house.signal(signal.SIGHUP)
        await house.until(lambda: house.events() == [("restart given up", 1)])
        assert house.serving == before
        (tmp_path / "broken").unlink()
        house.signal(signal.SIGHUP)
        await house.until(lambda: ("restarted", None) in house.events())
        assert set(house.serving.values()).isdisjoint(before.values())


@pytest.mark.parametrize("code", [2, 1])
@pytest.mark.anyio
async def test_where_one_cannot_start_none_is_left_and_its_code_is_told(
    keeping: Any, tmp_path: Path, code: int
) -> None:
    (tmp_path / "broken").write_text(str(code))
    async with keeping() as house:
        with pytest.raises(ProcessFailed) as error:
            await house.running
        assert error.value.code == code
        assert (house.processes._alive, house.started_names) == (set(), [])


@pytest.mark.anyio
async def test_one_that_does_not_answer_in_time_is_killed(
    keeping: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "START_SECONDS", 0.1)
    (tmp_path / "slow").touch()
    async with keeping() as house:
        with pytest.raises(ProcessFailed) as error:
            await house.running
        assert error.value.code == -signal.SIGKILL
        assert "process 1 ended with -9 before it answered" in str(error.value)


@pytest.mark.anyio
async def test_one_that_does_not_end_in_time_is_killed(keeping: Any, tmp_path: Path) -> None:
    (tmp_path / "deaf").touch()
    async with keeping() as house:
        await house.ready
        pids = house.serving.values()
        house.signal(signal.SIGTERM)
        async with asyncio.timeout(SECONDS):
            await house.running
        assert not any(map(is_alive, pids))


KEEPER = """
import asyncio, json, sys
from svc_http.run.server import hypercorn, processes
given = json.loads(sys.argv[1])
kept = processes.Processes(
    hypercorn.listen("127.0.0.1", 0), 2, given["given"], seconds=600, command=given["command"]
)
asyncio.run(kept.run(lambda told: print(kept._serving[1].pid, kept._serving[2].pid, flush=True)))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_them_at_once(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "deaf").touch()  # the first is heeded by none of them
    environment = {
        "given": {"config": None, "flags": {"folder": str(tmp_path)}},
        "command": [sys.executable, "-I", "-S", "-c", PROGRAM],
    }
    keeper = subprocess.Popen(
        [sys.executable, "-c", KEEPER, json.dumps(environment)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},  # noqa: TID251
    )  # fmt: skip
    with keeper:
        assert keeper.stdout is not None
        pids = [int(pid) for pid in keeper.stdout.readline().split()]
        keeper.send_signal(number)
        with pytest.raises(subprocess.TimeoutExpired):
            keeper.wait(0.5)
        keeper.send_signal(number)
        assert keeper.wait(SECONDS) == -number
    deadline = time.monotonic() + SECONDS
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_alive, pids))


class Missing:
    """A command that is not there, and how often it was tried."""

    attempts = 0

    def __iter__(self) -> Iterator[str]:
        self.attempts += 1
        yield "/none"


@pytest.mark.anyio
async def test_a_system_that_starts_no_process_for_a_while_ends_none_that_runs(
    keeping: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "RESTART_SECONDS", 0.01)
    async with keeping() as house:
        await house.ready
        before, command = house.serving, house.processes._command
        missing = house.processes._command = Missing()  # type: ignore[assignment]
        house.signal(signal.SIGHUP)
        await house.until(lambda: ("restart given up", 1) in house.events())
        os.kill(before[1], signal.SIGKILL)
        await house.until(lambda: missing.attempts > 2)
        assert house.ask() == (2, before[2])
        house.processes._command = command
        await house.until(lambda: house.serving[1] != before[1])
        assert house.serving[2] == before[2]
