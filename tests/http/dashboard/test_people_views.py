"""Members, sessions and the audit: lists by hand, whose forms are those of the derived pages."""

import json
import re

import pytest

from svc_core.access.person_sessions import SESSIONS
from svc_http.dashboard import people_views
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


def test_an_act_that_would_lose_what_was_chosen_is_confirmed_first(
    desk: Desk, home: str, ann: Browser
) -> None:
    desk.person("ben", home, "member")
    desk.house.clock.forward(minutes=11)

    stale = ann.get(page(home, "members")).text
    assert "<select" not in stale
    (step,) = re.findall(r'href="(/dashboard/sign-in\?[^"]+)"', stale)
    back = ann.post(step.replace("&amp;", "&"), {"password": PASSWORD})

    assert back.headers["location"] == page(home, "members")
    assert "<select" in ann.get(page(home, "members")).text


def test_the_last_owner_is_neither_removed_nor_made_less(
    desk: Desk, home: str, ann: Browser
) -> None:
    own_id = credential_of(desk, "ann").id
    own = page(home, f"members/{own_id}/")
    assert own in ann.get(page(home, "members")).text
    for row in ann.get(page(home, "members?_as=json")).json()["data"]:
        if row["id"] != own_id:
            ann.post(page(home, f"members/{row['id']}/remove"))
    members = ann.get(page(home, "members"))
    assert members.status_code == 200
    assert own not in members.text


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
    assert f'href="{page(home, "members/invite")}"' in ann.get(page(home, "members")).text

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


def test_what_is_done_with_a_workspace_stands_on_its_page(
    desk: Desk, home: str, ann: Browser
) -> None:
    def acts(browser: Browser) -> set[str]:
        text = browser.get(page(home, "workspace")).text
        return set(re.findall(rf'(?:href|action)="{page(home, "workspace")}/([\w-]+)"', text))

    assert acts(ann) == {"rename", "export", "delete"}
    assert "Grant" not in words(ann.get(page(home, "workspace")))
    assert acts(desk.person("ben", home, "member")) == set()

    assert "What goes with it" in words(ann.get(page(home, "workspace/delete")))
    deletion = ann.post(page(home, "workspace/delete"), {"name": "Harbour desk"})
    assert deletion.status_code in {200, 303}
    assert acts(ann) == {"rename", "export", "delete", "keep"}


def test_a_link_says_whom_it_is_for(desk: Desk, home: str) -> None:
    operator = desk.person("ola", home, "owner", is_operator=True)
    desk.person("ben", home, "member")
    reset = operator.post("/dashboard/operate/users/link", {"handle": "ben"})
    assert "A link for ben It lets them choose a new password." in words(reset)
    form = {"handle": "dee", "role": "admin"}
    invitation = operator.post(page(home, "members/invite"), form)
    assert "A link for dee Whoever opens it becomes admin of Harbour desk" in words(invitation)


def test_an_invitation_that_nobody_has_used_is_revoked(desk: Desk, home: str, ann: Browser) -> None:
    link = ann.post(page(home, "members/invite"), {"role": "admin", "handle": "dee"})
    (token,) = set(re.findall(r"/dashboard/\w+#([0-9a-f]{64})", link.text))
    assert f'href="{page(home, "members/invitations")}"' in ann.get(page(home, "members")).text
    listed = ann.get(page(home, "members/invitations"))
    assert "dee" in words(listed)
    (path,) = re.findall(r'href="([^"]+/revoke-invitation)"', listed.text)

    ann.post(path)

    assert "dee" not in words(ann.get(page(home, "members/invitations")))
    assert desk.browser().follow(token, password=PASSWORD).status_code == 410


def test_the_rows_of_a_workspace_are_downloaded_whole(home: str, ann: Browser) -> None:
    form = {"name": "Harbours", "topic": "Harbours", "frequency": "manual", "_key": "a-key-of-it"}
    ann.post(page(home, "profiles/new"), form)
    answer = ann.get(page(home, "workspace/export"))
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert answer.headers["content-disposition"] == 'attachment; filename="workspace.ndjson"'
    assert answer.headers["cache-control"] == "no-store"
    kinds = [json.loads(line)["kind"] for line in answer.text.splitlines()]
    assert {"workspaces", "profiles"} <= set(kinds), "also what stands on later pages"


def test_a_workspace_too_large_for_a_page_is_refused_not_cut(
    home: str, ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people_views, "EXPORT_BYTES_MAX", 100)
    answer = ann.get(page(home, "workspace/export"))
    assert answer.status_code == 409
    assert "svc workspace export" in words(answer)


def test_the_operator_acts_on_people_and_workspaces_where_they_are_listed(
    desk: Desk, home: str
) -> None:
    operator = desk.person("ola", home, "owner", is_operator=True)
    desk.person("ben", home, "member")

    users = operator.get("/dashboard/operate/users").text
    assert "/dashboard/operate/users/link?handle=ben" in users
    assert "/dashboard/operate/users/remove?user=ben" in users

    workspaces = operator.get("/dashboard/operate/workspaces").text
    path = f"/dashboard/operate/users/link?workspace={home}&amp;role=owner"
    assert path in workspaces
    form = operator.get(path.replace("&amp;", "&")).text
    assert f'value="{home}"' in form
    assert '<option value="owner" selected>' in form
    invitation = operator.post(
        "/dashboard/operate/users/link", {"handle": "dee", "workspace": home, "role": "owner"}
    )
    assert f"A link for dee Whoever opens it becomes owner of {home}" in words(invitation)
