"""Posts to webhook addresses that users name, and returns the status of the answer.

Rule 1: an address is checked again at each request, and the connection is made to a checked IP
        address of it (`fetch.guarded_network`).
Rule 2: no redirect is followed; environment variables, proxies, cookies and credentials are never
        used.
Rule 3: only the status of an answer counts. A little of its body is read and dropped, so that the
        receiver can finish sending.
Rule 4: a failure is one word of a closed list; no text of an answer is repeated.
"""

import math
import ssl
from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import Final, Literal, cast

import anyio
import httpcore2
from httpx2 import URL

from svc_core.base.egress import LOOPBACK, EgressError, check_callback
from svc_http.outside.fetch.guarded_network import GuardedClient, GuardedNetwork
from svc_http.outside.fetch.model import FetchRefusal

USER_AGENT: Final = "svc-webhooks"
TOTAL_SECONDS: Final = 10.0
"""The time until the status that a receiver has (Spec: Events)."""
BODY_BYTES: Final = 64 * 1024
BODY_SECONDS: Final = 1.0
"""How much of the body is read, and for how long: enough for any acknowledgement."""

FailureReason = Literal[
    "badAddress",
    "brokeOff",
    "deniedAddress",
    "protocol",
    "refused",
    "timeout",
    "tls",
    "unknownHost",
    "unreachable",
]


class DeliveryFailure(Exception):  # noqa: N818 - named as an outcome
    """No status was received, for the given reason."""

    def __init__(self, reason: FailureReason) -> None:
        super().__init__(reason)
        self.reason: FailureReason = reason


class Poster:
    """Sends to addresses that users name; one for the whole service, closed with it.

    `loopback` also allows plain http to this machine, for developers. `network` replaces the
    guarded network through which public addresses are reached.
    """

    def __init__(
        self,
        *,
        loopback: bool = False,
        total_seconds: float = TOTAL_SECONDS,
        tls: ssl.SSLContext | None = None,
        network: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._loopback = loopback
        self._total_seconds = total_seconds
        no_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._local = GuardedClient(GuardedNetwork(LOOPBACK), USER_AGENT, tls=tls or no_tls)
        self._public = GuardedClient(network or GuardedNetwork(), USER_AGENT, tls=tls)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._local.aclose()
        await self._public.aclose()

    async def post(self, address: str, fields: Mapping[str, str], body: bytes) -> int:
        """Send one POST request; return the status of the answer, whatever it is.

        Raises:
            DeliveryFailure: no status was received.
        """
        client = self._client_of(address)
        try:
            with anyio.fail_after(self._total_seconds) as scope:
                return await _exchange(client, URL(address), fields, body, scope)
        except FetchRefusal as refusal:
            # The guard refuses in words of this list.
            raise DeliveryFailure(cast("FailureReason", refusal.code)) from refusal
        except (TimeoutError, httpcore2.TimeoutException) as timeout:
            raise DeliveryFailure("timeout") from timeout
        except httpcore2.ConnectError as failure:
            raise DeliveryFailure(_failure_reason(failure)) from failure
        except httpcore2.NetworkError as error:
            raise DeliveryFailure("brokeOff") from error
        except httpcore2.ProtocolError as fault:
            raise DeliveryFailure("protocol") from fault

    def _client_of(self, address: str) -> GuardedClient:
        """The client for an address; the one for this machine reaches no other machine."""
        try:
            check_callback(address)
        except EgressError as refusal:
            if self._loopback:
                with suppress(EgressError):
                    check_callback(address, loopback=True)
                    return self._local
            raise DeliveryFailure("badAddress") from refusal
        return self._public


async def _exchange(
    client: GuardedClient,
    url: URL,
    fields: Mapping[str, str],
    body: bytes,
    scope: anyio.CancelScope,
) -> int:
    lines = [("Connection", "close"), *fields.items()]
    async with client.stream("POST", url, lines, body) as response:
        scope.deadline = math.inf  # the status has come, and the rest has a bound of its own
        await _drain_body(response)
        return response.status


async def _drain_body(response: httpcore2.Response) -> None:
    bytes_left = BODY_BYTES
    with (
        suppress(httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException),
        anyio.move_on_after(BODY_SECONDS),
    ):
        async with aclosing(response.aiter_stream()) as chunks:
            async for chunk in chunks:
                bytes_left -= len(chunk)
                if bytes_left <= 0:
                    return


def _failure_reason(failure: httpcore2.ConnectError) -> FailureReason:
    """The reason why a connection failed."""
    # The pool raises it without its cause, which is still its argument.
    cause = failure.args[0] if failure.args else None
    while isinstance(cause, BaseException):
        if isinstance(cause, ssl.SSLError):
            return "tls"
        if isinstance(cause, ConnectionRefusedError):
            return "refused"
        cause = cause.__cause__
    return "unreachable"
