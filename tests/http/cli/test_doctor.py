"""`svc doctor` finds what is risky in production, says why, and what cures it."""

import json
import os
import resource
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

from svc_http.extras import install_line
from svc_http.run.cli import production_checks as judging
from svc_http.service import equipment as opening
from svc_http.settings import MEMBERS, Settings
from tests.http.cli.conftest import Ran
from tests.meaning import serve

SECRET = "5f1c0b7e93a24d68b1f07c5e2a9d4836e0c7b2f19a5d4c8e6b3f7a1d0e9c2b54"
DSN = "postgresql://desk@db.example/desk"
GOOD = Settings(
    env="production",
    base_url="https://api.example.org",
    secret=SECRET,
    metrics_port=9464,
    request_log="errors",
    forwarded_hops=1,
)
RISKY: dict[str, dict[str, Any]] = {
    "env": {"env": "development"},
    "forwarded_hops": {"forwarded_hops": None},
    "trusted_proxies": {"trusted_proxies": ("*",)},
    "base_url": {"base_url": "http://api.example.org"},
    "data_url": {"data_url": "http://data.example.org"},
    "history_file": {"db": DSN},
    "host": {"host": "0.0.0.0"},
    "counters": {"db": DSN, "counters": "memory", "processes": 2},
    "counters_down": {"counters_down": "admit"},
    "rate_limits": {"rate_limits": False},
    "media": {"db": DSN, "media": "/srv/audio"},
    "allow_private_fetch": {"allow_private_fetch": True},
    "allow_erasure": {"allow_erasure": ("*",)},
    "request_log": {"request_log": "off"},
    "x402_facilitator": {"x402_facilitator": "http://facilitator.example.org"},
    "x402_rpc": {"x402_pay_to": "0x52908400098527886E0F7030069857D2E4169EE7"},
    "metrics_port": {"host": "example.org", "metrics_port": None},
    "workers": {"workers": ()},
}


def test_settings_that_are_right_have_nothing_against_them() -> None:
    assert [(row.name, row.ok) for row in judging.settings_checks(GOOD)] == [
        ("forwarded_hops", True),
        ("secret", True),
        ("settings for production", True),
    ]
    assert {risk.name for risk in judging.RISKS} == RISKY.keys() <= MEMBERS.keys()


@pytest.mark.parametrize("risk", judging.RISKS, ids=lambda risk: risk.name)
def test_a_risky_setting_is_told_with_its_cure(risk: judging.Risk) -> None:
    wrong = evolve(GOOD, **RISKY[risk.name])
    report = {row.name: row for row in judging.settings_checks(wrong)}[risk.name]

    assert ";" in report.detail or ":" in report.detail, "a reason, then a cure"
    is_grave = risk.is_grave and wrong.env == "production"
    assert report.ok is (False if is_grave else None)
    assert all(
        row.ok is not False for row in judging.settings_checks(evolve(wrong, env="development"))
    )


def test_a_weak_secret_is_bad_and_a_missing_one_is_in_production() -> None:
    for settings, ok in (
        (evolve(GOOD, secret="short"), False),
        (evolve(GOOD, secret=None), False),
        (Settings(), None),
    ):
        assert {row.name: row.ok for row in judging.settings_checks(settings)}["secret"] is ok


def test_the_machine_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "svc.db"
    log = tmp_path / "svc.log"
    log.touch()
    log.chmod(0o644)
    options = evolve(GOOD, db=str(db), log_file=str(log))

    def checks() -> dict[str, judging.Check]:
        return {row.name: row for row in judging.machine_checks(options)}

    assert checks().keys() <= {"open files", "user", "log file"}
    sqlite3.connect(db).execute("CREATE TABLE t (a)").connection.close()
    db.chmod(0o644)
    os.utime(db, (time.time() + 900, time.time() + 900))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 256))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2**20))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    secret = tmp_path / "secret"
    secret.write_text("s", "utf-8")
    secret.chmod(0o644)
    monkeypatch.setenv("SVC_SECRET_FILE", str(secret))

    matches = checks()
    bad = {"log file", "open files", "file modes", "secret files", "disk", "clock"}
    assert {name for name, row in matches.items() if row.ok is False} == bad
    assert "LimitNOFILE" in matches["open files"].detail
    assert "chmod go=" in matches["file modes"].detail
    assert f"chmod o= {secret}" in matches["secret files"].detail
    assert f"chmod o= {log}" in matches["log file"].detail
    assert "svc db backup" in matches["backup"].detail
    assert matches["user"].ok is None

    db.chmod(0o600)
    secret.chmod(0o640)
    os.utime(db)
    (tmp_path / "backups").mkdir()
    shutil.copy(db, tmp_path / "backups" / "monday.db")
    (tmp_path / "backups" / "notes.db.txt").write_text("no copy", "utf-8")
    matches = checks()
    assert "secret files" not in matches
    assert matches["backup"].ok is matches["clock"].ok is matches["file modes"].ok is True
    old = time.time() - 30 * 86_400
    os.utime(tmp_path / "backups" / "monday.db", (old, old))
    assert checks()["backup"].ok is None


def test_the_command_fails_where_something_is_grave(
    svc: Callable[..., Ran], cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_ENV", "production")
    monkeypatch.setenv("SVC_SECRET", SECRET)
    monkeypatch.setenv("SVC_TRUSTED_PROXIES", "*")
    monkeypatch.setenv("SVC_PORT", "0")

    ran = svc("doctor", "--json")

    assert ran.code == 1
    report = {row["name"]: row for row in ran.json["checks"]}
    assert report["trusted_proxies"]["ok"] is report["base_url"]["ok"] is False
    assert not ran.json["ok"]


# -- embeddings --------------------------------------------------------------------------------


def test_the_model_of_meaning_is_asked_for_a_vector(
    svc: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def report() -> dict[str, Any]:
        checks = svc("doctor", "--json").json["checks"]
        return next(check for check in checks if check["name"] == "embeddings")

    with serve() as place:
        monkeypatch.setenv("SVC_EMBEDDINGS", "openai")
        monkeypatch.setenv("SVC_EMBEDDINGS_URL", place.url)
        works = report()
        place.says(401, {"error": {"message": "who are you"}})
        refusal = report()

    assert (works["ok"], works["detail"]) == (True, "text-embedding-3-small, 5 dimensions")
    assert (refusal["ok"], "401 Unauthorized: who are you" in refusal["detail"]) == (False, True)
    assert [requests["input"] for _, requests in place.requests] == [["news"], ["news"]]


def test_what_is_off_is_told_with_the_why_and_what_speaks_with_its_place(
    svc: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def report() -> dict[str, Any]:
        checks = svc("doctor", "--json").json["checks"]
        return {check["name"]: (check["ok"], check["detail"]) for check in checks}

    off = report()
    monkeypatch.setenv("SVC_SPEECH", "auto")
    monkeypatch.setattr(opening.espeak, "has_espeak", lambda: True)
    on = report()
    monkeypatch.setattr(opening.espeak, "has_espeak", lambda: False)
    lacking = report()
    monkeypatch.setenv("SVC_SPEECH", "espeak")
    refusal = report()

    assert off["speech"] == (None, "off: none was chosen; SVC_SPEECH=auto takes what is installed")
    assert off["embeddings"][0] is None
    assert on["speech"] == (True, "espeak-ng en, recordings in svc.db.media")
    assert lacking["speech"] == (None, f"off: not installed; {install_line('speech')}")
    assert (refusal["speech"][0], install_line("speech") in refusal["speech"][1]) == (False, True)


# -- the agent's model -------------------------------------------------------------------------


def test_the_model_that_answers_is_asked_for_a_word(
    svc: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def report() -> dict[str, Any]:
        checks = svc("doctor", "--json").json["checks"]
        return next(check for check in checks if check["name"] == "agent")

    chunk = {"choices": [{"index": 0, "delta": {"content": "Yes"}, "finish_reason": "stop"}]}
    with serve() as place:
        monkeypatch.setenv("SVC_AGENT_URL", place.url)
        monkeypatch.setenv("SVC_AGENT_MODEL", "small")
        place.says(200, b"data: " + json.dumps(chunk).encode() + b"\n\n")
        works = report()
        place.says(401, {"error": {"message": "who are you"}})
        refusal = report()

    assert (works["ok"], works["detail"]) == (True, "small")
    assert (refusal["ok"], "answered 401" in refusal["detail"]) == (False, True)


# -- payments ----------------------------------------------------------------------------------


def test_the_facilitator_of_payments_is_asked_what_it_takes(
    svc: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def report() -> dict[str, Any]:
        checks = svc("doctor", "--json").json["checks"]
        return next(check for check in checks if check["name"] == "payments")

    payee = "0x52908400098527886E0F7030069857D2E4169EE7"
    monkeypatch.setenv("SVC_X402_PAY_TO", payee)
    works = report()
    monkeypatch.setenv("SVC_X402_FACILITATOR", "http://127.0.0.1:9")
    silent = report()
    monkeypatch.setenv("SVC_X402_PAY_TO", payee.replace("A", "a"))
    checks = svc("doctor", "--json").json["checks"]
    wrong = next(check for check in checks if check["name"] == "payments")

    assert works["ok"] is True
    assert works["detail"].startswith(f"eip155:84532 to {payee} by http://")
    assert (silent["ok"], "cannot be reached" in silent["detail"]) == (False, True)
    assert wrong["ok"] is False
