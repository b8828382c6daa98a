"""Converts designators to STIX cyber observables and to the patterns that match them.

Rule 1: the same designator is the same object in every export of every ledger, but for its marking.
Rule 2: a pattern quotes its text: nothing in a designator can end the quotation.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from svc_core.ledger.transfer.stix_ids import observable_id

_ACCOUNT_TYPES: Final = frozenset(
    {"facebook", "ldap", "nis", "openid", "radius", "skype", "tacacs", "twitter", "unix"}
)
"""The words of account-type-ov (STIX 2.1, 6.14) that are platforms."""


@frozen
class Observable:
    """A STIX observable: its type and its properties, all of which contribute to its id."""

    type: str
    properties: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its identifier."""
        return observable_id(self.type, self.properties)

    @property
    def pattern(self) -> str:
        """The STIX pattern expression that matches it, without brackets."""
        comparisons = [f"{self.type}:{path} = {value}" for path, value in _paths(self.properties)]
        return " AND ".join(comparisons)


def _paths(properties: Mapping[str, Any]) -> list[tuple[str, str]]:
    paths = []
    for name, value in properties.items():
        if isinstance(value, dict):
            paths += [(f"{name}.{quote(key)}", quote(item)) for key, item in value.items()]
        else:
            paths.append((name, str(value) if isinstance(value, int) else quote(value)))
    return paths


def quote(text: str) -> str:
    """Quote a text as a string literal of a STIX pattern (STIX 2.1, 9.2)."""
    body = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{body}'"


def observable(scheme: Any, value: Any) -> Observable | None:
    """Return the observable of a designator; None if STIX has none for its scheme."""
    make = _MAKERS.get(scheme) if isinstance(scheme, str) else None
    return make(value) if make is not None and isinstance(value, str) and value else None


def _value_maker(type_: str) -> Callable[[str], Observable]:
    return lambda value: Observable(type_, {"value": value})


def _hash_maker(type_: str) -> Callable[[str], Observable]:
    return lambda value: Observable(type_, {"hashes": {"SHA-256": value}})


def _system(value: str) -> Observable | None:
    number = value.isascii() and value.isdigit() and len(value) <= 10
    return Observable("autonomous-system", {"number": int(value)}) if number else None


def _account(value: str) -> Observable:
    platform, _, name = value.partition(":")
    if platform in _ACCOUNT_TYPES:
        return Observable("user-account", {"account_type": platform, "account_login": name})
    # Other platforms are no words of the vocabulary. The whole handle tells accounts of one name
    # on two of them apart, so it is the account's identifier.
    return Observable("user-account", {"user_id": value, "account_login": name})


_MAKERS: Final[Mapping[str, Callable[[str], Observable | None]]] = {
    "domain": _value_maker("domain-name"),
    "ipv4": _value_maker("ipv4-addr"),
    "ipv6": _value_maker("ipv6-addr"),
    "url": _value_maker("url"),
    "email": _value_maker("email-addr"),
    "asn": _system,
    "sha256": _hash_maker("file"),
    "handle": _account,
    "x509": _hash_maker("x509-certificate"),
}
