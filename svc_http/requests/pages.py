"""The pages around the operations: index, documents, problem pages, health, metrics, files.

Rule 1: everything works without a network: scripts and styles come from this service.
Rule 2: nothing here needs a key or counts against one, and nothing of a tenant is shown.
Rule 3: a page is made once and given with a strong tag; health and metrics are never kept.
"""

import asyncio
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from attrs import field, frozen

from svc_core import etag, media, openapi, problem, reference
from svc_core.catalog import OPERATIONS
from svc_core.media import Representation
from svc_core.operation import Operation
from svc_core.ports import BASE_V1, BASE_V2, SYSTEM, Answer, Transaction
from svc_core.problem import CATALOGUE, Problem, ProblemType
from svc_http.requests.dispatcher import Handler, Resource
from svc_http.requests.exchange import V1, Exchange, Header, busy
from svc_http.runtime import metrics
from svc_http.runtime.looks import Looks
from svc_http.runtime.runtime import Runtime

SCALAR = "/static/vendor/scalar-1.46.4/standalone.js"

JSON = Representation("json", "application/json")
HTML = Representation("html", "text/html; charset=utf-8")
_TEXT = "text/plain; charset=utf-8"

STATIC = Path(__file__).parent.parent / "static"
MEDIA_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
"""The files that are served; others beside them (licences, lists) are not."""

COMPRESS_BYTES_MIN = 1_024  # below this a compressed file saves less than a packet

TRIAL_BYTES = 32 * 1024
"""What is written to see whether the store takes it: more than a page of it can have free."""

_PAGE_POLICY = b"default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
_PLAIN_POLICY = _PAGE_POLICY + b"form-action 'none'; frame-ancestors 'none'"

_CSP = b"content-security-policy"
_COMMON = tuple(pair for pair in V1 if pair[0] not in {_CSP, b"x-svc-schema-version"})
_KEPT = (b"cache-control", b"public, max-age=300")
_NOT_KEPT = (b"cache-control", b"no-store")


def service_version() -> str:
    """The version of the installed distribution; `unknown` in a bare source tree."""
    try:
        return version("svc-intelligence")
    except PackageNotFoundError:
        return "unknown"


@frozen
class Page:
    """A finished page."""

    media_type: str
    body: bytes
    policy: bytes = _PLAIN_POLICY
    extra: tuple[Header, ...] = ()
    tag: str = field(init=False)
    packed: bytes | None = field(init=False)

    @tag.default
    def _tag(self) -> str:
        return etag.make(self.media_type, self.body)

    @packed.default
    def _packed(self) -> bytes | None:
        if len(self.body) < COMPRESS_BYTES_MIN:
            return None
        return gzip.compress(self.body, compresslevel=6, mtime=0)


async def give(exchange: Exchange, page: Page) -> None:
    """Send a page, compressed where the client takes it, or 304."""
    headers: list[Header] = [
        *_COMMON,
        (_CSP, page.policy),
        _KEPT,
        (b"vary", b"Accept, Accept-Encoding"),
        *page.extra,
    ]
    accepts = exchange.header("accept-encoding") or ""
    packed = page.packed if media.is_coding_welcome(accepts, "gzip") else None
    # A strong tag is of the bytes that travel, so the compressed form has its own.
    tag = page.tag if packed is None else f'{page.tag[:-1]}-gz"'
    headers.append((b"etag", tag.encode()))
    sent = exchange.header("if-none-match")
    if sent is not None and not etag.none_match(sent, tag):
        await exchange.answer(304, headers)
        return
    headers.append((b"content-type", page.media_type.encode()))
    if packed is not None:
        headers.append((b"content-encoding", b"gzip"))
    await exchange.answer(200, headers, page.body if packed is None else packed)


async def _state(exchange: Exchange, media_type: str, body: bytes) -> None:
    """Send what must not be kept."""
    headers = [*_COMMON, (_CSP, _PLAIN_POLICY), _NOT_KEPT, (b"content-type", media_type.encode())]
    await exchange.answer(200, headers, body)


def _html(title: str, main: str) -> bytes:
    return reference.html_page(title, f"<h1>{escape(title)}</h1>\n{main}").encode()


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class Pages:
    """The pages of one service."""

    def __init__(self, operations: Sequence[Operation[Any, Any]], runtime: Runtime) -> None:
        self._operations = operations
        self._runtime = runtime
        ids = {operation.id for operation in operations}
        self._looks = Looks(runtime, is_whole=ids >= {one.id for one in OPERATIONS})
        self._origin = runtime.origin
        self._index_page = cache(self._made_index)
        self._problem_page = cache(self._made_problem)
        self._slugs = {kind.slug: kind for kind in CATALOGUE.values()}

    def resources(self) -> list[Resource]:
        """Every page at its path."""
        made: Mapping[str, Callable[[], Page]] = {
            "/openapi.json": lambda: self._document(flat=False),
            "/openapi.flat.json": lambda: self._document(flat=True),
            "/docs": self._docs,
            "/docs/deprecations": self._deprecations,
            "/llms.txt": self._llms,
        }
        answered: dict[str, Handler] = {
            "/": self._index,
            "/problems/{slug}": self._problem,
            "/livez": self._livez,
            "/readyz": self._readyz,
        }
        if self._runtime.settings.metrics_port is None:
            answered["/metrics"] = self._metrics
        return [
            *(Resource(path, {"GET": _kept(make)}) for path, make in made.items()),
            *(Resource(path, {"GET": handler}) for path, handler in answered.items()),
            *files(STATIC),
        ]

    # -- index ---------------------------------------------------------------------------------

    async def _index(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        await give(exchange, self._index_page(_choose(exchange, (JSON, HTML))))

    def _made_index(self, form: Representation) -> Page:
        paths = {
            "v1": BASE_V1,
            "v2": BASE_V2,
            "docs": "/docs",
            "openapi": "/openapi.json",
            "openapiFlat": "/openapi.flat.json",
            "llms": "/llms.txt",
            "live": "/livez",
            "ready": "/readyz",
        }
        links = {name: self._origin + path for name, path in paths.items()}
        if form is HTML:
            rows = "\n".join(
                f'<dt>{escape(name)}</dt><dd><a href="{escape(url)}">{escape(url)}</a></dd>'
                for name, url in links.items()
            )
            body = _html(openapi.TITLE, f"<dl>\n{rows}\n</dl>")
        else:
            body = _json({"name": openapi.TITLE, "version": service_version(), "links": links})
        # RFC 8631: where machines and people find the description of this service.
        described = (
            f'<{links["openapi"]}>; rel="service-desc", <{links["docs"]}>; rel="service-doc"'
        )
        return Page(form.media_type, body, extra=((b"link", described.encode()),))

    # -- documents -----------------------------------------------------------------------------

    def _document(self, *, flat: bool) -> Page:
        data_url = self._runtime.settings.data_url
        described = openapi.document(
            self._operations, base_url=self._origin, data_url=data_url, flat=flat
        )
        return Page(JSON.media_type, _json(described))

    def _docs(self) -> Page:
        main = (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<title>{openapi.TITLE}</title>\n<link rel="icon" href="data:,">\n</head>\n<body>\n'
            '<div id="app" data-url="openapi.json"></div>\n'
            f'<script src="{SCALAR[1:]}"></script>\n<script src="static/docs.js"></script>\n'
            "</body>\n</html>\n"
        )
        settings = self._runtime.settings
        # The page may send trial requests to the service's own origins and nowhere else.
        reach = " ".join(dict.fromkeys(("'self'", settings.origin, settings.data_origin)))
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
            f"img-src 'self' data:; font-src 'self' data:; connect-src {reach}; "
            "worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return Page(HTML.media_type, main.encode(), policy.encode())

    def _deprecations(self) -> Page:
        rows = "\n".join(
            f"<tr><td>{escape(operation.method)} {escape(operation.address)}</td>"
            f"<td><code>{escape(name)}</code></td></tr>"
            for operation in self._operations
            for name in sorted(operation.deprecated)
        )
        if not rows:
            return Page(HTML.media_type, _html("Deprecations", "<p>No input is deprecated.</p>"))
        settings = self._runtime.settings
        ends = "no end is set" if settings.sunset_at is None else f"they end {settings.sunset_at}"
        main = (
            f"<p>Deprecated since {settings.deprecated_at:%Y-%m-%d}; {ends}.</p>\n"
            f"<table>\n<tr><th>Operation</th><th>Deprecated input</th></tr>\n{rows}\n</table>"
        )
        return Page(HTML.media_type, _html("Deprecations", main))

    def _llms(self) -> Page:
        lines = [
            f"# {openapi.TITLE}",
            "",
            "> Reports, news and a change feed over HTTP. Send `Authorization: Bearer <API_KEY>`.",
            "> Errors are application/problem+json with a stable `code` and a `resolution`.",
            "",
            "## Description",
            "",
            f"- [OpenAPI 3.1, full paths]({self._origin}/openapi.flat.json)",
            f"- [Reference]({self._origin}/docs)",
            "",
            "## Operations",
            "",
            *(f"- {op.method} {op.address}: {op.summary}" for op in self._operations),
        ]
        return Page(_TEXT, ("\n".join(lines) + "\n").encode())

    # -- problems ------------------------------------------------------------------------------

    async def _problem(self, exchange: Exchange, values: Mapping[str, str]) -> None:
        kind = self._slugs.get(values["slug"])
        if kind is None:
            raise Problem(
                problem.NOT_FOUND,
                "There is no problem type of this name.",
                resolution="Take the address from the type of a problem.",
            )
        await give(exchange, self._problem_page(kind, _choose(exchange, (HTML, JSON))))

    def _made_problem(self, kind: ProblemType, form: Representation) -> Page:
        if form is HTML:
            html = reference.problem_page(kind, base_url=self._origin)
            return Page(HTML.media_type, html.encode())
        members = {
            "type": f"{self._origin}/problems/{kind.slug}",
            "code": kind.code,
            "status": kind.status,
            "title": kind.title,
            "resolution": kind.resolution,
            "retryable": kind.retryable,
        }
        return Page(JSON.media_type, _json(members))

    # -- health --------------------------------------------------------------------------------

    async def _livez(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        await _state(exchange, JSON.media_type, b'{"status":"live"}')

    async def _readyz(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        """Ready means that the store answers and, where it has failed, that it takes a write again.

        A disk that is full lets everything be read: that it has room again is seen by writing
        what has no room in the pages that are there already.
        """
        runtime = self._runtime
        if runtime.refuses:
            raise busy(problem.SHUTTING_DOWN)
        if runtime.is_doubted:
            trial = Answer(b"", 204, (), runtime.ids.random(TRIAL_BYTES), runtime.now())
            await runtime.storage.write(SYSTEM, lambda tx: tx.answers.put("readyz", "", trial))
            runtime.is_doubted = False
        await runtime.storage.read(SYSTEM, _touch)
        await _state(exchange, JSON.media_type, b'{"status":"ready"}')

    async def _metrics(self, exchange: Exchange, _values: Mapping[str, str]) -> None:
        await _state(exchange, metrics.MEDIA_TYPE, await self._looks.exposition())


async def _touch(tx: Transaction) -> None:
    await tx.changes.head()


def _choose(exchange: Exchange, offers: tuple[Representation, ...]) -> Representation:
    try:
        return media.negotiate(offers, exchange.header("accept"), None)
    except media.NotAcceptable as refused:
        offered = ", ".join(offer.media_type for offer in offers)
        raise Problem(problem.NOT_ACCEPTABLE, f"This page is offered as: {offered}.") from refused


def _kept(make: Callable[[], Page]) -> Handler:
    made = cache(make)

    async def handler(exchange: Exchange, _values: Mapping[str, str]) -> None:
        await give(exchange, made())

    return handler


def files(folder: Path) -> list[Resource]:
    """Every file under `folder` that browsers may have, under `/static`."""
    return [
        Resource(f"/static/{path.relative_to(folder).as_posix()}", {"GET": _file(path)})
        for path in sorted(folder.rglob("*"))
        if path.suffix in MEDIA_TYPES
    ]


@cache
def _read(path: Path) -> Page:
    return Page(MEDIA_TYPES[path.suffix], path.read_bytes())


def _file(path: Path) -> Handler:
    async def handler(exchange: Exchange, _values: Mapping[str, str]) -> None:
        # Off the loop, because reading and compressing a large file for the first time takes long.
        await give(exchange, await asyncio.to_thread(_read, path))

    return handler
