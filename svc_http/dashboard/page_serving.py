"""The addresses of the dashboard: who may come in, what is checked, and how an answer is sent.

The steps come in this order:

1. A form must have been sent by a page of this origin (`security`).
2. The cookie's session says who comes; without one, the sign-in page is next. A form is judged
   by the session, the role and the time of the moment at which it is there whole.
3. The visit is counted in the pool of the session, never against a key or its account; that of a
   stranger by address block.
4. The workspace of the address must be one that the person is a member of, else 404.
5. A guarded operation and its form ask for a sign-in of the last minutes.
6. The view runs operations with the person's authority; a refusal is a page, too.
"""

import gzip
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import quote

import attrs
from attrs import define, field

from svc_core.contract import etag, problem
from svc_core.contract import negotiation as media
from svc_core.contract.problem import Problem
from svc_core.operation.declaration import Operation
from svc_http.dashboard import security
from svc_http.dashboard.desk import Desk, Office
from svc_http.dashboard.hashing import HashingLine
from svc_http.dashboard.live import stream_changes
from svc_http.dashboard.page_markup import render_page
from svc_http.dashboard.visit import (
    Download,
    HtmlPage,
    PageAnswer,
    PageRoute,
    Redirection,
    View,
    Visit,
    visit_of,
)
from svc_http.dashboard.visitors import Visitor, visitor_of
from svc_http.exchange.http_exchange import DASHBOARD, Exchange, Header
from svc_http.exchange.resource import Resource
from svc_http.pages.markup import HTML, policy_origin

COMPRESSED_FROM: Final = 1_400
"""A page that fits into one packet gains nothing."""
GZIP_LEVEL: Final = 5
SIGN_IN: Final = f"{DASHBOARD}/sign-in"


Shell = Callable[[Desk, Visit], Mapping[str, Any]]
"""The values of the frame around a page: menu, crumbs, palette, what was just done."""


@define(eq=False)
class Dashboard:
    """The dashboard of one running service.

    `shell` gives what stands around a page; in `line` all passwords wait to be hashed.
    """

    office: Office
    shell: Shell
    line: HashingLine = field(factory=HashingLine, init=False)

    def resource(self, route: PageRoute) -> Resource:
        """The resource of a page."""
        views = {"GET": route.get} | ({"POST": route.post} if route.post else {})
        serve = partial(self._serve, is_guarded=route.is_guarded)
        handlers = {method: partial(serve, view) for method, view in views.items()}
        return Resource(route.path, handlers)

    def live(self, feed: Operation[Any, Any], head: Operation[Any, Any]) -> Resource:
        """The stream of changes to the open pages of one workspace."""

        async def stream(exchange: Exchange, places: Mapping[str, str]) -> None:
            self.check(exchange)
            visitor = await self.visitor(exchange, renews=False)
            if visitor is None:
                raise Problem(problem.FORBIDDEN, "Sign in first.")
            desk = _entered(self._desk(visitor, exchange), places)
            visit = await visit_of(exchange, places, 0)
            await stream_changes(desk, feed, head, visit.word("after"))

        return Resource(f"{DASHBOARD}/w/{{workspaceId}}/live", {"GET": stream})

    async def _serve(
        self, view: View, exchange: Exchange, places: Mapping[str, str], *, is_guarded: bool
    ) -> None:
        self.check(exchange)
        is_form = exchange.method == "POST"
        visitor = await self.visitor(exchange, renews=not is_form)
        if visitor is None:
            await self.send(exchange, Redirection(sign_in_address(exchange)))
            return
        desk, visit = self._desk(visitor, exchange), Visit(exchange.path, places)
        try:
            desk = _entered(desk, places)
            visit = await visit_of(exchange, places, self.office.settings.body_seconds_max)
            if is_form:
                # A form may take a while to come: what counts is who sends it when it is there.
                sender = await visitor_of(self.office, exchange)
                if sender is None:
                    await self.send(exchange, Redirection(sign_in_address(exchange)))
                    return
                visitor, desk = sender, self._desk(sender, exchange)
                desk = _entered(desk, places)
            if is_guarded and not desk.is_fresh:
                answer: PageAnswer = Redirection(sign_in_address(exchange, is_again=True))
            else:
                answer = await view(desk, visit)
        except Problem as refusal:
            answer = problem_page(refusal, exchange.request_id)
        if isinstance(answer, HtmlPage):
            answer = attrs.evolve(answer, values={**self.shell(desk, visit), **answer.values})
        await self.send(exchange, answer, visitor.fields)

    def _desk(self, visitor: Visitor, exchange: Exchange) -> Desk:
        return Desk(visitor.person, self.office, exchange, line=self.line)

    def check(self, exchange: Exchange) -> None:
        """Check where a request comes in, and, of a form, where it comes from.

        Raises:
            Problem: NOT_FOUND, below a mount, where its cookie would be others', too; FORBIDDEN.
        """
        if exchange.scope.get("root_path"):
            detail = "The dashboard is served at the root of an origin, and not below a mount."
            raise Problem(problem.NOT_FOUND, detail)
        if exchange.method == "POST":
            security.check_origin(exchange, self.office.settings.origin)

    async def visitor(self, exchange: Exchange, *, renews: bool = True) -> Visitor | None:
        """Who comes, counted: a person in the pool of their session, a stranger by address block.

        Raises:
            Problem: RATE_LIMITED.
        """
        visitor, now = await visitor_of(self.office, exchange, renews=renews), self.office.now()
        if visitor is not None:
            await self.office.count_visit(visitor.person.session_id, now)
        elif self.office.settings.rate_limits:
            await self.office.count_keyless(exchange, now)
        return visitor

    async def send(
        self, exchange: Exchange, answer: PageAnswer, fields: tuple[Header, ...] = ()
    ) -> None:
        """Send an answer with the header fields of the dashboard."""
        url = self.office.settings.media_base_url
        origin = None if url is None else policy_origin(url)
        headers = [*security.page_fields(origin, is_secret=answer.is_secret), *fields]
        match answer:
            case HtmlPage():
                headers.append((b"content-type", HTML.media_type.encode()))
                body, status = render_page(answer.template, **answer.values), answer.status
                if not answer.is_secret:
                    status, body = _encoded(exchange, headers, status, body)
            case Redirection():
                headers.append((b"location", answer.address.encode("ascii")))
                body, status = b"", 303
            case Download():
                headers.append((b"content-type", answer.media_type.encode()))
                if answer.file_name is not None:
                    text = f'attachment; filename="{answer.file_name}"'
                    headers.append((b"content-disposition", text.encode("ascii", "replace")))
                body, status = answer.body, 200
        await exchange.answer(status, headers, body)


def _encoded(
    exchange: Exchange, headers: list[Header], status: int, body: bytes
) -> tuple[int, bytes]:
    """The page as the browser takes it: nothing where it has that, else compressed.

    A page with a secret is never compressed: its length would tell of it.
    """
    tag = etag.entity_tag(body)
    headers += [(b"etag", tag.encode()), (b"vary", b"Accept-Encoding, Cookie")]
    if status == 200 and not etag.none_match(exchange.header("if-none-match") or "", tag):
        return 304, b""
    codings = exchange.header("accept-encoding") or ""
    if len(body) < COMPRESSED_FROM or not media.is_coding_welcome(codings, "gzip"):
        return status, body
    headers.append((b"content-encoding", b"gzip"))
    return status, gzip.compress(body, GZIP_LEVEL, mtime=0)


def _entered(desk: Desk, places: Mapping[str, str]) -> Desk:
    """The person at the workspace of the address, which they are a member of.

    Raises:
        Problem: NOT_FOUND.
    """
    if not desk.exchange.path.startswith(f"{DASHBOARD}/w/"):
        return desk
    homes = {home.id: home for home in desk.person.homes}
    if places["workspaceId"] not in homes:
        raise Problem(problem.NOT_FOUND, "You are not a member of such a workspace.")
    return desk.at_home(homes[places["workspaceId"]])


def sign_in_address(exchange: Exchange, *, is_again: bool = False) -> str:
    """The sign-in page that leads back to the page of the request."""
    query = exchange.query.decode("ascii", "replace")
    page = exchange.path + (f"?{query}" if query else "")
    return f"{SIGN_IN}?next={quote(page, safe='')}{'&again=true' if is_again else ''}"


def problem_page(refusal: Problem, request_id: str) -> HtmlPage:
    """The page of a refusal: title, detail and next step."""
    values = {"refusal": refusal, "request_id": request_id}
    return HtmlPage("problem", values, status=refusal.type.status)
