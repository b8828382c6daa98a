"""Client addresses: one normal form for each, and which forwarding headers are trusted.

Rule 1: two texts of one address become one text; an IPv4-mapped IPv6 address is the IPv4 one.
Rule 2: forwarding headers are believed only from a trusted peer (Spec: IP allowlist). Anybody
    can write a header, so from a stranger only the peer address counts.
Rule 3: the first header present decides, in the spec's order; when it cannot be read, the peer
    address stands in and is marked uncertain. It never falls through to the next header.
Rule 4: where the number of proxies is known, the address is the one that the outermost of them
    wrote, counted from the right of `X-Forwarded-For`; what stands left of it, and the other two
    headers, are the word of a stranger.
Rule 5: callers are counted by `AddressRules.block`, everywhere.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import NamedTuple

from attrs import field, frozen

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


def _block(text: str, ipv6_prefix: int) -> str:
    try:
        address = _read(text)
    except ValueError:
        return text
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((address, ipv6_prefix), strict=False))


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
class AddressRules:
    """The peers whose forwarding headers are trusted, and the addresses that count as one caller.

    `hops` is the number of proxies that append to `X-Forwarded-For`; None where it is not known,
    and the first value counts. `ipv6_prefix` is in bits.
    """

    everyone: bool
    local: bool
    networks: tuple[Network, ...]
    hops: int | None = None
    ipv6_prefix: int = SUBSCRIBER_BITS
    block: Callable[[str], str] = field(init=False)
    """The block of addresses that counts as one caller: an IPv4 address, or an IPv6 prefix. An IPv6
    subscriber has a /64 at least (RFC 6177) and may use any address in it. A text that is no
    address is returned unchanged."""

    @block.default
    def _cached_block(self) -> Callable[[str], str]:
        return lru_cache(maxsize=8_192)(partial(_block, ipv6_prefix=self.ipv6_prefix))


def parse_trusted(
    entries: Iterable[str], hops: int | None = None, ipv6_prefix: int = SUBSCRIBER_BITS
) -> AddressRules:
    """Parse the setting: `loopback`, `private`, `*`, single addresses and networks.

    Raises: ValueError naming the entry that is none of these.
    """
    names = list(entries)
    texts = [text for name in names if name != EVERYONE for text in _GROUPS.get(name, (name,))]
    return AddressRules(
        everyone=EVERYONE in names,
        local="loopback" in names,
        networks=tuple(_network(text) for text in texts),
        hops=hops,
        ipv6_prefix=ipv6_prefix,
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
    peer: str | None, fields: ForwardingHeaders | None = None, peers: AddressRules = DEFAULT_TRUSTED
) -> ClientAddress:
    """The client address: `CF-Connecting-IP`, else the first `X-Forwarded-For` value, else
    `X-Real-IP`, else the peer; the headers only from a trusted peer. With `hops`, that value of
    `X-Forwarded-For` counted from the right, else the peer.

    A peer that is no IP address (a unix socket, a call inside the process) is local: TCP cannot
    present one.
    """
    direct, is_trusted = _peer_address(peer or "", peers)
    if fields is None or not is_trusted or (text := _header_address(fields, peers.hops)) is None:
        return direct
    try:
        return _parsed_address(text)
    except ValueError:
        return direct._replace(certain=False)


@lru_cache(maxsize=8_192)
def _peer_address(peer: str, peers: AddressRules) -> tuple[ClientAddress, bool]:
    """The peer as an address, and whether its headers are trusted."""
    try:
        direct = _parsed_address(peer)
    except ValueError:
        return ClientAddress(peer, certain=False), peers.everyone or peers.local
    address = ip_address(direct.text)
    return direct, peers.everyone or any(address in network for network in peers.networks)


def _header_address(fields: ForwardingHeaders, hops: int | None) -> str | None:
    """The address in the header that decides, None where there is none; "" for a single-valued
    header that is repeated, and for a list that fewer proxies wrote than there are."""
    if hops is not None:
        # A few proxies write a few values: the rest of a long list is not looked at.
        values = ",".join(fields.x_forwarded_for).rsplit(",", hops)[-hops:]
        is_short = len(values) < hops
        return None if not fields.x_forwarded_for else "" if is_short else values[0].strip(" \t")
    if fields.cf_connecting_ip:
        return _single_line(fields.cf_connecting_ip)
    if fields.x_forwarded_for:
        return fields.x_forwarded_for[0].split(",", 1)[0].strip(" \t")
    if fields.x_real_ip:
        return _single_line(fields.x_real_ip)
    return None


def _single_line(lines: Sequence[str]) -> str:
    return lines[0].strip(" \t") if len(lines) == 1 else ""
