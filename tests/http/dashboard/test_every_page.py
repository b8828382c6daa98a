"""The page of every operation: who sees it, whose rows it shows, and what its form comes to."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from svc_core import catalog
from svc_core.contract.problem import Problem
from svc_core.operation.inputs import inputs_of
from svc_http.dashboard.captions import operation_title
from svc_http.dashboard.page_addresses import (
    EVERY,
    is_for_operators,
    is_safe,
    page_address,
    page_ids,
    paths_of,
    tail_of,
)
from svc_http.dashboard.page_markup import render_page
from svc_http.dashboard.page_serving import problem_page
from tests.http.dashboard.offices import ORIGIN, ROLES, Office, page_of
from tests.pages.document import Document

MANAGERS = {"owner", "admin"}
EVERYBODY = {*MANAGERS, "member", "operator"}
"""Of workspace `a`: the operator is a member of it as well."""

READ = re.compile(r"\w+:read|reports:audio|intel:\w+|agent:svc|(projects|automations):write")
"""The scopes of a member; admins and owners have them all."""

LOCAL = {
    "changes head": EVERYBODY,
    "credits grant": {"operator"},
    "credits show": {*MANAGERS, "operator"},
    "keys grandfather": {"operator"},
    "keys": MANAGERS,
    "audit": MANAGERS,
    "ledger append": MANAGERS,
    "ledger erase": {"owner"},
    "ledger fsck": {"operator"},
    "ledger import": {"operator"},
    "ledger": EVERYBODY,
    "members": MANAGERS,
    "plans show": {*MANAGERS, "operator"},
    "profiles publish": {"operator"},
    "profiles unpublish": {"operator"},
    "profiles": MANAGERS,
    "reports open": EVERYBODY,
    "reports": MANAGERS,
    "search": EVERYBODY,
    "sessions": EVERYBODY,
    "threads": EVERYBODY,
    "users add-passkey": EVERYBODY,
    "users remove-passkey": EVERYBODY,
    "users set-password": EVERYBODY,
    "users methods": EVERYBODY,
    "webhooks": MANAGERS,
    "workspace delete": {"owner"},
    "workspace foresee": {"owner"},
    "workspace export": {"owner"},
    "workspace keep": {"owner"},
    "workspace rename": MANAGERS,
    "workspace show": EVERYBODY,
}
"""Who runs local operations, by the words of the command, the longest that fit; else operators."""


OFFICE = {"credits", "plans"}
"""Groups of managers that the operator runs for every workspace."""


def people_of(operation: Any) -> set[str]:
    """Who sees the page of an operation in workspace `a`."""
    if operation.local:
        verb = operation.verb or re.sub("(?=[A-Z])", "-", operation.id).lower()
        words = f"{operation.group} {verb}"
        rows = [
            people
            for name, people in LOCAL.items()
            if f"{words}-".replace(" ", "-").startswith(f"{name}-".replace(" ", "-"))
        ]
        return rows[0] if rows else {"operator"}
    is_read = operation.auth == "public" or any(map(READ.fullmatch, operation.scopes))
    return EVERYBODY if is_read else MANAGERS


def paths_beside(operation: Any) -> set[str]:
    """The paths of all other pages."""
    return {path for each in EVERY if each is not operation for path in paths_of(each)}


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    office = Office()
    yield office
    office.close()


each_operation = pytest.mark.parametrize("operation", EVERY, ids=lambda operation: operation.id)


# -- who sees it -------------------------------------------------------------------------------


@each_operation
def test_a_page_is_there_for_whom_it_is_meant_and_for_nobody_else(office, operation) -> None:
    ids = office.ids_of(operation)
    for role in ROLES:
        path = office.address(operation, office.ids_for(role, operation, ids))
        answer = office.get(role, path)
        if role in people_of(operation):
            is_asked = role == "operator" and operation.group in OFFICE  # says of which workspace
            assert answer.status_code in {200, 409, 400 if is_asked else 200}, (role, answer.text)
        else:
            assert answer.status_code == 404, role
        if answer.headers["content-type"].startswith("text/html"):
            page = page_of(answer)
            if answer.status_code == 200:
                assert operation_title(operation) in page.words or page_ids(operation)
    office_path = f"/dashboard/operate/{tail_of(operation)}"
    if operation.binding == "system" and office_path not in paths_beside(operation):
        path = page_address(operation, None, ids)
        answers = {role: office.get(role, path).status_code for role in ROLES}
        people = {role for role, status in answers.items() if status != 404}
        is_office = people_of(operation) == {"operator"} or operation.group in OFFICE
        assert people == ({"operator"} if is_office else set())


@each_operation
def test_whoever_is_not_signed_in_is_led_to_the_sign_in_and_back(office, operation) -> None:
    path = office.address(operation, office.ids_of(operation))
    bearer = f"Bearer {office.world.keys['a']}"
    for headers in ({}, {"authorization": bearer}):
        answer = office.get("", path, **headers)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/dashboard/sign-in?next=%2Fdashboard%2F")
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def is_foreign(operation: Any) -> bool:
    """Whether an id in its address is that of a row which one workspace alone has."""
    shared = {row.prefix for row in catalog.COLLECTIONS if row.scope == "global"} | {"inc", "src"}
    ids = [item.id_of for item in inputs_of(operation.request) if item.name in page_ids(operation)]
    is_local = not is_for_operators(operation)
    return is_local and any(id_of and shared.isdisjoint(id_of.prefixes) for id_of in ids)


@pytest.mark.parametrize(
    "operation", [*filter(is_foreign, EVERY)], ids=lambda operation: operation.id
)
def test_a_row_of_another_workspace_is_not_to_be_told_from_none(office, operation) -> None:
    ids = office.ids_of(operation, "b")
    absent = {name: re.sub("[0-9a-f]{24}", "0" * 24, id_) for name, id_ in ids.items()}
    paths = [office.address(operation, each) for each in (ids, absent)]
    visits = [office.get("owner", path) for path in paths]
    assert visits[0].status_code == visits[1].status_code
    assert is_safe(operation) <= (visits[0].status_code == 404)
    abroad = office.address(operation, ids, office.abroad)
    assert office.get("owner", abroad).status_code == 404
    if not is_safe(operation):
        pairs = [(item.name, "x") for item in inputs_of(operation.request) if item.required]
        acts = [office.post("owner", path, pairs) for path in paths]
        assert acts[0].status_code == acts[1].status_code
        assert acts[0].status_code in {404, 400, 503}, acts[0].text
        assert office.post("owner", abroad).status_code == 404


# -- forms from elsewhere ----------------------------------------------------------------------

ELSEWHERE: list[dict[str, str]] = [
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_site": "same-site"},
    {"sec_fetch_site": "none"},
    {"sec_fetch_site": "cross-site", "origin": ORIGIN},
    {"origin": "https://elsewhere.example"},
    {"origin": "null"},
    {"origin": f"{ORIGIN}.elsewhere.example"},
    {},
]


@pytest.mark.parametrize(
    "operation",
    [operation for operation in EVERY if not is_safe(operation)],
    ids=lambda operation: operation.id,
)
def test_a_form_that_comes_from_elsewhere_is_refused(office, operation) -> None:
    path = office.address(operation, office.ids_of(operation))
    role = "operator" if people_of(operation) == {"operator"} else "owner"
    for headers in ELSEWHERE:
        answer = office.send("POST", role, path, headers)
        assert answer.status_code == 403, headers


@pytest.mark.parametrize("operation", catalog.OPERATIONS, ids=lambda operation: operation.id)
def test_the_cookie_of_a_person_opens_nothing_but_pages(office, operation) -> None:
    if operation.auth == "public":
        return
    ask = office.world.ask_of(operation)
    cookie = f"__Host-svc={office.people['owner'].token}"
    answers = [office.world.send(ask.having(cookie=each), None) for each in (None, cookie)]
    assert {answer.status_code for answer in answers} <= {401, 402}
    assert answers[0].json()["code"] == answers[1].json()["code"]


def test_the_cookie_of_a_person_opens_no_tools(office) -> None:
    for path in ("/mcp", "/metrics"):
        statuses = {office.send("POST", role, path, {}).status_code for role in ("owner", "")}
        assert len(statuses) == 1


# -- refusals ----------------------------------------------------------------------------------

KINDS = sorted(
    {kind for operation in EVERY for kind in operation.fails}, key=lambda kind: kind.code
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_every_refusal_is_shown_with_its_next_step(kind) -> None:
    refusal = Problem(kind, "It <cannot> be so.")
    answer = problem_page(refusal, "req_1")
    page = Document(render_page(answer.template, shell=None, toasts=(), **answer.values).decode())
    assert answer.status == kind.status
    assert page.faults() == []
    for words in (kind.title, "It <cannot> be so.", refusal.resolution, kind.code, "req_1"):
        assert words in page.words
