"""Normalises IP addresses to their canonical text form."""

from collections.abc import Callable
from ipaddress import AddressValueError, IPv4Address, IPv6Address


def read_ipv4(text: str) -> str:
    """Normalise an IPv4 address: four decimal numbers without leading zeros.

    Raises:
        ValueError: the text is no such address.
    """
    return _address(text, IPv4Address, "must be an IPv4 address such as 192.0.2.1")


def read_ipv6(text: str) -> str:
    """Normalise an IPv6 address as RFC 5952 writes it, IPv4-mapped ones with dots (RFC 5952, 5).

    Raises:
        ValueError: the text is no such address, or has a zone, which means nothing elsewhere.
    """
    if "%" in text:
        raise ValueError("must not have a zone")
    address = _address(text, IPv6Address, "must be an IPv6 address such as 2001:db8::1")
    # Python writes mapped addresses in one way up to 3.12 and in another from 3.13 on.
    ipv4 = IPv6Address(address).ipv4_mapped
    return address if ipv4 is None else f"::ffff:{ipv4}"


def _address(text: str, kind: Callable[[str], IPv4Address | IPv6Address], reason: str) -> str:
    try:
        return str(kind(text))
    except AddressValueError as error:
        raise ValueError(reason) from error
