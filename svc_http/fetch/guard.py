"""Connections to checked addresses only.

The name is resolved once, every answer is judged, and the connection goes to a judged literal: a
name that changes its mind between the check and the connection reaches nothing. TLS and the Host
field still carry the name.
"""

import socket
import ssl
from collections.abc import Iterable, Sequence
from typing import Any

import anyio
from httpcore2 import (
    SOCKET_OPTION,
    AnyIOBackend,
    AsyncNetworkBackend,
    AsyncNetworkStream,
    ConnectError,
)

from svc_core.egress import Network, is_allowed
from svc_http.fetch.addresses import denied
from svc_http.fetch.model import FetchRefused

ANSWERS_MAX = 16
"""Addresses of one name that are tried; public services have far fewer."""


class Guard(AsyncNetworkBackend):
    """The network as the client sees it: public addresses and the given exceptions."""

    def __init__(self, exceptions: tuple[Network, ...] = ()) -> None:
        self._exceptions = exceptions
        self._backend = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the backend's interface
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """A connection to the first of the host's addresses that answers.

        Raises:
            FetchRefused: `unknownHost`, `deniedAddress`, or `timeout`.
            ConnectError: no address answers.
        """
        try:
            with anyio.fail_after(timeout):
                addresses = await self._resolved(host, port)
                return _Connection(
                    await self._first(addresses, port, local_address, socket_options)
                )
        except TimeoutError as late:
            raise FetchRefused(
                "timeout", f"{host} could not be connected to within {timeout:g} seconds."
            ) from late

    async def connect_unix_socket(
        self,
        path: str,  # noqa: ARG002 - the backend's interface
        timeout: float | None = None,  # noqa: ASYNC109, ARG002
        socket_options: Iterable[SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> AsyncNetworkStream:
        """Never: no address leads here."""
        raise AssertionError("local sockets are not for fetching")

    async def sleep(self, seconds: float) -> None:
        """Wait between attempts."""
        await self._backend.sleep(seconds)

    async def _resolved(self, host: str, port: int) -> Sequence[str]:
        try:
            answers = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as unknown:
            raise FetchRefused("unknownHost", f"No host of the name {host} is known.") from unknown
        addresses = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
        if not all(is_allowed(address, self._exceptions) for address in addresses):
            raise denied(host)
        return addresses[:ANSWERS_MAX]

    async def _first(
        self,
        addresses: Sequence[str],
        port: int,
        local_address: str | None,
        options: Iterable[SOCKET_OPTION] | None,
    ) -> AsyncNetworkStream:
        failure = ConnectError("the name has no address")
        for address in addresses:
            try:
                return await self._backend.connect_tcp(address, port, None, local_address, options)
            except ConnectError as refused:
                failure = refused
        raise failure


class _Connection(AsyncNetworkStream):
    """A connection that is also closed when TLS is given up half-way.

    The backend closes it when TLS fails, but not when the wait for it is cancelled, and then
    nobody else knows of it.
    """

    def __init__(self, stream: AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the backend's interface
    ) -> bytes:
        return await self._stream.read(max_bytes, timeout)

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 - the backend's interface
    ) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the backend's interface
    ) -> AsyncNetworkStream:
        try:
            return await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
