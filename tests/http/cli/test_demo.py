"""The demo, as somebody meets it who has just installed the service."""

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_core.access.scopes import SCOPES
from svc_http import system
from tests.nursery import DEVNULL, NURSERY, Child


def test_one_line_of_json_tells_where_everything_is(demo: Any) -> None:
    matches = demo.addresses
    names = ["admin", "api", "dashboard", "docs", "key", "mcp", "signIn", "v2", "x402"]
    assert sorted(matches) == names
    assert matches["api"].endswith("/api/v1")
    assert matches["v2"].endswith("/api/v2")
    assert re.fullmatch("svc_[0-9a-f]{64}", matches["key"])
    assert matches["admin"].startswith("unix:/")
    assert matches["x402"] == {
        "network": "eip155:84532",
        "payTo": "0x000000000000000000000000000000000000dEaD",
        "facilitator": matches["api"].replace("/api/v1", "/x402/facilitator"),
    }


def test_every_address_answers(demo: Any) -> None:
    for name in ("docs", "signIn"):
        assert demo.http.get(demo.addresses[name]).status_code == 200
    step = demo.http.get(demo.addresses["dashboard"], follow_redirects=False)
    assert (step.status_code, step.headers["location"][:18]) == (303, "/dashboard/sign-in")
    assert demo.get("/readyz").status_code == 200
    assert demo.get("/openapi.json").status_code == 200


def test_its_reports_rest_on_its_news(demo: Any) -> None:
    reports = demo.get("/api/v1/reports?limit=100").json()["data"]
    assert len(reports) == 6
    assert sum(report["counts"]["sources"] > 2 for report in reports) >= 5
    detail = demo.get(f"/api/v1/reports/{reports[0]['id']}?include=sources").json()["data"]
    sources = [source["id"] for source in detail["sources"]]
    items = demo.get("/api/v1/news?limit=100").json()
    assert sources
    assert items["meta"]["pageCount"] == 100
    urls = {source["url"] for source in detail["sources"]}
    assert None not in urls


def test_its_key_has_every_scope_for_a_day(demo: Any, svc_in: Callable[..., Any]) -> None:
    (key,) = _svc(demo, svc_in, "keys", "list", "--json").json
    assert key["scopes"] == list(SCOPES)
    assert (key["status"], key["plan"]) == ("active", "elite")
    assert key["expiresAt"] is not None


def _svc(demo: Any, svc_in: Callable[..., Any], *arguments: object) -> Any:
    """Run a command against the running demo, from a folder that knows nothing of it."""
    return svc_in(*arguments, cwd=Path("/"), SVC_SERVER=demo.addresses["admin"])


# -- commands while it runs --------------------------------------------------------------------


def test_a_report_is_made_from_source_to_answer(
    demo: Any, svc_in: Callable[..., Any], tmp_path: Path
) -> None:
    feed = tmp_path / "feed.json"
    item = {
        "id": "1",
        "title": "Glass eel smugglers arrested in Vigo",
        "content_text": "Police in Vigo arrested four glass eel smugglers on Tuesday.",
        "url": "https://news.example/eels",
        "date_published": system.now().isoformat(),
    }
    feed.write_text(json.dumps(
        {"version": "https://jsonfeed.org/version/1.1", "title": "Rivers", "items": [item]}
    ))  # fmt: skip
    (rows,) = _svc(demo, svc_in, "feeds", "add", feed, "--json").json
    # The running server may be faster than the command; either of them takes it in.
    assert _svc(demo, svc_in, "feeds", "pull", rows["id"], "--json").json[0]["status"] != "failed"
    profile = _svc(
        demo, svc_in, "profiles", "create", "--name", "Eels", "--topic", "Glass eel smuggling",
        "--frequency", "manual", "--workspace", "demo", "--json",
    ).json  # fmt: skip
    row = _svc(demo, svc_in, "reports", "generate", profile["id"], "--json").json
    assert row["counts"]["sources"] == 1
    answer = demo.get(f"/api/v1/reports/{row['id']}?format=markdown")
    assert "Glass eel smugglers" in answer.text
    assert _svc(demo, svc_in, "profiles", "delete", profile["id"]).code == 0
    assert demo.get(f"/api/v1/reports/{row['id']}").status_code == 404


def test_commands_at_once_all_succeed(demo: Any, spawn: Callable[..., Any]) -> None:
    answers: list[Any] = []

    def make(number: int) -> None:
        answers.append(_svc(demo, spawn, "users", "create", "--name", f"u{number}", "--json"))

    threads = [threading.Thread(target=make, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.code for answer in answers] == [0] * 4
    assert len({answer.json["id"] for answer in answers}) == 4


def test_its_file_is_found_beside_its_socket(demo: Any, svc_in: Callable[..., Any]) -> None:
    matches = _svc(demo, svc_in, "db", "status", "--json").json
    assert (matches["exists"], matches["pending"]) == (True, [])


# -- how it begins and ends --------------------------------------------------------------------


def test_every_line_to_try_works_as_it_is_printed(
    tmp_path: Path, environment: Callable[..., dict[str, str]]
) -> None:
    NURSERY.write_command(tmp_path / "svc")
    environ = environment(SVC_SPEECH="auto", PATH=f"{tmp_path}:{os.defpath}")
    block, process = _block(tmp_path, environ)
    try:
        assert "Embeddings  off: none was chosen; SVC_EMBEDDINGS=auto" in block
        lines = [line.strip() for line in block.splitlines()]
        assert [line.split()[0] for line in lines[1:3]] == ["Sign", "Read"]
        begin = next(at for at, line in enumerate(lines) if line.startswith("Try"))
        server, key, *commands = lines[begin + 1 : lines.index("", begin)]
        assert block.count("svc_") - block.count("/svc_") == 1, "the key stands once"
        assert len(commands) == 3
        for command in (*commands, "svc keys list"):
            ran = subprocess.run(
                ["sh", "-c", f"{server}; {key}; {command}"], env=environ,
                capture_output=True, text=True, timeout=40, check=False, cwd=tmp_path,
            )  # fmt: skip
            assert (ran.returncode, ran.stderr) == (0, ""), command
            assert ran.stdout.strip(), command
            assert '"error"' not in ran.stdout, command
        folder = Path(server.partition("unix:")[2]).parent
        assert folder.is_dir()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stdout.read() == ""
        process.stdout.close()
    assert not folder.exists()


def _block(cwd: Path, environ: dict[str, str]) -> tuple[str, Any]:
    """What is printed for people, up to its last line, and the process that prints it."""
    line = ("serve", "--demo", "--port", "0", "--request-log", "off")
    process = Child(*line, cwd=cwd, env=environ, stderr=DEVNULL)
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if "Ctrl-C" in line:
            break
    return "".join(lines), process


def test_it_ends_at_once_and_leaves_nothing(tmp_path: Path, serving: Callable[..., Any]) -> None:
    with serving("--demo", "--port", 0, "--no-rate-limit", cwd=tmp_path) as running:
        assert "x-ratelimit-limit-minute" not in running.get("/api/v1/profiles").headers
        folder = Path(running.addresses["admin"].removeprefix("unix:")).parent
        assert folder.is_dir()
        code, rest = running.stop(signal.SIGTERM)
    assert (code, rest) == (0, "")
    assert not folder.exists()
    assert list(tmp_path.iterdir()) == []
    assert "Traceback" not in "".join(running.log)


REFUSAL = [
    (("--host", "0.0.0.0"), {}, "--host"),
    (("--host", "example.org"), {}, "--host"),
    ((), {"SVC_HOST": "192.0.2.1"}, "--host"),
    (("--db", "mine.db"), {}, "--db"),
    ((), {"SVC_ENV": "production"}, "SVC_ENV"),
]


@pytest.mark.parametrize(("arguments", "environ", "words"), REFUSAL)
def test_it_stays_on_this_machine_and_off_real_data(
    svc: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    environ: dict[str, str],
    words: str,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    ran = svc("serve", "--demo", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
