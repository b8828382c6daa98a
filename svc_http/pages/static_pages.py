"""Serves static files and pages that are rendered once, with a strong ETag.

Rule: the gzip form is made with the page; each form has an ETag of its own and is answered with 304
where the browser has it already.
"""

import asyncio
import gzip
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final

from attrs import field, frozen

from svc_core.contract import etag
from svc_core.contract import negotiation as media
from svc_http.exchange.http_exchange import V1, Exchange, Header
from svc_http.exchange.resource import Handler, Resource
from svc_http.pages.markup import ICON, POLICY, REFERRER, STATIC

MEDIA_TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""The kinds of files that are served; licences and lists beside them are not."""

COMPRESS_BYTES_MIN: Final = 1_024  # below this a compressed file saves less than a packet

CSP: Final = b"content-security-policy"
COMMON: Final = tuple(pair for pair in V1 if pair[0] not in {CSP, b"x-svc-schema-version"})


@frozen
class StaticPage:
    """A rendered page with its header fields and its gzip form.

    `lifetime` is its Cache-Control: how long a browser keeps it without asking again.
    """

    media_type: str
    body: bytes
    policy: bytes = POLICY.encode()
    extra: tuple[Header, ...] = ()
    lifetime: bytes = b"public, max-age=300"
    tag: str = field(init=False)
    gzip_body: bytes | None = field(init=False)

    @tag.default
    def _tag(self) -> str:
        return etag.entity_tag(self.media_type, self.body)

    @gzip_body.default
    def _gzip_body(self) -> bytes | None:
        if len(self.body) < COMPRESS_BYTES_MIN or self.media_type.startswith("font/"):
            return None  # a WOFF2 file is compressed inside
        return gzip.compress(self.body, compresslevel=6, mtime=0)


async def send_page(exchange: Exchange, page: StaticPage) -> None:
    """Send a page, compressed where the client accepts it, or 304."""
    headers: list[Header] = [
        *COMMON,
        (CSP, page.policy),
        REFERRER,
        (b"cache-control", page.lifetime),
        (b"vary", b"Accept, Accept-Encoding"),
        *page.extra,
    ]
    accepts = exchange.header("accept-encoding") or ""
    gzip_body = page.gzip_body if media.is_coding_welcome(accepts, "gzip") else None
    # A strong ETag stands for the bytes that are sent, so the compressed form has its own.
    tag = page.tag if gzip_body is None else f'{page.tag[:-1]}-gz"'
    headers.append((b"etag", tag.encode()))
    tags = exchange.header("if-none-match")
    if tags is not None and not etag.none_match(tags, tag):
        await exchange.answer(304, headers)
        return
    headers.append((b"content-type", page.media_type.encode()))
    if gzip_body is not None:
        headers.append((b"content-encoding", b"gzip"))
    await exchange.answer(200, headers, page.body if gzip_body is None else gzip_body)


class PageOnce:
    """A page that is made once, when it is first asked for, however many ask for it then."""

    def __init__(self, make: Callable[[], StaticPage]) -> None:
        self._make = make
        self._page: StaticPage | None = None
        self._making = asyncio.Lock()

    async def page(self) -> StaticPage:
        """The page; in a thread, because to read or render it for the first time takes long."""
        if self._page is None:
            async with self._making:
                if self._page is None:
                    self._page = await asyncio.to_thread(self._make)
        return self._page


def remember_page(make: Callable[[], StaticPage]) -> Handler:
    """A handler for a page that is rendered on the first request."""
    once = PageOnce(make)

    async def handler(exchange: Exchange, _values: Mapping[str, str]) -> None:
        await send_page(exchange, await once.page())

    return handler


def static_files(folder: Path) -> list[Resource]:
    """The resources of the files in `folder`, under `/static`, and of the icon."""
    icon = STATIC.parent / ICON[1:]
    return [
        Resource("/favicon.ico", {"GET": remember_page(partial(_read, icon))}),
        *(
            Resource(
                f"/static/{path.relative_to(folder).as_posix()}",
                {"GET": remember_page(partial(_read, path))},
            )
            for path in _files(folder)
        ),
    ]


@cache
def _files(folder: Path) -> Sequence[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix in MEDIA_TYPES]


@cache
def _read(path: Path) -> StaticPage:
    return StaticPage(MEDIA_TYPES[path.suffix], path.read_bytes())
