"""Several real processes over one PostgreSQL database: restarts under load, deaths, ends."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from svc_core import catalog
from svc_http.run.cli import main
from svc_http.run.server import processes
from tests.postgres import PostgresServer

SECRET = "0123456789abcdef" * 4
SECONDS = 60.0


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def dsn(postgres: PostgresServer) -> str:
    return postgres.made_for(catalog.COLLECTIONS)


@contextmanager
def start(
    serving: Callable[..., Any],
    dsn: str,
    tmp_path_factory: pytest.TempPathFactory,
    *,
    processes: int = 2,
) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("pair")
    options = ("--db", dsn, "--port", 0, "--processes", processes, "--no-rate-limits")
    with serving(*options, cwd=folder, SVC_SECRET=SECRET) as running:
        yield running


@pytest.fixture(scope="module")
def pair(
    serving: Callable[..., Any], dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """Two processes for the tests that leave them as they found them."""
    with start(serving, dsn, tmp_path_factory) as running:
        yield running
        assert running.stop() == (0, "")


@pytest.fixture
def svc(svc_in: Callable[..., Any], dsn: str, tmp_path: Path) -> Callable[..., Any]:
    def run(*arguments: object) -> Any:
        ran = svc_in(*arguments, "--db", dsn, "--json", cwd=tmp_path, SVC_SECRET=SECRET)
        assert ran.code == 0, ran.err
        return ran.json

    return run


@pytest.fixture
def key(svc: Callable[..., Any], tmp_path: Path) -> str:
    """A key of a workspace of its own: commands work on the database while others serve it."""
    workspace = svc("workspaces", "create", "--name", tmp_path.name, "--plan", "elite")
    api_key = svc("keys", "create", "--name", "a", "--workspace", workspace["id"])
    return str(api_key["key"])


def children(pid: int) -> set[int]:
    listing = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(row) for row in listing}


def until(holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + SECONDS
    while not (matches := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return matches


def events(running: Any, kind: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, list(running.log)) if line["event"] == kind]


class Clients:
    """Clients that ask again and again, each in its own way; what went wrong with any of them."""

    def __init__(self, origin: str, key: str) -> None:
        self.host = urlsplit(origin).netloc
        self.fields = {"Authorization": f"Bearer {key}"}
        self.failures: list[str] = []
        self.answers: Counter[tuple[str, int]] = Counter()
        self.over = threading.Event()
        self.threads = [
            threading.Thread(target=self.loop, args=(way, pause), daemon=True)
            for way, pause in (
                ("new", 0.01),
                ("new", 0.02),
                ("kept", 0.01),
                ("kept", 0.05),
                ("kept", 0.7),
                ("writing", 0.01),
            )
        ]

    def loop(self, way: str, pause: float) -> None:
        client = http.client.HTTPConnection(self.host, timeout=SECONDS)
        number = 0
        while not self.over.is_set():
            number += 1
            try:
                if way == "writing":
                    client.request("POST", "/api/v1/profiles", *self.profile(number))
                else:
                    client.request("GET", "/api/v1/profiles?limit=1", headers=self.fields)
                answer = client.getresponse()
                answer.read()
                self.answers[way, answer.status] += 1
                if answer.status not in {200, 201}:
                    self.failures.append(f"{way} {answer.status}")
            except (OSError, http.client.HTTPException) as failure:
                self.failures.append(f"{way} {number} {failure!r}")
                client.close()
            if way == "new":
                client.close()
            self.over.wait(pause)
        client.close()

    def profile(self, number: int) -> tuple[str, dict[str, str]]:
        body = {"name": f"P{number}", "topic": "Port strikes", "frequency": "manual"}
        own = {"Content-Type": "application/json", "Idempotency-Key": f"k{number:08}"}
        return json.dumps(body), self.fields | own

    @contextmanager
    def asking(self) -> Iterator[None]:
        for thread in self.threads:
            thread.start()
        until(lambda: len(self.answers) >= 3)
        try:
            yield
        finally:
            self.over.set()
            for thread in self.threads:
                thread.join(SECONDS)


def test_what_a_process_starts_would_inherit_no_socket(pair: Any) -> None:
    pids = children(pair.process.pid)
    assert len(pids) == 2
    for pid in pids:
        links = {row.name: row.readlink() for row in Path(f"/proc/{pid}/fd").iterdir()}
        sockets = [name for name, link in links.items() if str(link).startswith("socket:")]
        assert sockets
        for name in sockets:
            report = Path(f"/proc/{pid}/fdinfo/{name}").read_text()
            assert int(report.partition("flags:")[2].split()[0], 8) & os.O_CLOEXEC


def test_a_restart_fails_no_request_of_any_client(pair: Any, key: str, svc: Any) -> None:
    before = children(pair.process.pid)
    assert len(before) == 2
    clients = Clients(pair.addresses["api"], key)
    with clients.asking():
        pair.process.send_signal(signal.SIGHUP)
        until(lambda: events(pair, "restarted"))
    assert clients.failures == []
    assert {way for way, _ in clients.answers} == {"new", "kept", "writing"}
    after = children(pair.process.pid)
    assert len(after) == 2
    assert after.isdisjoint(before)
    text = clients.answers["writing", 201]
    workspace = svc("workspaces", "list")[0]["id"]
    listing = svc("profiles", "list", "--limit", text + 10, "--workspace", workspace)
    assert len(listing) == text


def test_those_that_are_killed_come_again_each_with_the_socket_of_its_place(
    pair: Any, key: str, svc_in: Callable[..., Any], tmp_path: Path
) -> None:
    keeper, exit_codes = pair.process.pid, len(events(pair, "process ended"))
    before = children(keeper)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    until(lambda: len(children(keeper) - before) == 2)
    admin = ("--server", pair.addresses["admin"])
    until(lambda: svc_in("keys", "list", *admin, cwd=tmp_path).code == 0)
    assert pair.get("/api/v1/profiles", key).status_code == 200
    report = events(pair, "process ended")[exit_codes:]
    assert sorted((row["process"], row["code"]) for row in report) == [(1, -9), (2, -9)]


def test_lines_of_the_log_say_which_process_wrote_them(pair: Any) -> None:
    pair.get("/livez")
    until(lambda: any('"/livez"' in line for line in pair.log))
    requests = [line for line in map(json.loads, list(pair.log)) if line["event"] == "request"]
    assert {line["process"] for line in requests} <= {1, 2}


def test_none_outlives_the_one_that_keeps_them(
    serving: Callable[..., Any], dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with start(serving, dsn, tmp_path_factory, processes=1) as running:
        rest = children(running.process.pid)
        running.process.kill()
        until(lambda: not [pid for pid in rest if is_running(pid)])


def test_one_that_is_only_starting_ends_with_the_one_that_keeps_it(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_server(("127.0.0.1", 0)) as silent,  # in the place of a database
    ):
        dsn = f"postgresql://ann@127.0.0.1:{silent.getsockname()[1]}/x"
        flags = {"db": dsn, "secret": SECRET}
        options = {"config": None, "flags": flags, "fd": listening.fileno(), "number": 1}
        with subprocess.Popen(
            processes.COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=(listening.fileno(),),
            cwd=tmp_path,
        ) as child:
            assert child.stdin is not None
            child.stdin.write(json.dumps({**options, "path": sys.path}).encode() + b"\n")
            child.stdin.flush()
            silent.settimeout(SECONDS)
            with silent.accept()[0]:  # it has come so far
                child.stdin.close()
                child.wait(30)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


REFUSAL = [
    (("--db", "svc.db"), {}, 2, "needs PostgreSQL"),
    (("--db", ":memory:"), {}, 2, "needs PostgreSQL"),
    (("--demo",), {}, 2, "the demo has one process"),
    (("--db", "{dsn}"), {"SVC_SECRET": ""}, 2, "is missing"),
    (("--db", "postgresql://ann:s3cret@127.0.0.1:1/x"), {}, 1, "cannot be reached"),
]


@pytest.mark.parametrize(("arguments", "environ", "code", "words"), REFUSAL)
def test_what_keeps_them_from_starting_is_one_line(
    spawn: Callable[..., Any],
    dsn: str,
    tmp_path: Path,
    arguments: tuple[str, ...],
    environ: dict[str, str],
    code: int,
    words: str,
) -> None:
    secret = environ or {"SVC_SECRET": SECRET}
    options = [text.format(dsn=dsn) for text in arguments]
    env = {name: value for name, value in secret.items() if value}
    ran = spawn("serve", "--processes", 2, "--port", 0, *options, cwd=tmp_path, **env)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert words in ran.err
    assert "s3cret" not in ran.err
    assert list(tmp_path.iterdir()) == []


def test_one_that_says_nothing_is_killed_and_that_is_told(
    cwd: Path,
    dsn: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "START_SECONDS", 0.01)
    monkeypatch.setenv("SVC_SECRET", SECRET)
    assert main(["serve", "--db", dsn, "--port", "0", "--processes", "1"]) == 1
    output = "svc: the server cannot start: process 1 ended with -9 before it answered\n"
    assert capsys.readouterr() == ("", output)
