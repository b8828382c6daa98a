"""What people are told when a command goes wrong: in the words of the command line."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Svc = Callable[..., Any]

MISUSED = [
    (("keys", "create"), "--name is missing. See: svc keys create --help"),
    (("keys", "create", "--name"), "--name needs a value. See: svc keys create --help"),
    (
        ("keys", "create", "--nmae", "a"),
        "--name is missing. Did you mean --name instead of --nmae? See: svc keys create --help",
    ),
    (("keys", "revoke"), "KEY-ID is missing. See: svc keys revoke --help"),
    (("feeds", "add"), "LOCATION is missing. See: svc feeds add --help"),
    (("version", "twice"), "unexpected: twice. See: svc version --help"),
    (("openapi", "--yaml"), "Unknown option: --yaml. See: svc openapi --help"),
    (
        ("keys", "create", "--name", "a", "--expires", "soon"),
        "--expires: Not an RFC 3339 date-time such as 2026-01-31T08:30:00Z, with seconds and "
        "offset",
    ),
]


@pytest.mark.parametrize(("arguments", "told"), MISUSED)
def test_a_misused_command_is_answered_with_where_to_look(
    svc: Svc, arguments: tuple[str, ...], told: str
) -> None:
    ran = svc(*arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", f"svc: {told}\n")


REFUSED = [
    (("keys", "create", "--name", "a", "--plan", "gold"), "--plan: must be one of"),
    (("keys", "create", "--name", "a", "--address", "10.0.0.0/8"), "--address: must be one exact"),
    (("profiles", "show", "prf_1"), "PROFILE-ID: must be a profile id"),
    (("changes", "list", "--limit", "0"), "--limit: must be at least 1"),
    (("feeds", "add", ""), "LOCATION: Name an address, a file or a folder"),
    (("feeds", "add", "http://"), "LOCATION: A web address begins with"),
    (("feeds", "add", "https://ann:word@news.example/feed"), "LOCATION: An address with a user"),
    (
        ("profiles", "create", "--name", "a", "--topic", "ports", "--frequency", "daily"),
        "--time: is required when it is daily",
    ),
    (("keys", "show", "key_" + "0" * 24), "There is no key key_" + "0" * 24 + "; see: svc keys"),
    (("keys", "revoke", "key_1"), "There is no key key_1; see: svc keys list"),
    (("keys", "regenerate", "key_1"), "There is no key key_1; see: svc keys list"),
    (("keys", "delete", "key_1"), "There is no key key_1; see: svc keys list"),
]


@pytest.mark.parametrize(("arguments", "told"), REFUSED)
def test_a_refusal_names_what_was_typed(svc: Svc, arguments: tuple[str, ...], told: str) -> None:
    svc("workspaces", "create", "--name", "desk", "--plan", "elite")
    ran = svc(*arguments)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"svc: {told}")
    assert "members named in detail" not in ran.err
    assert svc("feeds", "status", "--json").json == []


def test_every_fault_is_told_by_its_option(svc: Svc) -> None:
    svc("workspaces", "create", "--name", "desk", "--plan", "elite")
    ran = svc(
        "profiles", "create", "--name", " ", "--topic", "a", "--frequency", "often", "--day", 99
    )
    assert {"--name:", "--topic:", "--frequency:"} <= set(ran.err.split())
    assert "/" not in ran.err


@pytest.mark.parametrize("command", [("status",), ("migrate",), ("migrate", "--dry-run")])
@pytest.mark.parametrize("file", ["text.db", "folder.db"])
def test_a_file_that_is_no_database_is_no_defect_of_ours(
    svc: Svc, here: Path, command: tuple[str, ...], file: str
) -> None:
    (here / "text.db").write_text("This is no database.\n" * 100)
    (here / "folder.db").mkdir()
    ran = svc("db", *command, "--db", file)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "cannot be used as the database" in ran.err


def test_a_feed_that_cannot_be_read_says_why_when_it_is_added(svc: Svc, here: Path) -> None:
    (here / "notes.txt").write_text("no feed")
    told = svc("feeds", "add", "notes.txt").out
    assert "notes.txt" in told
    assert "The document is neither XML nor JSON." in told


def test_refused_rows_are_told_with_their_reason(svc: Svc, here: Path) -> None:
    items = "<item><title>Port</title><guid>1</guid></item><item/>"
    (here / "half.xml").write_text(f"<rss version='2.0'><channel>{items}</channel></rss>")
    for told in (svc("feeds", "add", "half.xml").out, svc("feeds", "status").out):
        assert "partial" in told
        assert "rows refused: noTitleTextOrLink 1" in told


def test_what_is_no_file_is_left_out_of_a_folder(svc: Svc, here: Path) -> None:
    (here / "notes.txt").write_text("no feed")
    with socket.socket(socket.AF_UNIX) as beside:
        beside.bind("here.sock")  # by its short name: a path of a socket has about 100 bytes
        added = svc("feeds", "add", ".", "--no-pull", "--json").json
    names = {Path(one["location"]).name for one in added}
    assert "notes.txt" in names
    assert "here.sock" not in names


def test_a_heading_is_made_of_words(svc: Svc) -> None:
    svc("workspaces", "create", "--name", "desk", "--plan", "elite")
    svc("profiles", "create", "--name", "a", "--topic", "ports", "--frequency", "manual")
    heading = svc("profiles", "list").out.splitlines()[0]
    assert heading.endswith("report generated at")


def test_the_doctor_looks_at_the_server_that_was_named(svc: Svc) -> None:
    for named, told in (
        ("unix:/nowhere/svc.sock", "no server answers at unix:/nowhere/svc.sock"),
        ("http://127.0.0.1:8000", "--server must be unix:PATH"),
    ):
        ran = svc("doctor", "--server", named, "--json")
        checks = {check["name"]: check for check in ran.json["checks"]}
        assert (ran.code, checks["server"]["ok"]) == (1, False)
        assert checks["server"]["detail"].startswith(told)
        assert "database" not in checks  # of the settings, which is another one


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("changes", "tail"), "Exit codes: 0, the end of the feed was reached"),
        (("ledger", "append"), "what was already appended is skipped"),
        (("ledger", "verify"), "names the first line that is wrong"),
    ],
)
def test_the_help_of_a_command_is_told_in_full_and_in_one_line_among_others(
    svc: Svc, command: tuple[str, str], told: str
) -> None:
    assert told in " ".join(svc(*command, "--help").out.split())
    assert told not in " ".join(svc(command[0], "--help").out.split())
