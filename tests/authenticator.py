"""An authenticator in memory, which answers as a browser with one passkey does (ES256)."""

import json
import struct
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40
"""Flags of the data of an authenticator (Web Authentication, 6.1)."""


def _text(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


class Authenticator:
    """One passkey for `origin`; `count` grows with each signature."""

    def __init__(self, origin: str, name: str, id_: bytes = b"passkey 1") -> None:
        self.origin, self.name, self.id = origin, name, id_
        self.count = 0
        self._key = ec.generate_private_key(ec.SECP256R1())

    def register(self, options: str) -> str:
        """What a browser answers to the options for a new passkey."""
        numbers = self._key.public_key().public_numbers()
        point = [number.to_bytes(32, "big") for number in (numbers.x, numbers.y)]
        key = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point[0], -3: point[1]})
        attested = bytes(16) + struct.pack(">H", len(self.id)) + self.id + key
        head = self._head(PRESENT | VERIFIED | ATTESTED)
        statement = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": head + attested})
        return self._answer(options, "webauthn.create", attestationObject=_text(statement))

    def sign(self, options: str) -> str:
        """What a browser answers to the options for signing in."""
        self.count += 1
        head, client = self._head(PRESENT | VERIFIED), self._client_data(options, "webauthn.get")
        signature = self._key.sign(head + sha256(client).digest(), ec.ECDSA(SHA256()))
        members = {"authenticatorData": _text(head), "signature": _text(signature)}
        return self._answer(options, "webauthn.get", **members)

    def _head(self, flags: int) -> bytes:
        return sha256(self.name.encode()).digest() + struct.pack(">BI", flags, self.count)

    def _client_data(self, options: str, type_: str) -> bytes:
        challenge = json.loads(options)["challenge"]
        members = {"type": type_, "challenge": challenge, "origin": self.origin}
        return json.dumps(members).encode()

    def _answer(self, options: str, type_: str, **response: Any) -> str:
        client = _text(self._client_data(options, type_))
        members = {"id": _text(self.id), "rawId": _text(self.id), "type": "public-key"}
        return json.dumps({**members, "response": {"clientDataJSON": client, **response}})
