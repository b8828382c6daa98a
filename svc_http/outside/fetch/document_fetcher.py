"""The guarded HTTP client that fetches the documents of sources.

Rule 1: every address is checked before it is requested, also those of redirects.
Rule 2: environment variables, proxies, cookies and credentials are never used.
Rule 3: a body is counted as it arrives and as it is decompressed, so that neither an endless body
        nor a small one that decompresses to gigabytes is ever in memory.
Rule 4: connections are not reused: each is made to an address that was checked for it.
"""

import ssl
import zlib
from collections.abc import Callable, Mapping
from contextlib import aclosing
from functools import partial
from http import HTTPStatus
from typing import Self
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
import httpcore2
from httpx2 import URL

from svc_core.base.egress import Network
from svc_core.operation.host import Progress, ProgressListener, silent
from svc_http.outside.fetch import local_files as files
from svc_http.outside.fetch.guarded_network import GuardedClient, GuardedNetwork
from svc_http.outside.fetch.model import (
    FetchedDocument,
    FetchLimits,
    FetchRefusal,
    NotModified,
    status_phrase,
)
from svc_http.outside.fetch.url_checks import checked_url

MIB = 1024 * 1024

USER_AGENT = "svc-ingest (feed reader)"

_ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/json;q=0.9, "
    "application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5"
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GZIP = zlib.MAX_WBITS | 16


class Fetcher:
    """Fetches documents; one for the whole service, closed with it.

    `exceptions` are networks that may be reached although they are not public.
    """

    def __init__(
        self,
        *,
        exceptions: tuple[Network, ...] = (),
        limits: FetchLimits = FetchLimits(),  # noqa: B008  frozen
        user_agent: str = USER_AGENT,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.limits = limits
        self._exceptions = exceptions
        self._turns = anyio.Semaphore(limits.at_once)
        self._hosts: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self._client = GuardedClient(
            GuardedNetwork(exceptions), user_agent, tls=tls, connect_seconds=limits.connect_seconds
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_failure: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def fetch(
        self,
        location: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        tell: ProgressListener = silent,
    ) -> FetchedDocument | NotModified:
        """The document at an http(s) address or in a file.

        `etag` and `last_modified` are the validators of the copy that is already stored. `tell`
        reports how many MiB have arrived.

        Raises:
            FetchRefusal: it could not be read; nothing of it is stored.
        """
        if files.is_web(location):
            return await self._follow(location, _headers(etag, last_modified), tell)
        path = files.file_path(location)
        body = await anyio.to_thread.run_sync(files.read_file, path, self.limits.body_bytes)
        return FetchedDocument(body, None, None, None, location, None)

    async def _follow(
        self, location: str, headers: list[tuple[str, str]], tell: ProgressListener
    ) -> FetchedDocument | NotModified:
        url = checked_url(location, self._exceptions)
        seconds_left = self.limits.total_seconds
        for _ in range(self.limits.redirects + 1):
            # A turn is given back before the next host is asked: no two chains wait for each other.
            lock = self._hosts.setdefault(url.host, anyio.Lock())
            async with lock, self._turns:
                start_time = anyio.current_time()
                answer = await self._ask(url, headers, seconds_left, tell)
                seconds_left -= anyio.current_time() - start_time
            if not isinstance(answer, URL):
                return answer
            url = answer
        raise FetchRefusal("redirects", f"More than {self.limits.redirects} redirects.")

    async def _ask(
        self, url: URL, headers: list[tuple[str, str]], seconds: float, tell: ProgressListener
    ) -> FetchedDocument | NotModified | URL:
        """Make one request; returns a URL if the answer is a redirect."""
        try:
            with anyio.fail_after(seconds):
                return await self._exchange(url, headers, tell)
        except TimeoutError as error:
            total = self.limits.total_seconds
            raise FetchRefusal(
                "timeout", f"{url.host} did not finish its answer within {total:g} seconds."
            ) from error
        except httpcore2.TimeoutException as error:
            raise FetchRefusal("timeout", f"{url.host} did not answer in time.") from error
        except httpcore2.NetworkError as failure:
            raise FetchRefusal(
                "unreachable", f"{url.host} cannot be reached, or broke off: {_words(failure)}."
            ) from failure
        except httpcore2.ProtocolError as fault:
            raise FetchRefusal(
                "protocol", f"{url.host} did not answer in whole HTTP: {_words(fault)}."
            ) from fault

    async def _exchange(
        self, url: URL, headers: list[tuple[str, str]], tell: ProgressListener
    ) -> FetchedDocument | NotModified | URL:
        async with self._client.stream("GET", url, headers) as response:
            fields = {
                name.decode("latin-1").lower(): value.decode("latin-1")
                for name, value in response.headers
            }
            if response.status == HTTPStatus.NOT_MODIFIED:
                return NotModified()
            if response.status in _REDIRECTS:
                return self._next(url, fields.get("location", ""), response.status)
            if response.status != HTTPStatus.OK:
                raise FetchRefusal(
                    "httpStatus",
                    f"The server answered {status_phrase(response.status)}.",
                    response.status,
                )
            return FetchedDocument(
                body=await self._body(response, fields, partial(_tell_progress, tell, url, fields)),
                content_type=fields.get("content-type"),
                etag=fields.get("etag"),
                last_modified=fields.get("last-modified"),
                final_url=str(url),
                status=response.status,
            )

    def _next(self, url: URL, target: str, status: int) -> URL:
        if not target:
            raise FetchRefusal("protocol", "A redirect leads nowhere.", status)
        return checked_url(str(url.join(target)), self._exceptions)

    async def _body(
        self,
        response: httpcore2.Response,
        fields: Mapping[str, str],
        tell: Callable[[int, int], None],
    ) -> bytes:
        content = _Content(fields.get("content-encoding", ""))
        body = bytearray()
        size = 0
        async with aclosing(response.aiter_stream()) as chunks:
            async for chunk in chunks:
                tell(size, len(chunk))
                size += len(chunk)
                body += content.take(chunk, self.limits.body_bytes + 1 - len(body))
                if max(size, len(body)) > self.limits.body_bytes:
                    raise FetchRefusal(
                        "tooLarge",
                        f"The document is larger than {self.limits.body_bytes} bytes.",
                    )
        content.finish()
        return bytes(body)


def _headers(etag: str | None, last_modified: str | None) -> list[tuple[str, str]]:
    conditions = [("If-None-Match", etag), ("If-Modified-Since", last_modified)]
    return [
        ("Accept", _ACCEPT),
        ("Accept-Encoding", "gzip"),
        *((name, value) for name, value in conditions if value),
    ]


def _tell_progress(
    tell: ProgressListener, url: URL, fields: Mapping[str, str], before: int, count: int
) -> None:
    mib = (before + count) // MIB
    if mib > before // MIB:
        total = fields.get("content-length", "")
        tell(Progress(mib, int(total) // MIB if total.isdecimal() else 0, str(url), "MiB"))


def _words(fault: Exception) -> str:
    return (str(fault) or type(fault).__name__).rstrip(".")


# -- content encodings -------------------------------------------------------------------------


class _Content:
    """Decodes the content encoding of a body, up to a number of bytes."""

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in {"", "identity", "gzip", "x-gzip"}:
            raise FetchRefusal(
                "encoding", "The answer is compressed in a way that was not asked for."
            )
        self._unfolding = zlib.decompressobj(_GZIP) if "gzip" in name else None

    def take(self, chunk: bytes, bytes_max: int) -> bytes:
        """Decode a chunk into at most `bytes_max` bytes; the rest is never decompressed."""
        if self._unfolding is None:
            return chunk
        try:
            return self._unfolding.decompress(chunk, bytes_max)
        except zlib.error as fault:
            raise FetchRefusal("encoding", "The compressed answer is damaged.") from fault

    def finish(self) -> None:
        """Check that a compressed body is complete; the HTTP framing was checked already."""
        unfolding = self._unfolding
        if unfolding is not None and (not unfolding.eof or unfolding.unused_data):
            raise FetchRefusal("encoding", "The compressed answer is not whole.")
