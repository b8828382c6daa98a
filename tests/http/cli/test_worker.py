"""`svc worker`: workers without a server, and servers without workers."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from svc_core import catalog
from svc_http.run.server import worker as working
from svc_http.settings import Settings
from tests.http.cli.test_webhooks import Sink, until
from tests.nursery import Child
from tests.postgres import PostgresServer

SECRET = "0123456789abcdef" * 4
Svc = Callable[..., Any]


class Worker:
    """A `svc worker` in a process of its own, once it works."""

    def __init__(self, env: dict[str, str], cwd: Path, *arguments: object) -> None:
        self.process = Child("worker", "--json", *arguments, cwd=cwd, env=env)
        self.announcement = json.loads(self.process.stdout.readline())

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code and what it has logged."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


@pytest.fixture
def working_(environment: Callable[..., dict[str, str]], tmp_path: Path) -> Any:
    @contextmanager
    def work(*arguments: object) -> Iterator[Worker]:
        worker = Worker(environment(SVC_SECRET=SECRET), tmp_path, *arguments)
        try:
            yield worker
        finally:
            if worker.process.returncode is None:
                worker.end(signal.SIGKILL)

    return work


@pytest.fixture
def sink() -> Iterator[Sink]:
    server = Sink()
    yield server
    server.close()


def test_a_file_that_nobody_serves_may_have_a_worker(working_: Any, tmp_path: Path) -> None:
    with working_("--db", "svc.db", "--only", "deliver,speak") as worker:
        assert worker.announcement == {
            "workers": ["deliver", "speak"], "db": "svc.db", "pid": worker.process.pid,
        }  # fmt: skip
        assert worker.end() == (0, "")
    assert (tmp_path / "svc.db").exists()


def test_a_file_that_is_served_has_no_second_process(
    serving: Callable[..., Any], spawn: Svc, tmp_path: Path
) -> None:
    with serving("--db", "svc.db", "--port", 0, cwd=tmp_path):
        ran = spawn("worker", "--db", "svc.db", cwd=tmp_path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "a SQLite file has one process" in ran.err


def test_servers_without_workers_leave_everything_to_those_that_run_alone(
    serving: Callable[..., Any],
    svc_in: Svc,
    working_: Any,
    sink: Sink,
    postgres: PostgresServer,
    tmp_path: Path,
) -> None:
    dsn = postgres.made_for(catalog.COLLECTIONS)
    store = ("--db", dsn)

    def svc(*arguments: object) -> Any:
        ran = svc_in(*arguments, *store, "--json", cwd=tmp_path, SVC_SECRET=SECRET)
        assert ran.code == 0, ran.err
        return ran.json

    with ExitStack() as stack:
        key = (*store, "--port", 0, "--workers", "none")
        stack.enter_context(serving(*key, cwd=tmp_path, SVC_SECRET=SECRET))
        svc("keys", "create", "--name", "a")
        hook = svc("webhooks", "create", sink.url)["id"]
        sink.status = 500
        for _ in range(7):
            svc("webhooks", "test", hook)
        time.sleep(1.5)  # longer than a worker needs to look
        assert sink.got == []

        workers = [stack.enter_context(working_(*store)) for _ in range(2)]
        all_workers = ["ingest", "schedule", "deliver", "speak", "embed", "automations"]
        assert workers[0].announcement["workers"] == all_workers
        until(lambda: svc("webhooks", "show", hook)["status"] == "disabled")
        assert len(sink.got) == 5  # the fifth failure in a row was the last attempt
        assert [worker.end() for worker in workers] == [(0, "")] * 2
        assert len(sink.got) == 5


class Slow(list[Any]):
    """What a receiver got that takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()

    def append(self, what: Any) -> None:
        self.begun.set()
        time.sleep(1.5)
        super().append(what)


@pytest.mark.parametrize(
    ("signals", "code", "status"),
    [
        ((signal.SIGTERM,), 0, "delivered"),
        ((signal.SIGINT,), 0, "delivered"),
        ((signal.SIGTERM, signal.SIGINT), -signal.SIGINT, "delivering"),
        ((signal.SIGINT, signal.SIGTERM), -signal.SIGTERM, "delivering"),
    ],
)
def test_one_that_is_told_to_end_finishes_what_is_under_way_unless_it_is_told_again(
    working_: Any,
    svc: Svc,
    sink: Sink,
    monkeypatch: pytest.MonkeyPatch,
    signals: tuple[signal.Signals, ...],
    code: int,
    status: str,
) -> None:
    monkeypatch.setenv("SVC_SECRET", SECRET)
    slow = sink.got = Slow()
    svc("keys", "create", "--name", "a")
    hook = svc("webhooks", "create", sink.url, "--json").json["id"]
    svc("webhooks", "test", hook)
    with working_() as worker:
        assert slow.begun.wait(60)
        worker.process.send_signal(signals[0])
        for number in signals[1:]:
            time.sleep(0.3)
            worker.process.send_signal(number)
        worker.process.communicate(timeout=60)
    assert worker.process.returncode == code
    (report,) = svc("webhooks", "deliveries", hook, "--json").json
    assert (report["status"], len(report["attempts"])) == (status, 1)


def test_in_this_process_it_ends_as_it_does_in_one_of_its_own(tmp_path: Path) -> None:
    report: list[str] = []

    def ready() -> None:
        report.append("ready")
        os.kill(os.getpid(), signal.SIGTERM)

    working.run_workers(Settings(db=str(tmp_path / "svc.db"), secret=SECRET), ready)
    assert report == ["ready"]
