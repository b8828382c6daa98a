"""A form that takes a while to come is judged by what is so when it is there."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from svc_core.access import operations as accounts
from svc_core.access.model import KEYS
from svc_core.access.people import find_credential
from svc_core.access.person_sessions import end_session, sessions_of
from svc_http.dashboard import security
from tests.http.dashboard.conftest import Browser, Desk

FORM = b"name=slow&scopes=news%3Aread&_key=kkkkkkkkkkkkkkkk"


def post_slowly(browser: Browser, path: str, body: bytes, meanwhile: Callable[[], Any]) -> int:
    """Post a form of which the last byte comes after something else was done; the status."""
    service, events = browser.desk.house.service, list[Any]()
    headers = [
        (b"cookie", f"{security.SECURE_COOKIE}={browser.cookie}".encode()),
        (b"sec-fetch-site", b"same-origin"),
        (b"content-type", b"application/x-www-form-urlencoded"),
        (b"content-length", str(len(body)).encode()),
    ]
    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "path": path,
        "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers,
        "client": ("127.0.0.1", 5000),
    }  # fmt: skip
    parts = [body[:-1], body[-1:]]

    async def receive() -> Any:
        part = parts.pop(0)
        if not parts:
            await meanwhile()
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message: Any) -> None:
        events.append(message)

    browser.desk.house.run(asyncio.wait_for(service(scope, receive, send), 20))
    return int(events[0]["status"])


async def _sign_out(ctx: Any) -> None:
    credential = await find_credential(ctx, "ben")
    for session in await sessions_of(ctx, credential.id):
        await end_session(ctx, session.id)


async def _demote(ctx: Any, home: str) -> None:
    credential = await find_credential(ctx, "ben")
    await accounts.add_member(ctx, home, credential.id, "member")


@pytest.mark.parametrize(("change", "status"), [("session", 303), ("role", 404), (None, 200)])
def test_a_form_runs_with_the_session_and_the_role_of_its_end(
    desk: Desk, change: str | None, status: int
) -> None:
    home = desk.workspace()
    desk.person("ann", home)
    browser = desk.person("ben", home, "admin")
    system = desk.house.service.runtime.desk_units.system
    acts = {"session": _sign_out, "role": partial(_demote, home=home)}

    async def meanwhile() -> None:
        if change is not None:
            await system(acts[change])

    path = f"/dashboard/w/{home}/keys/new"
    assert post_slowly(browser, path, FORM, meanwhile) == status

    async def keys(ctx: Any) -> int:
        return len((await ctx.tx.documents.scan(KEYS, limit=5)).rows)

    assert desk.system(keys) == (change is None)
