"""Turns replies and refusals into HTTP answers: status, header fields and body bytes."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from email.utils import format_datetime
from functools import lru_cache

from attrs import frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.declaration import Operation
from svc_core.operation.reply import Reply
from svc_core.operation.stream import Stream
from svc_core.payments.payment_rows import HeldAnswer
from svc_core.payments.steps import PaidReply
from svc_http.exchange.http_exchange import BODILESS, V1, V2, Exchange, Header, length
from svc_http.settings import Settings

_CSP = b"content-security-policy"
_CACHE_CONTROL = b"cache-control"
_NO_STORE = (_CACHE_CONTROL, b"no-store")
_PRIVATE_NO_STORE = (_CACHE_CONTROL, b"private, no-store")
_PRIVATE_NO_CACHE = (_CACHE_CONTROL, b"private, no-cache")
_PUBLIC = (_CACHE_CONTROL, b"public, max-age=300")
_DO_NOT_RETRY = (b"x-should-retry", b"false")
PATIENCE_SECONDS = 60
"""After a longer Retry-After, clients are told not to retry: OpenAI's clients would sleep on."""
PAID_BYTES_MAX = 16 * 1024 * 1024
"""The largest answer that is sold, because it is kept until it is paid: a page of a hundred reports
with everything in it has a few million bytes."""
_VARY = (b"vary", b"Authorization, Accept")


@frozen
class Ready:
    """An answer without the header fields that differ from request to request.

    An answer that `is_fleeting` goes out of date by itself and is not cached. Where there is a
    `stream`, the body comes from it.
    """

    status: int
    headers: tuple[Header, ...]
    body: bytes
    is_fleeting: bool = False
    stream: Stream | None = None

    @property
    def size(self) -> int:
        """About how many bytes it takes in memory."""
        return len(self.body) + len(b"".join(map(b"".join, self.headers)))


def deprecation(settings: Settings) -> tuple[Header, ...]:
    """The header fields of an answer to deprecated inputs (RFC 9745, RFC 8594).

    They say since when, where that is explained, and until when, where that is set.
    """
    link = f'<{settings.origin}/docs/deprecations>; rel="deprecation"; type="text/html"'
    fields = (
        (b"deprecation", b"@%d" % int(settings.deprecated_at.timestamp())),
        (b"link", link.encode()),
    )
    if settings.sunset_at is None:
        return fields
    return *fields, (b"sunset", format_datetime(settings.sunset_at, usegmt=True).encode())


def encode_fields(headers: Iterable[tuple[str, str]]) -> list[Header]:
    """Header fields as ASGI wants them: bytes, names in lower case."""
    return [(_lower(name), value.encode("latin-1")) for name, value in headers]


@lru_cache(maxsize=256)  # every field that answers have by name, and those of a host
def _lower(name: str) -> bytes:
    return name.lower().encode("latin-1")


def ready(
    operation: Operation[object, object], reply: Reply, extra: tuple[Header, ...] = ()
) -> Ready:
    """The answer that a reply makes, with all its constant header fields."""
    own = encode_fields(reply.headers)
    usual: tuple[Header, ...] = V1 if operation.version == "1.0" else V2
    if any(name == _CSP for name, _ in own):
        usual = tuple(pair for pair in usual if pair[0] != _CSP)
    headers = [*usual, *own, *extra]
    if reply.media_type is not None:
        headers.append((b"content-type", reply.media_type.encode()))
    if not any(name == _CACHE_CONTROL for name, _ in own):
        headers.append(_caching(operation, own))
    if len(operation.media) > 1:
        headers.append(_VARY)
    if reply.status not in BODILESS and reply.stream is None:
        headers.append(length(reply.body))
    return Ready(reply.status, tuple(headers), reply.body, reply.fleeting, reply.stream)


def _caching(operation: Operation[object, object], own: list[Header]) -> Header:
    if operation.method != "GET":
        return _PRIVATE_NO_STORE
    if operation.auth == "public":
        return _PUBLIC
    return _PRIVATE_NO_CACHE if b"etag" in dict(own) else _PRIVATE_NO_STORE


def send(exchange: Exchange, answer: Ready) -> Awaitable[None]:
    """Send an answer with the fields of this request: its id and its rate limits."""
    limits = exchange.limit_headers
    if 300 <= answer.status < 400:
        # The RateLimit draft: its fields are not for 3xx answers.
        limits = [pair for pair in limits if not pair[0].startswith(b"ratelimit")]
    headers = [*answer.headers, *limits, exchange.id_header]
    return exchange.finish(answer.status, headers, answer.body)


def stored_answer(answer: Ready) -> HeldAnswer:
    """The record of an answer that is kept until it is paid for, and sent to its payer alone.

    Raises:
        Problem: INVALID_PARAMETER; the answer is larger than `PAID_BYTES_MAX`.
    """
    if answer.stream is not None:
        raise AssertionError("a stream cannot be held back")
    if len(answer.body) > PAID_BYTES_MAX:
        has = f"The answer has {len(answer.body):,} bytes"
        detail = f"{has}, and one that is paid for {PAID_BYTES_MAX:,} at most; nothing was charged."
        step = "Ask for less, or send Authorization: Bearer <API_KEY>."
        raise Problem(problem.INVALID_PARAMETER, detail, resolution=step)
    own = [pair for pair in answer.headers if pair[0] != _CACHE_CONTROL]
    fields = tuple((name.decode(), value.decode("latin-1")) for name, value in own)
    return HeldAnswer(answer.status, None, fields, answer.body)


def send_sale(exchange: Exchange, sale: PaidReply) -> Awaitable[None]:
    """Send the answer to a request with a payment, and how the payment was settled."""
    answer = sale.answer
    fields = {
        "PAYMENT-RESPONSE": answer.payment_response,
        "X-Svc-Payment-Receipt": sale.receipt_id,
        "Cache-Control": "private, no-store",
    }
    own = [(name, value) for name, value in fields.items() if value is not None]
    headers = [*encode_fields(answer.headers), *encode_fields(own), exchange.id_header]
    return exchange.finish(answer.status, headers, answer.body)


def begin_stream(exchange: Exchange, answer: Ready, limits: Sequence[Header]) -> Awaitable[None]:
    """Send the head of an answer whose body comes in parts."""
    return exchange.begin(answer.status, [*answer.headers, *limits, exchange.id_header])


Page = tuple[str, tuple[Header, ...], bytes]
"""The HTML page of a refusal: media type, Content-Security-Policy fields, bytes."""

Pages = Callable[[Exchange, Problem], Page | None]
"""Makes the HTML page of a refusal; None where the client does not prefer HTML."""


def send_problem(
    exchange: Exchange, refusal: Problem, origin: str, pages: Pages
) -> Awaitable[None]:
    """Send a refusal as problem+json, or as an HTML page where a browser asks."""
    page, usual = pages(exchange, refusal), [*exchange.version_headers]
    if page is None:
        form = problem.MEDIA_TYPE
        body = problem.body(refusal, base_url=origin, request_id=exchange.request_id)
    else:
        form, own, body = page
        usual = [*(pair for pair in usual if pair[0] != _CSP), *own]
    headers = [
        *usual,
        (b"content-type", form.encode()),
        _NO_STORE,
        length(body),
        *encode_fields(refusal.headers.items()),
    ]
    if refusal.type is problem.NOT_ACCEPTABLE:
        headers.append(_VARY)
    if _is_in_vain(exchange, refusal):
        headers.append(_DO_NOT_RETRY)
    names = {name for name, _ in headers}
    headers += [pair for pair in exchange.limit_headers if pair[0] not in names]
    headers.append(exchange.id_header)
    return exchange.finish(refusal.type.status, headers, body)


def _is_in_vain(exchange: Exchange, refusal: Problem) -> bool:
    """Whether an automatic retry would fail again, wait too long, or repeat a write."""
    match refusal.type.status:
        case 409:
            return not refusal.type.retryable
        case 429:
            return int(refusal.headers.get("Retry-After", 0)) > PATIENCE_SECONDS
        case status:
            return status == 500 and exchange.method != "GET"
