"""Normalises web addresses (RFC 3986, 6.2.2 and 6.2.3).

Scheme and host become lower case; default ports, dot segments and needless percent-encoding are
removed. Path, query and fragment otherwise stay, because servers distinguish them.
"""

import re
from typing import Final
from urllib.parse import quote

from svc_core.formats.designators.domains import read_domain
from svc_core.formats.designators.ip import read_ipv4, read_ipv6

_DEFAULT_PORTS: Final = {"http": "80", "https": "443", "ftp": "21"}
# RFC 3986, B. What no URL holds, white space among it, is refused and not encoded.
_PARTS: Final = re.compile(r"([A-Za-z]+)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)
_AUTHORITY: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]@]+)(?::([0-9]{0,5}))?")
_ESCAPE: Final = re.compile("%([0-9A-Fa-f]{2})")
_STRAY: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_NOT_IN_URLS: Final = re.compile(r'[\s<>"\\^`{|}]')
_UNRESERVED: Final = re.compile("[A-Za-z0-9._~-]")
_SAFE: Final = "!#$%&'()*+,/:;=?@[]~"
_PORT_MAX: Final = 65_535


def read_url(text: str) -> str:
    """Normalise an http, https or ftp URL.

    Raises:
        ValueError: the text is no such URL, or holds a user or a password.
    """
    match = _PARTS.fullmatch(text)
    if match is None or (scheme := match[1].lower()) not in _DEFAULT_PORTS:
        raise ValueError("must be an http, https or ftp URL")
    if _NOT_IN_URLS.search(text) or _STRAY.search(text):
        raise ValueError("must have white space, quotes, brackets and percent signs encoded")
    authority = _authority(match[2], _DEFAULT_PORTS[scheme])
    path = _without_dots(_encode(match[3]))
    return f"{scheme}://{authority}{path}{_encode(match[4] or '')}{_encode(match[5] or '')}"


def _authority(text: str, default_port: str) -> str:
    if "@" in text:
        raise ValueError("must not hold a user or a password")
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        raise ValueError("must have a host, and a port in digits if any")
    port = (match[2] or default_port).lstrip("0")
    if not port or int(port) > _PORT_MAX:
        raise ValueError(f"must have a port from 1 to {_PORT_MAX}")
    host = _host(match[1])
    return host if port == default_port else f"{host}:{port}"


def _host(text: str) -> str:
    if text.startswith("["):
        return f"[{read_ipv6(text[1:-1])}]"
    return read_ipv4(text) if text.rpartition(".")[2].isdigit() else read_domain(text)


def _encode(text: str) -> str:
    """Normalise escapes: upper case, only where needed; encode non-ASCII characters as UTF-8."""
    return quote(_ESCAPE.sub(_escape, text), safe=_SAFE)


def _escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if _UNRESERVED.fullmatch(character) else match[0].upper()


def _without_dots(path: str) -> str:
    """Remove dot segments (RFC 3986, 5.2.4) from the path of a URL with an authority."""
    output: list[str] = []
    *segments, last = path.split("/")
    for segment in segments[1:]:
        _step(output, segment)
    _step(output, last)
    if last in {".", ".."}:
        output.append("")
    return "".join(f"/{segment}" for segment in output)


def _step(output: list[str], segment: str) -> None:
    if segment == "..":
        del output[-1:]
    elif segment != ".":
        output.append(segment)
