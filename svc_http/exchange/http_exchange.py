"""One HTTP request and its answer, over ASGI: every answer of the service is sent from here.

Rule 1: an answer is one start message and one body message, or several for a long body; each is
        sent when the client has taken the one before. Common header fields are added here.
Rule 2: a body is read within its limits of size and time, or refused.
Rule 3: where an answer is sent before the request body was read, the rest of the body is read and
        dropped for a while: a socket that is closed with unread bytes resets the connection, and
        the client may lose the answer.
Rule 4: no working slot is held while the service waits for the client (`load`).
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from svc_core.access.limits import HEADER_NAMES
from svc_core.contract import problem
from svc_core.contract.problem import Problem, ProblemType
from svc_http import system
from svc_http.exchange.fair_shares import Load, Turns

Header = tuple[bytes, bytes]

LINGER_SECONDS = 2.0
LINGER_BYTES = 64 * 1024 * 1024
"""How much of a refused body is read and dropped: more than an honest client has in flight."""

SLOW_SECONDS = 30.0
"""How long a client may take to read one part of an answer."""

PART_BYTES = 128 * 1024
"""The largest part of a body that is sent at once. Most answers are smaller and leave in one write;
a client that does not read holds no more memory than this."""

VOUCH = "svc.vouch"
"""The key, in the ASGI state of a connection, of a callback for its first admitted API key."""

VIEWS = "svc.views"
"""The key, in the ASGI state, by which a server says that it takes views of bytes for bodies."""

CALM = 8
"""So many requests are worked on at once without turns, which cost as much as some of them."""

TURN_SECONDS = 5.0
"""How long a request waits for its turn to be worked on."""

CLIENT_CLOSED = 499
"""The status in the log of a request whose client left before the answer."""

EXPOSED_FIELDS = (
    "ETag, Location, Link, X-Request-Id, X-Svc-API-Version, X-Svc-Schema-Version, X-Svc-Agent, "
    "X-Svc-Agent-Mode, X-Svc-Ledger-Size, X-Svc-Ledger-Root, X-Svc-Ledger-Vkey, X-Thread-Id, "
    "Accept-Ranges, Content-Range, Idempotency-Key, Idempotency-Replayed, PAYMENT-REQUIRED, "
    "PAYMENT-RESPONSE, X-Svc-Payment-Receipt, Deprecation, Sunset, X-Vercel-AI-UI-Message-Stream, "
    f"{', '.join(HEADER_NAMES)}"
)
"""The header fields that a page of another origin may read. A `*` would not do: it does not count
as a wildcard for requests with credentials."""

_EXPOSE = (b"access-control-expose-headers", EXPOSED_FIELDS.encode())
_ORIGIN = (b"access-control-allow-origin", b"*")
_CLOSE = (b"connection", b"close")
_NOSNIFF = (b"x-content-type-options", b"nosniff")
_LOCKED_DOWN = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")

V1 = (
    (b"x-svc-api-version", b"1.0"),
    (b"x-svc-schema-version", b"1.1"),
    _ORIGIN,
    _NOSNIFF,
    _LOCKED_DOWN,
)
V2 = ((b"x-svc-api-version", b"2.0"), _ORIGIN, _NOSNIFF, _LOCKED_DOWN)
"""The fields of every answer, by interface version; a page may bring its own policy."""
NO_INTERFACE = (_NOSNIFF, _LOCKED_DOWN)
"""The fields of answers that no page of another origin may read."""

DASHBOARD = "/dashboard"
"""The path below which a person's session counts, and no key does."""


RETRY_SECONDS = 1
"""The Retry-After of a busy server: the load changes within a second."""


def busy(kind: ProblemType, detail: str = "") -> Problem:
    """A refusal with a Retry-After of a second."""
    return Problem(kind, detail, headers={"Retry-After": str(RETRY_SECONDS)})


BODILESS = frozenset({204, 304})
"""Statuses whose answers have neither body nor length."""


def is_v2(path: str) -> bool:
    """Whether a path belongs to version 2 of the interface."""
    return path.startswith("/api/v2")


def length(body: bytes) -> Header:
    """The Content-Length field of a body."""
    return b"content-length", b"%d" % len(body)


class ClientGoneError(Exception):
    """The client left before its request was complete; there is nobody to answer."""


class Exchange:
    """A request and its answer. Mutable: one is made for every request.

    Attributes that most requests never change are on the class, which makes instances cheap.
    """

    is_head = False
    unread = False
    closing = False
    is_working = True
    is_cut = False
    has_left = False
    is_secondary = False
    sending_since = 0.0
    status = 0
    route = ""
    tenant = ""
    key_prefix = ""
    target_authority: bytes | None = None
    bytes_in = 0
    bytes_out = 0
    limit_headers: Sequence[Header] = ()
    _turn: tuple[Turns, asyncio.Future[None]] | None = None

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, bytes_max: int, load: Load
    ) -> None:
        self.scope = scope
        self._receive = receive
        self._send = send
        self._load = load
        load.in_flight += 1
        self.request_id = system.new_request_id()
        self.id_header: Header = b"x-request-id", self.request_id.encode()
        self.start = system.monotonic()
        self.bytes_max = bytes_max
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.fields: dict[bytes, bytes] = dict(scope["headers"])

    # -- the working slot ----------------------------------------------------------------------

    def rest(self) -> None:
        """Give the working slot back. Safe to repeat."""
        if self.is_working:
            self.is_working = False
            self._load.in_flight -= 1
        if self._turn is not None:
            (turns, turn), self._turn = self._turn, None
            turns.end(turn)

    async def take_turn(self) -> None:
        """Wait until others, who were before this request or have had less, were worked for.

        The turn lasts until the working slot is given back.

        Raises:
            Problem: OVERLOADED; it takes too long.
            ClientGoneError: the client has left meanwhile.
        """
        turns, owner = self._load.turns(self)
        turn = turns.line_up(owner)
        try:
            if not turn.done():
                with self.resting():
                    async with asyncio.timeout(TURN_SECONDS):
                        await turn
                if self.has_left:
                    raise ClientGoneError
            self._turn = turns, turn
        except TimeoutError as late:
            raise busy(problem.OVERLOADED) from late
        finally:
            if self._turn is None:
                turns.end(turn)

    def _work(self) -> None:
        """Take a working slot.

        Raises:
            Problem: OVERLOADED; there is none.
        """
        if self._load.in_flight >= self._load.in_flight_max:
            raise busy(problem.OVERLOADED)
        self.is_working = True
        self._load.in_flight += 1

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Hold no working slot while the block runs.

        Raises:
            Problem: OVERLOADED; there is none to take again.
        """
        was_working = self.is_working
        self.rest()
        yield
        if was_working:
            self._work()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold a working slot while the block runs, and none after it.

        Raises:
            Problem: OVERLOADED; there is none to take.
        """
        self._work()
        try:
            yield
        finally:
            self.rest()

    # -- the request ---------------------------------------------------------------------------

    def header(self, name: str) -> str | None:
        """The field by its lower-case name; several lines are joined by a comma."""
        value = self.fields.get(name.encode())
        return None if value is None else value.decode("latin-1")

    def lines(self, name: bytes) -> tuple[str, ...]:
        """Every line of a field, in the order received."""
        return tuple(v.decode("latin-1") for n, v in self.scope["headers"] if n == name)

    @property
    def shares(self) -> tuple[str, ...]:
        """The holders that a place is counted for: address block and, once known, key."""
        block = self._load.block(self)
        return (block, self.key_prefix) if self.key_prefix else (block,)

    @property
    def is_v2(self) -> bool:
        """Whether the request is for version 2 of the interface."""
        return is_v2(self.path)

    @property
    def is_private(self) -> bool:
        """Whether the request is for a page of the dashboard, which no other origin may read."""
        return self.path.startswith(DASHBOARD)

    @property
    def version_headers(self) -> tuple[Header, ...]:
        """The fields that every answer under this path carries."""
        if self.is_private:
            return NO_INTERFACE
        return V2 if self.is_v2 else V1

    async def receive(self) -> Message:
        """The next message of the request.

        Raises:
            Problem: BODY_TOO_LARGE, once more bytes came than are allowed.
        """
        message = await self._receive()
        if message["type"] == "http.request":
            self.bytes_in += len(message.get("body", b""))
            self.unread = bool(message.get("more_body"))
            if self.bytes_in > self.bytes_max:
                raise self.too_large()
        return message

    async def body(self, seconds_max: float) -> bytes:
        """The whole body.

        Raises:
            Problem: BODY_TOO_LARGE; OVERLOADED; or REQUEST_TIMEOUT when it takes longer than
                `seconds_max`, or so long that others need its place.
            ClientGoneError: the client left.
        """
        try:
            with self.resting():
                async with self._load.bodies.place(seconds_max, *self.shares):
                    body = await self._read()
        except TimeoutError as slow:
            self.closing = True
            self.unread = False  # its time is over: the rest is not read after the answer either
            raise Problem(
                problem.REQUEST_TIMEOUT,
                f"A body may take {seconds_max:g} seconds, and less while many come slowly.",
            ) from slow
        if self._load.in_flight > CALM:
            await self.take_turn()
        return body

    async def _read(self) -> bytes:
        chunks: list[bytes] = []
        has_more = True
        while has_more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            chunks.append(message.get("body", b""))
            has_more = self.unread
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def too_large(self) -> Problem:
        """The refusal of a body over the limit."""
        self.closing = True
        return Problem(
            problem.BODY_TOO_LARGE, f"A request body may have at most {self.bytes_max} bytes."
        )

    # -- the answer ----------------------------------------------------------------------------

    async def answer(self, status: int, headers: list[Header], body: bytes = b"") -> None:
        """Send the whole answer; request id and length are appended to `headers`."""
        headers.append(self.id_header)
        if status not in BODILESS:
            headers.append(length(body))
        await self.finish(status, headers, body)

    async def finish(self, status: int, headers: list[Header], body: bytes) -> None:
        """Send an answer whose `headers` already have the request id and the length."""
        self._add_fields(headers)
        if self.is_head:
            body = b""
        self.status = status
        self.bytes_out = len(body)
        self.rest()
        self.sending_since = system.monotonic()
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        last = body if len(body) <= PART_BYTES else await self._send_parts(body)
        if self.unread:
            await self._send({"type": "http.response.body", "body": last, "more_body": True})
            await self._linger()
            last = b""
        await self._send({"type": "http.response.body", "body": last, "more_body": False})

    async def _send_parts(self, body: bytes) -> bytes | memoryview:
        """Send a long body but for its last part, which is returned."""
        start = 0
        # Where the server takes views, all who read one page, or do not, share its bytes.
        whole = memoryview(body) if VIEWS in self.scope.get("state", ()) else body
        while len(body) - start > PART_BYTES:
            part = whole[start : start + PART_BYTES]
            await self._send_message(
                {"type": "http.response.body", "body": part, "more_body": True}
            )
            start += PART_BYTES
        self.sending_since = system.monotonic()
        return whole[start:]

    async def begin(self, status: int, headers: list[Header]) -> None:
        """Send status and header fields of an answer whose body follows in parts."""
        self.rest()
        self._add_fields(headers)
        self.status = status
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def part(self, body: bytes) -> None:
        """Send one part of the body."""
        self.bytes_out += len(body)
        await self._send_message({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self) -> None:
        """Send the end of the body."""
        await self._send_message({"type": "http.response.body", "body": b"", "more_body": False})

    async def wait_closed(self) -> None:
        """Return when the client has disconnected; what it still sends is dropped."""
        while (await self._receive())["type"] != "http.disconnect":
            continue

    async def relay(self, message: Message) -> None:
        """Send a message of a foreign ASGI application, with the common fields added."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": self._with_common(message.get("headers", ()))}
        elif message["type"] == "http.response.body":
            self.bytes_out += len(message.get("body", b""))
            if self.is_head:
                message = {**message, "body": b""}
        await self._send_message(message)

    async def _send_message(self, message: Message) -> None:
        self.sending_since = system.monotonic()
        await self._send(message)
        self.sending_since = 0.0

    def is_unread(self, now: float) -> bool:
        """Whether the client has not read the present part of the answer for too long."""
        return bool(self.sending_since) and now - self.sending_since > SLOW_SECONDS

    def _with_common(self, own: Any) -> list[Header]:
        headers: list[Header] = list(own)
        names = {name.lower() for name, _ in headers}
        headers += [pair for pair in self.version_headers if pair[0] not in names]
        headers.append(self.id_header)
        self._add_fields(headers)
        return headers

    def _add_fields(self, headers: list[Header]) -> None:
        """Add the fields that depend on the request and on the state of the connection."""
        if b"origin" in self.fields and not self.is_private:
            headers.append(_EXPOSE)
        if self.closing and self.scope["http_version"][0] == "1":
            headers.append(_CLOSE)

    async def _linger(self) -> None:
        """Read and drop the rest of the request body, within limits of time and size."""
        size = 0
        try:
            async with self._load.lingering.place(LINGER_SECONDS, *self.shares):
                while self.unread and size < LINGER_BYTES:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        return
                    self.unread = bool(message.get("more_body"))
                    size += len(message.get("body", b""))
        except TimeoutError:
            return
