"""The cryptography of Ethereum that payments need, from libsecp256k1 and pycryptodome.

Both come with the extra `x402` and are loaded when `Ethereum` is first created.
"""

from collections.abc import Callable
from typing import Any, Final

_PREFIX_BYTES: Final = 1
"""Bytes before x and y in an uncompressed public key (SEC 1, 2.3.3)."""


class Ethereum:
    """Keccak-256 and the recovery of public keys (`svc_core.payments.payment_ports.Crypto`)."""

    def __init__(self) -> None:
        from coincurve import PublicKey  # noqa: PLC0415 - of an extra
        from Crypto.Hash import keccak  # noqa: PLC0415 - of an extra

        self._new_hash: Callable[..., Any] = keccak.new
        self._recover: Callable[..., Any] = PublicKey.from_signature_and_message

    def keccak(self, data: bytes) -> bytes:
        """The Keccak-256 of the data, 32 bytes."""
        digest: bytes = self._new_hash(digest_bits=256, data=data).digest()
        return digest

    def recover(self, digest: bytes, signature: bytes) -> bytes | None:
        """The public key (64 bytes) that made this signature of the digest, or None."""
        try:
            key = self._recover(signature, digest, hasher=None)
        except ValueError:
            return None
        public: bytes = key.format(compressed=False)[_PREFIX_BYTES:]
        return public
