"""SIGHUP begins anew with the settings as they are, and never just ends what runs."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from svc_http.run.server.restarts import Restarts
from svc_http.settings import Settings
from tests.http.cli.conftest import server


def _write(config: Path, **members: str) -> None:
    settings = {"db": str(config.parent / "svc.db"), "workers": "none", **members}
    config.write_text("".join(f'{name} = "{value}"\n' for name, value in settings.items()), "utf-8")


def _soon(is_so: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.02)


def test_a_server_begins_anew_and_refuses_no_connection_meanwhile(tmp_path: Path) -> None:
    config = tmp_path / "svc.toml"
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    _write(config, base_url="https://old.example")

    with server("--port", port, "--config", config, cwd=tmp_path) as running:

        def docs() -> str:
            # A connection of its own each time: one that the old server had ends with it.
            answer = httpx2.get(f"http://127.0.0.1:{port}/", timeout=20, trust_env=False)
            return str(answer.json()["links"]["docs"])

        assert docs() == "https://old.example/docs"
        _write(config, base_url="https://new.example")
        running.process.send_signal(signal.SIGHUP)
        _soon(lambda: docs() == "https://new.example/docs")

        _write(config, base_url="nowhere")
        running.process.send_signal(signal.SIGHUP)
        _soon(lambda: any("restart given up" in line for line in running.log))
        assert docs() == "https://new.example/docs"
        code, rest = running.stop()

    assert (code, rest) == (0, "")


def test_a_demo_ends_well_with_its_terminal(tmp_path: Path) -> None:
    with server("--demo", "--port", 0, cwd=tmp_path) as running:
        assert running.stop(signal.SIGHUP)[0] == 0


class Runtime:
    """What is drained."""

    def __init__(self) -> None:
        self.drain = asyncio.Event()
        self.is_replaced = False


def test_settings_with_which_nothing_starts_are_given_up_as_the_log_tells(tmp_path: Path) -> None:
    log = tmp_path / "svc.log"
    first = Settings(db=":memory:", log_file=str(log))
    second = Settings(db=":memory:", unknown_query="ignore")
    runs = []

    def serve(settings: Settings, restarts: Restarts) -> None:
        runs.append(settings)
        if settings is second:
            raise OSError("no: postgresql://desk:hunter2@db")
        if len(runs) == 1:
            asyncio.run(_until_drained(restarts))

    Restarts(first, lambda: second).run(serve)

    assert runs == [first, second, first]
    assert "restart given up" in log.read_text("utf-8")
    assert "hunter2" not in log.read_text("utf-8")


async def _until_drained(restarts: Restarts) -> None:
    runtime: Any = Runtime()
    with restarts.heeds(runtime):
        os.kill(os.getpid(), signal.SIGHUP)
        await runtime.drain.wait()
    assert runtime.is_replaced
    os.kill(os.getpid(), signal.SIGHUP)  # nobody listens now, and nothing ends


def test_what_is_asked_for_while_a_restart_is_under_way_comes_after_it() -> None:
    first, second, third = (Settings(db=":memory:", in_flight_max=n) for n in (1, 2, 3))
    next_settings, runs = iter((second, third)), []

    def serve(settings: Settings, restarts: Restarts) -> None:
        runs.append(settings)
        if settings is first:
            asyncio.run(_until_drained(restarts))
        elif settings is second:
            asyncio.run(_wait_drained(restarts))

    Restarts(first, lambda: next(next_settings)).run(serve)

    assert runs == [first, second, third]


async def _wait_drained(restarts: Restarts) -> None:
    runtime: Any = Runtime()
    with restarts.heeds(runtime):
        await runtime.drain.wait()


@pytest.mark.parametrize("name", ["host", "port", "processes"])
def test_what_a_running_server_cannot_change_stays(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {"host": "::1", "port": 1, "processes": 2}
    first = Settings(db=":memory:")
    restarts = Restarts(first, lambda: Settings(db=":memory:", **{name: values[name]}))  # type: ignore[arg-type]
    runtime: Any = Runtime()

    restarts._begin(runtime)

    assert not runtime.drain.is_set()
    assert f"setting '{name}' changes with a stop" in capsys.readouterr().err
