"""Designator schemes of people and accounts: wallet, Wikidata, phone, handle, name and others."""

import unicodedata
from typing import Final

from svc_core.ledger.designators.scheme import Scheme, matcher

# CAIP-10: namespace and reference of CAIP-2, and the account's address.
_wallet_text = matcher(
    "[a-z0-9-]{3,8}:[A-Za-z0-9_-]{1,32}:[A-Za-z0-9.%-]{1,128}",
    "must be a CAIP-10 account, such as eip155:1:0x…",
)
_eip155_text = matcher(
    "eip155:[1-9][0-9]{0,31}:0x[0-9a-f]{40}", "must have a chain number and 0x with 40 digits"
)
_wikidata_text = matcher(
    "Q[1-9][0-9]{0,11}", "must be Q and a number without leading zeros", str.upper
)
_opensanctions_text = matcher(
    "[A-Za-z0-9][A-Za-z0-9._-]{1,254}", "must be letters, digits, dots and hyphens"
)
# ITU-T E.164: up to 15 digits, of which the first belongs to the country code.
_phone_text = matcher(
    r"\+[1-9][0-9]{6,14}", "must be + and the country code, as in +41 44 668 18 00"
)
_PHONE_GAPS: Final = str.maketrans("", "", " -.()/\u00a0\u2010\u2011\u2013\u202f")
_platform_text = matcher("[a-z0-9](?:[a-z0-9.-]{0,30}[a-z0-9])?", "must name its platform first")
_HANDLE_MAX: Final = 128
_NAME_MAX: Final = 300
_NOT_IN_NAMES: Final = frozenset({"Cc", "Cn", "Co", "Cs"})


def _wallet(text: str) -> str:
    namespace, _, rest = _wallet_text(text).partition(":")
    # EIP-55 puts a checksum into the case of the digits; the address is the digits alone.
    return _eip155_text(text.lower()) if namespace == "eip155" else f"{namespace}:{rest}"


def _phone(text: str) -> str:
    if "(0)" in text:
        raise ValueError("must not hold (0), which is not dialled from abroad")
    return _phone_text(text.translate(_PHONE_GAPS))


def _handle(text: str) -> str:
    platform, _, name = text.partition(":")
    # Lower case can decompose (İ), and composing never brings upper case back.
    name = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    name = name.lstrip("@")
    if not 0 < len(name) <= _HANDLE_MAX or not all(c.isalnum() or c in "._-@" for c in name):
        raise ValueError("must be platform:name, the name of letters, digits, dots and hyphens")
    return f"{_platform_text(platform.lower())}:{name}"


def _name(text: str) -> str:
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if len(name) > _NAME_MAX:
        raise ValueError(f"must have at most {_NAME_MAX} characters")
    if not any(map(str.isalnum, name)):
        raise ValueError("must have a letter or a digit")
    if not _NOT_IN_NAMES.isdisjoint(map(unicodedata.category, name)):
        raise ValueError("must not hold characters that have no meaning in common")
    return name


SCHEMES: Final = (
    Scheme(
        "wallet",
        "Account on a chain (CAIP-10); in lower case for eip155.",
        "eip155:1:0x52908400098527886e0f7030069857d2e4169ee7",
        _wallet,
    ),
    Scheme("wikidata", "Item of Wikidata.", "Q42", _wikidata_text),
    Scheme(
        "opensanctions",
        "Entity of OpenSanctions.",
        "NK-2dtbmTFwdyt8wsgTYAnhGD",
        _opensanctions_text,
    ),
    Scheme("phone", "Telephone number (E.164).", "+41446681800", _phone),
    Scheme("handle", "Account on a platform, in lower case.", "github:octocat", _handle),
    Scheme("name", "Name in NFC, with single spaces.", "Müller Shipping AG", _name),
)
