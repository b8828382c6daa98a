"""The way in: the pages of people who are not signed in yet, or sign in anew.

Rule 1: a form comes from a page of this origin, also here: nobody is signed in as somebody else.
Rule 2: pages of strangers are counted by address block, and passwords are hashed in a line.
Rule 3: the token of a link stands in the fragment of its address, which a browser does not send. A
        script puts it into the form; without one it is pasted there.
Rule 4: whoever comes in gets a new session; the one that the browser had ends with it.
Rule 5: where a cookie could be read on its way there is no form.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from attrs import define, field, frozen

from svc_core.access import passkeys
from svc_core.access import sign_ins as entries
from svc_core.access.model import WORKSPACES
from svc_core.access.one_use_links import OneUseLink, read_link
from svc_core.access.passkeys import PasskeyAnswer, PasskeyHolder
from svc_core.access.people import CREDENTIALS
from svc_core.access.person_sessions import end_session
from svc_core.access.sign_ins import LinkAnswer, PasswordAttempt
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import WorkContext
from svc_http.dashboard import security
from svc_http.dashboard.desk import Person
from svc_http.dashboard.hashing import HashingLine, HashingUnits
from svc_http.dashboard.page_serving import SIGN_IN, Dashboard, check_mount
from svc_http.dashboard.visit import HtmlPage, PageAnswer, Redirection, Visit, visit_of
from svc_http.dashboard.visitors import Visitor, device_of, visitor_of
from svc_http.exchange.http_exchange import DASHBOARD, Exchange, Header
from svc_http.exchange.resource import Resource

_BELOW: Final = re.compile(r"/dashboard(?:[/?][!-\[\]-~]*)?")
"""The pages that a sign-in may lead to; a backslash is a slash to browsers."""

_ANOTHER: Final = (
    "Have the operator make another: svc users link HANDLE (in the demo: svc users link demo); or "
    "ask who invited you."
)


@frozen
class Guest:
    """Somebody at the door: their request, and the session that their browser has, if any."""

    exchange: Exchange
    visit: Visit
    visitor: Visitor | None
    work: WorkContext

    def text(self, name: str) -> str | None:
        """What was entered into a field of the form; None where that is nothing."""
        return next(iter((self.visit.form or {}).get(name, ())), "") or None

    @property
    def person(self) -> Person | None:
        """Who is signed in already."""
        return None if self.visitor is None else self.visitor.person

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


Answer = tuple[PageAnswer, tuple[Header, ...]]
_Step = Callable[[Guest], Awaitable[Answer]]


@define(eq=False)
class Entrance:
    """The pages at the door of one running service."""

    dashboard: Dashboard
    line: HashingLine = field(factory=HashingLine, init=False)

    def resources(self) -> list[Resource]:
        """One resource for each address."""
        steps: Mapping[str, Mapping[str, _Step]] = {
            SIGN_IN: {"GET": self._ask, "POST": self._sign_in},
            f"{DASHBOARD}/sign-out": {"POST": self._sign_out},
            f"{DASHBOARD}/setup": {"GET": self._show_link, "POST": self._follow},
            f"{DASHBOARD}/invite": {"GET": self._show_link, "POST": self._follow},
        }
        return [
            Resource(path, {method: partial(self._serve, step) for method, step in row.items()})
            for path, row in steps.items()
        ]

    async def _serve(self, step: _Step, exchange: Exchange, places: Mapping[str, str]) -> None:
        office, fields = self.dashboard.office, tuple[Header, ...]()
        settings, has_form = office.settings, exchange.method == "POST"
        check_mount(exchange)
        if has_form:
            security.check_origin(exchange, settings.origin)
        if settings.rate_limits:
            await office.count_keyless(exchange, office.now())
        visit = await visit_of(exchange, places, settings.body_seconds_max, has_form=has_form)
        units = HashingUnits.of(office.desk_units, self.line, office.gate.block(exchange))
        work = units.context(Actor(SYSTEM))
        answer: PageAnswer = HtmlPage("closed", _bare(origin=settings.origin))
        if self._cookie is not None:
            guest = Guest(exchange, visit, await visitor_of(office, exchange), work)
            answer, fields = await step(guest)
        await self.dashboard.send(exchange, answer, fields)

    @property
    def _cookie(self) -> str | None:
        return security.cookie_name(self.dashboard.office.settings)

    # -- sign-in and sign-out ----------------------------------------------------------------------

    async def _ask(self, guest: Guest) -> Answer:
        if guest.person is not None and guest.prover is None:
            return Redirection(guest.destination), ()
        return _sign_in_page(guest), ()

    async def _sign_in(self, guest: Guest) -> Answer:
        device, replacing = device_of(self.dashboard.office, guest.exchange), guest.session_id
        handle = guest.text("handle") or "" if guest.prover is None else guest.prover.handle
        passkey = guest.text("passkey")
        try:
            if passkey is not None:
                unit = partial(entries.sign_in_by_passkey, answer=passkey, device=device)
                write = guest.work.work.write
                session = await write(SYSTEM, partial(unit, replacing=replacing))
            else:
                attempt = PasswordAttempt(handle, guest.text("password") or "")
                session = await entries.sign_in(guest.work, attempt, device, replacing=replacing)
        except Problem as refusal:
            return _refused(_sign_in_page(guest, refusal, handle), refusal)
        return self._go(guest.destination, session.token)

    async def _sign_out(self, guest: Guest) -> Answer:
        session_id = guest.session_id
        if session_id is not None:
            await guest.work.work.write(SYSTEM, partial(end_session, session_id=session_id))
        return self._go(SIGN_IN, None)

    def _go(self, address: str, token: str | None) -> Answer:
        """Lead to a page, with the token of a session, or without any."""
        cookie = self._cookie
        if cookie is None:
            raise AssertionError("there is no form where no session can be kept")
        return Redirection(address), (security.set_cookie(cookie, token),)

    # -- links -------------------------------------------------------------------------------------

    async def _show_link(self, guest: Guest) -> Answer:
        return _link_form(guest), ()

    async def _follow(self, guest: Guest) -> Answer:
        token = (guest.text("token") or "").rpartition("#")[2].strip()
        try:
            link, values = await guest.work.work.read(SYSTEM, partial(_read, token=token))
        except Problem as refusal:
            page = HtmlPage(
                "link", _bare(path=guest.exchange.path, refusal=refusal), is_secret=True
            )
            return _refused(page, refusal)
        person = guest.person if link.purpose == "invite" else None
        values |= {"token": token, "person": person, "name": guest.text("name")}
        values["handle"] = values["owner"] or guest.text("handle")
        if link.purpose != "sign-in" and guest.text("act") is None:
            return self._link_page(guest, link, values), ()
        passkey = guest.text("passkey")
        answer = LinkAnswer(
            user_id=None if person is None else person.user_id,
            handle=guest.text("handle"),
            name=guest.text("name"),
            password=guest.text("password"),
            passkey=None if passkey is None else PasskeyAnswer(passkey),
        )
        device = device_of(self.dashboard.office, guest.exchange)
        try:
            session = await entries.follow_link(
                guest.work, token, answer, device, replacing=guest.session_id
            )
        except Problem as refusal:
            values["refusal"] = refusal
            return _refused(self._link_page(guest, link, values), refusal)
        return self._go(DASHBOARD, session.token)

    def _link_page(self, guest: Guest, link: OneUseLink, values: dict[str, Any]) -> HtmlPage:
        holder = PasskeyHolder(link.digest, values["handle"] or "you")
        work = guest.work
        if passkeys.offers_passkeys(work.host):
            values["passkey"] = passkeys.registration_options(work, holder)
        return HtmlPage("way-in", _bare(**values), is_secret=True)


def _sign_in_page(guest: Guest, refusal: Problem | None = None, handle: str = "") -> HtmlPage:
    work = guest.work
    offers = passkeys.offers_passkeys(work.host)
    options = passkeys.sign_in_options(work) if offers else None
    values = _bare(person=guest.prover, handle=handle, refusal=refusal, passkey=options)
    return HtmlPage("sign-in", values, is_secret=True)


def _link_form(guest: Guest, refusal: Problem | None = None) -> HtmlPage:
    return HtmlPage("link", _bare(path=guest.exchange.path, refusal=refusal), is_secret=True)


def _bare(**values: Any) -> dict[str, Any]:
    """The values of a page without the frame of people who are signed in."""
    return {"shell": None, "toasts": (), "refusal": None, "passkey": None, **values}


def _refused(page: HtmlPage, refusal: Problem) -> Answer:
    """The page with what is wrong, under the status and with the fields of the refusal."""
    fields = tuple((name.lower().encode(), text.encode()) for name, text in refusal.headers.items())
    return HtmlPage(page.template, page.values, refusal.type.status, page.is_secret), fields


async def _read(ctx: Context, token: str) -> tuple[OneUseLink, dict[str, Any]]:
    """A link with the names of what it opens: the workspace, and whose it is.

    Raises:
        Problem: LINK_EXPIRED.
    """
    link = await read_link(ctx, token)
    if link is None:
        detail = "The link was used, or its time is over."
        raise Problem(problem.LINK_EXPIRED, detail, resolution=_ANOTHER)
    grant = link.grant
    homes = await ctx.find_many(WORKSPACES, filter(None, (grant.workspace_id,)))
    owners = await ctx.find_many(CREDENTIALS, filter(None, (grant.user_id,)))
    handle = next((owner.handle for owner in owners.values()), grant.handle)
    workspace = next((home.name for home in homes.values()), "this installation")
    return link, {"link": link, "workspace": workspace, "owner": handle}
