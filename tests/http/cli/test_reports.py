"""`svc profiles` and `svc reports`: from a topic to a report, its forms and its sound."""

import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from svc_http.service import equipment as opening
from tests.nursery import DEVNULL, Child, environment

Svc = Callable[..., Any]
NONE = "0" * 24
ITEM = """<item><guid>{n}</guid><title>Port strike in Antwerp enters day {n}</title>
<description>Dockworkers at the port of Antwerp stopped work for day {n}, and {n} ships wait.
</description><link>https://news.example/{n}</link>
<pubDate>Fri, 0{n} May 2026 10:00:00 GMT</pubDate></item>"""
SPEAKER = """\
import sys, wave
words = sys.stdin.read()
with wave.open(sys.argv[1], 'wb') as file:
    file.setparams((1, 2, 8_000, 0, 'NONE', ''))
    file.writeframes(bytes(len(words.split()) * 8_000))
"""
"""Half a second of silence for each word."""


@pytest.fixture
def profile(svc: Svc, cwd: Path) -> str:
    """A profile about what a feed says, with the feed taken in."""
    svc("workspaces", "create", "--name", "acme", "--plan", "elite")
    items = "".join(ITEM.format(n=n) for n in range(1, 7))
    (cwd / "feed.xml").write_text(f"<rss version='2.0'><channel>{items}</channel></rss>")
    svc("feeds", "add", "feed.xml")
    row: dict[str, str] = svc(
        "profiles", "create", "--name", "Ports", "--topic", "Port strikes in Antwerp",
        "--frequency", "manual", "--keyword", "dockworkers", "--json",
    ).json  # fmt: skip
    return row["id"]


@pytest.fixture
def report_id(svc: Svc, profile: str) -> str:
    return str(svc("reports", "generate", profile, "--json").json["id"])


def test_a_member_is_taken_back_by_the_name_of_its_option(svc: Svc, cwd: Path) -> None:
    svc("workspaces", "create", "--name", "acme", "--plan", "elite")
    profile_row = svc(
        "profiles", "create", "--name", "Ports", "--topic", "Port strikes", "--frequency",
        "weekly", "--time", "07:30", "--day", 2, "--timezone", "Europe/Paris", "--json",
    ).json  # fmt: skip
    change = svc("profiles", "update", profile_row["id"], "--frequency", "daily", "--clear", "day",
                  "--json").json  # fmt: skip
    assert (profile_row["scheduleDay"], change["scheduleDay"]) == (2, None)
    stale = svc("profiles", "update", profile_row["id"], "--name", "x", "--if-match", "prf-1",
                "--json")  # fmt: skip
    assert (stale.code, stale.json["code"]) == (1, "PRECONDITION_FAILED")


# -- speaking ----------------------------------------------------------------------------------


@pytest.fixture
def speaker(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cwd / "speaker.py").write_text(SPEAKER)
    command = f"'{sys.executable}' -I '{cwd / 'speaker.py'}' {{out}}"
    monkeypatch.setenv("SVC_SPEECH", "command")
    monkeypatch.setenv("SVC_SPEECH_COMMAND", command)


@pytest.mark.usefixtures("speaker")
def test_a_copy_has_the_sound_and_gives_it_back(svc: Svc, cwd: Path, report_id: str) -> None:
    name = svc("reports", "speak", report_id, "--json").json["name"]
    svc("db", "backup", "copy.db")
    sound = (cwd / "copy.db.media" / name).read_bytes()
    svc("db", "restore", "copy.db", "--db", "new.db")
    assert (cwd / "new.db.media" / name).read_bytes() == sound
    again = svc("reports", "speak", report_id, "--db", "new.db", "--json").json
    assert (again["name"], again["isNew"]) == (name, False)


@pytest.mark.usefixtures("speaker")
def test_a_copy_says_which_sound_it_lacks(
    svc: Svc, cwd: Path, report_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert svc("db", "backup", "whole.db", "--json").json["notCopied"] is None
    monkeypatch.setenv("SVC_MEDIA", str(cwd / "elsewhere"))
    name = svc("reports", "speak", report_id, "--json").json["name"]
    assert (cwd / "elsewhere" / name).exists()
    assert f"copy {cwd / 'elsewhere'} after it" in svc("db", "backup", "part.db").out
    assert not (cwd / "part.db.media").exists()


@pytest.mark.usefixtures("speaker")
def test_sound_in_the_database_is_copied_with_it(
    svc: Svc, cwd: Path, report_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_MEDIA", "database")
    reply = svc("reports", "speak", report_id, "--json").json
    assert svc("db", "backup", "copy.db", "--json").json["notCopied"] is None
    svc("db", "restore", "copy.db", "--db", "new.db")
    again = svc("reports", "speak", report_id, "--db", "new.db", "--json").json
    assert again == reply | {"isNew": False}
    assert list(cwd.glob("*.media")) == []
    assert (cwd / "new.db").stat().st_size > reply["sizeBytes"]


def test_a_copy_of_the_other_backend_says_where_the_sound_is(
    svc: Svc, cwd: Path, postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    svc("workspaces", "create", "--name", "acme", "--plan", "elite")
    monkeypatch.setenv("SVC_SECRET_FILE", str(cwd / "svc.db.secret"))
    dsn = postgres.dsn(postgres.fresh())
    assert svc("db", "copy", "svc.db", dsn, "--json").json["media"] is None
    assert "set SVC_MEDIA=database for it" in svc("db", "copy", dsn, "back.db").out
    assert svc("db", "copy", "svc.db", "other.db", "--json").json["media"] is None
    monkeypatch.setenv("SVC_MEDIA", str(cwd / "svc.db.media"))
    assert svc("db", "copy", dsn, "again.db", "--json").json["media"] is None


MUTE = [
    ({}, "SVC_SPEECH=auto"),
    (
        {"SVC_SPEECH": "command", "SVC_SPEECH_COMMAND": "false"},
        "once that is mended: svc reports speak rpt_",
    ),
    ({"SVC_SPEECH": "auto"}, "[speech]'"),
    ({"SVC_SPEECH": "espeak"}, "[speech]'"),
]


def test_a_voice_that_fails_is_said_with_the_way_on(
    svc: Svc, report_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening.espeak, "has_espeak", lambda: False)
    for settings, words in MUTE:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        failure = svc("reports", "speak", report_id)
        assert (failure.code, failure.out, failure.err.count("\n")) == (1, "", 1), settings
        assert words in failure.err, settings
    assert "[speech]'" in svc("serve", "--port", "0").err


# -- in a browser ------------------------------------------------------------------------------


def test_an_address_is_printed_that_opens_the_report(svc: Svc, report_id: str) -> None:
    dead = svc("reports", "open", report_id)
    assert (dead.code, dead.out) == (3, "")
    assert dead.err == "svc: no server runs that could show it; start it: svc serve\n"
    report = svc("reports", "open", report_id, "--lasts", "1h", "--json").json
    assert set(report) == {"url", "expiresAt"}
    assert re.fullmatch(r"http://127\.0\.0\.1:8000/reports/[\w-]+", report["url"])
    for wrong in ("5s", "31d", "soon"):
        refusal = svc("reports", "open", report_id, "--lasts", wrong)
        assert refusal.code == (2 if wrong == "soon" else 1)
        assert "--lasts: must be" in refusal.err
    missing = svc("reports", "open", "rpt_" + "0" * 24)
    assert (missing.code, missing.out) == (1, "")


def test_a_browser_is_opened_at_a_terminal_alone(
    report_id: str, cwd: Path, serving: Callable[..., Any]
) -> None:
    with serving("--port", 0, cwd=cwd) as running:
        _open_at_a_terminal(report_id, cwd, running.addresses["dashboard"].rpartition("/")[0])


def _open_at_a_terminal(report_id: str, cwd: Path, origin: str) -> None:
    browser = cwd / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {cwd}/opened\n')
    browser.chmod(0o755)
    line, env = ("reports", "open", report_id), environment(BROWSER=str(browser))
    pipe_output, _ = Child(*line, cwd=cwd, env=env).communicate(60)
    assert str(pipe_output).startswith(f"{origin}/reports/")
    assert not (cwd / "opened").exists()
    main_end, child_end = os.openpty()
    with open(main_end, "rb", buffering=0) as terminal:
        process = Child(*line, cwd=cwd, env=env, stdout=child_end, stderr=DEVNULL)
        os.close(child_end)
        output = b""
        with suppress(OSError):  # how Linux says that the other side has closed
            while part := terminal.read(4_096):
                output += part
        assert process.wait(60) == 0
    assert output.splitlines()[0].decode() == (cwd / "opened").read_text()
    assert b"It opens the report until " in output


def test_a_report_of_a_period_tells_of_that_period(svc: Svc, profile: str) -> None:
    period = ("--start", "2026-05-01T00:00:00Z", "--end", "2026-05-04T00:00:00Z")
    first = svc("reports", "generate", profile, *period, "--json")
    assert first.json["period"] == {"start": "2026-05-01T00:00:00Z", "end": "2026-05-04T00:00:00Z"}
    assert svc("reports", "generate", profile, *period, "--json").json["isNew"] is False
    page = svc("reports", "show", first.json["id"], "--include", "sources", "--json").json
    dates = [source["publishedAt"] for source in page["sources"]]
    assert dates
    assert all("2026-05-01" <= date <= "2026-05-04" for date in dates)
    backwards = svc("reports", "generate", profile, "--start", period[3], "--end", period[1])
    assert (backwards.code, backwards.err.startswith("svc: --start: ")) == (1, True)
