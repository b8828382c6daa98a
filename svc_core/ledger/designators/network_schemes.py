"""Designator schemes of the Internet: domain, URL, IP address, ASN, e-mail."""

from typing import Final

from svc_core.ledger.designators.domains import read_domain
from svc_core.ledger.designators.ip import read_ipv4, read_ipv6
from svc_core.ledger.designators.scheme import Scheme, matcher
from svc_core.ledger.designators.urls import read_url

_asn_text = matcher("[0-9]{1,16}", "must be a decimal number")
_ASN_MAX: Final = 2**32 - 1
# RFC 5321, 4.5.3.1: 64 octets before the at sign; RFC 5322, 3.2.3: atoms joined by dots.
_local_text = matcher(
    "(?=.{1,64}$)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*",
    "must be a mailbox of letters, digits, dots and signs, without quotes",
)
_EMAIL_MAX: Final = 254  # RFC 5321, 4.5.3.1.3: a path of 256 with its angle brackets


def _asn(text: str) -> str:
    number = int(_asn_text(text.upper().removeprefix("AS").strip()))
    if not 0 < number <= _ASN_MAX:
        raise ValueError(f"must be from 1 to {_ASN_MAX}")
    return str(number)


def _email(text: str) -> str:
    """Lower case throughout: RFC 5321 lets hosts tell mailboxes apart by case, and none does."""
    local, _, host = text.rpartition("@")
    email = f"{_local_text(local.lower())}@{read_domain(host)}"
    if len(email) > _EMAIL_MAX:
        raise ValueError(f"must have at most {_EMAIL_MAX} characters")
    return email


SCHEMES: Final = (
    Scheme("domain", "Domain name, in lower case A-labels.", "xn--bcher-kva.example", read_domain),
    Scheme("url", "Web address, normalised as RFC 3986, 6.", "https://example.com/a", read_url),
    Scheme("ipv4", "IPv4 address.", "192.0.2.1", read_ipv4),
    Scheme("ipv6", "IPv6 address (RFC 5952).", "2001:db8::1", read_ipv6),
    Scheme("asn", "Autonomous system, as a decimal number.", "64496", _asn),
    Scheme("email", "Mailbox, in lower case.", "press@example.com", _email),
)
