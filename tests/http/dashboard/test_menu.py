"""The menu and the palette: what each role is led to, and that nothing else is."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import pytest

from svc_http.dashboard import menu
from svc_http.dashboard.desk import Desk, Home, Person
from svc_http.dashboard.page_addresses import EVERY, page_address, page_ids
from svc_http.dashboard.page_markup import render_page
from svc_http.dashboard.visit import Visit

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
HOME = "/dashboard/w/wsp_a"
EVERYBODY = {
    "Read": "Reports Profiles News Signals Incidents",
    "Look": "Events Entities CVEs Markets Ledger",
    "Build": "Projects Automations",
    "Run": "Workspace",
}
MANAGERS = {
    **EVERYBODY,
    "Build": "API keys Webhooks Projects Automations",
    "Run": "Members Audit Workspace",
}
OPERATORS = {"Run": "Sources Payments"}
"""Sections and labels that each role sees, beside the folded sections."""


def desk_of(role: Any, *, is_operator: bool = False) -> Desk:
    homes = () if role is None else (Home("wsp_a", "Desk", "elite", role),)
    home = next(iter(homes), None)
    person = Person("usr_a", "rosa", "Rosa", "ses_a", NOW, is_operator, homes, home)
    nothing: Any = None
    return Desk(person, nothing, nothing, NOW)


def shell_at(desk: Desk, path: str = HOME) -> Any:
    return menu.shell_of(desk, Visit(path))["shell"]


def labels(shell: Any) -> dict[str, str]:
    sections = shell["sections"].items()
    rows = {name: " ".join(link["label"] for link in links) for name, links in sections}
    return {name: text for name, text in rows.items() if name not in {"More", "Operate"}}


@pytest.mark.parametrize(
    ("role", "sections"),
    [("member", EVERYBODY), ("admin", MANAGERS), ("owner", MANAGERS), (None, {})],
)
def test_each_role_has_the_menu_of_what_it_may_do(role, sections):
    assert labels(shell_at(desk_of(role))) == sections


def test_the_operator_has_the_pages_of_the_installation():
    shell = shell_at(desk_of(None, is_operator=True), "/dashboard/operate")
    assert labels(shell) == OPERATORS
    assert shell["spaces"] == [("Installation", "/dashboard/operate")]
    assert all(
        link["href"].startswith("/dashboard/operate/")
        for links in shell["sections"].values()
        for link in links
    )


def test_pages_of_the_installation_lead_back_to_a_workspace():
    desk = desk_of("owner", is_operator=True)
    person = attrs.evolve(desk.person, home=None)
    shell = shell_at(attrs.evolve(desk, person=person), "/dashboard/operate/users")
    assert shell["home"] == HOME
    assert shell["palette"] == f"{HOME}/palette"
    assert [link["label"] for link in shell["sections"]["Operate"] if link["is_here"]] == ["Users"]


@pytest.mark.parametrize("role", ["member", "admin", "owner"])
@pytest.mark.parametrize("is_operator", [False, True])
def test_menu_and_palette_have_what_may_be_run_and_nothing_else(role, is_operator):
    desk = desk_of(role, is_operator=is_operator)
    pages = {
        page_address(each, "wsp_a", {})
        for each in EVERY
        if each.verb and not page_ids(each) and desk.may(each)
    }
    links = [*menu.page_links(desk)]
    assert {link["href"] for link in links} == pages
    assert len(links) == len(pages)
    shell = shell_at(desk)
    opened = {link["href"] for row in shell["sections"].values() for link in row}
    assert opened | {href for _, _, href in shell["jumps"]} <= pages | {HOME}


@pytest.mark.parametrize(
    ("path", "label"),
    [
        (f"{HOME}/reports", "Reports"),
        (f"{HOME}/reports/rpt_1/signals", "Reports"),
        (f"{HOME}/signals", "Signals"),
        (f"{HOME}/osint/events/evt_1", "Events"),
        (f"{HOME}/subscriptions", "Subscriptions"),
        (f"{HOME}/reportsx", None),
        (HOME, None),
    ],
)
def test_the_menu_marks_where_one_is(path, label):
    links = [link for row in shell_at(desk_of("owner"), path)["sections"].values() for link in row]
    assert [link["label"] for link in links if link["is_here"]] == [label] * (label is not None)


def test_no_key_opens_two_pages():
    keys = [key for key, _, _ in shell_at(desk_of("owner", is_operator=True))["jumps"]]
    assert len(keys) == len(set(keys)) == 15


def test_the_guide_names_every_key():
    guide = (ROOT / "docs/dashboard.md").read_text("utf-8")
    script = (ROOT / "svc_http/static/dashboard/keys.js").read_text("utf-8")
    single = set(re.findall(r'^  \["(.+?)", "', script, re.MULTILINE)) - {"mod+k"}
    assert len(single) == 14
    assert single <= set(re.findall(r"`([^`\s]+)`", guide))
    for start in ("g", "c"):
        (row,) = re.findall(rf"^\| `{start}` then (.+?) \|", guide, re.MULTILINE)
        jumps = {key for key, _, _ in shell_at(desk_of("owner"))["jumps"] if key[0] == start}
        assert {f"{start} {key}" for key in re.findall("`(.)`", row)} == jumps


def test_a_name_of_a_workspace_is_text():
    desk = desk_of("owner")
    hostile = Home("wsp_a", '"><script>alert(1)</script>', "elite", "owner")
    values = menu.shell_of(desk.at_home(hostile), Visit(HOME))
    page = render_page("base", **values)
    assert b"<script>alert" not in page
