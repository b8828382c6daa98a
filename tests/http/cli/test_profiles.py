"""Profiles on the command line: subscribing to public ones, and what deleting one takes with it."""

from io import StringIO
from typing import Any

import pytest

WISH = ("--topic", "Port strikes", "--frequency", "manual", "--json")


class Terminal(StringIO):
    """What a person types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def desks(svc: Any, cwd: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, str]:
    """Two workspaces, and a public profile of the first."""
    monkeypatch.setenv("SVC_DB", "my.db")
    first, second = (
        svc("workspaces", "create", "--name", name, "--plan", "elite", "--json").json["id"]
        for name in ("First", "Second")
    )
    watch = svc("profiles", "create", "--name", "Ports", *WISH, "--workspace", first).json
    assert svc("profiles", "publish", watch["id"]).code == 0
    return first, second, watch["id"]


@pytest.mark.parametrize(("answer", "is_gone"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_person_is_told_what_goes_with_a_profile_and_asked(
    svc: Any, desks: Any, monkeypatch: pytest.MonkeyPatch, answer: str, *, is_gone: bool
) -> None:
    first, second, profile = desks
    svc("subscriptions", "create", profile, "--workspace", second)
    svc("reports", "generate", profile)
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    ran = svc("profiles", "delete", profile)
    assert "name Ports, reports 1, recordings 0, subscribers 1" in ran.err
    assert ran.code == (0 if is_gone else 1)
    rest = svc("profiles", "list", "--workspace", first, "--json").json
    assert (rest == []) == is_gone


@pytest.mark.parametrize("terminal", [True, False])
def test_a_script_is_not_asked(
    svc: Any, desks: Any, monkeypatch: pytest.MonkeyPatch, *, terminal: bool
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal() if terminal else StringIO())
    ran = svc("profiles", "delete", desks[2], *(["--yes"] if terminal else []))
    assert (ran.code, "Go on?" in ran.err) == (0, False)
