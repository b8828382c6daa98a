"""Media over HTTP: a file for whoever has a pass, whole or one range of it (RFC 9110, 13 and 14).

Rule 1: the pass is judged before the media are asked, so a stranger learns nothing of what is
        there: without one that opens the file the answer is 403, whatever the name.
Rule 2: a file never changes, so its tag is its name and a range of it is always of the same bytes.
Rule 3: what a range asks for in a form that is not understood is the whole file; several ranges at
        once are the whole file as well. Only a range beyond the end is refused (416).
Rule 4: a file is read a chunk at a time, and nothing is held while its listener takes one.
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
from svc_http.exchange.exchange import Exchange, Header, busy
from svc_http.exchange.resource import Resource

T = TypeVar("T")

_ANEW: Final = "Ask for the report's audio again, which has a new address."
_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII | re.IGNORECASE)
_FIELDS: Final = (
    (b"accept-ranges", b"bytes"),
    (b"cross-origin-resource-policy", b"cross-origin"),
)


class UnreachableError(ValueError):
    """The range lies beyond the end of the file."""


def byte_span(text: str | None, size: int) -> range | None:
    """The range that a Range field asks for; None where it asks for none that is understood.

    Raises:
        UnreachableError: there is no byte of it.
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
    """Where the files are. What they cannot do now raises OSError."""

    async def size(self, name: str) -> int:
        """How many bytes the file has; FileNotFoundError where it is not there."""

    async def read(self, name: str, part: range) -> bytes:
        """The first bytes of a part of the file; FileNotFoundError where it is not there."""


FailureLog = Callable[[str, BaseException, str], None]
"""Hears of a failure: of what, and in which request."""


class MediaPages:
    """The media of one service; passes are sealed with its `keyring`."""

    def __init__(
        self, media: Files, keyring: Keyring, now: Callable[[], datetime], on_failure: FailureLog
    ) -> None:
        self._media = media
        self._keyring = keyring
        self._now = now
        self._on_failure = on_failure

    def resources(self) -> list[Resource]:
        """The one place of all files."""
        return [Resource(f"{MEDIA_PATH}/{{name}}", {"GET": self._give})]

    async def _give(self, exchange: Exchange, values: Mapping[str, str]) -> None:
        name = values["name"]
        seconds = self._admit(exchange, name)
        size = await self._ask(exchange, self._media.size(name))
        await self._answer(exchange, name, size, seconds)

    async def _answer(self, exchange: Exchange, name: str, size: int, seconds: int) -> None:
        tag = f'"{name[:64]}"'
        headers: list[Header] = [
            *_FIELDS,
            (b"etag", tag.encode()),
            # No longer than the address, so that nothing is heard from a cache that is gone here.
            (b"cache-control", b"private, max-age=%d, immutable" % seconds),
        ]
        _judge_match(exchange, tag)
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
        chunk = await self._chunk(exchange, name, window)  # before anything is promised
        await exchange.begin(status, head)
        while chunk:
            await exchange.part(chunk)
            window = window[len(chunk) :]
            chunk = await self._chunk(exchange, name, window)
        await exchange.end()

    async def _chunk(self, exchange: Exchange, name: str, window: range) -> bytes:
        return await self._ask(exchange, self._media.read(name, window)) if window else b""

    async def _ask(self, exchange: Exchange, work: Awaitable[T]) -> T:
        """What the media answer.

        Raises:
            Problem: NOT_FOUND, or SERVICE_UNAVAILABLE while they do not answer.
        """
        try:
            return await work
        except FileNotFoundError as absence:
            raise Problem(
                problem.NOT_FOUND, "This file is no longer there.", resolution=_ANEW
            ) from absence
        except OSError as failure:
            self._on_failure("media", failure, exchange.request_id)
            raise busy(problem.SERVICE_UNAVAILABLE) from failure

    def _admit(self, exchange: Exchange, name: str) -> int:
        """How many seconds the pass still opens the file.

        Raises:
            Problem: FORBIDDEN.
        """
        now = self._now()
        try:
            pass_ = _pass(exchange)
            passes.check(self._keyring, pass_, name, now)
        except PassError as refusal:
            raise Problem(
                problem.FORBIDDEN,
                "The address does not open this file, or has expired.",
                resolution=_ANEW,
            ) from refusal
        if not is_file_name(name):
            raise AssertionError("passes are for media files alone")
        return int(pass_.expires - now.timestamp())


def _pass(exchange: Exchange) -> Pass:
    pairs = parse_qsl(exchange.query.decode("ascii"), keep_blank_values=True)
    if len(pairs) != 3:
        raise PassError("The address has no pass.")
    return passes.read(dict(pairs))


def _judge_match(exchange: Exchange, tag: str) -> None:
    tags = exchange.header("if-match")
    if tags is not None and not etag.matches(tags, tag):
        raise Problem(problem.PRECONDITION_FAILED, "The file has another ETag.", {"ETag": tag})


def _range_of(exchange: Exchange, tag: str, size: int) -> range | None:
    """The range to be given. HEAD knows none (RFC 9110, 14.2), nor does what is not the same."""
    condition = exchange.header("if-range")
    if exchange.is_head or (condition is not None and condition.strip() != tag):
        return None
    return byte_span(exchange.header("range"), size)
