"""The page of the person who is signed in: what they sign in by, and where.

Rule: each form on it runs one operation, as its derived page does, and comes back here.
"""

from collections.abc import Mapping
from typing import Final

from svc_core.access.passkeys import PasskeyHolder
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.inputs import inputs_of
from svc_core.operation.ports import SYSTEM
from svc_http.dashboard.desk import Desk, Request
from svc_http.dashboard.entrance import passkey_options
from svc_http.dashboard.page_addresses import BY_ID
from svc_http.dashboard.page_serving import sign_in_address
from svc_http.dashboard.visit import HtmlPage, PageAnswer, PageRoute, Redirection, Visit
from svc_http.exchange.http_exchange import DASHBOARD

OWN_PAGE: Final = f"{DASHBOARD}/me"

_FORMS: Final[Mapping[str, str]] = {
    "setPassword": "Your password is another one; all other sessions have ended.",
    "addPasskey": "The passkey was added.",
    "removePasskey": "The passkey was removed.",
    "revokeSession": "The session has ended.",
}
"""What is said after each form, by its operation."""


def own_routes() -> tuple[PageRoute, ...]:
    """The addresses that belong to no workspace: this page, and the first of all."""
    return PageRoute(DASHBOARD, _start), PageRoute(OWN_PAGE, _show, _act)


async def _start(desk: Desk, _visit: Visit) -> PageAnswer:
    """Lead to the first workspace, or to this page where there is none."""
    homes = desk.person.homes
    return Redirection(f"{DASHBOARD}/w/{homes[0].id}" if homes else OWN_PAGE)


async def _act(desk: Desk, visit: Visit) -> PageAnswer:
    form = {name: entries[0] for name, entries in (visit.form or {}).items()}
    operation = BY_ID.get(form.get("act", ""))
    if operation is None or operation.id not in _FORMS:
        raise Problem(problem.INVALID_PARAMETER, "act: it names no form of this page.")
    if operation.guarded and not _may_change(desk):
        return Redirection(sign_in_address(desk.exchange, is_again=True))
    names = (item.name for item in inputs_of(operation.request))
    body = {name: form[name] for name in names if form.get(name)}
    try:
        await _at_home(desk).run(operation, Request(body=body))
    except Problem as refusal:
        return await _page(desk, refusal)
    return Redirection(f"{OWN_PAGE}?done={operation.id}")


async def _show(desk: Desk, visit: Visit) -> PageAnswer:
    return await _page(desk, toast=_FORMS.get(visit.word("done"), ""))


async def _page(desk: Desk, refusal: Problem | None = None, toast: str = "") -> HtmlPage:
    home, user_id = _at_home(desk), desk.person.user_id
    holder = PasskeyHolder(user_id, desk.person.handle)
    sessions = await home.read(BY_ID["listSessions"])
    values = {
        "person": desk.person,
        "methods": await home.read(BY_ID["showSignInMethods"]),
        "sessions": [row for row in sessions if row["userId"] == user_id],
        "passkey": passkey_options(desk.office.desk_units.context(Actor(SYSTEM)), holder),
        "may_change": _may_change(desk),
        "again": sign_in_address(desk.exchange, is_again=True),
        "refusal": refusal,
        "toasts": [(toast, "", ())] if toast else (),
    }
    return HtmlPage("me", values, 200 if refusal is None else refusal.type.status)


def _may_change(desk: Desk) -> bool:
    """Whether to change what the person signs in by: the first of it needs no fresh sign-in, which
    would have nothing to ask for."""
    return desk.is_fresh or not desk.person.has_proof


def _at_home(desk: Desk) -> Desk:
    """The person in a workspace of theirs: own things are the same in all of them."""
    homes = desk.person.homes
    return desk.at_home(homes[0]) if homes else desk
