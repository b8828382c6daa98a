"""Serving a database of one's own: what stops a start, and what survives an end."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from svc_core.access import operations
from svc_core.contract.answer import Answer
from svc_core.operation.ports import SYSTEM, StorageUnavailable, Transaction
from svc_http import extras, system
from svc_http.extras import install_line
from svc_http.run import cli
from svc_http.run.cli import operation_calls as reach
from svc_http.run.cli.banner import _program, print_banner
from svc_http.run.control.channel import BrokeOff
from svc_http.run.demo.seed import SeededDemo
from svc_http.run.demo.subject import DemoSubject
from svc_http.run.server import launch as serving
from svc_http.run.server.launch import StartedServer
from svc_http.service.equipment import open_store
from svc_http.service.runtime import tasks
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.settings import MEMBERS, MEMORY, Settings, load
from svc_http.stores.sqlite.file_lock import FileLock
from svc_http.system import sigterm_interrupts
from tests.extras import NONE
from tests.meaning import serve
from tests.nursery import NURSERY

ROOT = Path(__file__).parents[3]

SECRET = "0123456789abcdef" * 4
Svc = Callable[..., Any]


# -- with a server and without -----------------------------------------------------------------


def test_what_was_answered_survives_a_kill(
    tmp_path: Path, serving_: Callable[..., Any], svc_in: Callable[..., Any]
) -> None:
    with serving_("--db", "svc.db", "--port", 0, cwd=tmp_path) as running:
        names = ["admin", "api", "dashboard", "docs", "mcp", "signIn", "v2"]
        assert sorted(running.addresses) == names
        api_key = svc_in("keys", "create", "--name", "a", "--json", cwd=tmp_path).json
        wish = {"name": "Ports", "topic": "Port strikes", "frequency": "manual"}
        creation = running.http.post(
            running.addresses["api"] + "/profiles",
            json=wish,
            headers={"authorization": f"Bearer {api_key['key']}", "idempotency-key": "k" * 20},
        )
        assert creation.status_code == 201
        assert running.stop(signal.SIGKILL)[0] == -signal.SIGKILL
    # The file and the socket that were left stop neither a command nor the next server.
    assert (tmp_path / "svc.db.sock").exists()
    (key,) = svc_in("keys", "list", "--json", cwd=tmp_path).json
    assert key["id"] == api_key["id"]
    with serving_("--db", "svc.db", "--port", 0, cwd=tmp_path) as again:
        (profile,) = again.get("/api/v1/profiles", api_key["key"]).json()["data"]
        assert profile["id"] == creation.json()["data"]["id"]
        replay = again.http.post(
            again.addresses["api"] + "/profiles",
            json=wish,
            headers={"authorization": f"Bearer {api_key['key']}", "idempotency-key": "k" * 20},
        )
        assert replay.headers["idempotency-replayed"] == "true"
        assert again.stop()[0] == 0
    assert not (tmp_path / "svc.db.sock").exists()


@pytest.fixture(scope="module")
def serving_(serving: Callable[..., Any]) -> Callable[..., Any]:
    return serving


def test_a_second_server_on_the_same_file_or_port_is_refused(
    cwd: Path, serving_: Callable[..., Any], svc: Svc
) -> None:
    with serving_("--port", 0, cwd=cwd) as running:
        port = running.addresses["api"].split(":")[2].partition("/")[0]
        same_file = svc("serve", "--port", 0)
        assert (same_file.code, same_file.out) == (1, "")
        assert "in use by process" in same_file.err
        assert same_file.err.count("\n") == 1
        same_port = svc("serve", "--port", port, "--db", "other.db")
        assert (same_port.code, same_port.out, same_port.err.count("\n")) == (2, "", 1)
        assert f"try --port {int(port) + 1}" in same_port.err
        assert not (cwd / "other.db").exists()
        assert running.get("/livez").status_code == 200
        checks = {check["name"]: check for check in svc("doctor", "--json").json["checks"]}
        place = f"http://127.0.0.1:{port}"
        assert checks["server"]["detail"] == f"running at {place}"
        assert checks["settings"]["detail"] == f"development, {place}"
        assert checks["readiness"]["detail"] == "ready"
        svc("workspaces", "create", "--name", "acme")
        assert svc("workspace", "delete", "acme", "--workspace", "acme").code == 0
        checks = {check["name"]: check for check in svc("doctor", "--json").json["checks"]}
        assert "svc workspace keep --workspace wsp_" in checks["workspace acme"]["detail"]


def _terminate_this_process() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    raise AssertionError("the signal did not end it")


def test_a_signal_during_the_start_ends_it_well(tmp_path: Path) -> None:
    settings = Settings(port=0, db=str(tmp_path / "svc.db"), secret=SECRET, embeddings="none")

    def ready(_: StartedServer) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), sigterm_interrupts():
        _terminate_this_process()
    serving.run_server(settings, ready)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_command_waits_for_another_to_give_the_file_back(
    svc: Svc, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    svc("keys", "create", "--name", "a")
    lock: list[FileLock] = [FileLock(cwd / "svc.db")]
    looks_at: list[float] = []

    def look(seconds: float) -> None:
        looks_at.append(seconds)
        if len(looks_at) == 3:
            lock.pop().release()

    monkeypatch.setattr(reach.time, "sleep", look)
    assert svc("keys", "list").code == 0
    assert len(looks_at) == 3


def test_a_start_waits_for_a_command_to_end(cwd: Path, svc: Svc) -> None:
    lock = FileLock(cwd / "svc.db")
    giving_back = threading.Timer(0.2, lock.release)
    giving_back.start()

    def ready(_: StartedServer) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    serving.run_server(Settings(port=0, secret=SECRET, embeddings="none"), ready)
    giving_back.join()
    assert (cwd / "svc.db").exists()


def test_a_file_that_is_never_given_back_is_told_with_its_owner(
    svc: Svc, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    svc("keys", "create", "--name", "a")
    monkeypatch.setattr(reach, "PATIENCE_SECONDS", 0.0)
    lock = FileLock(cwd / "svc.db")
    ran = svc("keys", "list")
    lock.release()
    assert (ran.code, str(os.getpid()) in ran.err) == (1, True)


# -- what stops a start ------------------------------------------------------------------------

STOPS = [
    (("--prot", "9"), {}, 2, "Did you mean --port?"),
    (("--port", "70000"), {}, 2, "'port'"),
    (("--base-url", "nowhere"), {}, 2, "'base_url'"),
    (("--host", "192.0.2.1", "--port", "0"), {}, 1, "cannot start"),
    (("--db", "no/such/folder.db"), {}, 1, "no folder"),
    (("--db", "text.db", "--port", "0"), {}, 1, "cannot be used as the database"),
    (("--db", "folder.db", "--port", "0"), {}, 1, "cannot be used as the database"),
    (("--config", "missing.toml"), {}, 2, "missing.toml"),
    ((), {"SVC_ENV": "production"}, 2, "SVC_SECRET="),
    ((), {"SVC_ENV": "production", "SVC_SECRET": "short"}, 2, "SVC_SECRET="),
    ((), {"SVC_ENV": "production", "SVC_SECRET": "a" * 64}, 2, "SVC_SECRET="),
    ((), {"SVC_SECRET": "short"}, 2, "SVC_SECRET="),
]


@pytest.mark.parametrize(("arguments", "environ", "code", "words"), STOPS)
def test_what_stops_a_start_is_told_in_one_line(
    svc: Svc,
    cwd: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    environ: dict[str, str],
    code: int,
    words: str,
) -> None:
    (cwd / "text.db").write_text("This is no database.\n" * 100)
    (cwd / "folder.db").mkdir()
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    ran = svc("serve", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1
    assert list(cwd.glob("*.secret")) == []


def test_every_setting_but_the_secret_has_a_flag(svc: Svc) -> None:
    page = svc("serve", "--help").out
    for name, member in MEMBERS.items():
        flag = f"--{name.replace('_', '-')}"
        assert (flag in page) is not member.metadata["secret"], flag
        assert (f"SVC_{name.upper()}" in page) is not member.metadata["secret"]


def test_flags_come_before_the_environment_and_the_file(
    svc: Svc, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Settings] = []
    monkeypatch.setattr(serving, "run_server", lambda options, *_: reads.append(options))
    (cwd / "svc.toml").write_text('port = 1001\nhost = "127.0.0.2"\nworkers = ["deliver"]\n')
    monkeypatch.setenv("SVC_HOST", "127.0.0.3")
    svc("serve", "--port", "1003", "--no-rate-limit")
    options = reads[0]
    assert (options.port, options.host, options.workers) == (1003, "127.0.0.3", ("deliver",))
    assert options.rate_limits is False
    (cwd / "mine.toml").write_text("port = 1004\n")
    monkeypatch.delenv("SVC_HOST")
    monkeypatch.setenv("SVC_CONFIG", "mine.toml")
    svc("serve")
    assert reads[1] == load(NONE, cwd / "mine.toml")


# -- what is printed ---------------------------------------------------------------------------


def _started(**extras: Any) -> StartedServer:
    settings = Settings(port=8000, db="/srv/svc.db", secret=SECRET)
    members: dict[str, Any] = {"admin": "unix:/srv/svc.db.sock", "is_empty": False}
    return StartedServer(settings, **(members | extras))


def _demo() -> SeededDemo:
    subject = DemoSubject("sbj_" + "0" * 24, 9)
    links = ("http://127.0.0.1:8000/dashboard/setup#abc", "http://127.0.0.1:8000/reports/abc")
    counts = (1, 2, 3, 4, "rpt_" + "0" * 24)
    return SeededDemo("wsp_1", "elite", "svc_" + "a" * 64, *counts, subject, *links)


def test_the_first_line_lets_the_first_person_in(capsys: pytest.CaptureFixture[str]) -> None:
    link = "http://127.0.0.1:8000/dashboard/setup#abc"
    print_banner(_started(is_empty=True, sign_in=link), as_json=False)
    lines = capsys.readouterr().out.split("\n")
    assert lines[:2] == ["", f"  Sign in     {link}"]
    assert "30 minutes" in lines[2]
    assert "svc users link" in lines[2]
    print_banner(_started(is_empty=True, sign_in=link), as_json=True)
    output = json.loads(capsys.readouterr().out)
    assert (output["dashboard"], output["signIn"]) == ("http://127.0.0.1:8000/dashboard", link)
    print_banner(_started(), as_json=False)
    assert "Sign in" not in capsys.readouterr().out


def test_where_no_session_can_be_kept_the_dashboard_is_said_to_be_off(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = evolve(_started().settings, base_url="http://desk.example.org")
    print_banner(evolve(_started(is_empty=True), settings=settings), as_json=False)
    assert "/dashboard   (off: it needs https)" in capsys.readouterr().out


def test_the_demo_is_signed_in_to_by_its_first_line(capsys: pytest.CaptureFixture[str]) -> None:
    demo = _demo()
    print_banner(_started(demo=demo, sign_in=demo.sign_in), as_json=False)
    lines = capsys.readouterr().out.split("\n")
    assert lines[1:3] == [f"  Sign in     {demo.sign_in}", f"  Read        {demo.report_url}"]
    assert sum("users link demo" in line for line in lines) == 1
    assert any("5 questions a minute" in line for line in lines)


def test_an_empty_store_is_told_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    print_banner(_started(is_empty=True), as_json=False)
    output = capsys.readouterr().out
    assert "svc workspaces create --name NAME --plan elite" in output
    assert "svc keys create --name NAME" in output
    print_banner(_started(), as_json=False)
    output = capsys.readouterr().out
    assert "svc keys create" not in output
    assert "http://127.0.0.1:8000/docs" in output


@pytest.mark.parametrize(
    ("matches", "calls", "page"),
    [
        ("/usr/bin/svc", ".venv/bin/svc", "svc"),
        (None, ".venv/bin/svc", ".venv/bin/svc"),
        (None, "svc_http/__main__.py", f"{sys.executable} -m svc_http"),
    ],
)
def test_lines_to_try_call_this_program_as_the_shell_can(
    matches: str | None, calls: str, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: matches)
    monkeypatch.setattr(sys, "argv", [calls, "serve"])
    assert _program() == page


def test_a_terminal_is_shown_the_same_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = _demo()
    print_banner(_started(demo=demo), as_json=False)
    pipe_output = capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    print_banner(_started(demo=demo), as_json=False)
    page = capsys.readouterr().out
    assert re.sub("\x1b[^m]*m", "", page) == pipe_output
    print_banner(_started(demo=demo), as_json=True)
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert json.loads(line)["key"] == demo.key


def test_a_server_tells_where_payments_go_or_how_they_could(
    capsys: pytest.CaptureFixture[str],
) -> None:
    demo = _demo()
    print_banner(_started(demo=demo), as_json=False)
    assert "Payments    off: " not in capsys.readouterr().out
    paying_server = _started(demo=demo)
    paying_server = evolve(
        paying_server, settings=evolve(paying_server.settings, x402_pay_to="0x" + "1" * 40)
    )
    print_banner(paying_server, as_json=False)
    page = capsys.readouterr().out
    assert "http://127.0.0.1:8000/x402/facilitator" in page
    assert "play money" in page
    print_banner(evolve(paying_server, demo=None), as_json=False)
    assert f"eip155:84532 to 0x{'1' * 40}" in capsys.readouterr().out
    print_banner(paying_server, as_json=True)
    assert json.loads(capsys.readouterr().out)["x402"] == {
        "network": "eip155:84532",
        "payTo": "0x" + "1" * 40,
        "facilitator": "http://127.0.0.1:8000/x402/facilitator",
    }


def test_open_opens_the_documentation(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    server: list[str] = []

    def open_(address: str) -> None:
        server.append(address)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(webbrowser, "open", open_)
    ran = svc("serve", "--db", MEMORY, "--port", 0, "--open", "--json", "--host", "::1")
    assert ran.code == 0
    assert server == [ran.json["docs"]]


# -- the parts ---------------------------------------------------------------------------------


def test_the_demo_runs_in_this_process_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    seen: list[StartedServer] = []

    def ready(server: StartedServer) -> None:
        seen.append(server)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setitem(extras.EXTRAS, "x402", ("no_such_module",))
    with serve() as place:
        model = {"embeddings": "openai", "embeddings_url": place.url, "workers": ()}
        config = Settings(host="localhost", port=0, request_log="off", speech="none", **model)
        serving.run_demo(config, ready)
        assert place.requests == []  # no vector is waited for before it serves
    (handle,) = seen
    assert handle.settings.x402_pay_to is None
    # Somebody reads the key at this terminal: requests would push it away.
    assert handle.settings.log_level == "warning"
    assert handle.demo is not None
    assert handle.demo.reports == handle.demo.profiles == 6
    assert handle.demo.items > 100
    assert not Path(handle.settings.db).exists()


def test_old_answers_are_forgotten_and_young_ones_kept() -> None:
    async def run() -> list[bool]:
        settings = Settings(db=MEMORY, secret=SECRET)
        runtime = Runtime(
            settings, await open_store(settings), now=system.now, ids=system.SystemIds()
        )
        service = runtime.service
        now = service.now()

        async def keep(tx: Transaction) -> None:
            for key, age in (("old", 25), ("young", 23)):
                at = now - timedelta(hours=age)
                await tx.answers.put("createProfile", key, Answer(b"f", 201, (), b"{}", at))

        async def remains(tx: Transaction) -> list[bool]:
            matches = [await tx.answers.get("createProfile", key) for key in ("old", "young")]
            return [answer is not None for answer in matches]

        await service.storage.write(SYSTEM, keep)
        assert await tasks.purge_answers(service) == 1
        return await service.storage.read(SYSTEM, remains)

    assert asyncio.run(run()) == [False, True]


def test_a_missing_extra_is_told_with_its_cure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cyclopts", None)
    for name in ("svc_http.run.cli.app", "svc_http.run.cli.options"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr(cli, "app", raising=False)
    assert cli.main(["--help"]) == 2
    output = capsys.readouterr()
    cure = install_line("server")
    assert output.err == f"svc: cyclopts is not installed; run: {cure}\n"
    assert output.out == ""


def test_a_missing_extra_of_a_command_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    without = "import sys; sys.modules['hypercorn'] = None"
    code = f"{without}; from svc_http.run.cli import main; main(['serve'])"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT)},
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    cure = install_line("server")
    assert ran.stderr == f"svc: hypercorn is not installed; run: {cure}\n"
    assert ran.stdout == ""


def test_a_defect_is_one_line_with_its_place(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    def failure(*_: object) -> None:
        raise ZeroDivisionError("nought")

    monkeypatch.setattr(reach.channel, "ask_server", failure)
    ran = svc("keys", "list")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "ZeroDivisionError: nought (test_serve.py:" in ran.err


def test_a_defect_of_a_command_here_is_told_as_well(
    svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failure(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nought")

    monkeypatch.setattr(operations, "create_workspace", failure)
    ran = svc("workspaces", "create", "--name", "acme")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "ZeroDivisionError" in ran.err


def test_a_disk_that_fails_is_no_defect_of_ours(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise StorageUnavailable("SQLITE_FULL: disk is full")

    monkeypatch.setattr(operations, "create_workspace", full)
    ran = svc("workspaces", "create", "--name", "acme")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "svc: the database cannot be used now: SQLITE_FULL: disk is full\n"


def test_a_server_that_dies_within_a_command_is_not_asked_again_elsewhere(
    svc: Svc, monkeypatch: pytest.MonkeyPatch, cwd: Path
) -> None:
    def dies(*_: object) -> None:
        raise BrokeOff("the server ended before it answered; look before repeating")

    monkeypatch.setattr(reach.channel, "ask_server", dies)
    ran = svc("workspaces", "create", "--name", "acme")
    assert (ran.code, "look before repeating" in ran.err) == (3, True)
    assert list(cwd.iterdir()) == []


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    NURSERY.write_command(tmp_path / "svc")
    ran = subprocess.run(
        ["sh", "-c", "./svc openapi | head -c 20"],
        env={"PYTHONPATH": str(ROOT), "PATH": os.defpath},
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ('{"openapi": "3.1.0",', "")


def test_an_interrupted_command_ends_quietly(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reach.channel, "ask_server", interrupt)
    ran = svc("keys", "list")
    assert (ran.code, ran.out, ran.err) == (130, "", "")
