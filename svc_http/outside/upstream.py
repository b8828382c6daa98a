"""Asking an address that the operator chose, whatever for, in JSON.

Rule 1: the address is the operator's own word, so private networks may be reached, and no others
        that are not public; no redirect, proxy, cookie or variable of the environment has a part.
Rule 2: a key is in no message.
"""

import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from http import HTTPStatus
from typing import Any, Final

import anyio
import httpcore2
from attrs import field, frozen
from httpx2 import URL

from svc_core.base.egress import PRIVATE
from svc_http.outside.fetch.guard import Guard, connection_pool, pool_url
from svc_http.outside.fetch.model import FetchRefused

CONNECT_SECONDS: Final = 3.0
MESSAGE_CHARS: Final = 200
"""Of what a server says of its refusal."""


class NoAnswer(Exception):  # noqa: N818 - what happened, as the operator is told it
    """There is no answer; the message goes on from the address."""


@frozen
class OpenAnswer:
    """An answer whose body is still to come."""

    status: int
    wait_seconds: float | None
    _response: httpcore2.Response = field(repr=False)

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The body as it comes."""
        async with aclosing(self._response.aiter_stream()) as chunks:
            async for chunk in chunks:
                yield chunk

    async def body(self, bytes_max: int) -> bytes:
        """The whole body.

        Raises:
            Unanswered: it is longer.
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
    """A whole answer."""

    status: int
    body: bytes = field(repr=False)
    wait_seconds: float | None


async def read_answer(
    exchange: AbstractAsyncContextManager[OpenAnswer], seconds: float, bytes_max: int
) -> UpstreamAnswer:
    """The whole answer to what is asked.

    Raises:
        Unanswered: there is none within the seconds, or a longer one.
    """
    try:
        with anyio.fail_after(seconds):
            async with exchange as answer:
                return UpstreamAnswer(
                    answer.status, await answer.body(bytes_max), answer.wait_seconds
                )
    except TimeoutError as late:
        raise NoAnswer(f"did not answer within {seconds:g} seconds") from late


class Upstream:
    """One address, and the key that it is asked with; `agent` is who asks."""

    def __init__(self, url: str, key: str | None, agent: str) -> None:
        self.url = URL(url)
        self._key = key
        self._agent = agent
        self._pool: httpcore2.AsyncConnectionPool | None = None

    def post(self, question: Any, accept: str) -> AbstractAsyncContextManager[OpenAnswer]:
        """The answer to a request; its connection is closed at the end, however that comes.

        Raises:
            Unanswered: it cannot be asked or reached, or breaks off before the end.
        """
        return self._answer("POST", accept, json.dumps(question).encode())

    def get(self, accept: str) -> AbstractAsyncContextManager[OpenAnswer]:
        """The same of a question without a body."""
        return self._answer("GET", accept, None)

    @asynccontextmanager
    async def _answer(
        self, method: str, accept: str, body: bytes | None
    ) -> AsyncIterator[OpenAnswer]:
        if self._pool is None:
            # Reading the root certificates takes 0.1 s, and plain http needs none.
            plain = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if self.url.scheme == "http" else None
            self._pool = connection_pool(Guard(PRIVATE), plain)
        fields = self._fields(accept, body)
        timeouts = {"timeout": {"connect": CONNECT_SECONDS}}
        try:
            async with self._pool.stream(
                method, pool_url(self.url), headers=fields, content=body, extensions=timeouts
            ) as response:
                yield OpenAnswer(response.status, _retry_seconds(response.headers), response)
        except FetchRefused as refusal:
            raise NoAnswer(f"cannot be asked: {refusal.message}") from refusal
        except httpcore2.TimeoutException as late:
            raise TimeoutError from late
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as fault:
            why = str(fault) or type(fault).__name__
            raise NoAnswer(f"cannot be reached, or broke off: {why}") from fault

    def _fields(self, accept: str, body: bytes | None) -> list[tuple[str, str]]:
        fields = [
            ("Host", self.url.netloc.decode("ascii")),
            ("User-Agent", self._agent),
            ("Accept", accept),
        ]
        if body is not None:
            fields += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        if self._key is not None:
            fields.append(("Authorization", f"Bearer {self._key}"))
        return fields

    def without_key(self, text: str) -> str:
        """A text without the key."""
        return text.replace(self._key, "...") if self._key else text

    def error_message(self, body: bytes) -> str:
        """What an error says of itself, on one line without the key."""
        try:
            error = json.loads(body)["error"]
            message = error["message"] if isinstance(error, dict) else error
        except (ValueError, TypeError, KeyError, RecursionError):
            return ""
        words = " ".join(str(message).split())
        line = "".join(mark for mark in words if mark.isprintable())
        return self.without_key(line)[:MESSAGE_CHARS]

    async def aclose(self) -> None:
        """Drop what is under way."""
        if self._pool is not None:
            await self._pool.aclose()


def status_phrase(status: int) -> str:
    """A status with its name, where it has one."""
    is_listed = status in HTTPStatus.__members__.values()
    return f"{status} {HTTPStatus(status).phrase}" if is_listed else str(status)


def _retry_seconds(headers: Sequence[tuple[bytes, bytes]]) -> float | None:
    """The seconds that a server asks to be left alone; its dates are not read."""
    text = next((value for name, value in headers if name.lower() == b"retry-after"), b"")
    return float(text) if text.isdigit() and len(text) < 6 else None
