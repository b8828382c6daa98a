"""`svc keys`, `workspaces`, `users`, `plans`, `lockouts` over a store that they open themselves."""

import json
import re
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from svc_core.access.scopes import SCOPES
from svc_http.run.cli import doctor_commands as doctor
from svc_http.stores.counters.in_process import in_memory

Svc = Callable[..., Any]


@pytest.fixture
def workspace(svc: Svc) -> str:
    row: dict[str, str] = svc("workspaces", "create", "--name", "acme", "--json").json
    return row["id"]


def test_the_first_key_brings_a_workspace_with_it(svc: Svc) -> None:
    ran = svc("keys", "create", "--name", "first", "--json")
    reply = ran.json
    assert (ran.code, ran.err) == (0, "")
    assert list(reply) == ["id", "name", "key", "prefix", "scopes", "workspaceId", "expiresAt"]
    assert re.fullmatch("svc_[0-9a-f]{64}", reply["key"])
    assert reply["key"].startswith(reply["prefix"])
    assert (reply["scopes"], reply["expiresAt"]) == (list(SCOPES), None)
    (home,) = svc("workspaces", "list", "--json").json
    assert (home["id"], home["name"], home["plan"]) == (reply["workspaceId"], "default", "elite")
    assert svc("keys", "create", "--name", "next", "--json").json["workspaceId"] == home["id"]


def test_a_key_is_what_was_asked_for(svc: Svc, workspace: str) -> None:
    api_key = svc(
        "keys", "create", "--name", "ci", "--workspace", "acme", "--scope", "news:read",
        "--scope", "osint:read", "--address", "192.0.2.7", "--expires", "2099-01-02T03:04:05Z",
        "--per-minute", 5, "--per-day", 50, "--json",
    ).json  # fmt: skip
    page = svc("keys", "show", api_key["id"], "--json").json
    assert (api_key["workspaceId"], api_key["expiresAt"]) == (workspace, "2099-01-02T03:04:05Z")
    assert (page["scopes"], page["addresses"]) == (["news:read", "osint:read"], ["192.0.2.7"])
    assert (page["perMinute"], page["perDay"]) == (5, 50)
    assert (page["status"], page["plan"]) == ("active", "elite")
    assert api_key["key"] not in json.dumps(page)
    lasting = svc("keys", "create", "--name", "a", "--expires", "24h", "--json").json
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", lasting["expiresAt"])


def test_a_secret_is_shown_once_and_said_to_be(svc: Svc) -> None:
    for line in (("create", "--name", "a"), ("regenerate", None)):
        (key_row,) = svc("keys", "list", "--json").json if line[1] is None else (None,)
        report = svc("keys", *(word or key_row["id"] for word in line)).out
        assert re.search("svc_[0-9a-f]{64}", report)
        assert "not shown again" in report


def test_a_plan_finds_or_makes_a_workspace_on_it(svc: Svc, workspace: str) -> None:
    repeat = svc("keys", "create", "--name", "a", "--plan", "elite", "--json").json
    assert repeat["workspaceId"] == workspace
    pro = svc("keys", "create", "--name", "b", "--plan", "pro", "--json").json
    again = svc("keys", "create", "--name", "c", "--plan", "pro", "--json").json
    assert pro["workspaceId"] == again["workspaceId"] != workspace
    assert svc("keys", "show", pro["id"], "--json").json["plan"] == "pro"
    move = svc("keys", "create", "--name", "d", "--workspace", "acme", "--plan", "pro")
    assert (move.code, f"svc plans set {workspace} pro" in move.err) == (1, True)


def test_a_personal_key_has_a_person_and_no_workspace(svc: Svc) -> None:
    key = svc("keys", "create", "--name", "mine", "--personal", "--json").json
    assert key["workspaceId"] is None
    (person,) = svc("users", "list", "--json").json
    assert svc("keys", "show", key["id"], "--json").json["userId"] == person["id"]
    too = ("--name", "too", "--personal", "--user", person["id"])
    other = svc("keys", "create", *too, "--json").json
    assert len(svc("keys", "list", "--workspace", person["id"], "--json").json) == 2
    assert svc("keys", "list", "--json").json[0]["id"] == other["id"]
    assert svc("keys", "create", "--name", "x", "--personal", "--workspace", "acme").code == 1
    # Their own feed is named by their id.
    head = svc("changes", "head", "--workspace", person["id"], "--json").json
    assert head["workspaceId"] == person["id"]


TEAM = "[plan.team]\nnewKeys = true\nkeysMax = 1\nperMinute = 90\nperDay = 20_000\n"


def test_an_added_plan_is_sold_and_its_keys_are_closed_when_it_goes(
    svc: Svc, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "plans.toml"
    file.write_text(f"{TEAM}[plan.pro]\nperDay = 9_000\n")
    monkeypatch.setenv("SVC_CONFIG", str(file))
    home = svc("workspaces", "create", "--name", "acme", "--plan", "team", "--json").json
    table = {plan["name"]: plan for plan in svc("plans", "show", "--json").json}
    assert (table["pro"]["perDay"], table["pro"]["perMinute"]) == (9_000, 30)
    assert (table["team"]["perMinute"], table["team"]["chatCredits"]) == (90, 0)
    key = svc("keys", "create", "--name", "a", "--json").json
    assert svc("keys", "show", key["id"], "--json").json["status"] == "active"
    assert svc("keys", "create", "--name", "b").code == 1  # it has one
    assert svc("plans", "set", home["id"], "pro").code == 0
    assert svc("plans", "set", home["id"], "team").code == 0
    monkeypatch.delenv("SVC_CONFIG")
    (listing,) = svc("keys", "list", "--json").json
    assert (listing["plan"], listing["status"]) == ("team", "plan-ineligible")
    assert svc("plans", "set", home["id"], "pro").code == 0
    assert svc("keys", "show", key["id"], "--json").json["status"] == "active"


def test_a_plan_that_does_not_fit_stops_every_command_and_the_doctor_says_why(
    svc: Svc, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file, message = tmp_path / "plans.toml", "pro.perDay: must be at least 0"
    file.write_text("[plan.pro]\nperDay = -1\n")
    monkeypatch.setenv("SVC_CONFIG", str(file))
    for line in (("serve",), ("workspaces", "list"), ("plans", "show")):
        ran = svc(*line)
        assert (ran.code, message in ran.err, "for example SVC_PLAN" in ran.err) == (2, True, True)
    doctor = svc("doctor", "--json")
    assert doctor.code != 0
    assert message in doctor.out + doctor.err


def test_several_workspaces_must_be_told_apart(svc: Svc, workspace: str) -> None:
    svc("workspaces", "create", "--name", "other")
    ran = svc("keys", "create", "--name", "a")
    assert (ran.code, ran.err.startswith("svc: --workspace: say which one")) == (1, True)
    assert workspace in ran.err
    assert svc("keys", "create", "--name", "a", "--workspace", "other").code == 0
    svc("workspaces", "create", "--name", "other")
    assert svc("keys", "list", "--workspace", "other").code == 1
    assert "svc workspaces list" in svc("keys", "list", "--workspace", "nobody").err


def test_a_store_without_workspace_says_how_to_make_one(svc: Svc) -> None:
    svc("db", "migrate")
    ran = svc("profiles", "list")
    assert (ran.code, "svc workspaces create" in ran.err) == (1, True)
    assert svc("workspaces", "list", "--json").json == []
    assert "svc workspaces --help" in svc("workspaces", "list").out


REFUSAL = [
    (("keys", "create", "--name", "a", "--plan", "gold"), "--plan: must be one of"),
    (("keys", "create", "--name", "a", "--address", "10.0.0.0/8"), "--address: must be one exact"),
    (("users", "create", "--name", "a", "--email", "ann"), "--email: must be an address"),
    (("plans", "set", "acme", "gold"), "PLAN: must be one of"),
    (("keys", "show", "key_" + "0" * 24), f"There is no key key_{'0' * 24}; see: svc keys list"),
    (("keys", "revoke", "key_1"), "KEY-ID: must be an API key id"),
    (("profiles", "list", "--author", "Ann"), "Unknown option"),
    (
        ("profiles", "create", "--name", "a", "--topic", "ports", "--frequency", "daily"),
        "--time: is required when it is daily",
    ),
]


@pytest.mark.usefixtures("workspace")
def test_a_refusal_names_what_was_typed(svc: Svc) -> None:
    for arguments, message in REFUSAL:
        ran = svc(*arguments)
        assert (ran.code in {1, 2}, ran.out) == (True, ""), arguments
        assert ran.err.startswith(f"svc: {message}"), arguments
    assert svc("keys", "list", "--json").json == []


@pytest.mark.usefixtures("workspace")
def test_every_fault_is_told_by_its_option(svc: Svc) -> None:
    ran = svc("profiles", "create", "--name", " ", "--topic", "a", "--frequency", "weekly",
              "--day", 99, "--json")  # fmt: skip
    assert {"--name:", "--topic:", "--day:"} <= set(ran.err.split())
    assert "/" not in ran.err
    assert ran.json["code"] == "VALIDATION_FAILED"


def test_lockouts_that_cannot_be_reached_are_told_in_a_line(
    svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    svc("keys", "create", "--name", "a")
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
    monkeypatch.setenv("SVC_COUNTERS", f"redis://:hush@127.0.0.1:{port}")
    ran = svc("lockouts", "list")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("svc: The counters cannot be reached now: ")
    checks = {check["name"]: check for check in svc("doctor", "--json").json["checks"]}
    assert checks["counters"]["ok"] is False
    assert f"redis://@127.0.0.1:{port} cannot be used" in checks["counters"]["detail"]
    assert "hush" not in ran.err + json.dumps(checks)
    monkeypatch.setattr(doctor, "open_shared", lambda options: in_memory())
    checks = {check["name"]: check for check in svc("doctor", "--json").json["checks"]}
    assert checks["counters"]["ok"] is True


def test_all_rows_of_a_workspace_are_written_to_a_file_page_by_page(
    svc: Svc, workspace: str, cwd: Path
) -> None:
    svc("keys", "create", "--name", "ci")
    home = ("--workspace", workspace)
    profile = ("profiles", "create", "--name", "Ports", "--topic", "strikes", "--frequency")
    assert svc(*profile, "manual", *home).code == 0
    ran = svc("workspace", "export", "--out", "all.ndjson", *home, "--json")
    assert (ran.code, ran.json) == (0, {"file": "all.ndjson"})
    text = (cwd / "all.ndjson").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["kind"] for row in rows][:3] == ["workspaces", "members", "keys"]
    assert {"profiles", "subscriptions"} <= {row["kind"] for row in rows}
    assert "digest" not in text
    again = [json.loads(line) for line in svc("workspace", "export", *home).out.splitlines()]
    assert [row for row in again if row["kind"] != "acts"] == [
        row for row in rows if row["kind"] != "acts"
    ]  # of the export itself there is an act, too
    assert svc("workspace", "export", "--out", "b.ndjson", *home).out == ""


def test_a_workspace_is_deleted_by_its_name_and_kept_again(svc: Svc, workspace: str) -> None:
    wrong = svc("workspace", "delete", "acne", "--workspace", workspace)
    assert (wrong.code, "NAME: is not the name" in wrong.err) == (1, True)
    assert svc("workspace", "delete", "acme", "--json").json["id"] == workspace
    (row,) = svc("workspaces", "list", "--json").json
    assert row["endsAt"] == svc("workspace", "show", "--json").json["endsAt"] is not None
    assert svc("workspace", "keep").code == 0
    (row,) = svc("workspaces", "list", "--json").json
    assert row["endsAt"] is None


def test_what_is_done_at_a_terminal_is_listed_and_what_is_refused_there_is_not(svc: Any) -> None:
    made = svc("keys", "create", "--name", "ci", "--json").json
    assert svc("keys", "create", "--name", "ci").code == 1
    assert svc("keys", "revoke", made["id"]).code == 0
    assert svc("keys", "list").code == 0
    home = svc("workspace", "show", "--json").json["id"]

    page = svc("audit", "list", "--workspace", home, "--json").json

    members = ("operation", "who", "outcome", "targetId", "workspaceId", "userId", "sessionId")
    assert [tuple(row[name] for name in members) for row in page] == [
        ("revokeKey", "operator", "done", made["id"], home, None, None),
        ("createKey", "operator", "done", made["id"], home, None, None),
    ]
    assert page[1]["members"] == ["name"]
    assert made["key"] not in str(page)
    lines = svc("audit", "list", "--format", "ndjson", "--operation", "revokeKey").out
    assert [json.loads(line)["operation"] for line in lines.splitlines()] == ["revokeKey"]
    human = svc("audit", "list").out
    assert "revokeKey" in human
    assert "operator" in human
