"""Derives keys from master secrets, and encrypts secrets at rest with AES-256-GCM.

Rule 1: keys are derived per purpose and named by an id, so they rotate while what was sealed with
        an earlier one still opens, and a key that leaks from one use opens nothing of another.
Rule 2: a sealed secret opens only for the `place` that it was sealed for, so that a row that is
        moved to another tenant or resource opens nothing.
Rule 3: the key id stands in front, so that a secret under an earlier master key can be told apart
        from one that needs no new seal.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Final

import attrs
from attrs import field, frozen
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MASTER_BYTES_MIN: Final = 32
"""A master key has the strength of the AES-256 keys derived from it."""
KEY_ID_MAX: Final = 255
NONCE_BYTES: Final = 12
"""Random 96-bit nonces allow 2^32 seals under one key (NIST SP 800-38D, 8.3); then rotate."""

_PURPOSE: Final = "vault"
_PREFIX: Final = "v1."
_HEAD_BYTES: Final = 1 + NONCE_BYTES


# Why one master key can serve several uses, and why a ciphertext cannot be moved
# -------------------------------------------------------------------------------
#
# A ring holds master keys by their id, a byte. Nothing is ever encrypted with a master key itself.
# HKDF-SHA-256 (RFC 5869) derives one AES-256 key from it for each purpose, with the purpose as
# `info`. The keys of two purposes are independent, so a cursor never opens as a secret at rest,
# even where ring, key id and nonce agree, and losing one derived key does not expose the others.
# No salt is needed, because a master key is random and at least as strong as what it derives.
#
#     token = prefix | key id (1 byte) | nonce (12 bytes) | ciphertext and its tag (16 bytes)
#
# The key id stands in the clear, because it must be known before anything can be decrypted. It is
# part of the associated data together with the place, so it cannot be exchanged either: AES-GCM
# authenticates both with the tag. The place says whose secret it is (tenant, resource, member). It
# is not stored; whoever opens the secret states it again. A database row that somebody copies into
# another tenant's row therefore does not open there.
#
# A key rotates in three moves. Add the new key to the ring everywhere: all processes can open with
# it. Make it `current`: new seals use it, old ones still open. Once nothing is sealed under the old
# key (`needs_new_seal` finds such secrets; cursors are just left to age), remove it. A cursor whose
# key is gone is refused, and the client starts its list again; a secret would be lost.
#
# The weak spot is the nonce. Two messages under one key and nonce reveal the XOR of their texts and
# let an attacker forge tags. Random nonces of 96 bits collide with a probability below 2^-32 for up
# to 2^32 messages under one key (NIST SP 800-38D, 8.3). Nothing counts them: the operator rotates.
# The caller draws the nonce, so that this module stays free of randomness and can be tested.


class SealError(ValueError):
    """The keys cannot seal, or the text is no secret of this place, or its key is gone."""


@frozen(eq=False)
class Keyring:
    """Master keys by their id (0 to 255): `current` encrypts, and any of them decrypts.

    The AES-256 keys are derived with HKDF-SHA-256 for one `purpose`.

    Raises:
        SealError: `current` names no key, an id is no byte, or a key has fewer than 32 bytes.
    """

    keys: Mapping[int, bytes] = field(repr=False)
    current: int
    purpose: str = "cursor"
    _ciphers: Mapping[int, AESGCM] = field(init=False, repr=False)

    @_ciphers.default
    def _derive(self) -> Mapping[int, AESGCM]:
        if self.current not in self.keys:
            raise SealError(f"The keyring has no key {self.current} to seal with.")
        return {id_: _cipher(id_, master, self.purpose) for id_, master in self.keys.items()}

    def cipher(self, key_id: int) -> AESGCM:
        """The cipher of a key.

        Raises:
            SealError: the keyring has no such key.
        """
        if key_id not in self._ciphers:
            raise SealError(f"The keyring has no key {key_id}.")
        return self._ciphers[key_id]


def _cipher(key_id: int, master: bytes, purpose: str) -> AESGCM:
    if not 0 <= key_id <= KEY_ID_MAX:
        raise SealError(f"A key id is a number from 0 to {KEY_ID_MAX}, not {key_id}.")
    if len(master) < MASTER_BYTES_MIN:
        raise SealError(f"Master key {key_id} has fewer than {MASTER_BYTES_MIN} bytes.")
    return AESGCM(HKDF(SHA256(), 32, salt=None, info=f"svc {purpose}".encode()).derive(master))


# -- secrets at rest ---------------------------------------------------------------------------


def lock(keyring: Keyring, secret: bytes, place: str, nonce: bytes) -> str:
    """The token of `secret`, encrypted for `place`; `nonce` is 12 random bytes.

    Raises:
        SealError: the nonce has another length.
    """
    if len(nonce) != NONCE_BYTES:
        raise SealError(f"A secret is sealed with {NONCE_BYTES} random bytes, not {len(nonce)}.")
    head = bytes((keyring.current,))
    ciphertext = (
        _vault_ring(keyring).cipher(keyring.current).encrypt(nonce, secret, head + place.encode())
    )
    return _PREFIX + urlsafe_b64encode(head + nonce + ciphertext).decode()


def unlock(keyring: Keyring, text: str, place: str) -> bytes:
    """The secret in a token that `lock` made for the same place.

    Raises:
        SealError: it is not such a secret; the reason is not disclosed.
    """
    data = _token_bytes(text)
    try:
        cipher = _vault_ring(keyring).cipher(data[0])
        return cipher.decrypt(data[1:_HEAD_BYTES], data[_HEAD_BYTES:], data[:1] + place.encode())
    except (SealError, InvalidTag) as error:
        raise SealError("The secret cannot be opened.") from error


def needs_new_seal(keyring: Keyring, text: str) -> bool:
    """Whether the secret was sealed with another key than the present one."""
    return key_id_of(text) != keyring.current


def key_id_of(text: str) -> int:
    """The id of the key that sealed the secret.

    Raises:
        SealError: it is no sealed secret.
    """
    return _token_bytes(text)[0]


def _vault_ring(keyring: Keyring) -> Keyring:
    return attrs.evolve(keyring, purpose=_PURPOSE)


def _token_bytes(text: str) -> bytes:
    try:
        data = urlsafe_b64decode(text.removeprefix(_PREFIX))
    except ValueError as error:
        raise SealError("The secret cannot be opened.") from error
    if not text.startswith(_PREFIX) or len(data) <= _HEAD_BYTES:
        raise SealError("The secret cannot be opened.")
    return data
