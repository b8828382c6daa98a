"""The way in: the pages of people who are not signed in yet, or sign in anew.

Rule 1: a form comes from a page of this origin, also here: nobody is signed in as somebody else.
Rule 2: pages of strangers are counted by address block, and passwords are hashed in a line.
Rule 3: the token of a link stands in the fragment of its address, which a browser does not send. A
        script puts it into the form; without one it is pasted there.
Rule 4: whoever comes in gets a new session; the one that the browser had ends with it. Whoever is
        signed in and joins a workspace keeps theirs: a link proves nothing about them.
Rule 5: where a cookie could be read on its way there is no form.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

import attrs
from attrs import define, frozen

from svc_core.access import passkeys
from svc_core.access import sign_ins as entries
from svc_core.access.model import WORKSPACES
from svc_core.access.one_use_links import OneUseLink
from svc_core.access.passkeys import PasskeyAnswer, PasskeyHolder
from svc_core.access.people import CREDENTIALS
from svc_core.access.person_sessions import Device, end_session
from svc_core.access.sign_ins import LinkAnswer, PasswordAttempt
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import WorkContext
from svc_http.dashboard import security
from svc_http.dashboard.desk import Person
from svc_http.dashboard.hashing import HashingUnits
from svc_http.dashboard.page_serving import SIGN_IN, Dashboard
from svc_http.dashboard.visit import HtmlPage, PageAnswer, Redirection, Visit, visit_of
from svc_http.dashboard.visitors import device_of
from svc_http.exchange.http_exchange import DASHBOARD, Exchange, Header
from svc_http.exchange.resource import Resource
from svc_http.exchange.sending import encode_fields

_BELOW: Final = re.compile(r"/dashboard(?:[/?][!-\[\]-~]*)?")
"""The pages that a sign-in may lead to; a backslash is a slash to browsers."""

FORM_BYTES_MAX: Final = 64 * 1024
"""Of a form at the door: the answer of an authenticator, percent-encoded, is its largest part."""


@frozen
class Guest:
    """Somebody at the door: their request, and who their browser is signed in as, if anybody.

    `cookie` is the name of the one that keeps their session.
    """

    visit: Visit
    work: WorkContext
    device: Device
    cookie: str
    person: Person | None = None

    def text(self, name: str) -> str | None:
        """What was entered into a field of the form; None where that is nothing."""
        return next(iter((self.visit.form or {}).get(name, ())), "") or None

    @property
    def session_id(self) -> str | None:
        """The session that ends when another one begins."""
        return None if self.person is None else self.person.session_id

    @property
    def prover(self) -> Person | None:
        """Who is signed in and is to prove it anew."""
        return self.person if self.visit.word("again") == "true" else None

    @property
    def destination(self) -> str:
        """Where to go after the sign-in: a page of the dashboard, whatever was sent."""
        page = self.visit.word("next")
        return page if _BELOW.fullmatch(page) else DASHBOARD

    def go(self, address: str, token: str | None) -> "Answer":
        """Lead to a page, with the token of a session, or without any."""
        return Redirection(address), (security.set_cookie(self.cookie, token),)


Answer = tuple[PageAnswer, tuple[Header, ...]]
_Step = Callable[[Guest], Awaitable[Answer]]


@define(eq=False)
class Entrance:
    """The pages at the door of one running service."""

    dashboard: Dashboard

    def resources(self) -> list[Resource]:
        """One resource for each address."""
        steps: Mapping[str, Mapping[str, _Step]] = {
            SIGN_IN: {"GET": _ask, "POST": _sign_in},
            f"{DASHBOARD}/sign-out": {"POST": _sign_out},
            f"{DASHBOARD}/setup": {"GET": _show_link, "POST": _follow},
            f"{DASHBOARD}/invite": {"GET": _show_link, "POST": _follow},
        }
        return [
            Resource(path, {method: partial(self._serve, step) for method, step in row.items()})
            for path, row in steps.items()
        ]

    async def _serve(self, step: _Step, exchange: Exchange, places: Mapping[str, str]) -> None:
        office, settings = self.dashboard.office, self.dashboard.office.settings
        self.dashboard.check(exchange)
        exchange.bytes_max = min(exchange.bytes_max, FORM_BYTES_MAX)
        visit = await visit_of(exchange, places, settings.body_seconds_max)
        cookie = security.cookie_name(settings)
        if cookie is None:
            closed = HtmlPage("closed", _bare(origin=settings.origin))
            await self.dashboard.send(exchange, closed)
            return
        visitor = await self.dashboard.visitor(exchange)
        person, renewal = (None, ()) if visitor is None else (visitor.person, visitor.fields)
        units = HashingUnits.of(office.desk_units, self.dashboard.line, office.gate.block(exchange))
        work, device = units.context(Actor(SYSTEM)), device_of(office, exchange)
        answer, fields = await step(Guest(visit, work, device, cookie, person))
        if b"set-cookie" in dict(fields):
            renewal = ()  # of two cookies with one name a browser need not take the last
        await self.dashboard.send(exchange, answer, (*renewal, *fields))


# -- sign-in and sign-out --------------------------------------------------------------------------


async def _ask(guest: Guest) -> Answer:
    if guest.person is not None and guest.prover is None:
        return Redirection(guest.destination), ()
    return _sign_in_page(guest), ()


async def _sign_in(guest: Guest) -> Answer:
    members: Any = {"device": guest.device, "replacing": guest.session_id}
    handle = guest.text("handle") or "" if guest.prover is None else guest.prover.handle
    passkey = guest.text("passkey")
    try:
        if passkey is None:
            attempt = PasswordAttempt(handle, guest.text("password") or "")
            session = await entries.sign_in(guest.work, attempt, **members)
        else:
            unit = partial(entries.sign_in_by_passkey, answer=passkey, **members)
            session = await guest.work.work.write(SYSTEM, unit)
    except Problem as refusal:
        return _refused(_sign_in_page(guest, refusal, handle), refusal)
    return guest.go(guest.destination, session.token)


async def _sign_out(guest: Guest) -> Answer:
    session_id = guest.session_id
    if session_id is not None:
        await guest.work.work.write(SYSTEM, partial(end_session, session_id=session_id))
    return guest.go(SIGN_IN, None)


def _sign_in_page(guest: Guest, refusal: Problem | None = None, handle: str = "") -> HtmlPage:
    options = passkey_options(guest.work)
    values = _bare(person=guest.prover, handle=handle, refusal=refusal, passkey=options)
    return HtmlPage("sign-in", values, is_secret=True)


# -- links -----------------------------------------------------------------------------------------


async def _show_link(_guest: Guest) -> Answer:
    return HtmlPage("link", _bare(), is_secret=True), ()


async def _follow(guest: Guest) -> Answer:
    token = (guest.text("token") or "").rpartition("#")[2].strip()
    try:
        link, values = await guest.work.work.read(SYSTEM, partial(_read, token=token))
    except Problem as refusal:
        return _refused(HtmlPage("link", _bare(refusal=refusal), is_secret=True), refusal)
    person = guest.person if link.purpose == "invite" else None
    texts = {name: guest.text(name) for name in ("handle", "name", "password")}
    values = {"person": person, "token": token, **texts, **values}
    if link.purpose != "sign-in" and guest.text("act") is None:
        return _link_page(guest, link, values), ()
    try:
        if person is not None:
            join = partial(
                entries.join_by_link,
                token=token,
                user_id=person.user_id,
                device=guest.device,
                session_id=person.session_id,
            )
            await guest.work.work.write(SYSTEM, join)
            return Redirection(DASHBOARD), ()
        passkey = guest.text("passkey")
        answer = LinkAnswer(**texts, passkey=None if passkey is None else PasskeyAnswer(passkey))
        session = await entries.follow_link(
            guest.work, token, answer, guest.device, replacing=guest.session_id
        )
    except Problem as refusal:
        return _refused(_link_page(guest, link, values | {"refusal": refusal}), refusal)
    return guest.go(DASHBOARD, session.token)


def _link_page(guest: Guest, link: OneUseLink, values: Mapping[str, Any]) -> HtmlPage:
    holder = PasskeyHolder(link.digest, values["owner"] or "you")
    options = passkey_options(guest.work, holder)
    return HtmlPage("way-in", _bare(**values, passkey=options), is_secret=True)


def passkey_options(work: WorkContext, holder: PasskeyHolder | None = None) -> str | None:
    """What a browser makes a passkey for its holder by, or signs in by; None where none can be."""
    if not passkeys.offers_passkeys(work.host):
        return None
    if holder is None:
        return passkeys.sign_in_options(work)
    return passkeys.registration_options(work, holder)


def _bare(**values: Any) -> dict[str, Any]:
    """The values of a page without the frame of people who are signed in."""
    return {"shell": None, "toasts": (), "refusal": None, "passkey": None, **values}


def _refused(page: HtmlPage, refusal: Problem) -> Answer:
    """The page with what is wrong, under the status and with the fields of the refusal."""
    status, fields = refusal.type.status, encode_fields(refusal.headers.items())
    return attrs.evolve(page, status=status), tuple(fields)


async def _read(ctx: Context, token: str) -> tuple[OneUseLink, dict[str, Any]]:
    """A link with the names of what it opens: the workspace, and whose it is.

    Raises:
        Problem: LINK_EXPIRED.
    """
    link = await entries.usable_link(ctx, token)
    grant = link.grant
    homes = await ctx.find_many(WORKSPACES, filter(None, (grant.workspace_id,)))
    owners = await ctx.find_many(CREDENTIALS, filter(None, (grant.user_id,)))
    handle = next((owner.handle for owner in owners.values()), grant.handle)
    workspace = next((home.name for home in homes.values()), "this installation")
    return link, {"link": link, "workspace": workspace, "owner": handle}
