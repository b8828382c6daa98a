"""Members, sessions and the audit: lists by hand, whose forms are those of the derived pages."""

import re

import pytest

from svc_core.access.person_sessions import SESSIONS
from tests.http.dashboard.conftest import PASSWORD, Browser, Desk, words
from tests.http.dashboard.test_entrance import credential_of, roles, rows


@pytest.fixture
def home(desk: Desk) -> str:
    return desk.workspace()


@pytest.fixture
def ann(desk: Desk, home: str) -> Browser:
    return desk.person("ann", home)


def page(home: str, tail: str) -> str:
    return f"/dashboard/w/{home}/{tail}"


def test_a_role_is_changed_beside_the_member(desk: Desk, home: str, ann: Browser) -> None:
    desk.person("ben", home, "member")
    id_ = credential_of(desk, "ben").id
    assert (
        f'action="{page(home, f"members/{id_}/set-role")}"' in ann.get(page(home, "members")).text
    )

    step = ann.post(page(home, f"members/{id_}/set-role"), {"role": "admin"})

    assert step.headers["location"].startswith(page(home, "members"))
    assert roles(desk, "ben") == {home: "admin"}
    assert "Role changed" in words(ann.get(step.headers["location"]))


def test_a_member_is_removed_after_a_question(desk: Desk, home: str, ann: Browser) -> None:
    ben = desk.person("ben", home, "member")
    path = page(home, f"members/{credential_of(desk, 'ben').id}/remove")
    assert f'href="{path}"' in ann.get(page(home, "members")).text
    assert "They see nothing of it" in words(ann.get(path))
    assert roles(desk, "ben") == {home: "member"}

    ann.post(path)

    assert roles(desk, "ben") == {}
    assert ben.get(page(home, "reports")).status_code == 404


def test_an_admin_makes_no_owner(desk: Desk, home: str, ann: Browser) -> None:
    admin = desk.person("cal", home, "admin")
    id_ = credential_of(desk, "cal").id

    answer = admin.post(page(home, f"members/{id_}/set-role"), {"role": "owner"})

    assert answer.status_code == 403
    assert roles(desk, "cal") == {home: "admin"}


@pytest.mark.parametrize("tail", ["members", "sessions", "audit"])
def test_what_a_member_may_not_see_is_not_there(
    desk: Desk, home: str, ann: Browser, tail: str
) -> None:
    ben = desk.person("ben", home, "member")
    other = desk.person("eve", desk.workspace("Night desk"))

    assert ann.get(page(home, tail)).status_code == 200
    assert ben.get(page(home, tail)).status_code == (200 if tail == "sessions" else 404)
    assert other.get(page(home, tail)).status_code == 404


def test_a_session_is_ended_where_it_is_listed(desk: Desk, home: str, ann: Browser) -> None:
    ben = desk.person("ben", home, "member")
    owner = credential_of(desk, "ben")
    [session] = [row for row in rows(desk, SESSIONS) if row.user_id == owner.id]
    text = ann.get(page(home, "sessions")).text
    assert f'action="{page(home, f"sessions/{session.id}/revoke")}"' in text
    assert text.count("this one") == 1

    ann.post(page(home, f"sessions/{session.id}/revoke"))

    assert ben.get(page(home, "reports")).headers["location"].startswith("/dashboard/sign-in")


def test_somebody_is_invited_and_comes_in(desk: Desk, home: str, ann: Browser) -> None:
    text = ann.get(page(home, "members")).text
    assert f'action="{page(home, "members/invite")}"' in text

    answer = ann.post(page(home, "members/invite"), {"role": "admin", "handle": "dee"})

    assert answer.headers["cache-control"] == "no-store"
    [token] = set(re.findall(r"/dashboard/\w+#([0-9a-f]{64})", answer.text))
    dee = desk.browser()
    assert dee.follow(token, password=PASSWORD).status_code == 303
    assert roles(desk, "dee") == {home: "admin"}
    assert token not in ann.get(page(home, "members")).text


def test_acts_are_told_in_words_with_what_came_of_them(desk: Desk, home: str, ann: Browser) -> None:
    ben = desk.person("ben", home, "admin")
    id_ = credential_of(desk, "ann").id
    ben.post(page(home, f"members/{id_}/set-role"), {"role": "member"})
    ann.post(page(home, "members/invite"), {"role": "admin", "handle": "dee"})
    desk.browser().sign_in("ben")

    text = words(ann.get(page(home, "audit")))

    assert "Change role" in text
    assert "FORBIDDEN" in text
    assert "Sign in Done" in text
    assert f'href="{page(home, "audit")}?person=ben"' in ann.get(page(home, "audit")).text
    assert "FORBIDDEN" in words(ann.get(page(home, "audit?person=ben")))
    assert "FORBIDDEN" not in words(ann.get(page(home, "audit?person=ann")))
