"""Serves the public pages: index, API documents, problem types, prices, health and metrics.

Rule 1: every page works without the internet: scripts and styles come from this service.
Rule 2: no page needs a key or counts against its limits, and none shows data of a tenant.
Rule 3: a page is rendered once and sent with a strong ETag; health and metrics are not cached.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from http import HTTPStatus
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, Protocol

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0

from svc_core.base import instants
from svc_core.base.compact import compact_text
from svc_core.catalog import reference
from svc_core.catalog.openapi import headers
from svc_core.catalog.openapi import openapi_document as openapi
from svc_core.contract import negotiation as media
from svc_core.contract import problem
from svc_core.contract.negotiation import Representation
from svc_core.contract.problem import CATALOGUE, Problem, ProblemType
from svc_core.operation.declaration import JSON, Operation
from svc_core.operation.host import Host
from svc_core.operation.ports import BASE_V1, BASE_V2
from svc_core.payments import prices
from svc_core.payments.challenge import Terms
from svc_core.payments.receipts import Signing
from svc_http.exchange.http_exchange import Exchange, busy
from svc_http.exchange.resource import Handler, Resource
from svc_http.pages.markup import HTML, POLICY, STATIC, render_template, site_root
from svc_http.pages.readiness import ProbeTarget, Readiness
from svc_http.pages.static_pages import (
    COMMON,
    CSP,
    StaticPage,
    remember_page,
    send_page,
    static_files,
)
from svc_http.settings import Settings
from svc_http.version import service_version

EXPLORER: Final = "/static/vendor/openapi-explorer-2.4.820/openapi-explorer.min.js"

_TEXT: Final = "text/plain; charset=utf-8"

_UNCACHED: Final = (b"cache-control", b"no-store")

_ROBOTS: Final = b"User-agent: *\nAllow: /docs\nDisallow: /\n"
"""What may be searched (RFC 9309): the reference alone; the longest rule counts."""

_STATUS: Final = attrgetter("status")

CONTACT_VALID: Final = timedelta(days=90)
"""How long the contact of security.txt may be relied on; RFC 9116 advises less than a year."""


async def _send_uncached(exchange: Exchange, media_type: str, body: bytes) -> None:
    """Send an answer that must not be cached."""
    headers = [*COMMON, (CSP, POLICY.encode()), _UNCACHED, (b"content-type", media_type.encode())]
    await exchange.answer(200, headers, body)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def openapi_bytes(
    operations: Iterable[Operation[Any, Any]], settings: Settings, *, flat: bool
) -> dict[str, Any]:
    """The OpenAPI document under these settings, without the header fields that they turn off."""
    limits = () if settings.rate_limits else (*headers.ACCOUNT_LIMITS, *headers.AGENT_LIMITS)
    sunset = ("Sunset",) if settings.sunset_at is None else ()
    return openapi.build_openapi(
        operations,
        base_url=settings.origin,
        data_url=settings.data_origin,
        flat=flat,
        unsent=frozenset((*limits, *sunset)),
    )


class PagesHost(ProbeTarget, Protocol):
    """The running service, as the pages need it."""

    settings: Settings
    host: Host

    def clock_state(self) -> dict[str, object]:
        """What is wrong with the clock, by the members of `/readyz`; empty if nothing is."""

    @property
    def refuses(self) -> bool:
        """Whether new requests are refused because the service is shutting down."""


class Pages:
    """The pages of one service.

    `terms` is None where nothing is sold. `metrics` gives the text of the metrics page.
    """

    def __init__(
        self,
        operations: Sequence[Operation[Any, Any]],
        runtime: PagesHost,
        terms: Terms | None,
        metrics: Callable[[], Awaitable[bytes]],
    ) -> None:
        self._operations = operations
        self._runtime = runtime
        self._readiness = Readiness(runtime)
        self._exposition = metrics
        self._origin = runtime.settings.origin
        self._terms = terms
        self._index_page = cache(self._render_index)
        self._problems_page = cache(self._render_problems)
        self._problem_page = cache(self._render_problem)
        self._slugs = {kind.slug: kind for kind in CATALOGUE.values()}

    def resources(self) -> list[Resource]:
        """The resources of all pages."""
        pages: dict[str, Callable[[], StaticPage]] = {
            "/openapi.json": lambda: self._document(flat=False),
            "/openapi.flat.json": lambda: self._document(flat=True),
            "/docs": self._docs,
            "/docs/": lambda: self._docs("/docs/"),
            "/docs/try": self._trial,
            "/docs/try.json": self._trial_document,
            "/docs/deprecations": self._deprecations,
            "/llms.txt": self._llms,
            "/robots.txt": lambda: StaticPage(_TEXT, _ROBOTS),
        }
        handlers: dict[str, Handler] = {
            "/": self._index,
            "/problems": self._problems,
            "/problems/{slug}": self._problem,
            "/livez": self._livez,
            "/healthz": self._livez,
            **dict.fromkeys((BASE_V1, f"{BASE_V1}/", BASE_V2, f"{BASE_V2}/"), self._json_index),
            "/readyz": self._readyz,
        }
        if self._terms is not None:
            pages["/.well-known/x402"] = self._offers
            handlers["/.well-known/did.json"] = self._did
        if self._runtime.settings.security_contact:
            handlers["/.well-known/security.txt"] = self._security
        if self._runtime.settings.metrics_port is None:
            handlers["/metrics"] = self._metrics
        return [
            *(Resource(path, {"GET": remember_page(make)}) for path, make in pages.items()),
            *(Resource(path, {"GET": handler}) for path, handler in handlers.items()),
            *static_files(STATIC),
        ]

    # -- index ---------------------------------------------------------------------------------

    async def _index(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        await send_page(exchange, self._index_page(_choose(exchange, (JSON, HTML))))

    async def _json_index(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        await send_page(exchange, self._index_page(JSON))

    def _render_index(self, form: Representation) -> StaticPage:
        paths = {
            "v1": BASE_V1,
            "v2": BASE_V2,
            "docs": "/docs",
            "problems": "/problems",
            "openapi": "/openapi.json",
            "openapiFlat": "/openapi.flat.json",
            "llms": "/llms.txt",
            "live": "/livez",
            "ready": "/readyz",
        }
        links = {name: self._origin + path for name, path in paths.items()}
        members = {"name": openapi.TITLE, "version": service_version(), "links": links}
        is_development = self._runtime.settings.env == "development"
        if form is HTML:
            body = _page("/", "index", **members, is_development=is_development)
        else:
            body = _json(members)
        # RFC 8631: where machines and people find the description of this service.
        text = f'<{links["openapi"]}>; rel="service-desc", <{links["docs"]}>; rel="service-doc"'
        return StaticPage(form.media_type, body, extra=((b"link", text.encode()),))

    # -- documents -----------------------------------------------------------------------------

    def _document(self, *, flat: bool) -> StaticPage:
        text = openapi_bytes(self._operations, self._runtime.settings, flat=flat)
        return StaticPage(JSON.media_type, _json(text))

    def _docs(self, path: str = "/docs") -> StaticPage:
        groups = reference.by_tag(self._operations)
        return StaticPage(HTML.media_type, _page(path, "docs", groups=groups))

    def _trial_document(self) -> StaticPage:
        """The description that the page of trials loads: without failures, a third of the bytes."""
        text = openapi_bytes(self._operations, self._runtime.settings, flat=False)
        for operation in (item for path in text["paths"].values() for item in path.values()):
            answers = operation["responses"].items()
            operation["responses"] = {
                status: answer for status, answer in answers if status < "300"
            }
        return StaticPage(JSON.media_type, _json(text))

    def _trial(self) -> StaticPage:
        main = _page("/docs/try", "try", explorer=EXPLORER[1:])
        settings = self._runtime.settings
        # The page may send trial requests to the service's own origins and nowhere else.
        reach = " ".join(
            dict.fromkeys(("'self'", settings.origin, settings.data_origin or "'self'"))
        )
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
            f"img-src 'self' data:; font-src 'self' data:; connect-src {reach}; "
            "worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return StaticPage(HTML.media_type, main, policy.encode())

    def _deprecations(self) -> StaticPage:
        settings = self._runtime.settings
        main = _page(
            "/docs/deprecations",
            "deprecations",
            inputs=reference.deprecated_inputs(self._operations),
            members=reference.deprecated_members(self._operations),
            since=settings.deprecated_at,
            sunset_at=settings.sunset_at,
            aliases_until=settings.aliases_until,
            legacy_ids_until=settings.legacy_ids_until,
        )
        return StaticPage(HTML.media_type, main)

    def _llms(self) -> StaticPage:
        text = render_template(
            "llms.txt",
            "",
            origin=self._origin,
            v1=BASE_V1,
            network=self._terms and self._terms.network,
            operations=self._operations,
        )
        return StaticPage(_TEXT, text)

    async def _security(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        # From midnight on, so that the page and its ETag change once a day.
        today = self._runtime.now().replace(hour=0, minute=0, second=0, microsecond=0)
        contact, expiry = self._runtime.settings.security_contact, today + CONTACT_VALID
        text = f"Contact: {contact}\nExpires: {instants.render(expiry)}\n"
        await send_page(exchange, StaticPage(_TEXT, text.encode()))

    # -- what agents buy -----------------------------------------------------------------------

    def _offers(self) -> StaticPage:
        assert self._terms is not None  # noqa: S101 - without terms the page has no route
        offers = prices.price_list(self._operations, self._terms, self._origin)
        return StaticPage(JSON.media_type, _json(offers))

    async def _did(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        signer = self._runtime.host.receipt_signer
        if signer is None:  # it was sealed with a secret that the settings no longer list
            raise Problem(problem.SERVICE_UNAVAILABLE, "The key of receipts cannot be opened.")
        document = Signing(signer, self._origin).document()
        await send_page(exchange, StaticPage(JSON.media_type, _json(document)))

    # -- problems ------------------------------------------------------------------------------

    async def _problems(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        await send_page(exchange, self._problems_page(_choose(exchange, (HTML, JSON))))

    def _render_problems(self, form: Representation) -> StaticPage:
        kinds = CATALOGUE.values()
        if form is not HTML:
            return StaticPage(form.media_type, _json({"problems": [*map(self._members_of, kinds)]}))
        by_status = groupby(sorted(kinds, key=_STATUS), _STATUS)
        groups = [(HTTPStatus(status), [*kinds]) for status, kinds in by_status]
        return StaticPage(form.media_type, _page("/problems", "problems", groups=groups))

    async def _problem(self, exchange: Exchange, values: Mapping[str, str]) -> None:
        kind = self._slugs.get(values["slug"])
        if kind is None:
            raise Problem(
                problem.NOT_FOUND,
                "There is no problem type of this name.",
                resolution="Take the address from the type of a problem.",
            )
        await send_page(exchange, self._problem_page(kind, _choose(exchange, (HTML, JSON))))

    def _render_problem(self, kind: ProblemType, form: Representation) -> StaticPage:
        if form is not HTML:
            return StaticPage(form.media_type, _json(self._members_of(kind)))
        members = {
            "example": reference.example(kind, base_url=self._origin),
            "repeat": reference.REPEAT[kind.retryable],
        }
        return StaticPage(form.media_type, _page("/problems/", "problem", kind=kind, **members))

    def _members_of(self, kind: ProblemType) -> Mapping[str, object]:
        return {
            "type": f"{self._origin}/problems/{kind.slug}",
            "code": kind.code,
            "status": kind.status,
            "title": kind.title,
            "resolution": kind.resolution,
            "retryable": kind.retryable,
        }

    # -- health --------------------------------------------------------------------------------

    async def _livez(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        await _send_uncached(exchange, JSON.media_type, b'{"status":"live"}')

    async def _readyz(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        if self._runtime.refuses:
            raise busy(problem.SHUTTING_DOWN)
        exchange.rest()
        await self._readiness.judge()
        body = {"status": "ready", **self._runtime.clock_state()}
        await _send_uncached(exchange, JSON.media_type, compact_text(body).encode())

    async def _metrics(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        exchange.rest()  # one collection of the metrics serves all who wait for it
        await _send_uncached(exchange, CONTENT_TYPE_PLAIN_1_0_0, await self._exposition())


def _page(path: str, template: str, **values: Any) -> bytes:
    return render_template(template, site_root(path), **values)


def _choose(exchange: Exchange, offers: tuple[Representation, ...]) -> Representation:
    try:
        return media.negotiate(offers, exchange.header("accept"), None)
    except media.NotAcceptable as refusal:
        types = ", ".join(offer.media_type for offer in offers)
        raise Problem(problem.NOT_ACCEPTABLE, f"This page is offered as: {types}.") from refusal
