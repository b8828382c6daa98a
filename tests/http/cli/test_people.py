"""`svc users` and `svc sessions`: the way in from a terminal, where no server need run."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_core.access import sign_ins
from svc_core.access.person_sessions import Device
from svc_core.access.sign_ins import LinkAnswer
from svc_core.operation.caller import Actor
from svc_core.operation.ports import SYSTEM
from svc_http import settings
from svc_http.service.runtime.assembly import open_command_runtime
from tests.http.cli.conftest import Ran

Svc = Callable[..., Ran]


def test_a_link_is_the_way_into_a_store_that_is_not_there_yet(svc: Svc, cwd: Path) -> None:
    ran = svc("users", "link")
    assert ran.code == 0, ran.err
    assert "http://127.0.0.1:8000/dashboard/setup#" in ran.out
    assert "Keep what is secret now" in ran.out
    assert (cwd / "svc.db").exists()
    first, second = (svc("users", "link", "--json").json for _ in range(2))
    assert first["purpose"] == second["purpose"] == "setup"
    assert first["url"] != second["url"]
    token = first["url"].partition("#")[2]
    assert token.encode() not in b"".join(path.read_bytes() for path in cwd.glob("svc.db*"))


def test_a_user_without_a_handle_is_let_in_and_removed(svc: Svc) -> None:
    svc("workspaces", "create", "--name", "acme")
    user = svc("users", "create", "--name", "Bo", "--workspace", "acme", "--json").json["id"]
    assert svc("users", "link", user, "--json").json["purpose"] == "reset"
    assert svc("sessions", "list", "--json").json == []
    gone = svc("users", "remove", user, "--json").json
    assert (gone["id"], gone["sessions"], gone["keys"]) == (user, 0, [])
    assert [row["name"] for row in svc("users", "list", "--json").json] == ["acme owner"]


REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("users", "set-password", "--user", "nobody"), "svc users list"),
    (("users", "set-password"), "--user"),
    (("users", "remove", "nobody"), "svc users list"),
    (("users", "remove-passkey", "x", "--user", "nobody"), "svc users list"),
    (("sessions", "revoke", f"ses_{'0' * 24}"), "svc sessions list"),
    (("sessions", "list", "--user", "nobody"), "svc users list"),
]


@pytest.mark.parametrize(("line", "step"), REFUSED)
def test_a_refusal_says_what_to_do(line: tuple[str, ...], step: str, svc: Svc) -> None:
    svc("workspaces", "create", "--name", "acme")
    ran: Any = svc(*line)
    assert ran.code == 1
    assert step in ran.err


def test_who_came_in_is_seen_given_a_password_and_removed(svc: Svc, cwd: Path) -> None:
    address = svc("users", "link", "ann", "--json").json["url"]

    async def follow() -> None:
        values = settings.load({"SVC_DB": str(cwd / "svc.db")})
        async with open_command_runtime(values) as runtime:
            answer = LinkAnswer(password="four wild horses ran")
            token, device = address.partition("#")[2], Device("192.0.2.1", "Firefox on Linux")
            work = runtime.service.context(Actor(SYSTEM))
            await sign_ins.follow_link(work, token, answer, device)

    asyncio.run(follow())
    [row] = svc("sessions", "list", "--json").json
    assert (row["handle"], row["agent"]) == ("ann", "Firefox on Linux")
    ran = svc("users", "set-password", "--user", "ann", "--json").json
    assert (ran["handle"], len(ran["password"])) == ("ann", 29)
    assert svc("sessions", "list", "--json").json == []
    assert svc("sessions", "revoke", row["id"]).code == 1
    assert "last operator" in svc("users", "remove", "ann").err
    assert svc("users", "link", "ann", "--json").json["purpose"] == "reset"
