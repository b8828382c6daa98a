"""`svc changes`: the feed by page, and a tail that goes on where it ended."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_http.run.cli import tail_commands as tail

Svc = Callable[..., Any]


@pytest.fixture
def profile(svc: Svc) -> str:
    """A profile of the only workspace, with its subscription in the feed and some others."""
    svc("workspaces", "create", "--name", "acme", "--plan", "elite")
    wish = ("--topic", "Port strikes", "--frequency", "manual", "--json")
    ids = [svc("profiles", "create", "--name", f"P{n}", *wish).json["id"] for n in range(3)]
    return str(ids[0])


def _lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_tail_goes_on_where_it_ended(svc: Svc, profile: str, cwd: Path) -> None:
    first = _lines(svc("changes", "tail", "--state", "mark").out)
    head = svc("changes", "head", "--json").json["watermark"]
    assert (cwd / "mark").read_text().strip() == head
    assert first == svc("changes", "list", "--json").json["data"]
    assert svc("changes", "tail", "--state", "mark").out == ""
    assert svc("changes", "tail", "--from", head).out == ""
    svc("profiles", "delete", profile)
    deletion = _lines(svc("changes", "tail", "--state", "mark").out)
    assert {row["resourceType"] for row in deletion} == {"profile", "subscription"}
    assert all(row["tombstone"] for row in deletion)


@pytest.mark.usefixtures("profile")
def test_the_tail_hands_pages_on_and_keeps_none_that_was_not_taken(
    svc: Svc, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "PAGE_ROWS", 3)
    failure = svc("changes", "tail", "--state", "mark", "--exec", "exit 7")
    assert (failure.code, "failed with 7" in failure.err) == (1, True)
    assert not (cwd / "mark").exists()
    for _ in range(2):
        assert svc("changes", "tail", "--state", "mark", "--exec", "cat >> taken").code == 0
        assert _lines((cwd / "taken").read_text()) == _lines(svc("changes", "tail").out)


@pytest.mark.usefixtures("profile")
def test_no_page_is_handed_on_whose_position_cannot_be_kept(svc: Svc, cwd: Path) -> None:
    (cwd / "folder").mkdir()
    for state, command in (("no/such/folder", "touch taken"), ("folder/mark", "rmdir folder")):
        refusal = svc("changes", "tail", "--state", state, "--exec", command)
        assert refusal.code == 2
        assert (state in refusal.err, refusal.err.count("\n")) == (True, 1)
    assert not (cwd / "taken").exists()


@pytest.mark.usefixtures("profile")
def test_the_tail_waits_for_more(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tail.time, "sleep", wait)
    ran = svc("changes", "tail", "--follow")
    assert (ran.code, bool(ran.out)) == (130, True)
