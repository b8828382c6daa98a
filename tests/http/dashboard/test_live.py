"""The stream of changes to the open pages of a person."""

from functools import partial
from typing import Any

import pytest

from svc_core.access import operations as accounts
from svc_core.access.people import find_credential
from svc_core.access.person_sessions import sessions_of
from svc_http.dashboard import security
from svc_http.dashboard.forms import KEY
from tests.http.dashboard.conftest import Browser, Desk


def stream(browser: Browser, home: str, **fields: str) -> Any:
    """What comes until the browser leaves, which it does at once."""
    cookie = f"{security.SECURE_COOKIE}={browser.cookie}"
    headers = [(b"cookie", cookie.encode())]
    headers += [(name.encode(), text.encode()) for name, text in fields.items()]
    return browser.desk.house.raw({"path": f"/dashboard/w/{home}/live", "headers": headers})


def set_role(desk: Desk, home: str, handle: str, role: Any) -> None:
    id_ = desk.system(partial(find_credential, handle=handle)).id
    desk.system(partial(accounts.add_member, workspace_id=home, user_id=id_, role=role))


def test_a_page_streams_what_changes_from_now_on(desk: Desk) -> None:
    home = desk.workspace()
    browser = desk.person("ann", home)
    form = {"name": "Ports", "topic": "strikes", "frequency": "manual", KEY: "k" * 16}
    assert browser.post(f"/dashboard/w/{home}/profiles/new", form).status_code == 303

    answer = stream(browser, home)

    assert answer.status == 200
    assert answer.headers[b"content-type"] == b"text/event-stream"
    assert answer.headers[b"cache-control"] == b"no-store"
    assert b"access-control-allow-origin" not in answer.headers
    assert b"event: change" not in answer.body


def test_a_stream_leaves_the_new_cookie_of_another_role_to_the_next_page(desk: Desk) -> None:
    home = desk.workspace()
    desk.person("ann", home)
    browser = desk.person("ben", home, "admin")
    set_role(desk, home, "ben", "member")

    answer = stream(browser, home)

    assert answer.status == 200
    assert b"set-cookie" not in answer.headers
    before = browser.cookie
    assert browser.get(f"/dashboard/w/{home}/reports").status_code == 200
    assert browser.cookie != before


@pytest.mark.parametrize(
    ("handle", "place", "status"), [("", "own", 403), ("ann", "other", 404), ("ann", "own", 200)]
)
def test_a_stream_is_for_members(desk: Desk, handle: str, place: str, status: int) -> None:
    homes = {"own": desk.workspace(), "other": desk.workspace("Other desk")}
    browser = desk.person(handle, homes["own"]) if handle else desk.browser()

    assert stream(browser, homes[place]).status == status


def test_one_session_has_three_streams_at_most(desk: Desk) -> None:
    home = desk.workspace()
    browser = desk.person("ann", home)
    rooms = desk.house.service.runtime.streams["person"]
    assert rooms.bound.each == {"session": 3, "workspace": 50}
    id_ = desk.system(partial(find_credential, handle="ann")).id
    session = next(iter(desk.system(partial(_session_ids, user_id=id_))))

    with (
        rooms.room(session=session, workspace=home),
        rooms.room(session=session, workspace=home),
        rooms.room(session=session, workspace=home),
    ):
        assert stream(browser, home).status == 503
    assert stream(browser, home).status == 200


async def _session_ids(ctx: Any, user_id: str) -> list[str]:
    return [session.id for session in await sessions_of(ctx, user_id)]
