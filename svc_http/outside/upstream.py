"""An HTTP client for JSON services at addresses that the operator chose.

Rule 1: the operator chose the address, so private networks may be reached beside public ones;
        redirects, proxies, cookies and environment variables are never used.
Rule 2: no error message contains the key.
"""

import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final

import anyio
import httpcore2
from attrs import field, frozen
from httpx2 import URL

from svc_core.base.egress import PRIVATE
from svc_http.outside.fetch.guarded_network import CONNECT_SECONDS, GuardedClient, GuardedNetwork
from svc_http.outside.fetch.model import FetchRefusal

MESSAGE_CHARS: Final = 200
"""The length to which the error message of a server is cut."""


class NoAnswer(Exception):  # noqa: N818 - named as an outcome
    """No answer came; the message continues a sentence that begins with the address."""


@frozen
class OpenAnswer:
    """An answer whose body is still arriving."""

    status: int
    wait_seconds: float | None
    _response: httpcore2.Response = field(repr=False)

    async def chunks(self) -> AsyncGenerator[bytes]:
        """Yield the body as it arrives."""
        async with aclosing(self._response.aiter_stream()) as chunks:
            async for chunk in chunks:
                yield chunk

    async def body(self, bytes_max: int) -> bytes:
        """The whole body.

        Raises:
            NoAnswer: the body is longer than `bytes_max`.
        """
        content = bytearray()
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                content += chunk
                if len(content) > bytes_max:
                    raise NoAnswer(f"answers more than {bytes_max} bytes")
        return bytes(content)


@frozen
class UpstreamAnswer:
    """A whole answer: status, body, and the seconds of Retry-After."""

    status: int
    body: bytes = field(repr=False)
    wait_seconds: float | None


class Upstream:
    """A client of one address, with an optional bearer key; `agent` is the User-Agent."""

    def __init__(self, url: str, key: str | None, agent: str) -> None:
        self.url = URL(url)
        self._key = key
        # Reading the root certificates takes 0.1 s, and plain http needs none.
        no_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if self.url.scheme == "http" else None
        self._client = GuardedClient(
            GuardedNetwork(PRIVATE), agent, tls=no_tls, connect_seconds=CONNECT_SECONDS
        )

    async def ask(self, question: Any = None, *, seconds: float, bytes_max: int) -> UpstreamAnswer:
        """The whole answer to a JSON body, or to a GET request where there is no question.

        Raises:
            NoAnswer: as `open`; or none came within the seconds, or its body is too long.
        """
        try:
            with anyio.fail_after(seconds):
                async with self.open(question, "application/json") as answer:
                    body = await answer.body(bytes_max)
                    return UpstreamAnswer(answer.status, body, answer.wait_seconds)
        except TimeoutError as error:
            raise NoAnswer(f"did not answer within {seconds:g} seconds") from error

    @asynccontextmanager
    async def open(self, question: Any, accept: str) -> AsyncIterator[OpenAnswer]:
        """Send a request; the context gives the answer and closes its connection at the end.

        Raises:
            NoAnswer: the address is refused or cannot be reached, or the answer breaks off.
        """
        body, fields = None, [("Accept", accept)]
        if question is not None:
            body = json.dumps(question).encode()
            fields += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        if self._key is not None:
            fields.append(("Authorization", f"Bearer {self._key}"))
        method = "GET" if body is None else "POST"
        try:
            async with self._client.stream(method, self.url, fields, body) as response:
                yield OpenAnswer(response.status, _retry_seconds(response.headers), response)
        except FetchRefusal as refusal:
            raise NoAnswer(f"cannot be asked: {refusal.message}") from refusal
        except httpcore2.TimeoutException as error:
            raise TimeoutError from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as fault:
            reason = str(fault) or type(fault).__name__
            raise NoAnswer(f"cannot be reached, or broke off: {reason}") from fault

    def without_key(self, text: str) -> str:
        """The text with the key replaced by dots."""
        return text.replace(self._key, "...") if self._key else text

    def error_message(self, body: bytes) -> str:
        """The error message in a JSON body, on one line and without the key; else empty."""
        try:
            error = json.loads(body)["error"]
            message = error["message"] if isinstance(error, dict) else error
        except (ValueError, TypeError, KeyError, RecursionError):
            return ""
        words = " ".join(str(message).split())
        line = "".join(char for char in words if char.isprintable())
        return self.without_key(line)[:MESSAGE_CHARS]

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def _retry_seconds(headers: Sequence[tuple[bytes, bytes]]) -> float | None:
    """The seconds of a Retry-After field; a date in it is ignored."""
    text = next((value for name, value in headers if name.lower() == b"retry-after"), b"")
    return float(text) if text.isdigit() and len(text) < 6 else None
