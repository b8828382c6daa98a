"""The control socket: who may use it, what a command is promised, and every way it may end."""

import asyncio
import json
import os
import socket
import stat
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from svc_core import catalog, wire
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Single
from svc_core.operation.declaration import Operation, local
from svc_core.operation.host import Progress, silent
from svc_core.operation.ports import Overloaded, StorageUnavailable
from svc_core.operation.stream import Stream
from svc_core.operation.units import WorkContext
from svc_http import system
from svc_http.run.control import channel, control_socket, operator
from svc_http.run.control import services as lends
from svc_http.run.control.channel import BrokeOff, OperationRefused, Unreachable, Unsafe
from svc_http.run.control.control_socket import Control
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.settings import MEMORY, Settings
from svc_http.stores import MemoryStorage
from tests.http.conftest import MEMBERS_OF_A_PROBLEM


@frozen
class Echo:
    """What is said."""

    text: str = ""


class House:
    """A control socket over an empty store, on a loop of its own thread."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.heard: list[str] = []
        self.defects: list[BaseException] = []
        self.loop = asyncio.new_event_loop()
        self.go = asyncio.Event()
        self.waiting = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.control: Control = self.run(self._open())
        monkeypatch.setattr(operator, "OPERATIONS_BY_ID", self.operations())

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    def release(self) -> None:
        self.loop.call_soon_threadsafe(self.go.set)

    async def _open(self) -> Control:
        settings = Settings(db=MEMORY, secret="0123456789abcdef" * 4)
        runtime = Runtime(
            settings, MemoryStorage(catalog.COLLECTIONS), now=system.now, ids=system.SystemIds()
        )
        answering = lends.operator_of(runtime, self.defects.append)
        return await Control.open(self.path, answering)

    def operations(self) -> dict[str, Operation[Any, Any]]:
        """Operations that end in every way there is."""

        async def echo(_ctx: WorkContext, request: Echo) -> Single[Echo]:
            return Single(wire.to_bytes(request))

        async def refuse(_ctx: WorkContext, _request: Echo) -> Single[Echo]:
            raise Problem(problem.NOT_FOUND, "There is no such thing.")

        async def steps(ctx: WorkContext, request: Echo) -> Single[Echo]:
            for done in range(1, 4):
                ctx.work.tell(Progress(done, 3, f"step {done}"))
            return Single(wire.to_bytes(request))

        async def flood(ctx: WorkContext, _request: Echo) -> Single[Echo]:
            for done in range(20_000):
                ctx.work.tell(Progress(done, 20_000, "x" * 100))
            self.ended.release()
            return Single(wire.to_bytes(Echo("whole")))

        async def wait(_ctx: WorkContext, request: Echo) -> Single[Echo]:
            self.waiting.release()
            try:
                await self.go.wait()
                self.heard.append(request.text)
                return Single(wire.to_bytes(request))
            finally:
                self.ended.release()

        async def lend(ctx: WorkContext, request: Echo) -> Single[Echo]:
            ctx.borrow(House)
            return Single(wire.to_bytes(request))

        def streaming(parts: Any, seconds: float | None) -> Any:
            async def settled() -> None:
                self.ended.release()

            async def run(_ctx: WorkContext, _request: Echo) -> Stream:
                bye = lambda _: b"bye"  # noqa: E731
                return Stream("text/x", parts, b"", bye, seconds_max=seconds, settle=settled)

            return run

        async def counted(_watch: Any) -> AsyncIterator[bytes]:
            for part in (b"one", b"", "zw\u00f6lf".encode()):
                yield part

        async def endless(_watch: Any) -> AsyncIterator[bytes]:
            while True:
                yield b"x" * 10_000

        async def mute(_watch: Any) -> AsyncIterator[bytes]:
            await self.go.wait()
            yield b""

        async def refusing(_watch: Any) -> AsyncIterator[bytes]:
            yield b"one"
            raise Problem(problem.CHAT_CREDITS_EXHAUSTED, "None are left.")

        def raising(failure: Exception) -> Any:
            async def run(_ctx: WorkContext, _request: Echo) -> Single[Echo]:
                raise failure

            return run

        runs: dict[str, Any] = {
            "echo": echo,
            "refuse": refuse,
            "steps": steps,
            "flood": flood,
            "wait": wait,
            "lend": lend,
            "stream": streaming(counted, 60.0),
            "slow": streaming(endless, 0.05),
            "endless": streaming(endless, 60.0),
            "mute": streaming(mute, 60.0),
            "refusing": streaming(refusing, 60.0),
            "tail": streaming(endless, None),
            "break": raising(ValueError("secret words")),
            "disk": raising(StorageUnavailable("disk full")),
            "queue": raising(Overloaded("queue full")),
        }
        members: Any = {"binding": "system", "roles": frozenset({"operator"})}
        return {name: local("test", name, run, id_=name, **members) for name, run in runs.items()}

    def close(self, seconds: float = 1.0) -> None:
        self.run(self.control.close(seconds))

    def stop(self) -> None:
        self.release()
        self.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(60)
        self.loop.close()


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    home = House(tmp_path / "db.sock", monkeypatch)
    yield home
    home.stop()


@contextmanager
def raw(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(60)
        line.connect(str(path))
        yield line


def answers(line: socket.socket) -> Any:
    with line.makefile("rb") as lines:
        return json.loads(lines.readlines()[-1])


def requests(operation: str, **members: Any) -> dict[str, Any]:
    return {"operation": operation, "body": members}


def ask(house: House, operation: str, **members: Any) -> Any:
    return channel.ask_server(house.path, requests(operation, **members), silent)["body"]["data"]


# -- asking ------------------------------------------------------------------------------------


def test_a_command_is_answered(house: House) -> None:
    assert ask(house, "echo", text="¡Grüße 🌍!") == {"text": "¡Grüße 🌍!"}


def test_progress_comes_in_order_before_the_answer(house: House) -> None:
    report: list[Progress] = []
    channel.ask_server(house.path, requests("steps"), report.append)
    assert report == [Progress(1, 3, "step 1"), Progress(2, 3, "step 2"), Progress(3, 3, "step 3")]


def test_progress_that_nobody_reads_is_dropped_and_the_answer_is_not(house: House) -> None:
    with raw(house.path) as line:
        line.sendall(channel.line(requests("flood")))
        assert house.ended.acquire(timeout=60)  # nothing was read until then
        with line.makefile("rb") as lines:
            *report, answer = lines.readlines()
    assert json.loads(answer)["ok"]["body"]["data"] == {"text": "whole"}
    assert 0 < len(report) < 20_000


def parts_of(house: House, operation: str) -> list[str]:
    parts: list[str] = []
    answer = channel.ask_server(house.path, requests(operation), silent, parts.append)
    assert (answer["status"], answer["body"]) == (200, None)
    return parts


def test_the_parts_of_a_stream_come_before_its_end(house: House) -> None:
    assert parts_of(house, "stream") == ["", "one", "", "zw\u00f6lf"]
    assert house.ended.acquire(timeout=60)


def test_a_stream_that_has_had_its_time_says_goodbye(house: House) -> None:
    assert parts_of(house, "slow")[-1] == "bye"
    assert house.ended.acquire(timeout=60)


def test_a_stream_that_is_refused_is_a_refusal(house: House) -> None:
    with pytest.raises(OperationRefused, match="None are left"):
        parts_of(house, "refusing")
    assert house.ended.acquire(timeout=60)


def test_a_stream_without_an_end_is_given_over_http_alone(house: House) -> None:
    with pytest.raises(OperationRefused, match="over HTTP alone"):
        parts_of(house, "tail")


@pytest.mark.parametrize("how", ["endless", "mute"])
def test_a_stream_ends_with_whoever_listened(house: House, how: str) -> None:
    with raw(house.path) as line:
        line.sendall(channel.line(requests(how)))
        assert line.recv(8) == b'{"part":'
    assert house.ended.acquire(timeout=60)
    assert ask(house, "echo", text="still there") == {"text": "still there"}
    assert house.defects == []


REFUSALS = [
    ("refuse", {}, "NOT_FOUND", "There is no such thing."),
    ("ecko", {}, "VALIDATION_FAILED", "/operation: there is no 'ecko'"),
    ("echo", {"text": 1}, "VALIDATION_FAILED", "/text"),
    ("echo", {"words": ""}, "VALIDATION_FAILED", "/words"),
    ("lend", {}, "SERVICE_UNAVAILABLE", "This host does not have it: A control socket over"),
    ("break", {}, "INTERNAL_ERROR", "could not be completed"),
    ("disk", {}, "STORAGE_UNAVAILABLE", ""),
    ("queue", {}, "OVERLOADED", ""),
]


@pytest.mark.parametrize(("command", "arguments", "code", "words"), REFUSALS)
def test_a_refusal_is_a_problem_with_the_eight_members(
    house: House, command: str, arguments: dict[str, Any], code: str, words: str
) -> None:
    with pytest.raises(OperationRefused) as error:
        ask(house, command, **arguments)
    report = error.value.problem
    assert list(report) == MEMBERS_OF_A_PROBLEM
    assert report["code"] == code
    assert words in report["detail"]
    assert str(error.value) == report["detail"]


def test_a_defect_is_heard_by_the_server_and_told_to_nobody(house: House) -> None:
    with pytest.raises(OperationRefused) as error:
        ask(house, "break")
    assert [str(defect) for defect in house.defects] == ["secret words"]
    assert "secret" not in json.dumps(error.value.problem)


LINES = [
    (b"\n", "MALFORMED_JSON"),
    (b"{]\n", "MALFORMED_JSON"),
    (b"[]\n", "VALIDATION_FAILED"),
    (b"\xff\n", "INVALID_ENCODING"),
    (b'{"body":{}}\n', "VALIDATION_FAILED"),
    (b'{"operation":"echo","query":[]}\n', "VALIDATION_FAILED"),
    (b'{"operation":"echo","path":{"x":"1"}}\n', "VALIDATION_FAILED"),
    (b'{"operation":"echo","body":[]}\n', "VALIDATION_FAILED"),
    (b'{"operation":"echo","operation":"echo"}\n', "DUPLICATE_JSON_MEMBER"),
    (b"x" * (channel.LINE_BYTES_MAX + 1), "BODY_TOO_LARGE"),
]


@pytest.mark.parametrize(("line", "code"), LINES, ids=range(len(LINES)))
def test_a_line_that_is_no_request_is_refused(house: House, line: bytes, code: str) -> None:
    with raw(house.path) as wire:
        wire.sendall(line)
        assert answers(wire)["problem"]["code"] == code


# -- the ways it may end -----------------------------------------------------------------------


def test_a_command_runs_to_its_end_when_its_caller_has_gone(house: House) -> None:
    with raw(house.path) as wire:
        wire.sendall(channel.line(requests("wait", text="still done")))
        assert house.waiting.acquire(timeout=60)
    house.release()
    assert house.ended.acquire(timeout=60)
    assert house.heard == ["still done"]


def test_a_caller_that_says_nothing_is_let_go(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_socket, "REQUEST_SECONDS", 0.05)
    with raw(house.path) as wire:
        assert wire.recv(1) == b""
    with raw(house.path) as wire:
        wire.sendall(b'{"half of')
        wire.shutdown(socket.SHUT_WR)
        assert wire.recv(1) == b""


@contextmanager
def crowd(house: House) -> Iterator[list[socket.socket]]:
    """As many commands as may run at once, none of which ends before it is let."""
    with ExitStack() as lines:
        running = []
        for _ in range(control_socket.CONNECTIONS_MAX):
            line = lines.enter_context(raw(house.path))
            line.sendall(channel.line(requests("wait")))
            assert house.waiting.acquire(timeout=60)
            running.append(line)
        yield running


@pytest.mark.parametrize("size", [0, 4_000_000])  # the second is more than a socket holds unread
def test_more_commands_at_once_than_are_allowed_are_refused(house: House, size: int) -> None:
    with crowd(house) as running:
        with pytest.raises(OperationRefused) as error:
            ask(house, "echo", text="x" * size)
        assert error.value.problem["code"] == "OVERLOADED"
        house.release()
        assert [answers(line)["ok"]["status"] for line in running] == [200] * len(running)
    assert ask(house, "echo") == {"text": ""}


def test_closing_waits_for_what_runs_and_no_longer_than_it_is_told(house: House) -> None:
    with raw(house.path) as first:
        first.sendall(channel.line(requests("wait", text="in time")))
        assert house.waiting.acquire(timeout=60)
        house.loop.call_soon_threadsafe(house.loop.call_later, 0.01, house.go.set)
        house.close(10)
        assert answers(first)["ok"]["body"]["data"] == {"text": "in time"}
    assert not house.path.exists()
    with pytest.raises(Unreachable):
        ask(house, "echo")


def test_a_command_that_is_cut_off_is_not_said_to_be_undone(house: House) -> None:
    answers: list[BaseException] = []

    def call() -> None:
        try:
            ask(house, "wait")
        except BrokeOff as failure:
            answers.append(failure)

    caller = threading.Thread(target=call)
    caller.start()
    assert house.waiting.acquire(timeout=60)
    house.close(0)
    caller.join(60)
    assert len(answers) == 1
    assert "look before repeating" in str(answers[0])


@pytest.mark.parametrize("message", [b"", b'{"ok":1', b'{"progress":{"done":1,"total":2}}\n'])
def test_a_server_that_ends_within_its_answer_broke_off(tmp_path: Path, message: bytes) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            line, _ = listening.accept()
            with line:
                line.recv(1024)
                line.sendall(message)

        server = threading.Thread(target=serve)
        server.start()
        with pytest.raises(BrokeOff):
            channel.ask_server(path, requests("echo"), silent)
        server.join(60)


def test_a_reset_connection_broke_off(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            listening.accept()[0].close()  # with what was asked unread, which resets

        server = threading.Thread(target=serve)
        server.start()
        with pytest.raises(BrokeOff):
            channel.ask_server(path, requests("echo", text="x" * 1_000_000), silent)
        server.join(60)


# -- where it is, and whose --------------------------------------------------------------------


def test_only_its_own_user_can_open_the_socket(house: House) -> None:
    assert stat.S_IMODE(house.path.stat().st_mode) == 0o600


def test_what_an_ended_server_left_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "db.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as rest:
        rest.bind(str(path))
    with pytest.raises(Unreachable):
        channel.ask_server(path, requests("echo"), silent)
    home = House(path, monkeypatch)
    assert ask(home, "echo") == {"text": ""}
    assert channel.parse_socket_address(home.control.text) == path
    home.stop()
    made_again_is_harmless = home.control.close()
    asyncio.run(made_again_is_harmless)


def test_the_socket_stands_beside_the_database(tmp_path: Path) -> None:
    assert channel.socket_path(str(tmp_path / "svc.db")) == tmp_path / "svc.db.sock"


def test_a_path_too_long_for_a_socket_has_a_short_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = str(tmp_path / ("d" * 90) / "svc.db")
    with tempfile.TemporaryDirectory(prefix="svc-") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        short_path = channel.socket_path(deep)
        assert len(os.fsencode(short_path)) <= channel.PATH_BYTES_MAX
        assert short_path == channel.socket_path(deep)
        assert short_path != channel.socket_path(deep + "2")
        home = House(short_path, monkeypatch)
        assert ask(home, "echo") == {"text": ""}
        assert stat.S_IMODE(short_path.parent.stat().st_mode) == 0o700
        home.stop()


def test_stores_in_memory_do_not_share_a_socket_with_a_file() -> None:
    matches = channel.socket_path(None)
    assert matches.suffix == ".sock"
    assert matches != channel.socket_path("2")


def test_a_folder_that_others_can_write_to_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory() as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        path = channel.socket_path(None)
        path.parent.mkdir(mode=0o755)
        with pytest.raises(Unsafe):
            channel.ask_server(path, requests("echo"), silent)
        with pytest.raises(Unsafe):
            control_socket._bind(path)


def test_a_socket_that_cannot_be_made_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="too long"):
        control_socket._bind(tmp_path / ("x" * 120))


@pytest.mark.parametrize("text", ["", "unix:", "/run/svc.sock", "http://127.0.0.1:8000"])
def test_an_address_is_unix_and_a_path(text: str) -> None:
    with pytest.raises(channel.BadSocketAddress, match="unix:PATH"):
        channel.parse_socket_address(text)


def test_a_socket_that_another_process_took_over_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "svc.db.sock"
    first = House(path, monkeypatch)
    second = House(path, monkeypatch)
    first.stop()
    assert ask(second, "echo") == {"text": ""}
    second.stop()
    assert not path.exists()


def test_one_of_several_processes_has_the_socket_of_the_one_that_it_replaces() -> None:
    assert channel.socket_path(None, 1) == channel.socket_path(None, 1)
    assert len({channel.socket_path(None, number) for number in (None, 1, 2)}) == 3


def test_a_folder_of_a_long_name_is_not_where_sockets_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = channel.socket_path(None)
    monkeypatch.setattr(tempfile, "tempdir", f"/tmp/{'long' * 30}")
    matches = channel.socket_path(None)

    assert len(os.fsencode(matches)) <= channel.PATH_BYTES_MAX
    assert (matches.name, matches.parent.name) == (short.name, f"svc-{os.getuid()}")
