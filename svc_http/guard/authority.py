"""Checks the authority of a request: its `Host` field, or the host in an absolute-form target.

RFC 9112 3.2 demands the check ("A server MUST respond with a 400 ... to any request message that
contains ... a Host header field with an invalid field value"), and a proxy in front may have read
an invalid value differently. The authority decides only whether a request came to the configured
secondary data origin; no link is ever made from it.
"""

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address

BYTES_MAX = 261
"""A name has at most 255 characters (RFC 3986 3.2.2), a port at most six with its colon."""

# RFC 3986 3.2.2 and 3.2.3, without user information: RFC 9110 4.2.4 has it treated as an error.
_AUTHORITY = re.compile(
    rb"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]"
    rb"|\[[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+\]"
    rb"|(?P<name>(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*))"
    rb"(?::(?P<port>[0-9]*))?"
)


@lru_cache(maxsize=1_024)  # clients of one service name few hosts
def _is_authority(value: bytes) -> bool:
    match = _AUTHORITY.fullmatch(value)
    if match is None or match["six"] is None:
        return match is not None
    try:
        IPv6Address(match["six"].decode())
    except AddressValueError:
        return False
    return True


def is_host(value: bytes) -> bool:
    """Whether a `Host` field is a host with or without a port; an empty field is valid."""
    return len(value) <= BYTES_MAX and _is_authority(value)


def is_authority(value: bytes) -> bool:
    """Whether a value may be the authority of an http URL; its host is never empty.

    See RFC 9110 4.2.1.
    """
    return value[:1] not in {b"", b":"} and is_host(value)


@lru_cache(maxsize=1_024)
def authority_names(host: bytes, origin: str) -> bool:
    """Whether a `Host` field has the host and the port of an origin.

    Letter case, a default port that is written out, and the ways to write one IPv6 address make no
    difference (RFC 9110 4.2.3); a dot at the end does, because it does to browsers.
    """
    scheme, _, rest = origin.encode().partition(b"://")
    port = 443 if scheme.lower() == b"https" else 80
    return _whole(host, port) == _whole(rest.partition(b"/")[0], port)


def _whole(value: bytes, port: int) -> tuple[object, int] | None:
    match = _AUTHORITY.fullmatch(value)
    if match is None:
        return None
    six = match["six"]
    host = IPv6Address(six.decode()) if six else (match["name"] or value).lower()
    return host, int(match["port"] or port)
