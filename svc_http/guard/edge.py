"""The outermost ASGI application: checks the HTTP form of a request and answers every failure.

Rule 1: every answer, refusals and failures included, is made by this service: problem+json with
        a request id. A request id that the client sends is never used.
Rule 2: an ordinary request runs cheap tests only; the exact ones run where a cheap one fails.
Rule 3: framing and limits are checked first (400, 413, 414, 417, 431), then overload (503), then
        everything else. Storage is not read before that.
"""

import asyncio
import re
from collections.abc import Awaitable
from typing import Any, Final, Protocol
from urllib.parse import unquote_to_bytes

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import NO_SPACE, Overloaded, StorageUnavailable
from svc_http import system
from svc_http.exchange import sending as answers
from svc_http.exchange.fair_shares import Load
from svc_http.exchange.http_exchange import CALM, CLIENT_CLOSED, ClientGoneError, Exchange, busy
from svc_http.guard import authority
from svc_http.settings import Settings

TARGET_BYTES_MAX = 8_192
"""RFC 9110 4.1 recommends to support at least 8,000 octets."""

FIELDS_MAX = 100
FIELD_BYTES_MAX = 32 * 1024

SINGLETONS = frozenset(
    {b"authorization", b"content-type", b"content-length", b"idempotency-key", b"host"}
)
"""Fields that may stand only once: a second line would be ambiguous (RFC 9110 5.5)."""

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER_METHOD = "OTHER"
"""The name of every other method in metrics and logs, so that clients cannot invent new labels."""

LOOK_SECONDS = 1.0
"""How often at most the edge looks for answers that their clients do not read."""

NO_WEBSOCKET = "This service has no WebSocket; send an HTTP request."

FULL = f"Nothing can be written: {NO_SPACE}."
DAMAGED = "What is stored is damaged. The operator has svc db check, and restores a backup."

ALWAYS_ANSWERED = frozenset({"/livez", "/healthz", "/readyz", "/metrics"})
"""Paths that are answered also while the server is overloaded or shutting down."""


class JournalPort(Protocol):
    """The part of the log that requests write to."""

    def request(self, exchange: Exchange, end: float, milliseconds: float) -> None:
        """Log a request that has ended."""

    def unread(self, request_id: str, method: str, status: int, end: float) -> None:
        """Log a request that the HTTP server refused by itself."""

    def failure(self, event: str, error: BaseException, request_id: str = "") -> None:
        """Log a failure with its traceback."""

    def trouble(self, event: str, error: BaseException, request_id: str = "") -> None:
        """Log a failure whose traceback was logged before."""


class MetricsPort(Protocol):
    """The counts of requests."""

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one finished request."""


class EdgeHost(Protocol):
    """The running service, as the edge needs it."""

    settings: Settings
    load: Load
    drain: asyncio.Event
    is_started: bool
    is_doubted: bool

    @property
    def journal(self) -> JournalPort:
        """The log."""

    @property
    def metrics(self) -> MetricsPort:
        """The counts."""

    @property
    def refuses(self) -> bool:
        """Whether new requests are refused because the service is shutting down."""

    async def start(self) -> None:
        """Start the background tasks; the first call does, later ones return."""


class ServerEdge:
    """The ASGI application around the router.

    At the paths in `lenient`, some refusals have another problem type. `pages` makes the HTML
    pages of refusals.
    """

    def __init__(
        self, app: ASGIApp, runtime: EdgeHost, lenient: frozenset[str], pages: answers.Pages
    ) -> None:
        self._app = app
        self._lenient = lenient
        self._pages = pages
        self._runtime = runtime
        self._journal = runtime.journal
        self._metrics = runtime.metrics
        self._bytes_max = runtime.settings.body_bytes_max
        self._data_origin = runtime.settings.data_origin
        self._load = runtime.load
        self._open: dict[Exchange, asyncio.Task[Any] | None] = {}
        self._look_at = 0.0
        self._is_quiet: asyncio.Event | None = None

    @property
    def under_way(self) -> int:
        """The number of open requests, those of slow clients included."""
        return len(self._open)

    async def quiet(self) -> None:
        """Return once no request is open; to be called only after the drain has begun."""
        if self._open:
            self._is_quiet = self._is_quiet or asyncio.Event()
            await self._is_quiet.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI scope: a lifespan, a WebSocket handshake or an HTTP request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            self.unread(await self._refuse_websocket(scope, receive, send), 400)
            return
        exchange = Exchange(scope, receive, send, self._bytes_max, self._load)
        scope["svc"] = exchange
        task = self._open[exchange] = asyncio.current_task()
        if exchange.start >= self._look_at:
            self._cut_unread(exchange.start)
        try:
            await self._guard(exchange)
        except asyncio.CancelledError:
            if task is None or not exchange.is_cut:
                raise
            task.uncancel()
        finally:
            # Scope and exchange refer to each other. Without this they would wait for the garbage
            # collector; so they are freed now, and the next request finds their memory warm.
            del scope["svc"]
            del self._open[exchange]
            if exchange.is_working:
                exchange.rest()
            if self._is_quiet is not None and not self._open:
                self._is_quiet.set()
            seconds = system.monotonic() - exchange.start
            if exchange.is_cut or not exchange.status:
                exchange.status = CLIENT_CLOSED
            if exchange.method not in METHODS:
                exchange.method = OTHER_METHOD
            self._metrics.observe(exchange.method, exchange.route, exchange.status, seconds)
            self._journal.request(exchange, system.timestamp(), seconds * 1000)

    def unread(self, request_id: str, status: int) -> None:
        """Count and log a request that the HTTP server refused by itself."""
        self._metrics.observe(OTHER_METHOD, "", status, 0.0)
        self._journal.unread(request_id, OTHER_METHOD, status, system.timestamp())

    def _cut_unread(self, now: float) -> None:
        """Cut off the answers that their clients do not read.

        This runs when a request comes: until then they take nothing that another needs.
        """
        self._look_at = now + LOOK_SECONDS
        for exchange, task in self._open.items():
            if task is not None and not exchange.is_cut and exchange.is_unread(now):
                exchange.is_cut = True
                task.cancel()

    async def _guard(self, exchange: Exchange) -> None:
        """Run the request, and turn every exception into an answer; nothing else does."""
        try:
            if self._load.in_flight > CALM:
                await exchange.take_turn()
            judge_request(exchange)
            if self._data_origin is not None:
                _judge_origin(exchange, self._data_origin)
            if self._load.in_flight > self._load.in_flight_max or self._runtime.drain.is_set():
                self._turn_away(exchange)
            if not self._runtime.is_started:
                await self._runtime.start()
            await self._app(exchange.scope, exchange.receive, exchange.relay)
            return
        except Problem as refusal:
            problem_ = self._as_said(exchange, refusal)
        except ClientGoneError:
            return
        except StorageUnavailable as failure:
            # An unreachable store fails every request, so its traceback is logged only once.
            tell = self._journal.trouble if self._runtime.is_doubted else self._journal.failure
            tell("storage", failure, exchange.request_id)
            self._runtime.is_doubted = True
            cause = FULL if failure.is_full else DAMAGED if failure.is_damaged else ""
            problem_ = busy(problem.STORAGE_UNAVAILABLE, cause)
        except Overloaded:
            problem_ = busy(problem.OVERLOADED)
        except HTTPException as foreign:
            problem_ = _of_starlette(foreign)
        except Exception as failure:  # whatever comes here is a defect of this service
            self._journal.failure("failure", failure, exchange.request_id)
            problem_ = Problem(problem.INTERNAL_ERROR, "The request could not be completed.")
        if exchange.method == "CONNECT":
            # A client may have sent tunnelled bytes before the answer; they must not be read as
            # further requests.
            exchange.closing = True
        # An answer that has begun cannot be taken back: it ends here, visibly cut short.
        if not exchange.status:
            await self._refuse(exchange, problem_)

    def _refuse(self, exchange: Exchange, refusal: Problem) -> Awaitable[None]:
        return answers.send_problem(exchange, refusal, self._runtime.settings.origin, self._pages)

    async def _refuse_websocket(self, scope: Scope, receive: Receive, send: Send) -> str:
        """Refuse a WebSocket handshake, with an HTTP answer where the server supports that.

        The server of this project passes none on: see `_judge_upgrade`. Returns the request id.
        """
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return system.new_request_id()

        async def say(message: Message) -> None:
            await send({**message, "type": f"websocket.{message['type']}"})

        whole = {"query_string": b"", "http_version": "1.1", **scope, "method": "GET"}
        exchange = Exchange(whole, receive, say, 0, self._load)
        await self._refuse(exchange, _bad(NO_WEBSOCKET))
        return exchange.request_id

    def _as_said(self, exchange: Exchange, refusal: Problem) -> Problem:
        """The refusal with the problem type that a lenient path has for it."""
        kind = problem.LENIENT.get(refusal.type)
        if kind is None or exchange.path not in self._lenient:
            return refusal
        return Problem(kind, refusal.detail, resolution=refusal.resolution)

    def _turn_away(self, exchange: Exchange) -> None:
        if self._runtime.drain.is_set():
            exchange.closing = True
        if exchange.path in ALWAYS_ANSWERED:
            return
        if self._runtime.refuses:
            raise busy(problem.SHUTTING_DOWN)
        if self._load.in_flight > self._load.in_flight_max:
            raise busy(problem.OVERLOADED)


_FOREIGN = {
    kind.status: kind
    for kind in (
        problem.MISSING_API_KEY,
        problem.FORBIDDEN,
        problem.ROUTE_NOT_FOUND,
        problem.METHOD_NOT_ALLOWED,
        problem.NOT_ACCEPTABLE,
        problem.RESOURCE_CONFLICT,
        problem.BODY_TOO_LARGE,
        problem.UNSUPPORTED_MEDIA_TYPE,
        problem.RATE_LIMITED,
        problem.NOT_IMPLEMENTED,
        problem.SERVICE_UNAVAILABLE,
    )
}
"""The problem types for the statuses that routes of a host application refuse with."""


def _of_starlette(foreign: HTTPException) -> Problem:
    """The problem for a refusal of a Starlette route that the host application added."""
    type_ = problem.BAD_REQUEST if foreign.status_code < 500 else problem.INTERNAL_ERROR
    return Problem(
        _FOREIGN.get(foreign.status_code, type_),
        headers=dict(foreign.headers or {}),
        resolution="Ask who serves this path, which is no part of the interface.",
    )


# The characters that need no exact check: visible ASCII but `#`, and in a path also without `%`.
# To delete them all and see whether anything is left is the cheapest exact test. Most queries hold
# no `%` either, so that one test of path and query together is enough.
_PLAIN_QUERY = bytes(byte for byte in range(0x21, 0x7F) if byte != 0x23)
_PLAIN_PATH = _PLAIN_QUERY.replace(b"%", b"")


SECONDARY: Final = re.compile(r"/(?:api/v1|media)(?:/.*)?|/livez|/readyz")
"""The paths that are served under the secondary data origin."""


def _judge_origin(exchange: Exchange, data_origin: str) -> None:
    """Note which origin the request came to, and refuse paths that the secondary one lacks.

    Raises:
        Problem: ROUTE_NOT_FOUND.
    """
    host = exchange.target_authority or exchange.fields.get(b"host", b"")
    exchange.is_secondary = authority.authority_names(host, data_origin)
    if exchange.is_secondary and not SECONDARY.fullmatch(exchange.path):
        raise Problem(problem.ROUTE_NOT_FOUND)


# -- framing and limits ------------------------------------------------------------------------


def judge_request(exchange: Exchange) -> None:
    """Check the HTTP form of a request, and set the path that is routed.

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
    root = scope.get("root_path")
    if root and exchange.path.startswith(root):
        exchange.path = exchange.path[len(root) :] or "/"
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
    if not authority.is_host(fields.get(b"host", b"")):
        exchange.closing = True
        raise _bad("Host must be a name or an address, with or without a port.")
    if b"content-length" in fields or b"transfer-encoding" in fields:
        _judge_body(exchange)
    if b"upgrade" in fields:
        _judge_upgrade(exchange)
    if b"expect" in fields and not _members(fields[b"expect"]) <= {b"100-continue"}:
        raise Problem(problem.EXPECTATION_FAILED)


def _judge_target(exchange: Exchange, raw: bytes) -> None:
    if exchange.query.translate(None, _PLAIN_QUERY):
        raise _bad("The request target holds a fragment or a raw character beyond ASCII.")
    if raw.translate(None, _PLAIN_PATH) or raw[:1] != b"/":
        _judge_path(_origin_form(exchange, raw))


_ABSOLUTE = re.compile(rb"(?i:https?)://([^/#]*)(/[^#]*)?")


def _origin_form(exchange: Exchange, raw: bytes) -> bytes:
    """The path of an absolute-form target, whose authority overrides `Host` (RFC 9112 3.2.2)."""
    if raw.startswith(b"/"):
        return raw
    if raw == b"*" and exchange.method == "OPTIONS" and not exchange.query:
        return b"/*"
    match = _ABSOLUTE.fullmatch(raw)
    if match is None or not authority.is_authority(match[1]):
        raise _bad("The request target is neither a path nor an http or https address.")
    exchange.target_authority = match[1]
    path = match[2] or b"/"
    exchange.path = unquote_to_bytes(path).decode("utf-8", "replace")
    return path


def _judge_path(raw: bytes) -> None:
    plain = unquote_to_bytes(raw)
    try:
        text = plain.decode()
    except UnicodeDecodeError as error:
        raise _bad("The path is not UTF-8.") from error
    if b"#" in raw or not raw.isascii():
        raise _bad("The request target holds a fragment or a raw character beyond ASCII.")
    if any(character < " " or character == "\x7f" for character in text):
        raise _bad("The path holds a control character.")
    if b"%2f" in raw.lower():
        # Once decoded, a slash inside a segment would split it; no name in a path has a slash.
        raise Problem(problem.ROUTE_NOT_FOUND)


def _join_repeated(exchange: Exchange) -> None:
    """Join the lines of repeated list fields as RFC 9110 5.3 allows; refuse other repetitions."""
    by_name: dict[bytes, list[bytes]] = {}
    for name, value in exchange.scope["headers"]:
        by_name.setdefault(name, []).append(value)
    for name, values in by_name.items():
        if len(values) > 1 and name in SINGLETONS:
            exchange.closing = True
            raise _bad(f"The field {name.decode('latin-1')} may stand only once.")
        exchange.fields[name] = b", ".join(values)


def _judge_body(exchange: Exchange) -> None:
    fields = exchange.fields
    length = fields.get(b"content-length")
    if b"transfer-encoding" in fields and exchange.scope["http_version"] == "1.0":
        # RFC 9112 6.1: "MUST treat the message as if the framing is faulty".
        exchange.closing = True
        raise _bad("HTTP/1.0 has no transfer codings.")
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


def _judge_upgrade(exchange: Exchange) -> None:
    """Refuse a WebSocket handshake, valid or not; ignore every other upgrade.

    RFC 9110 7.8: "A server MAY ignore a received Upgrade", and must in HTTP/1.0.
    """
    fields = exchange.fields
    if (
        b"websocket" in _members(fields[b"upgrade"])
        and b"upgrade" in _members(fields.get(b"connection", b""))
        and exchange.method == "GET"
        and exchange.scope["http_version"] == "1.1"
    ):
        exchange.closing = True  # the next bytes may be WebSocket frames
        raise _bad(NO_WEBSOCKET)


def _members(field: bytes) -> set[bytes]:
    """The members of a list field in lower case, without empty ones (RFC 9110 5.6.1)."""
    return {member for part in field.lower().split(b",") if (member := part.strip())}


def _bad(detail: str) -> Problem:
    return Problem(problem.BAD_REQUEST, detail)
