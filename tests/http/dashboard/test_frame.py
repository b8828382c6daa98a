"""The frame of the pages as a browser gets it: menu, palette, and the page of all components."""

from collections.abc import Callable

import pytest

from svc_core.contract import problem
from tests.http.dashboard.conftest import Browser, Desk, words


@pytest.fixture
def home(desk: Desk) -> str:
    return f"/dashboard/w/{desk.workspace()}"


@pytest.fixture
def ann(desk: Desk, home: str) -> Browser:
    return desk.person("ann", home.rpartition("/")[2])


def test_a_page_has_the_menu_with_its_own_place_marked(home: str, ann: Browser) -> None:
    page = ann.get(f"{home}/keys").text
    assert f'<a href="{home}/keys" aria-current="page"' in page
    assert f'data-palette="{home}/palette"' in page
    assert f'data-live="{home}/live"' in page
    assert 'href="/dashboard/operate' not in page


def test_the_palette_leads_to_pages_that_are_there(home: str, ann: Browser) -> None:
    answer = ann.get(f"{home}/palette")
    assert answer.headers["content-type"] == "application/json"
    links = answer.json()["entries"]
    assert {link["group"] for link in links} == {"Go to", "Do"}
    for link in links:
        # Some refuse in an empty service: a search without words, news before any came.
        assert ann.get(link["href"]).status_code in {200, 400, 503}, link


def test_the_palette_leads_to_the_rows_that_it_finds(home: str, ann: Browser) -> None:
    form = {"name": "Harbour closures", "topic": "Closed harbours", "frequency": "manual"}
    form["_key"] = "a-key-of-a-form"
    assert ann.post(f"{home}/profiles/new", form).status_code == 303
    (link,) = ann.get(f"{home}/palette?q=harbour").json()["entries"]
    assert link["label"] == "Harbour closures"
    assert link["id"].startswith("prf_")
    assert "Harbour closures" in ann.get(link["href"]).text
    assert ann.get(f"{home}/palette?q=nothing").json() == {"entries": []}


def test_nobody_else_searches_in_a_workspace(desk: Desk, home: str, ann: Browser) -> None:
    stranger = desk.person("bob", desk.workspace("Elsewhere"))
    for address in (f"{home}/palette", f"{home}/palette?q=harbour"):
        assert stranger.get(address).status_code == 404
        assert desk.browser().get(address).status_code == 303


def test_who_is_no_member_has_no_menu(desk: Desk, home: str, ann: Browser) -> None:
    page = desk.person("bob", desk.workspace("Elsewhere")).get(f"{home}/reports")
    assert page.status_code == problem.NOT_FOUND.status
    assert home not in page.text


@pytest.mark.parametrize(("env", "status"), [("development", 200), ("production", 404)])
def test_the_components_are_shown_in_development_only(
    make_desk: Callable[..., Desk], env: str, status: int
) -> None:
    desk = make_desk(env=env)
    ann = desk.person("ann", desk.workspace())
    assert ann.get("/dashboard/kit").status_code == status


def test_an_address_without_a_page_is_answered_within_the_frame(desk: Desk) -> None:
    home = desk.workspace()
    browser = desk.person("ann", home)

    for address in (f"/dashboard/w/{home}/nothing/at/all", "/dashboard/nothing"):
        answer = browser.get(address)
        assert answer.status_code == 404
        assert "The dashboard has no such page." in words(answer)
        assert 'id="rail"' in answer.text
