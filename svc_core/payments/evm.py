"""Verification of signed transfers, scheme `exact` on EVM chains (EIP-712, EIP-3009).

Rule 1: a signature is verified as the token's contract does it: v is 27 or 28 and s lies in the
        lower half, so that a signature accepted here does not fail there.
Rule 2: a signature that is not of 65 bytes is a contract wallet's (EIP-1271, EIP-6492). Only the
        chain can judge it, so that is left to a facilitator.
Rule 3: only the first fault is reported, in the order in which facilitators check: the recipient,
        the amount, the times, the signature.
"""

from functools import cached_property
from typing import Final, Literal

import attrs
from attrs import frozen

from svc_core.payments.messages import Authorization
from svc_core.payments.networks import Network
from svc_core.payments.payment_ports import Crypto

DOMAIN_TYPE: Final = (
    b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
)
TRANSFER_TYPE: Final = (
    b"TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,"
    b"uint256 validBefore,bytes32 nonce)"
)

UINT256_MAX: Final = 2**256 - 1
SIGNATURE_BYTES: Final = 65
WORD_BYTES: Final = 32
ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""Of the curve secp256k1."""
V_LEAST: Final = 27

MARGIN_SECONDS: Final = 6
"""How long an authorization must still be good: a facilitator needs three blocks of two seconds."""

RECIPIENT: Final = "invalid_exact_evm_payload_recipient_mismatch"
VALUE: Final = "invalid_exact_evm_payload_authorization_value_mismatch"
VALID_BEFORE: Final = "invalid_exact_evm_payload_authorization_valid_before"
VALID_AFTER: Final = "invalid_exact_evm_payload_authorization_valid_after"
SIGNATURE: Final = "invalid_exact_evm_payload_signature"


@frozen
class Judge:
    """Verifies transfers of the one accepted asset of a network."""

    network: Network
    crypto: Crypto

    @cached_property
    def separator(self) -> bytes:
        """The domain that signatures for the asset are made under, 32 bytes (EIP-712)."""
        keccak, asset = self.crypto.keccak, self.network.asset
        texts = (DOMAIN_TYPE, asset.name.encode(), asset.version.encode())
        numbers = (self.network.id.removeprefix("eip155:"), asset.address)
        return keccak(b"".join((*map(keccak, texts), *map(_word, numbers))))

    def digest(self, authorization: Authorization) -> bytes:
        """What the payer signs, 32 bytes (EIP-712, `hashStruct` under the asset's domain)."""
        keccak, members = self.crypto.keccak, attrs.astuple(authorization)
        struct = keccak(keccak(TRANSFER_TYPE) + b"".join(map(_word, members)))
        return keccak(b"\x19\x01" + self.separator + struct)

    def signer(self, authorization: Authorization, signature: bytes) -> str | None:
        """The address, in lower case, whose key made the signature of 65 bytes; None where the
        contract would take it from nobody."""
        r, s = (int.from_bytes(signature[start : start + WORD_BYTES]) for start in (0, WORD_BYTES))
        recovery = signature[-1] - V_LEAST
        if recovery not in (0, 1) or not 0 < r < ORDER or not 0 < s <= ORDER // 2:
            return None
        compact = signature[:-1] + bytes((recovery,))
        public = self.crypto.recover(self.digest(authorization), compact)
        return None if public is None else address_of(public, self.crypto)

    def fault(
        self, authorization: Authorization, signature: str, *, pay_to: str, amount: str, now: int
    ) -> str | Literal[False] | None:
        """The reason code for refusing the transfer at Unix second `now`; None where it is valid.

        False where all else is valid and only a facilitator can verify the signature.
        """
        if authorization.to.lower() != pay_to.lower():
            return RECIPIENT
        if authorization.value != amount:
            return VALUE
        if int(authorization.valid_before) < now + MARGIN_SECONDS:
            return VALID_BEFORE
        if int(authorization.valid_after) > now:
            return VALID_AFTER
        raw = bytes.fromhex(signature[2:])
        if len(raw) != SIGNATURE_BYTES:
            return False
        is_theirs = self.signer(authorization, raw) == authorization.from_.lower()
        return None if is_theirs else SIGNATURE


def address_of(public: bytes, crypto: Crypto) -> str:
    """The address of a public key of 64 bytes, in lower case."""
    return "0x" + crypto.keccak(public)[-20:].hex()


def checksum_address(address: str, crypto: Crypto) -> str:
    """The address with the checksum capitals of EIP-55."""
    digits = address[2:].lower()
    marks = crypto.keccak(digits.encode("ascii")).hex()
    return "0x" + "".join(
        digit.upper() if mark >= "8" else digit for digit, mark in zip(digits, marks, strict=False)
    )


def _word(number: str) -> bytes:
    """A number in decimal digits, or in hexadecimal ones after 0x, in 32 bytes."""
    return int(number, 0).to_bytes(WORD_BYTES)
