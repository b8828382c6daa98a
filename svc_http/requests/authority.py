"""The authority of a request: the `Host` field, and what an absolute-form target names.

Nothing is ever decided by it, and no link is made from it. It is examined because RFC 9112 3.2
demands it ("A server MUST respond with a 400 ... to any request message that contains ... a Host
header field with an invalid field value"), and a server in front may have understood it otherwise.
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
    rb"(?::[0-9]*)?"
)


@lru_cache(maxsize=1_024)  # clients of one service name few hosts
def _is_authority(value: bytes) -> bool:
    found = _AUTHORITY.fullmatch(value)
    if found is None or found["six"] is None:
        return found is not None
    try:
        IPv6Address(found["six"].decode())
    except AddressValueError:
        return False
    return True


def is_host(value: bytes) -> bool:
    """Whether a `Host` field holds a host and perhaps a port; an empty one does."""
    return len(value) <= BYTES_MAX and _is_authority(value)


def is_authority(value: bytes) -> bool:
    """Whether it may stand in an http address, whose host is never empty (RFC 9110 4.2.1)."""
    return value[:1] not in {b"", b":"} and is_host(value)
