"""Designator schemes of computer security: CVE, CWE, CPE, ATT&CK, purl, hashes."""

from typing import Final

from svc_core.ledger.designators.purl import read_purl
from svc_core.ledger.designators.scheme import Scheme, matcher

_cve_text = matcher(
    "CVE-(?:1999|2[0-9]{3})-[0-9]{4,19}", "must be CVE-, a year and at least four digits", str.upper
)
_cwe_text = matcher("CWE-0{0,5}[1-9][0-9]{0,5}", "must be CWE- and a number")
_attack_text = matcher(
    r"[GSTC][0-9]{4}|T[0-9]{4}\.[0-9]{3}",
    "must be an ATT&CK group, software, technique or campaign, such as G0016 or T1059.001",
    str.upper,
)
# NISTIR 7695, 6.2: part and ten attributes; `*` and `?` are wild at the ends of a value only.
_VALUE: Final = r"\*|(?:\*|\?*)(?:[a-z0-9._-]|\\[!-/:-@\[-`{-~])+(?:\*|\?*)"
_LANGUAGE: Final = r"[a-z]{2,3}(?:-(?:[a-z]{2}|[0-9]{3}))?|[*-]"
# NISTIR 7695, 5.3.2 and 7.3: values are lower case; names are compared without case.
_cpe_text = matcher(
    rf"cpe:2\.3:[aho*-](?::(?:{_VALUE})){{5}}:(?:{_LANGUAGE})(?::(?:{_VALUE})){{4}}",
    "must be a CPE 2.3 formatted string of eleven attributes",
    str.lower,
)
_sha256_text = matcher("[0-9a-f]{64}", "must be 64 hexadecimal digits", str.lower)


def _cwe(text: str) -> str:
    return f"CWE-{int(_cwe_text(text.upper())[4:])}"


def _x509(text: str) -> str:
    return _sha256_text(text.replace(":", ""))


SCHEMES: Final = (
    Scheme("cve", "Vulnerability.", "CVE-2024-3094", _cve_text),
    Scheme("cwe", "Weakness.", "CWE-79", _cwe),
    Scheme(
        "cpe",
        "Product, as a CPE 2.3 formatted string.",
        f"cpe:2.3:a:tukaani:xz:5.6.0{':*' * 7}",
        _cpe_text,
    ),
    Scheme("attack", "ATT&CK group, software, technique or campaign.", "G0016", _attack_text),
    Scheme("purl", "Software package (package URL).", "pkg:npm/%40scope/left-pad@1.3.0", read_purl),
    Scheme("sha256", "Content, by its SHA-256.", "0f" * 32, _sha256_text),
    Scheme("x509", "Certificate, by its SHA-256 fingerprint.", "a1" * 32, _x509),
)
