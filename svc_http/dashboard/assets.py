"""Serves the styles, scripts, fonts and icons of the dashboard, which browsers keep for a year.

Rule: the address of a file holds the digest of them all, so that other contents have other
      addresses. They stand in one folder below it, so that they find each other by relative URLs.
"""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.exchange.http_exchange import Exchange
from svc_http.exchange.resource import Resource
from svc_http.pages.markup import STATIC
from svc_http.pages.static_pages import MEDIA_TYPES, PageOnce, StaticPage, send_page

PREFIX: Final = "/static/dashboard"
_OWN: Final = STATIC / "dashboard"
_VENDORED: Final = frozenset({".svg", ".woff2"})
"""What is served of the files of others: pictures and fonts, and no script."""

_A_YEAR: Final = b"public, max-age=31536000, immutable"
_DIGITS: Final = 12  # 48 bits of the digest; what stood under another one is long gone


def asset_address(path: str) -> str:
    """The path under the origin of a file, such as `dashboard/app.css`.

    Raises:
        KeyError: there is no such file.
    """
    digest, files = _assets()
    return f"{PREFIX}/{digest}/{files[path].relative_to(STATIC).as_posix()}"


def asset_resource() -> Resource:
    """The resource of all files."""
    _assets()  # read before the first request waits for it
    return Resource(f"{PREFIX}/{{digest}}/{{+path}}", {"GET": _send})


async def _send(exchange: Exchange, values: Mapping[str, str]) -> None:
    digest, files = _assets()
    path = files.get(values["path"])
    if path is None:
        raise Problem(problem.NOT_FOUND, "There is no such file.")
    # A page of another version of this service, which runs beside this one, names its own digest:
    # it gets what there is, and asks again the next time.
    is_current = values["digest"] == digest
    await send_page(exchange, await _once(path, _A_YEAR if is_current else b"no-cache").page())


@cache
def _once(path: Path, lifetime: bytes) -> PageOnce:
    return PageOnce(
        lambda: StaticPage(MEDIA_TYPES[path.suffix], path.read_bytes(), lifetime=lifetime)
    )


@cache
def _assets() -> tuple[str, Mapping[str, Path]]:
    files = {
        path.relative_to(STATIC).as_posix(): path
        for path in sorted(STATIC.rglob("*"))
        if path.suffix in _VENDORED or (path.parent == _OWN and path.suffix in MEDIA_TYPES)
    }
    hasher = sha256()
    for name, path in files.items():
        hasher.update(b"%b\0%b" % (name.encode(), sha256(path.read_bytes()).digest()))
    return hasher.hexdigest()[:_DIGITS], files
