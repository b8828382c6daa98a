"""The identifier schemes: pattern, normal form, check digits and label of each.

Their table is `designators.tsv`; below stand what no pattern says: check digits, and the readers of
the schemes that are more than a code.

Rule 1: a reader gets a text without outer white space and control characters, and gives its normal
        form, or raises `ValueError` with the reason in words and nothing else.
Rule 2: prefixes and gaps that people write go before the pattern is asked; check digits are
        verified behind it.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

from attrs import frozen

from svc_core import data
from svc_core.base.checkdigits import has_figi_digit, has_imo_digit, has_isin_digit, has_lei_digits
from svc_core.formats.designators.domains import read_domain
from svc_core.formats.designators.ip import read_ipv4, read_ipv6
from svc_core.formats.designators.purl import read_purl
from svc_core.formats.designators.urls import read_url

Reader = Callable[[str], str]


@frozen
class Scheme:
    """An identifier scheme: its name, a description, an example, and the reader of its values."""

    name: str
    doc: str
    example: str
    read: Reader


# RFC 5321, 4.5.3.1: 64 octets before the at sign; RFC 5322, 3.2.3: atoms joined by dots.
_LOCAL_PART: Final = re.compile(
    "(?=.{1,64}$)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
)
_EIP155: Final = re.compile("eip155:[1-9][0-9]{0,31}:0x[0-9a-f]{40}")
_PLATFORM: Final = re.compile("[a-z0-9](?:[a-z0-9.-]{0,30}[a-z0-9])?")
# ITU-T E.164: up to 15 digits, of which the first belongs to the country code.
_PHONE: Final = re.compile(r"\+[1-9][0-9]{6,14}")
_PHONE_GAPS: Final = str.maketrans("", "", " -.()/\u00a0\u2010\u2011\u2013\u202f")
_ASN_MAX: Final = 2**32 - 1
_EMAIL_MAX: Final = 254  # RFC 5321, 4.5.3.1.3: a path of 256 with its angle brackets
_HANDLE_MAX: Final = 128
_NAME_MAX: Final = 300
_NOT_IN_NAMES: Final = frozenset({"Cc", "Cn", "Co", "Cs"})
# They would read as the start of an ISIN of Bermuda, Britain, Ghana and others.
_FIGI_PREFIXES_NOT_USED: Final = ("BS", "BM", "GG", "GB", "GH", "KY", "VG")


def _is_shown_account(wallet: str) -> bool:
    return not wallet.startswith("eip155:") or _EIP155.fullmatch(wallet.lower()) is not None


_CHECKS: Final[Mapping[str, tuple[tuple[Callable[[str], object], str], ...]]] = {
    "lei": ((has_lei_digits, "has wrong check digits (ISO 7064 MOD 97-10)"),),
    "isin": ((has_isin_digit, "has a wrong check digit (ISO 6166)"),),
    "cik": ((int, "must not be zero"),),
    "figi": (
        (
            lambda figi: not figi.startswith(_FIGI_PREFIXES_NOT_USED),
            "must not begin like the ISIN of a country",
        ),
        (has_figi_digit, "has a wrong check digit"),
    ),
    "asn": ((lambda asn: 0 < int(asn) <= _ASN_MAX, f"must be from 1 to {_ASN_MAX}"),),
    "imo": ((has_imo_digit, "has a wrong check digit"),),
    "wallet": ((_is_shown_account, "must have a chain number and 0x with 40 digits"),),
}
"""What must be true of a code that matches, and the reason for refusing one of which it is not."""

_NORMAL_FORMS: Final[Mapping[str, Reader]] = {
    "cik": lambda digits: digits.zfill(10),
    "cwe": lambda cwe: f"CWE-{int(cwe[4:])}",
    "asn": lambda digits: str(int(digits)),
    # EIP-55 puts a checksum into the case of the digits; the address is the digits alone.
    "wallet": lambda account: account.lower() if account.startswith("eip155:") else account,
}
"""Normal forms that are not the code as it matched."""


def _code_reader(scheme: str, *columns: str) -> Reader:
    """Make the reader of codes that, in one letter case and without prefix and gaps, match."""
    case, prefix, gap, pattern, reason = columns
    form = re.compile(pattern, re.ASCII)
    fold: Reader = {"upper": str.upper, "lower": str.lower}.get(case, str)
    checks, normal = _CHECKS.get(scheme, ()), _NORMAL_FORMS.get(scheme, str)

    def read(text: str) -> str:
        code = fold(text.replace(gap, "") if gap else text)
        code = code.removeprefix(prefix).strip() if prefix else code
        if form.fullmatch(code) is None:
            raise ValueError(reason)
        for holds, refusal in checks:
            if not holds(code):
                raise ValueError(refusal)
        return normal(code)

    return read


def _email(text: str) -> str:
    """Lower case throughout: RFC 5321 lets hosts tell mailboxes apart by case, and none does."""
    local, _, host = text.rpartition("@")
    if _LOCAL_PART.fullmatch(local.lower()) is None:
        raise ValueError("must be a mailbox of letters, digits, dots and signs, without quotes")
    email = f"{local.lower()}@{read_domain(host)}"
    if len(email) > _EMAIL_MAX:
        raise ValueError(f"must have at most {_EMAIL_MAX} characters")
    return email


def _phone(text: str) -> str:
    if "(0)" in text:
        raise ValueError("must not hold (0), which is not dialled from abroad")
    number = text.translate(_PHONE_GAPS)
    if _PHONE.fullmatch(number) is None:
        raise ValueError("must be + and the country code, as in +41 44 668 18 00")
    return number


def _handle(text: str) -> str:
    platform, _, name = text.partition(":")
    # Lower case can decompose (İ), and composing never brings upper case back.
    name = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    name = name.lstrip("@")
    if not 0 < len(name) <= _HANDLE_MAX or not all(c.isalnum() or c in "._-@" for c in name):
        raise ValueError("must be platform:name, the name of letters, digits, dots and hyphens")
    if _PLATFORM.fullmatch(platform.lower()) is None:
        raise ValueError("must name its platform first")
    return f"{platform.lower()}:{name}"


def _name(text: str) -> str:
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if len(name) > _NAME_MAX:
        raise ValueError(f"must have at most {_NAME_MAX} characters")
    if not any(map(str.isalnum, name)):
        raise ValueError("must have a letter or a digit")
    if not _NOT_IN_NAMES.isdisjoint(map(unicodedata.category, name)):
        raise ValueError("must not hold characters that have no meaning in common")
    return name


_READERS: Final[Mapping[str, Reader]] = {
    "purl": read_purl,
    "domain": read_domain,
    "url": read_url,
    "ipv4": read_ipv4,
    "ipv6": read_ipv6,
    "email": _email,
    "phone": _phone,
    "handle": _handle,
    "name": _name,
}
"""The readers of schemes whose values are more than a code."""

SCHEMES: Final[Mapping[str, Scheme]] = {
    name: Scheme(name, doc, example, _READERS.get(name) or _code_reader(name, *form))
    for name, doc, example, *form in data.table_rows("designators.tsv")
}
"""Every scheme by its name, in the order of their families."""


def well_formed(scheme: str, value: object) -> str | None:
    """The normal form of a value of a scheme; None where it is ill-formed."""
    try:
        return SCHEMES[scheme].read(str(value).strip())
    except ValueError:
        return None
