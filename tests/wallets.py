"""Wallets of tests: each has the key that its number gives it, and signs transfers with
eth-account, which shares no code with what judges them here."""

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import Any

from coincurve import PublicKey
from Crypto.Hash import keccak

from svc_core import wire
from svc_core.payments.messages import PaymentRequirements
from tests.late import Late

ACCOUNTS = Late("eth_account")
TYPES = {
    "TransferWithAuthorization": [
        {"name": "from", "type": "address"},
        {"name": "to", "type": "address"},
        {"name": "value", "type": "uint256"},
        {"name": "validAfter", "type": "uint256"},
        {"name": "validBefore", "type": "uint256"},
        {"name": "nonce", "type": "bytes32"},
    ]
}


class Coins:
    """The cryptography that payments are handed."""

    def keccak(self, data: bytes) -> bytes:
        return keccak.new(digest_bits=256, data=data).digest()

    def recover(self, digest: bytes, signature: bytes) -> bytes | None:
        try:
            key = PublicKey.from_signature_and_message(signature, digest, hasher=None)
        except Exception:  # coincurve raises bare ones
            return None
        return key.format(compressed=False)[1:]


def nonce(number: int) -> str:
    return "0x" + sha256(f"nonce {number}".encode()).hexdigest()


class Wallet:
    """One payer."""

    def __init__(self, number: int = 0) -> None:
        self.account: Any = ACCOUNTS.Account.from_key(
            sha256(f"svc test wallet {number}".encode()).digest()
        )
        self.address: str = self.account.address

    def authorization(
        self, requirements: PaymentRequirements, now: int, number: int = 0, **members: str
    ) -> dict[str, str]:
        """What the standard clients sign for an offer at Unix second `now`."""
        return {
            "from": self.address,
            "to": requirements.pay_to,
            "value": requirements.amount,
            "validAfter": "0",
            "validBefore": str(now + requirements.max_timeout_seconds),
            "nonce": nonce(number),
            **members,
        }

    def sign(
        self, authorization: dict[str, str], requirements: PaymentRequirements, **domain: Any
    ) -> str:
        """The signature, under the domain of the offer or another."""
        message: dict[str, Any] = {
            name: int(value) if value.isdigit() else value for name, value in authorization.items()
        }
        message["nonce"] = bytes.fromhex(authorization["nonce"][2:])
        under = {
            "name": requirements.extra["name"],
            "version": requirements.extra["version"],
            "chainId": int(requirements.network.removeprefix("eip155:")),
            "verifyingContract": requirements.asset,
            **domain,
        }
        signature = self.account.sign_typed_data(under, TYPES, message)
        return "0x" + bytes(signature.signature).hex()

    def payment(
        self,
        requirements: PaymentRequirements,
        now: int,
        number: int = 0,
        *,
        identifier: str | None = None,
        url: str | None = None,
        **members: str,
    ) -> dict[str, Any]:
        """What `PAYMENT-SIGNATURE` says, as plain values."""
        authorization = self.authorization(requirements, now, number, **members)
        payload: dict[str, Any] = {
            "x402Version": 2,
            "accepted": wire.to_json(requirements),
            "payload": {
                "signature": self.sign(authorization, requirements),
                "authorization": authorization,
            },
        }
        if url is not None:
            payload["resource"] = {"url": url}
        if identifier is not None:
            info = {"required": False, "id": identifier}
            payload["extensions"] = {"payment-identifier": {"info": info, "schema": {}}}
        return payload


@cache
def wallet(number: int = 0) -> Wallet:
    return Wallet(number)


def field(payload: Any) -> str:
    """The value of `PAYMENT-SIGNATURE`."""
    return b64encode(json.dumps(payload).encode()).decode("ascii")
