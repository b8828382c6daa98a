"""The page of the person who is signed in."""

from functools import partial
from typing import Any

import attrs
import pytest

from svc_core.access.model import MEMBERS
from svc_core.access.people import CREDENTIALS, Passkey, find_credential
from svc_core.access.person_sessions import SESSIONS, sessions_of
from svc_core.operation.context import Context
from tests.http.dashboard.conftest import PASSWORD, Browser, Desk, words
from tests.http.dashboard.test_entrance import credential_of, rows

PAGE = "/dashboard/me"
OTHER = "winter orchard keeps humming"


@pytest.fixture
def ann(desk: Desk) -> Browser:
    return desk.person("ann", desk.workspace())


def give_passkey(desk: Desk, handle: str) -> None:
    async def unit(ctx: Any) -> None:
        credential = credential_row
        passkeys = (Passkey("pk-1", "key", 0, "Ann's laptop", ctx.now),)
        await ctx.save(CREDENTIALS, credential.id, attrs.evolve(credential, passkeys=passkeys))

    credential_row = credential_of(desk, handle)
    desk.system(unit)


def test_it_shows_who_one_is_and_where_one_is_signed_in(desk: Desk, ann: Browser) -> None:
    desk.browser("192.0.2.7").sign_in("ann")
    desk.person("ben", desk.workspace("Night desk"))

    text = words(ann.get(PAGE))

    assert "ann" in text
    assert "Harbour desk (owner)" in text
    assert "192.0.2.7" in text
    assert text.count("this one") == 1
    assert "Night desk" not in text


def test_a_new_password_ends_every_other_session(desk: Desk, ann: Browser) -> None:
    other = desk.browser()
    other.sign_in("ann")

    step = ann.post(PAGE, {"act": "setPassword", "password": OTHER})

    assert step.headers["location"] == f"{PAGE}?done=setPassword"
    assert "Your password is another one" in words(ann.get(step.headers["location"]))
    assert other.get(PAGE).status_code == 303
    assert desk.browser().sign_in("ann").status_code == 403
    assert desk.browser().sign_in("ann", OTHER).status_code == 303


def test_a_password_that_is_refused_changes_nothing(desk: Desk, ann: Browser) -> None:
    answer = ann.post(PAGE, {"act": "setPassword", "password": "password password"})

    assert answer.status_code == 400
    assert "Password : is one that many people take" in words(answer)
    assert 'aria-invalid="true"' in answer.text
    assert desk.browser().sign_in("ann").status_code == 303


@pytest.mark.parametrize("act", ["setPassword", "removePasskey", "addPasskey"])
def test_what_is_dangerous_asks_for_a_fresh_sign_in(desk: Desk, ann: Browser, act: str) -> None:
    give_passkey(desk, "ann")
    form = {"act": act, "password": OTHER, "passkeyId": "pk-1", "answer": "{}", "name": "x"}
    desk.house.clock.forward(minutes=11)

    step = ann.post(PAGE, form)

    assert (step.status_code, step.headers["location"]) == (
        303,
        "/dashboard/sign-in?next=%2Fdashboard%2Fme&again=true",
    )
    assert ann.post(step.headers["location"], {"password": PASSWORD}).headers["location"] == PAGE
    assert len(credential_of(desk, "ann").passkeys) == 1
    assert "sign-in" not in ann.post(PAGE, form).headers.get("location", "")


def test_what_needs_a_fresh_sign_in_is_offered_after_it(desk: Desk, ann: Browser) -> None:
    assert 'value="setPassword"' in ann.get(PAGE).text
    desk.house.clock.forward(minutes=11)

    stale = ann.get(PAGE)

    assert 'value="setPassword"' not in stale.text
    assert "Confirm it is you" in words(stale)
    assert 'href="/dashboard/sign-in?next=%2Fdashboard%2Fme&amp;again=true"' in stale.text


def test_somebody_without_a_password_sets_the_first_at_any_time(desk: Desk, ann: Browser) -> None:
    async def forget(ctx: Any) -> None:
        await ctx.save(CREDENTIALS, owner.id, attrs.evolve(owner, password=None))

    owner = credential_of(desk, "ann")
    desk.system(forget)
    desk.house.clock.forward(minutes=11)
    again = ann.get("/dashboard/sign-in?again=true")
    assert "Choose a password" in words(again)
    assert "svc users link ann" in words(again)
    assert 'name="password"' not in again.text
    assert 'value="setPassword"' in ann.get(PAGE).text

    ann.post(PAGE, {"act": "setPassword", "password": OTHER})

    assert desk.browser().sign_in("ann", OTHER).status_code == 303
    second = ann.post(PAGE, {"act": "setPassword", "password": PASSWORD})
    assert "again=true" in second.headers["location"], "of the second one there is a proof"


def test_passwords_of_a_session_wait_in_the_line_of_sign_ins(desk: Desk, ann: Browser) -> None:
    form = {"act": "setPassword", "password": OTHER}
    answers = desk.at_once(PAGE, [form] * 20, cookie=ann.cookie)
    assert {answer.status_code for answer in answers} == {303, 503}


def test_a_passkey_is_removed_and_the_last_way_in_stays(desk: Desk, ann: Browser) -> None:
    give_passkey(desk, "ann")
    assert "Ann's laptop" in words(ann.get(PAGE))

    ann.post(PAGE, {"act": "removePasskey", "passkeyId": "pk-1"})

    assert "Ann's laptop" not in words(ann.get(PAGE))
    assert ann.post(PAGE, {"act": "removePasskey", "passkeyId": "pk-1"}).status_code == 404


def test_a_session_of_ones_own_is_ended_from_another_one(desk: Desk, ann: Browser) -> None:
    other = desk.browser("192.0.2.7")
    other.sign_in("ann")
    [session] = [row for row in rows(desk, SESSIONS) if row.device.address == "192.0.2.7"]

    ann.post(PAGE, {"act": "revokeSession", "sessionId": session.id})

    assert other.get(PAGE).status_code == 303
    assert ann.get(PAGE).status_code == 200


def test_nobody_ends_the_session_of_somebody_else(desk: Desk, ann: Browser) -> None:
    desk.person("ben", desk.workspace("Night desk"))
    owner = credential_of(desk, "ben")
    [session] = [row for row in rows(desk, SESSIONS) if row.user_id == owner.id]

    answer = ann.post(PAGE, {"act": "revokeSession", "sessionId": session.id})

    assert answer.status_code == 404
    assert session in rows(desk, SESSIONS)


@pytest.mark.parametrize("act", ["", "removeUser", "linkUser", "nothing"])
def test_only_the_forms_of_the_page_are_taken(ann: Browser, act: str) -> None:
    assert ann.post(PAGE, {"act": act, "user": "ann"}).status_code == 400


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_a_form_of_another_origin_changes_nothing(desk: Desk, ann: Browser, site: str) -> None:
    form = {"act": "setPassword", "password": OTHER}

    assert ann.send("POST", PAGE, {"sec-fetch-site": site}, data=form).status_code == 403
    assert desk.browser().sign_in("ann").status_code == 303


def test_the_dashboard_begins_in_the_first_workspace(desk: Desk) -> None:
    home = desk.workspace("Night desk")
    ann = desk.person("ann", home)
    assert ann.get("/dashboard").headers["location"] == f"/dashboard/w/{home}"

    async def leave(ctx: Any) -> None:
        await ctx.remove(MEMBERS, f"{home}:{owner.id}")

    owner = credential_of(desk, "ann")
    desk.system(leave)
    assert ann.get("/dashboard").headers["location"] == PAGE


def test_whoever_has_no_workspace_any_more_has_their_own_page(desk: Desk) -> None:
    home = desk.workspace()
    desk.person("ann", home)
    browser = desk.person("ben", home, "member")
    id_ = desk.system(partial(find_credential, handle="ben")).id

    async def leave(ctx: Context) -> None:
        await ctx.remove(MEMBERS, f"{home}:{id_}")

    desk.system(leave)

    assert browser.get("/dashboard").headers["location"] == "/dashboard/me"
    page = browser.get("/dashboard/me")
    assert page.status_code == 200
    assert "Harbour desk" not in words(page)
    sessions = desk.system(partial(sessions_of, user_id=id_))
    form = {"act": "revokeSession", "sessionId": sessions[0].id}
    assert browser.post("/dashboard/me", form).status_code == 303
    assert browser.get("/dashboard/me").status_code == 303
