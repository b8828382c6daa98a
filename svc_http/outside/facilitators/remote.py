"""A facilitator behind an address: `POST /verify` and `/settle`, `GET /supported` (x402, 7).

Rule 1: a body that says what was asked is an answer, whatever its status: some tell of a
        settlement that is pending with status 500. With any status but 200 it has to give a reason,
        so that the failure of a proxy in between is not taken for a refusal.
Rule 2: no answer is `Unavailable`, and says nothing of what was done.
Rule 3: once several payers in a row waited for it in vain it is left alone for a while, but for
        what has begun: `verify` is refused at once, so that nobody waits and nothing is worked
        for; `settle` is always asked, because not to ask would have to be written down as doubt.
        What one payer sends keeps nobody else away, and any answer shows that it is there.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from typing import Final, TypeVar

from attrs import frozen

from svc_core import wire
from svc_core.payments.messages import (
    Kind,
    PaymentPayload,
    SettlementResponse,
    Supported,
    Verdict,
    facilitator_request,
    heard,
)
from svc_core.payments.ports import Unavailable
from svc_core.wire import Json, Open, WireError
from svc_http import system
from svc_http.outside.upstream import (
    NoAnswer,
    OpenAnswer,
    Upstream,
    UpstreamAnswer,
    read_answer,
    status_phrase,
)

ANSWER_BYTES: Final = 256 * 1024
"""Of one answer: the list of what a facilitator with 60 networks takes has 20 KB."""
VERIFY_SECONDS: Final = 10.0
"""It asks its chain twice or three times, which takes a second."""
SETTLE_SECONDS: Final = 30.0
"""It waits for a block or a few, of two seconds each."""
PAUSE_SECONDS: Final = 5.0
"""How long it is left alone: half of what one payment waits for it in vain."""
WAITING_PAYERS_MAX: Final = 3
"""Payers in a row who got no answer, before it is left alone."""
AT_ONCE_MAX: Final = 64
"""Payments that it is verifying; more are refused, so that a slow one does not hold all slots."""
_JSON: Final = "application/json"

M = TypeVar("M", Verdict, SettlementResponse)
T = TypeVar("T")


@frozen
class _Kinds(Open):
    kinds: tuple[Json, ...]


class RemoteFacilitator:
    """Who checks and settles payments, asked over HTTP (`svc_core.payments.ports.Facilitator`).

    `key` is sent as a bearer, where there is one. `on_failure` hears why it gives no answer.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        settle_seconds: float = SETTLE_SECONDS,
        verify_seconds: float = VERIFY_SECONDS,
        monotonic: Callable[[], float] = system.monotonic,
    ) -> None:
        self._verify, self._settle, self._kinds_upstream = (
            Upstream(f"{url}/{path}", key, "svc-payments")
            for path in ("verify", "settle", "supported")
        )
        self._verify_seconds = verify_seconds
        self._settle_seconds = settle_seconds
        self._monotonic = monotonic
        self._verify_count = 0
        self._paused_until = 0.0
        self._pause_reason = ""
        self._waiting_payers: set[str] = set()
        self.on_failure: Callable[[BaseException], None] = lambda _: None

    async def verify(self, payload: Json) -> Verdict:
        """Whether a payload could be settled now.

        Raises:
            Unavailable: there was no answer, or it failed a moment ago, or has too much to do.
        """
        if self._monotonic() < self._paused_until:
            raise Unavailable(self._pause_reason)
        if self._verify_count >= AT_ONCE_MAX:
            raise Unavailable(f"{AT_ONCE_MAX} payments are being verified already")
        self._verify_count += 1
        try:
            return await self._ask(self._verify, payload, self._verify_seconds, Verdict)
        finally:
            self._verify_count -= 1

    async def settle(self, payload: Json) -> SettlementResponse:
        """Have it settled.

        Raises:
            Unavailable: there was no answer; it may have been done or not.
        """
        return await self._ask(self._settle, payload, self._settle_seconds, SettlementResponse)

    async def supported(self) -> Supported:
        """What it takes; kinds of another form are passed over.

        Raises:
            Unavailable: there was no answer, or not one of this form.
        """
        way = self._kinds_upstream
        answer = await self._exchange(way, way.get(_JSON), self._verify_seconds)
        kinds = self._read(way, answer, _Kinds)
        if answer.status != HTTPStatus.OK:
            raise self._failure(way, f"answered {status_phrase(answer.status)}")
        return Supported(tuple(_kinds(kinds.kinds)))

    async def aclose(self) -> None:
        """Drop what is under way."""
        for way in (self._verify, self._settle, self._kinds_upstream):
            await way.aclose()

    # -- one exchange ----------------------------------------------------------------------------

    async def _ask(self, way: Upstream, payload: Json, seconds: float, form: type[M]) -> M:
        post = way.post(facilitator_request(payload), _JSON)
        answer = await self._exchange(way, post, seconds, payload)
        read = self._read(way, answer, form)
        reason = read.invalid_reason if isinstance(read, Verdict) else read.error_reason
        if answer.status != HTTPStatus.OK and not reason:
            raise self._failure(way, f"answered {status_phrase(answer.status)} without a reason")
        return read

    async def _exchange(
        self,
        way: Upstream,
        asking: AbstractAsyncContextManager[OpenAnswer],
        seconds: float,
        payload: Json = None,
    ) -> UpstreamAnswer:
        try:
            answer = await read_answer(asking, seconds, ANSWER_BYTES)
        except NoAnswer as why:
            failure = self._failure(way, str(why))
            if len(self._waiting_payers) < WAITING_PAYERS_MAX:
                self._waiting_payers.add(_payer(payload))
            if len(self._waiting_payers) == WAITING_PAYERS_MAX:
                self._pause_reason, self._paused_until = (
                    str(failure),
                    self._monotonic() + PAUSE_SECONDS,
                )
            raise failure from why
        self._waiting_payers.clear()
        self._paused_until = 0.0
        return answer

    def _read(self, way: Upstream, answer: UpstreamAnswer, form: type[T]) -> T:
        try:
            return heard(form, answer.body)
        except ValueError as fault:
            why = f"answered {status_phrase(answer.status)} and what cannot be read: {fault}"
            raise self._failure(way, why) from fault

    def _failure(self, way: Upstream, why: str) -> Unavailable:
        """The failure, of which the operator is told."""
        failure = Unavailable(way.without_key(f"{way.url} {why}"))
        self.on_failure(failure)
        return failure


def _payer(payload: Json) -> str:
    """Who is to pay, in lower case; empty where it is not said."""
    try:
        return wire.structure(PaymentPayload, payload).payload.authorization.from_.lower()
    except WireError:
        return ""


def _kinds(rows: Iterable[Json]) -> Iterator[Kind]:
    for row in rows:
        try:
            yield wire.structure(Kind, row)
        except WireError:
            continue
