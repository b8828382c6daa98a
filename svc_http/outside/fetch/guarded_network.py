"""A network backend that connects to checked IP addresses only (protection against SSRF).

A name is resolved once, every address of the answer is checked, and the connection is made to a
checked address: a name that resolves differently after the check (DNS rebinding) reaches nothing.
TLS and the Host field still use the name.
"""

import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache, partial
from typing import Any

import anyio
import httpcore2
from httpcore2 import (
    SOCKET_OPTION,
    AnyIOBackend,
    AsyncConnectionPool,
    AsyncNetworkBackend,
    AsyncNetworkStream,
    ConnectError,
    Response,
)
from httpx2 import URL, create_ssl_context

from svc_core.base.egress import Network, is_allowed
from svc_http.outside.fetch.model import FetchRefusal
from svc_http.outside.fetch.resolver import Resolver
from svc_http.outside.fetch.url_checks import denied_address

CONNECT_SECONDS = 3.0
"""For name, connection and TLS; a server that needs longer is overloaded."""

ANSWERS_MAX = 16
"""Addresses of one name that are tried; public services have far fewer."""


class GuardedNetwork(AnyIOBackend):
    """A network of public addresses, and of the networks in `exceptions`."""

    def __init__(self, exceptions: tuple[Network, ...] = ()) -> None:
        self._exceptions = exceptions
        self._resolver = Resolver()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the backend's interface
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Connect to the first address of the host that answers.

        Raises:
            FetchRefusal: `unknownHost`, `deniedAddress`, or `timeout`.
            ConnectError: no address answers.
        """
        try:
            with anyio.fail_after(timeout):
                addresses = await self._addresses(host, port)
                stream = await self._first(addresses, port, local_address, socket_options)
        except TimeoutError as error:
            raise FetchRefusal(
                "timeout", f"{host} could not be connected to within {timeout:g} seconds."
            ) from error
        stream.start_tls = partial(  # type: ignore[method-assign]
            _start_tls, stream.start_tls, stream.aclose
        )
        return stream

    async def connect_unix_socket(self, *_args: Any, **_kwargs: Any) -> AsyncNetworkStream:
        """Never called: no address leads to a local socket."""
        raise AssertionError("local sockets are not for fetching")

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        try:
            answers = await self._resolver.addresses(host, port)
        except (OSError, UnicodeError) as error:
            raise FetchRefusal("unknownHost", f"No host of the name {host} is known.") from error
        addresses = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
        if not all(is_allowed(address, self._exceptions) for address in addresses):
            raise denied_address(host)
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
                return await super().connect_tcp(address, port, None, local_address, options)
            except ConnectError as error:
                failure = error
        raise failure


class GuardedClient:
    """Makes requests over a guarded network, without redirects, proxies, cookies or environment.

    No connection is used twice, because each was checked for one use. The caller bounds their
    number, and the time of an exchange after its connection was made.
    """

    def __init__(
        self,
        network: AsyncNetworkBackend,
        agent: str,
        *,
        tls: ssl.SSLContext | None = None,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        self._network = network
        self._agent = agent
        self._tls = tls
        self._timeouts = {"connect": connect_seconds}
        self._pool: AsyncConnectionPool | None = None

    def stream(
        self, method: str, url: URL, fields: Iterable[tuple[str, str]], body: bytes | None = None
    ) -> AbstractAsyncContextManager[Response]:
        """Send a request; the context gives the answer and closes its connection at the end."""
        if self._pool is None:
            self._pool = AsyncConnectionPool(
                ssl_context=self._tls or _public_tls(),
                max_connections=None,
                max_keepalive_connections=0,
                network_backend=self._network,
            )
        return self._pool.stream(
            method,
            httpcore2.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=[("Host", url.netloc.decode("ascii")), ("User-Agent", self._agent), *fields],
            content=body,
            extensions={"timeout": self._timeouts},
        )

    async def aclose(self) -> None:
        """Close all connections."""
        if self._pool is not None:
            await self._pool.aclose()


@cache
def _public_tls() -> ssl.SSLContext:
    """The root certificates of the public web: reading them takes about 0.1 s, once."""
    return create_ssl_context(trust_env=False)


async def _start_tls(
    start: Callable[..., Awaitable[AsyncNetworkStream]],
    close: Callable[[], Awaitable[None]],
    *arguments: Any,
    **options: Any,
) -> AsyncNetworkStream:
    """Begin TLS, and close the connection if that is cancelled half-way.

    The backend closes it when TLS fails, but not when the wait is cancelled, and then nobody else
    has a reference to it.
    """
    try:
        return await start(*arguments, **options)
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await close()
        raise
