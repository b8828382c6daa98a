"""Serves audio files to holders of a signed URL, whole or one range (RFC 9110, 13 and 14).

Rule 1: the pass in the URL is checked before the file is looked for: without a valid pass the
        answer is 403 for every name, so that a stranger cannot learn which files exist.
Rule 2: a file never changes, so its ETag is its name, and a range always has the same bytes.
Rule 3: a Range field that is not understood, or that has several ranges, gives the whole file.
        Only a range beyond the end is refused (416).
Rule 4: a file is read in chunks, and no file handle is open while the client takes one.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final, Protocol, TypeVar
from urllib.parse import parse_qsl

from svc_core.base import passes
from svc_core.base.passes import Pass, PassError
from svc_core.base.seals import Keyring
from svc_core.contract import etag, problem
from svc_core.contract.problem import Problem
from svc_core.reports.audio import MIME_TYPES, is_file_name
from svc_core.reports.operations import MEDIA_PATH
from svc_http.exchange.http_exchange import Exchange, Header, busy
from svc_http.exchange.resource import Resource

T = TypeVar("T")

_NEW_URL_HINT: Final = "Ask for the report's audio again, which has a new address."
_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII | re.IGNORECASE)
_FIELDS: Final = (
    (b"accept-ranges", b"bytes"),
    (b"cross-origin-resource-policy", b"cross-origin"),
)


class UnreachableError(ValueError):
    """A range begins beyond the end of the file."""


def byte_span(text: str | None, size: int) -> range | None:
    """The range that a Range field asks for; None where the field is absent or not understood.

    Raises:
        UnreachableError: the range begins beyond the end.
    """
    match = _RANGE.fullmatch((text or "").strip())
    if match is None or match[0].endswith("=-"):
        return None
    first, last = match[1], match[2]
    if not first:
        start, end = max(size - int(last), 0), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= size:
        raise UnreachableError
    return range(start, end)


class Files(Protocol):
    """A store of media files; a failure to read raises OSError."""

    async def size(self, name: str) -> int:
        """The size of a file in bytes; FileNotFoundError where it does not exist."""

    async def read(self, name: str, part: range) -> bytes:
        """Some bytes from the start of `part`; FileNotFoundError where the file does not exist."""


FailureLog = Callable[[str, BaseException, str], None]
"""Logs a failure: the event, the exception, the request id."""


class MediaPages:
    """Serves the media of one service; the passes are sealed with its `keyring`."""

    def __init__(
        self, media: Files, keyring: Keyring, now: Callable[[], datetime], on_failure: FailureLog
    ) -> None:
        self._media = media
        self._keyring = keyring
        self._now = now
        self._on_failure = on_failure

    def resources(self) -> list[Resource]:
        """The resource of all files."""
        return [Resource(f"{MEDIA_PATH}/{{name}}", {"GET": self._serve})]

    async def _serve(self, exchange: Exchange, values: Mapping[str, str]) -> None:
        name = values["name"]
        seconds = self._admit(exchange, name)
        size = await self._media_result(exchange, self._media.size(name))
        await self._answer(exchange, name, size, seconds)

    async def _answer(self, exchange: Exchange, name: str, size: int, seconds: int) -> None:
        tag = f'"{name[:64]}"'
        headers: list[Header] = [
            *_FIELDS,
            (b"etag", tag.encode()),
            # No longer than the URL is valid, so that no cache outlives the access.
            (b"cache-control", b"private, max-age=%d, immutable" % seconds),
        ]
        tags = exchange.header("if-none-match")
        if tags is not None and not etag.none_match(tags, tag):
            await exchange.answer(304, headers)
            return
        try:
            part = _range_of(exchange, tag, size)
        except UnreachableError as behind:
            raise Problem(
                problem.RANGE_NOT_SATISFIABLE,
                f"The file has {size} bytes.",
                {"Content-Range": f"bytes */{size}"},
            ) from behind
        headers.append((b"content-type", MIME_TYPES[name[65:]].encode()))
        if part is not None:
            place = f"bytes {part.start}-{part.stop - 1}/{size}"
            headers.append((b"content-range", place.encode()))
        whole = part or range(size)
        headers.append((b"content-length", b"%d" % len(whole)))
        status = 200 if part is None else 206
        head = [*exchange.version_headers, exchange.id_header, *headers]
        window = range(0) if exchange.is_head else whole
        chunk = await self._chunk(exchange, name, window)  # it may fail, so before the head
        await exchange.begin(status, head)
        while chunk:
            await exchange.part(chunk)
            window = window[len(chunk) :]
            chunk = await self._chunk(exchange, name, window)
        await exchange.end()

    async def _chunk(self, exchange: Exchange, name: str, window: range) -> bytes:
        return await self._media_result(exchange, self._media.read(name, window)) if window else b""

    async def _media_result(self, exchange: Exchange, work: Awaitable[T]) -> T:
        """The result of a call to the media store.

        Raises:
            Problem: NOT_FOUND, or SERVICE_UNAVAILABLE while the store fails.
        """
        try:
            return await work
        except FileNotFoundError as absence:
            raise Problem(
                problem.NOT_FOUND, "This file is no longer there.", resolution=_NEW_URL_HINT
            ) from absence
        except OSError as failure:
            self._on_failure("media", failure, exchange.request_id)
            raise busy(problem.SERVICE_UNAVAILABLE) from failure

    def _admit(self, exchange: Exchange, name: str) -> int:
        """Check the pass; how many seconds it is still valid.

        Raises:
            Problem: FORBIDDEN.
        """
        now = self._now()
        try:
            pass_ = _pass(exchange)
            passes.verify_pass(self._keyring, pass_, name, now)
        except PassError as refusal:
            raise Problem(
                problem.FORBIDDEN,
                "The address does not open this file, or has expired.",
                resolution=_NEW_URL_HINT,
            ) from refusal
        if not is_file_name(name):
            raise AssertionError("passes are for media files alone")
        return int(pass_.expires - now.timestamp())


def _pass(exchange: Exchange) -> Pass:
    pairs = parse_qsl(exchange.query.decode("ascii"), keep_blank_values=True)
    if len(pairs) != 3:
        raise PassError("The address has no pass.")
    return passes.parse_pass(dict(pairs))


def _range_of(exchange: Exchange, tag: str, size: int) -> range | None:
    """The range to send: None for HEAD (RFC 9110, 14.2), and where If-Range names another file."""
    condition = exchange.header("if-range")
    if exchange.is_head or (condition is not None and condition.strip() != tag):
        return None
    return byte_span(exchange.header("range"), size)
