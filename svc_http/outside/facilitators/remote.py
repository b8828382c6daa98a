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
from svc_http.outside.upstream import Answer, Answering, Unanswered, Upstream, answered, phrased

ANSWER_BYTES: Final = 256 * 1024
"""Of one answer: the list of what a facilitator with 60 networks takes has 20 KB."""
VERIFY_SECONDS: Final = 10.0
"""It asks its chain twice or three times, which takes a second."""
SETTLE_SECONDS: Final = 30.0
"""It waits for a block or a few, of two seconds each."""
AWAY_SECONDS: Final = 5.0
"""How long it is left alone: half of what one payment waits for it in vain."""
IN_VAIN_MAX: Final = 3
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

    `key` is sent as a bearer, where there is one. `told` hears why it gives no answer.
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
        self._verify, self._settle, self._supported = (
            Upstream(f"{url}/{path}", key, "svc-payments")
            for path in ("verify", "settle", "supported")
        )
        self._verify_seconds = verify_seconds
        self._settle_seconds = settle_seconds
        self._monotonic = monotonic
        self._verifying = 0
        self._again_at = 0.0
        self._why = ""
        self._in_vain: set[str] = set()
        self.told: Callable[[BaseException], None] = lambda _: None

    async def verify(self, payload: Json) -> Verdict:
        """Whether a payload could be settled now.

        Raises:
            Unavailable: there was no answer, or it failed a moment ago, or has too much to do.
        """
        if self._monotonic() < self._again_at:
            raise Unavailable(self._why)
        if self._verifying >= AT_ONCE_MAX:
            raise Unavailable(f"{AT_ONCE_MAX} payments are being verified already")
        self._verifying += 1
        try:
            return await self._asked(self._verify, payload, self._verify_seconds, Verdict)
        finally:
            self._verifying -= 1

    async def settle(self, payload: Json) -> SettlementResponse:
        """Have it settled.

        Raises:
            Unavailable: there was no answer; it may have been done or not.
        """
        return await self._asked(self._settle, payload, self._settle_seconds, SettlementResponse)

    async def supported(self) -> Supported:
        """What it takes; kinds of another form are passed over.

        Raises:
            Unavailable: there was no answer, or not one of this form.
        """
        way = self._supported
        answer = await self._exchange(way, way.get(_JSON), self._verify_seconds)
        kinds = self._read(way, answer, _Kinds)
        if answer.status != HTTPStatus.OK:
            raise self._failed(way, f"answered {phrased(answer.status)}")
        return Supported(tuple(_kinds(kinds.kinds)))

    async def aclose(self) -> None:
        """Drop what is under way."""
        for way in (self._verify, self._settle, self._supported):
            await way.aclose()

    # -- one exchange ----------------------------------------------------------------------------

    async def _asked(self, way: Upstream, payload: Json, seconds: float, form: type[M]) -> M:
        post = way.post(facilitator_request(payload), _JSON)
        answer = await self._exchange(way, post, seconds, payload)
        read = self._read(way, answer, form)
        reason = read.invalid_reason if isinstance(read, Verdict) else read.error_reason
        if answer.status != HTTPStatus.OK and not reason:
            raise self._failed(way, f"answered {phrased(answer.status)} without a reason")
        return read

    async def _exchange(
        self,
        way: Upstream,
        asking: AbstractAsyncContextManager[Answering],
        seconds: float,
        payload: Json = None,
    ) -> Answer:
        try:
            answer = await answered(asking, seconds, ANSWER_BYTES)
        except Unanswered as why:
            failure = self._failed(way, str(why))
            if len(self._in_vain) < IN_VAIN_MAX:
                self._in_vain.add(_payer(payload))
            if len(self._in_vain) == IN_VAIN_MAX:
                self._why, self._again_at = str(failure), self._monotonic() + AWAY_SECONDS
            raise failure from why
        self._in_vain.clear()
        self._again_at = 0.0
        return answer

    def _read(self, way: Upstream, answer: Answer, form: type[T]) -> T:
        try:
            return heard(form, answer.body)
        except ValueError as fault:
            why = f"answered {phrased(answer.status)} and what cannot be read: {fault}"
            raise self._failed(way, why) from fault

    def _failed(self, way: Upstream, why: str) -> Unavailable:
        """The failure, of which the operator is told."""
        failure = Unavailable(way.hidden(f"{way.url} {why}"))
        self.told(failure)
        return failure


def _payer(payload: Json) -> str:
    """Who is to pay, in lower case; empty where it is not said."""
    try:
        return wire.structure(PaymentPayload, payload).payload.authorization.from_.lower()
    except WireError:
        return ""


def _kinds(rows: Iterable[Json]) -> Iterator[Kind]:
    for each in rows:
        try:
            yield wire.structure(Kind, each)
        except WireError:
            continue
