"""The certificate with which the server speaks TLS, judged before anything is opened.

Rule: what is wrong with the files is told in one line, at the start, not to every client.
"""

import ssl
from pathlib import Path

from cryptography import x509

from svc_http import system
from svc_http.settings import Settings, SettingsError

PROTOCOLS = ["h2", "http/1.1"]
"""What is offered in the handshake (RFC 7301), the better first."""


def context(given: Settings) -> ssl.SSLContext | None:
    """What connections are encrypted with; None where no certificate is set.

    Raises:
        SettingsError: a file cannot be read, holds something else, or the certificate is not valid
            now or is not that of the key.
    """
    if given.tls_cert is None or given.tls_key is None:
        return None
    _check_dates(given.tls_cert)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(PROTOCOLS)
    # TLS 1.2 as RFC 9113, 9.2.2 allows it; and nothing of a connection is computed at its wish.
    made.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
    made.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    try:
        # A key with a password would have it asked for on the terminal.
        made.load_cert_chain(given.tls_cert, given.tls_key, password=_no_password)
    except OSError as unfit:
        raise SettingsError(f"setting 'tls_key' {_why(given, unfit)}") from unfit
    return made


def _check_dates(path: str) -> None:
    try:
        certificate = x509.load_pem_x509_certificates(Path(path).read_bytes())[0]
    except OSError as unread:
        raise SettingsError(f"setting 'tls_cert': {path}: {unread.strerror}") from unread
    except ValueError as unfit:
        raise SettingsError(f"setting 'tls_cert': {path} holds no certificate in PEM") from unfit
    now = system.now()
    if now > certificate.not_valid_after_utc:
        since = certificate.not_valid_after_utc.date()
        raise SettingsError(f"setting 'tls_cert': {path} expired on {since}; renew it")
    if now < certificate.not_valid_before_utc:
        since = certificate.not_valid_before_utc.date()
        raise SettingsError(f"setting 'tls_cert': {path} is not valid before {since}")


def _why(given: Settings, unfit: OSError) -> str:
    if isinstance(unfit, ssl.SSLError):
        if unfit.reason == "KEY_VALUES_MISMATCH":
            return f"is not the key of the certificate in {given.tls_cert}"
        return f"names a file that holds no private key in PEM without a password: {given.tls_key}"
    return f"names a file that cannot be read: {given.tls_key}: {unfit.strerror}"


def _no_password() -> str:
    return ""
