"""Client addresses: one normal form for each, and which forwarding headers are trusted.

Rule 1: two texts of one address become one text; an IPv4-mapped IPv6 address is the IPv4 one.
Rule 2: forwarding headers are believed only from a trusted peer (Spec: IP allowlist). Anybody
    can write a header, so from a stranger only the peer address counts.
Rule 3: the first header present decides, in the spec's order; when it cannot be read, the peer
    address stands in and is marked uncertain. It never falls through to the next header.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import NamedTuple

from attrs import frozen

Network = IPv4Network | IPv6Network

TEXT_MAX = 64
"""Characters of one address: 45 for the longest IPv6 form, the rest for a zone id."""

EVERYONE = "*"

SUBSCRIBER_BITS = 64
"""The bits of an IPv6 address that tell subscribers apart: each chooses the rest at will."""

_GROUPS: dict[str, tuple[str, ...]] = {
    "loopback": ("127.0.0.0/8", "::1/128"),
    "private": (
        "10.0.0.0/8",  # RFC 1918
        "172.16.0.0/12",
        "192.168.0.0/16",
        "169.254.0.0/16",  # RFC 3927, link-local
        "fc00::/7",  # RFC 4193
        "fe80::/10",  # RFC 4291, link-local
    ),
}


def _read(text: str) -> IPv4Address | IPv6Address:
    if len(text) > TEXT_MAX:
        raise ValueError("an IP address has at most 64 characters")
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        bare = IPv6Address(int(address))  # without the zone id, which is local to one machine
        return bare.ipv4_mapped or bare
    return address


def normalise_address(text: str) -> str:
    """The normal form of an address: compressed, lower case, no zone, mapped IPv4 as IPv4.

    Raises: ValueError for anything but one address (networks, ports, leading zeros, names).
    """
    return _parsed_address(text).text


@lru_cache(maxsize=8_192)
def block(text: str) -> str:
    """The block of addresses that counts as one caller: an IPv4 address, or an IPv6 /64.

    An IPv6 subscriber has a /64 at least (RFC 6177) and may use any address in it. A text that is
    no address is returned unchanged.
    """
    try:
        address = _read(text)
    except ValueError:
        return text
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((address, SUBSCRIBER_BITS), strict=False))


class ClientAddress(NamedTuple):
    """The address of a caller.

    `certain` is false when a trusted header could not be parsed or no address is known; such a
    caller matches no allowlist.
    """

    text: str
    certain: bool


# 8,192 callers keep the hot path at a dictionary look-up; a miss costs about 3 us. What raises
# is not kept, so garbage cannot push callers out.
@lru_cache(maxsize=8_192)
def _parsed_address(text: str) -> ClientAddress:
    return ClientAddress(str(_read(text)), certain=True)


@frozen(eq=False)  # compared by identity, so that a cached answer costs no hashing of networks
class TrustedPeers:
    """The peers whose forwarding headers are trusted."""

    everyone: bool
    local: bool
    networks: tuple[Network, ...]


def parse_trusted(entries: Iterable[str]) -> TrustedPeers:
    """Parse the setting: `loopback`, `private`, `*`, single addresses and networks.

    Raises: ValueError naming the entry that is none of these.
    """
    names = list(entries)
    texts = [text for name in names if name != EVERYONE for text in _GROUPS.get(name, (name,))]
    return TrustedPeers(
        everyone=EVERYONE in names,
        local="loopback" in names,
        networks=tuple(_network(text) for text in texts),
    )


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        choices = "loopback, private, *, an address or a network"
        raise ValueError(f"{text!r} is not one of {choices}: {error}") from None


DEFAULT_TRUSTED = parse_trusted(["loopback", "private"])
"""Behind a proxy of one's own the spec holds literally; on a public port spoofing does nothing."""


class ForwardingHeaders(NamedTuple):
    """The field lines of the three forwarding headers, each tuple in the order received.

    A named tuple, because one is made for every request behind a proxy.
    """

    cf_connecting_ip: Sequence[str] = ()
    x_forwarded_for: Sequence[str] = ()
    x_real_ip: Sequence[str] = ()


def resolve(
    peer: str | None, fields: ForwardingHeaders | None = None, peers: TrustedPeers = DEFAULT_TRUSTED
) -> ClientAddress:
    """The client address: `CF-Connecting-IP`, else the first `X-Forwarded-For` value, else
    `X-Real-IP`, else the peer; the headers only from a trusted peer.

    A peer that is no IP address (a unix socket, a call inside the process) is local: TCP cannot
    present one.
    """
    direct, is_trusted = _peer_address(peer or "", peers)
    if fields is None or not is_trusted or (text := _header_address(fields)) is None:
        return direct
    try:
        return _parsed_address(text)
    except ValueError:
        return direct._replace(certain=False)


@lru_cache(maxsize=8_192)
def _peer_address(peer: str, peers: TrustedPeers) -> tuple[ClientAddress, bool]:
    """The peer as an address, and whether its headers are trusted."""
    try:
        direct = _parsed_address(peer)
    except ValueError:
        return ClientAddress(peer, certain=False), peers.everyone or peers.local
    address = ip_address(direct.text)
    return direct, peers.everyone or any(address in network for network in peers.networks)


def _header_address(fields: ForwardingHeaders) -> str | None:
    """The address in the first header present; "" for a single-valued header that is repeated."""
    if fields.cf_connecting_ip:
        return _single_line(fields.cf_connecting_ip)
    if fields.x_forwarded_for:
        return fields.x_forwarded_for[0].split(",", 1)[0].strip(" \t")
    if fields.x_real_ip:
        return _single_line(fields.x_real_ip)
    return None


def _single_line(lines: Sequence[str]) -> str:
    return lines[0].strip(" \t") if len(lines) == 1 else ""
