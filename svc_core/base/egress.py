"""Decides which network addresses and host names the service may connect to for a user.

Rule 1: only globally reachable unicast addresses; of IPv6 only 2000::/3, the allocated space,
        without its tunnels, benchmarks and documentation.
Rule 2: an IPv4-mapped IPv6 address is judged as the IPv4 address that it reaches.
Rule 3: an exception is a list of networks; the network of cloud metadata services is in none.
Rule 4: a name is judged by the addresses it resolves to; names that mean this machine or its
        neighbourhood are refused before they are resolved.
Rule 5: an address to be called back has one spelling only, so that no two readers of it disagree
        about its host.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Network = IPv4Network | IPv6Network

URL_CHARS_MAX: Final = 2_048
"""What every client and proxy is able to carry."""
CALLBACK_PORTS: Final = frozenset({443})
"""A callback goes to the port of https; other ports may speak another protocol."""


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ip_network(word) for word in text.split())


LOOPBACK: Final = _networks("127.0.0.0/8 ::1/128")
"""This machine, for development and tests."""

PRIVATE: Final = (*LOOPBACK, *_networks("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"))
"""This machine and the networks of RFC 1918 and RFC 4193."""

# The IANA special-purpose registries (RFC 6890) and multicast.
_DENIED_4 = _networks(
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 "
    "192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 "
    "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
)
_ALLOCATED_6 = ip_network("2000::/3")
_DENIED_6 = _networks("2001::/23 2001:db8::/32 2002::/16 3fff::/20 2620:4f:8000::/48")

_LOCAL_NAMES = re.compile(
    r"(?:.*\.)?(?:localhost|local|localdomain|internal|svc|lan|onion|test|invalid|example)"
    r"|(?:.*\.)?(?:cluster\.local|home\.arpa)"
)
_DOTTED_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}")
_NAME_CHARS_MAX = 253

_CALLBACK = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[(?=[0-9A-Fa-f]*:)[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9.-]{1,253})"
    r"(?::(?P<port>0|[1-9][0-9]{0,4}))?"
    r"(?:/[!$%&'()*+,./0-9:;=?@A-Z_a-z~-]*)?"
)
_PORT_MAX = 65_535


class EgressError(ValueError):
    """The address may not be reached; the text says why."""


def is_allowed(text: str, exceptions: Iterable[Network] = ()) -> bool:
    """Whether the address literal may be connected to."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        address = address.ipv4_mapped or address
    if any(address in network for network in exceptions):
        return True
    if isinstance(address, IPv6Address):
        return address in _ALLOCATED_6 and not any(address in network for network in _DENIED_6)
    return not any(address in network for network in _DENIED_4)


def is_ip_literal(host: str) -> bool:
    """Whether the host is an address rather than a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_public_name(host: str) -> bool:
    """Whether the lower-case name may belong to a public host; what it resolves to decides."""
    return (
        len(host) <= _NAME_CHARS_MAX
        and _DOTTED_NAME.fullmatch(host) is not None
        and _LOCAL_NAMES.fullmatch(host) is None
    )


def check_callback(text: str, *, loopback: bool = False) -> None:
    """Refuse an address that must not be called back: https to a public host on port 443.

    With `loopback`, plain http to this machine is allowed as well, on any port, for developers.

    Raises:
        EgressError: it is not such an address.
    """
    match = _CALLBACK.fullmatch(text) if len(text) <= URL_CHARS_MAX else None
    if match is None:
        raise EgressError(
            "is not an https address of one plain spelling: a host, a path, a query; no user "
            "name, fragment, space or other character that has to be escaped"
        )
    host = match["host"].lower().strip("[]")
    port = match["port"]
    if loopback and match["scheme"] == "http" and is_loopback(host):
        if port is not None and not 0 < int(port) <= _PORT_MAX:
            raise EgressError("has a port that does not exist")
        return
    _check_public(match["scheme"], host, port)


def is_loopback(host: str) -> bool:
    """Whether a host of an address, in lower case, is this machine."""
    if host == "localhost":
        return True
    return is_ip_literal(host) and any(ip_address(host) in network for network in LOOPBACK)


def _check_public(scheme: str, host: str, port: str | None) -> None:
    if scheme != "https":
        raise EgressError("must begin with https://")
    # Not `port or 443`: port 0 is a port, and a false one.
    if port is not None and int(port) not in CALLBACK_PORTS:
        raise EgressError(f"names port {port}; callbacks go to port 443")
    if is_ip_literal(host):
        if not is_allowed(host):
            raise EgressError("names an address inside a private or reserved network")
    elif not is_public_name(host):
        raise EgressError("does not name a public host")
