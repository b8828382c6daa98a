"""The outermost piece: what every request passes before anything looks at its meaning.

Rule 1: every answer, refusals and failures included, is made by this service: problem+json with
        a request id. An inbound request id is never taken over.
Rule 2: the usual request pays for cheap tests only; the exact ones run when a cheap one objects.
Rule 3: framing and limits come first (400, 413, 414, 417, 431), then overload (503), then the
        rest; nothing is read from storage before.
"""

import asyncio
from typing import Protocol
from urllib.parse import unquote_to_bytes, urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from svc_core import problem
from svc_core.problem import Problem
from svc_http import respond, system
from svc_http.exchange import ABORTED, V1, ClientGoneError, Exchange
from svc_http.journal import Journal
from svc_http.metrics import Metrics
from svc_http.storage.errors import Overloaded, StorageUnavailable

TARGET_BYTES_MAX = 8_192
"""RFC 9110 4.1 recommends to support at least 8,000 octets."""

FIELDS_MAX = 100
FIELD_BYTES_MAX = 32 * 1024

RETRY_SECONDS = 1
"""What a client is told to wait when the server is busy: the load changes within a second."""

SINGLETONS = frozenset(
    {b"authorization", b"content-type", b"content-length", b"idempotency-key", b"host"}
)
"""Fields of which a second line would leave open which one counts (RFC 9110 5.5)."""

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "OTHER"
"""What counts and logs call every other method, so that nobody can fill them with inventions."""

ALWAYS_ANSWERED = frozenset({"/livez", "/readyz", "/metrics"})
"""What a supervisor asks, most of all while the server is busy or stopping."""


class House(Protocol):
    """What the edge needs of the service around it."""

    @property
    def origin(self) -> str:
        """The public origin for links."""
        ...

    @property
    def body_bytes_max(self) -> int:
        """The largest request body."""
        ...

    @property
    def in_flight_max(self) -> int:
        """How many requests are worked on at once."""
        ...

    @property
    def is_started(self) -> bool:
        """Whether `start` has finished."""
        ...

    @property
    def is_draining(self) -> bool:
        """Whether no new requests are taken."""
        ...

    async def start(self) -> None:
        """Start what the host's lifespan did not."""
        ...


class Edge:
    """The ASGI application around the router."""

    def __init__(self, app: ASGIApp, house: House, journal: Journal, metrics: Metrics) -> None:
        self._app = app
        self._house = house
        self._journal = journal
        self._metrics = metrics
        self._bytes_max = house.body_bytes_max
        self._in_flight_max = house.in_flight_max
        self.in_flight = 0
        self._is_quiet: asyncio.Event | None = None

    async def quiet(self) -> None:
        """Return once no request runs; only after the drain has begun."""
        if self.in_flight:
            self._is_quiet = self._is_quiet or asyncio.Event()
            await self._is_quiet.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of the host."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await _refuse_websocket(scope, receive, send, self._house.origin)
            return
        exchange = Exchange(scope, receive, send, self._bytes_max)
        scope["svc"] = exchange
        self.in_flight += 1
        try:
            await self._guarded(exchange)
        finally:
            # The two refer to each other: parted, they are freed now and not by the collector,
            # and the next request finds their memory warm.
            del scope["svc"]
            self.in_flight -= 1
            if self._is_quiet is not None and not self.in_flight:
                self._is_quiet.set()
            seconds = system.monotonic() - exchange.started
            if not exchange.status:
                exchange.status = ABORTED
            if exchange.method not in METHODS:
                exchange.method = OTHER
            self._metrics.observe(exchange.method, exchange.route, exchange.status, seconds)
            self._journal.request(exchange, system.timestamp(), seconds * 1000)

    async def _guarded(self, exchange: Exchange) -> None:
        """The one place where a refusal becomes an answer."""
        try:
            judge(exchange)
            if self.in_flight > self._in_flight_max or self._house.is_draining:
                self._turn_away(exchange)
            if not self._house.is_started:
                await self._house.start()
            await self._app(exchange.scope, exchange.receive, exchange.relay)
            return
        except Problem as refusal:
            refused = refusal
        except ClientGoneError:
            return
        except StorageUnavailable as failure:
            self._journal.failure("storage", failure, exchange.request_id)
            refused = _busy(problem.STORAGE_UNAVAILABLE)
        except Overloaded:
            refused = _busy(problem.OVERLOADED)
        except HTTPException as foreign:
            refused = _of_starlette(foreign)
        except Exception as failure:  # The last resort: whatever escaped is a defect of ours.
            self._journal.failure("failure", failure, exchange.request_id)
            refused = Problem(problem.INTERNAL_ERROR, "The request could not be completed.")
        # An answer that has begun cannot be taken back: it ends here, visibly cut short.
        if not exchange.status:
            await respond.refuse(exchange, refused, self._house.origin)

    def _turn_away(self, exchange: Exchange) -> None:
        if exchange.path in ALWAYS_ANSWERED:
            return
        if self._house.is_draining:
            exchange.closing = True
            raise _busy(problem.SHUTTING_DOWN)
        raise _busy(problem.OVERLOADED)


def _busy(kind: problem.ProblemType) -> Problem:
    return Problem(kind, headers={"Retry-After": str(RETRY_SECONDS)})


def _of_starlette(foreign: HTTPException) -> Problem:
    """The refusal of a Starlette route that was added beside ours."""
    kinds = {404: problem.ROUTE_NOT_FOUND, 405: problem.METHOD_NOT_ALLOWED}
    kind = kinds.get(foreign.status_code, problem.BAD_REQUEST)
    return Problem(kind, headers=dict(foreign.headers or {}))


# What a path and a query may hold without a closer look: visible ASCII but `#`, in a path also
# without `%`. Deleting all of it in one call is the cheapest exact test there is. Most queries
# hold no `%` either, so that one look is enough for both.
_PLAIN_QUERY = bytes(byte for byte in range(0x21, 0x7F) if byte != 0x23)
_PLAIN_PATH = _PLAIN_QUERY.replace(b"%", b"")


# -- framing and limits ------------------------------------------------------------------------


def judge(exchange: Exchange) -> None:
    """Refuse what no application may be asked, and read the path as it is to be routed.

    Raises:
        Problem: BAD_REQUEST, ROUTE_NOT_FOUND, BODY_TOO_LARGE, URI_TOO_LONG, EXPECTATION_FAILED or
            HEADERS_TOO_LARGE.
    """
    scope, fields = exchange.scope, exchange.fields
    if exchange.method == "HEAD":
        exchange.method, exchange.is_head = "GET", True
    raw: bytes = scope.get("raw_path") or exchange.path.encode()
    target = raw + exchange.query
    if len(target) >= TARGET_BYTES_MAX:
        raise Problem(
            problem.URI_TOO_LONG, f"A request target may have at most {TARGET_BYTES_MAX} bytes."
        )
    if target.translate(None, _PLAIN_PATH) or raw[:1] != b"/":
        _judge_target(exchange, raw)
    lines = scope["headers"]
    if len(lines) == len(fields):
        size = len(b"".join([*fields, *fields.values()]))
    else:
        size = sum(len(name) + len(value) for name, value in lines)
    if len(lines) > FIELDS_MAX or size > FIELD_BYTES_MAX:
        raise Problem(
            problem.HEADERS_TOO_LARGE,
            f"At most {FIELDS_MAX} fields and {FIELD_BYTES_MAX} bytes are read.",
        )
    if len(lines) != len(fields):
        _join_repeated(exchange)
    if b"content-length" in fields or b"transfer-encoding" in fields:
        _judge_body(exchange)
    if b"expect" in fields and fields[b"expect"].strip().lower() != b"100-continue":
        raise Problem(problem.EXPECTATION_FAILED)
    root = scope.get("root_path")
    if root and exchange.path.startswith(root):
        exchange.path = exchange.path[len(root) :] or "/"


def _judge_target(exchange: Exchange, raw: bytes) -> None:
    if exchange.query.translate(None, _PLAIN_QUERY):
        raise _bad("The request target holds a fragment or a raw character beyond ASCII.")
    if raw.translate(None, _PLAIN_PATH) or raw[:1] != b"/":
        _judge_path(_origin_form(exchange, raw))


def _origin_form(exchange: Exchange, raw: bytes) -> bytes:
    """The path of an absolute-form target (RFC 9112 3.2.2); its authority is not believed."""
    if raw.startswith(b"/"):
        return raw
    if raw == b"*" and exchange.method == "OPTIONS":
        return b"/*"
    parts = urlsplit(raw) if raw.isascii() else None
    if parts is None or parts.scheme not in {b"http", b"https"} or not parts.netloc:
        raise _bad("The request target is neither a path nor an http or https address.")
    path = parts.path or b"/"
    exchange.path = unquote_to_bytes(path).decode("utf-8", "replace")
    return path


def _judge_path(raw: bytes) -> None:
    decoded = unquote_to_bytes(raw)
    try:
        text = decoded.decode()
    except UnicodeDecodeError as broken:
        raise _bad("The path is not UTF-8.") from broken
    if b"#" in raw or not raw.isascii():
        raise _bad("The request target holds a fragment or a raw character beyond ASCII.")
    if any(character < " " or character == "\x7f" for character in text):
        raise _bad("The path holds a control character.")
    if b"%2f" in raw.lower():
        # A slash inside a segment would become a boundary once decoded; no name of ours has one.
        raise Problem(problem.ROUTE_NOT_FOUND)


def _join_repeated(exchange: Exchange) -> None:
    """Join the lines of repeated list fields as RFC 9110 5.3 allows; refuse other repetitions."""
    joined: dict[bytes, list[bytes]] = {}
    for name, value in exchange.scope["headers"]:
        joined.setdefault(name, []).append(value)
    for name, values in joined.items():
        if len(values) > 1 and name in SINGLETONS:
            exchange.closing = True
            raise _bad(f"The field {name.decode('latin-1')} may stand only once.")
        exchange.fields[name] = b", ".join(values)


def _judge_body(exchange: Exchange) -> None:
    fields = exchange.fields
    length = fields.get(b"content-length")
    if length is None:
        exchange.unread = True
        return
    if b"transfer-encoding" in fields:
        # RFC 9112 6.3: "ought to be handled as an error", a sign of request smuggling.
        exchange.closing = True
        raise _bad("Content-Length and Transfer-Encoding cannot be sent together.")
    sizes = {size.strip() for size in length.split(b",")}
    size = sizes.pop()
    if sizes or not size.isdigit() or len(size) > 19:
        exchange.closing = True
        raise _bad("Content-Length is not a number of bytes.")
    exchange.unread = int(size) > 0
    if int(size) > exchange.bytes_max:
        raise exchange.too_large()


def _bad(detail: str) -> Problem:
    return Problem(problem.BAD_REQUEST, detail)


# -- WebSocket ---------------------------------------------------------------------------------


async def _refuse_websocket(scope: Scope, receive: Receive, send: Send, origin: str) -> None:
    """There are no WebSockets here; the answer is an ordinary refusal where the server can."""
    await receive()
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    request_id = system.new_request_id()
    body = problem.body(
        _bad("This service has no WebSocket; send an HTTP request."),
        base_url=origin,
        request_id=request_id,
    )
    headers = [
        *V1,
        (b"content-type", problem.MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"x-request-id", request_id.encode()),
    ]
    await send({"type": "websocket.http.response.start", "status": 400, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body, "more_body": False})
