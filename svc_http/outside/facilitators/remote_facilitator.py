"""A client of a payment facilitator: `POST /verify` and `/settle`, `GET /supported` (x402, 7).

Rule 1: a body of the expected form is an answer, whatever its status: some facilitators report a
        pending settlement with status 500. With any status but 200 it must give a reason, so that
        the error page of a proxy is not taken for a refusal.
Rule 2: if no answer comes, `Unavailable` is raised; it says nothing of what was done.
Rule 3: after several payers in a row got no answer, the facilitator is not asked to verify for a
        while (a circuit breaker); it is always asked to settle.
"""

# The circuit breaker. It opens when `WAITING_PAYERS_MAX` different payers in a row got no answer,
# and stays open for `PAUSE_SECONDS`. While it is open, `verify` raises at once: nobody waits ten
# seconds for nothing, and no operation is computed whose payment cannot be settled. `settle` is
# asked all the same: its payment was verified, and a settlement that is not tried would have to be
# stored as unknown. It counts payers, not requests, because one payer could send payloads on
# which the facilitator hangs, and would deny payment to everybody else. Any answer closes the
# breaker, also an error with a reason: it shows that the facilitator is there.''

from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import Final, TypeVar

from attrs import frozen

from svc_core import wire
from svc_core.payments.messages import (
    Kind,
    PaymentPayload,
    SettlementResponse,
    SupportedKinds,
    Verdict,
    facilitator_reply,
    facilitator_request,
)
from svc_core.payments.payment_ports import Unavailable
from svc_core.wire import Json, OpenShape, WireError
from svc_http import system
from svc_http.outside.fetch.model import status_phrase
from svc_http.outside.upstream import (
    NoAnswer,
    Upstream,
    UpstreamAnswer,
)

ANSWER_BYTES: Final = 256 * 1024
"""The largest answer: the list of kinds of a facilitator with 60 networks has 20 KB."""
VERIFY_SECONDS: Final = 10.0
"""How long a verification may take: it reads the chain two or three times, in a second."""
SETTLE_SECONDS: Final = 30.0
"""How long a settlement may take: it waits for a few blocks of two seconds each."""
PAUSE_SECONDS: Final = 5.0
"""How long `verify` is refused: half of the time that one payment waits without an answer."""
WAITING_PAYERS_MAX: Final = 3
"""Payers in a row without an answer after which `verify` is refused."""
AT_ONCE_MAX: Final = 64
"""Concurrent verifications; more are refused, so that a slow facilitator cannot fill all slots."""

M = TypeVar("M", Verdict, SettlementResponse)
T = TypeVar("T")


@frozen
class _Kinds(OpenShape):
    kinds: tuple[Json, ...]


class RemoteFacilitator:
    """Verifies and settles payments over HTTP (`svc_core.payments.payment_ports.Facilitator`).

    `key`, if there is one, is sent as a bearer token. `on_failure` gets each missing answer.
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
            Unavailable: no answer came, or none came to the last payers, or too many are verified.
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
        """Settle a payment.

        Raises:
            Unavailable: no answer came; the money may have moved or not.
        """
        return await self._ask(self._settle, payload, self._settle_seconds, SettlementResponse)

    async def supported(self) -> SupportedKinds:
        """The kinds of payment that it accepts; kinds of another form are ignored.

        Raises:
            Unavailable: no answer of this form came.
        """
        api = self._kinds_upstream
        answer = await self._exchange(api, None, self._verify_seconds)
        kinds = self._read(api, answer, _Kinds)
        if answer.status != HTTPStatus.OK:
            raise self._failure(api, f"answered {status_phrase(answer.status)}")
        return SupportedKinds(tuple(_kinds(kinds.kinds)))

    async def aclose(self) -> None:
        """Close all connections."""
        for api in (self._verify, self._settle, self._kinds_upstream):
            await api.aclose()

    # -- one exchange ----------------------------------------------------------------------------

    async def _ask(self, api: Upstream, payload: Json, seconds: float, form: type[M]) -> M:
        answer = await self._exchange(api, facilitator_request(payload), seconds, payload)
        read = self._read(api, answer, form)
        reason = read.invalid_reason if isinstance(read, Verdict) else read.error_reason
        if answer.status != HTTPStatus.OK and not reason:
            raise self._failure(api, f"answered {status_phrase(answer.status)} without a reason")
        return read

    async def _exchange(
        self, api: Upstream, question: Json, seconds: float, payload: Json = None
    ) -> UpstreamAnswer:
        try:
            answer = await api.ask(question, seconds=seconds, bytes_max=ANSWER_BYTES)
        except NoAnswer as error:
            failure = self._failure(api, str(error))
            if len(self._waiting_payers) < WAITING_PAYERS_MAX:
                self._waiting_payers.add(_payer(payload))
            if len(self._waiting_payers) == WAITING_PAYERS_MAX:
                self._pause_reason = str(failure)
                self._paused_until = self._monotonic() + PAUSE_SECONDS
            raise failure from error
        self._waiting_payers.clear()
        self._paused_until = 0.0
        return answer

    def _read(self, api: Upstream, answer: UpstreamAnswer, form: type[T]) -> T:
        try:
            return facilitator_reply(form, answer.body)
        except ValueError as fault:
            reason = f"answered {status_phrase(answer.status)} and what cannot be read: {fault}"
            raise self._failure(api, reason) from fault

    def _failure(self, api: Upstream, reason: str) -> Unavailable:
        """Build the failure, and pass it to `on_failure`."""
        failure = Unavailable(api.without_key(f"{api.url} {reason}"))
        self.on_failure(failure)
        return failure


def _payer(payload: Json) -> str:
    """The address of the payer in lower case; empty if the payload has none."""
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
