"""Passkeys on the pages at the door and on one's own: what a browser is asked, and its answer."""

import re
from html import unescape
from typing import Any

import pytest

from tests.authenticator import Authenticator
from tests.http.dashboard.conftest import ORIGIN, Browser, Desk, words
from tests.http.dashboard.test_entrance import credential_of

SIGN_IN, SETUP, OWN = "/dashboard/sign-in", "/dashboard/setup", "/dashboard/me"


def phone(id_: bytes = b"passkey 1") -> Authenticator:
    return Authenticator(ORIGIN, ORIGIN.removeprefix("https://"), id_)


def options_of(page: Any) -> str:
    """What the page asks an authenticator."""
    match = re.search('data-options="([^"]+)"', page.text)
    assert match, page.text
    return unescape(match[1])


def enter(browser: Browser, key: Authenticator) -> Any:
    answer = key.sign(options_of(browser.get(SIGN_IN)))
    return browser.post(SIGN_IN, {"handle": "", "password": "", "passkey": answer})


@pytest.fixture
def ann(desk: Desk) -> Browser:
    return desk.person("ann", desk.workspace())


def add(browser: Browser, key: Authenticator, name: str = "phone") -> Any:
    answer = key.register(options_of(browser.get(OWN)))
    return browser.post(OWN, {"act": "addPasskey", "answer": answer, "name": name})


def test_a_new_person_needs_no_password(desk: Desk) -> None:
    token, browser, key = (
        desk.link("setup", role="owner", is_operator=True),
        desk.browser(),
        phone(),
    )
    page = browser.post(SETUP, {"token": token})

    step = browser.follow(token, handle="ann", passkey=key.register(options_of(page)))

    assert step.status_code == 303
    credential = credential_of(desk, "ann")
    assert (credential.password, len(credential.passkeys)) == (None, 1)
    browser.post("/dashboard/sign-out")
    assert enter(browser, key).status_code == 303
    assert "ann" in words(browser.get(OWN))


def test_a_passkey_passes_the_lock_of_a_password(desk: Desk, ann: Browser) -> None:
    key, browser = phone(), desk.browser()
    assert add(ann, key).status_code == 303
    for _ in range(6):
        browser.sign_in("ann", "not this one at all")
    assert browser.sign_in("ann").status_code == 429

    assert enter(browser, key).status_code == 303


def test_an_answer_counts_once_and_for_its_own_question(desk: Desk, ann: Browser) -> None:
    key, browser = phone(), desk.browser()
    add(ann, key)
    answer = key.sign(options_of(browser.get(SIGN_IN)))
    assert browser.post(SIGN_IN, {"passkey": answer}).status_code == 303

    stranger = desk.browser()
    for text in (answer, key.sign(options_of(ann.get(OWN))), "{}", "x" * 20_000):
        refusal = stranger.post(SIGN_IN, {"passkey": text})
        assert refusal.status_code == 403
        assert stranger.cookie == ""
    assert "The passkey was not recognised" in words(refusal)


def test_a_passkey_proves_again_who_is_there(desk: Desk, ann: Browser) -> None:
    key = phone()
    add(ann, key)
    desk.house.clock.forward(minutes=11)
    step = ann.post(OWN, {"act": "setPassword", "password": "winter orchard keeps humming"})

    answer = key.sign(options_of(ann.get(step.headers["location"])))
    back = ann.post(step.headers["location"], {"passkey": answer})

    assert back.headers["location"] == OWN
    again = ann.post(OWN, {"act": "setPassword", "password": "winter orchard keeps humming"})
    assert again.headers["location"] == f"{OWN}?done=setPassword"


def test_a_bad_answer_to_a_new_passkey_is_told(desk: Desk, ann: Browser) -> None:
    answer = ann.post(OWN, {"act": "addPasskey", "answer": "{}", "name": "phone"})

    assert answer.status_code == 400
    assert credential_of(desk, "ann").passkeys == ()


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:8000", "https://192.0.2.7"])
def test_where_browsers_have_none_they_are_not_offered(make_desk: Any, base_url: str) -> None:
    desk: Desk = make_desk(base_url=base_url)

    assert "data-options" not in desk.browser().get(SIGN_IN).text
