"""Which network addresses and URLs may be asked for by somebody else's word.

Rule 1: only globally reachable unicast addresses; of IPv6 only 2000::/3, the space that is given
        out, without its tunnels, benchmarks and documentation.
Rule 2: an IPv4-mapped IPv6 address is judged as the IPv4 address that it reaches.
Rule 3: an exception is a list of networks; the network of cloud metadata services is in none.
Rule 4: a name is judged by the addresses it resolves to; names that mean this machine or its
        neighbourhood are refused before they are resolved.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from httpx2 import URL, InvalidURL

from svc_http.fetch.model import FetchRefused

Network = IPv4Network | IPv6Network

URL_CHARS_MAX = 2_048
"""What every client and proxy is able to carry."""


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ip_network(word) for word in text.split())


LOOPBACK = _networks("127.0.0.0/8 ::1/128")
"""This machine, for development and tests."""

PRIVATE = (*LOOPBACK, *_networks("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"))
"""This machine and the networks of RFC 1918 and RFC 4193."""

# The IANA special-purpose registries (RFC 6890) and multicast.
_DENIED_4 = _networks(
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 "
    "192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 "
    "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
)
_GIVEN_OUT_6 = ip_network("2000::/3")
_DENIED_6 = _networks("2001::/23 2001:db8::/32 2002::/16 3fff::/20 2620:4f:8000::/48")

_LOCAL_NAMES = re.compile(
    r"(?:.*\.)?(?:localhost|local|localdomain|internal|svc|lan|onion|test|invalid|example)"
    r"|(?:.*\.)?(?:cluster\.local|home\.arpa)"
)
_DOTTED_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}")
_PORT_MIN = 1_024
_PORTS_BELOW = frozenset({80, 443})


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
        return address in _GIVEN_OUT_6 and not any(address in network for network in _DENIED_6)
    return not any(address in network for network in _DENIED_4)


def readable_url(text: str) -> URL:
    """The URL, when the text is a web address that names a host and carries no password.

    Raises:
        FetchRefused: `badAddress`.
    """
    if len(text) > URL_CHARS_MAX or re.search(r"[\x00-\x20\x7f\\]", text):
        raise FetchRefused(
            "badAddress",
            f"An address has at most {URL_CHARS_MAX} characters, none of them a space, a control "
            "character or a backslash.",
        )
    try:
        url = URL(text)
    except (InvalidURL, ValueError) as fault:
        raise FetchRefused("badAddress", f"This is not a web address: {fault}.") from fault
    if url.scheme not in {"http", "https"} or not url.host:
        raise FetchRefused(
            "badAddress", "A web address begins with http:// or https:// and a host."
        )
    if url.userinfo:
        raise FetchRefused("badAddress", "An address with a user name or password is not fetched.")
    return url


def checked_url(text: str, exceptions: tuple[Network, ...] = ()) -> URL:
    """The URL, when its form is one that may be asked for.

    Raises:
        FetchRefused: `badAddress` or `deniedAddress`.
    """
    url = readable_url(text)
    _check_port(url)
    _check_host(url.raw_host.decode("ascii").lower().rstrip("."), exceptions)
    return url.copy_with(fragment=None)


def _check_port(url: URL) -> None:
    # A port below 1024 belongs to another protocol, which must not be spoken to in HTTP.
    port = url.port
    if port is not None and port not in _PORTS_BELOW and not _PORT_MIN <= port <= 65_535:
        raise FetchRefused("deniedAddress", f"Port {port} is not one that web servers use.")


def _check_host(host: str, exceptions: tuple[Network, ...]) -> None:
    if _is_literal(host):
        if not is_allowed(host, exceptions):
            raise denied(host)
    elif exceptions:
        return
    elif _LOCAL_NAMES.fullmatch(host) or not _DOTTED_NAME.fullmatch(host):
        raise FetchRefused("deniedAddress", f"{host} is not the name of a public host.")


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def denied(host: str) -> FetchRefused:
    """The refusal of a host that is, or resolves to, an address that is not public."""
    return FetchRefused(
        "deniedAddress",
        f"{host} is an address inside a private or reserved network; "
        "the setting allow_private_fetch permits private ones.",
    )
