"""Secrets at rest: sealed with AES-256-GCM, bound to their place, and sealed anew when keys rotate.

Rule 1: a sealed secret opens only for the `place` that it was sealed for, so that a row that is
        moved to another tenant or resource opens nothing.
Rule 2: the key id stands in front, so that a secret under an earlier master key still opens and
        can be told apart from one that needs no new seal.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

import attrs
from cryptography.exceptions import InvalidTag

from svc_core.contract.cursor import NONCE_BYTES, CursorError, Keyring

_PURPOSE: Final = "vault"
_PREFIX: Final = "v1."
_HEAD_BYTES: Final = 1 + NONCE_BYTES


class VaultError(ValueError):
    """The text is no secret of this place, or was sealed with a key that is gone."""


def vault(keyring: Keyring) -> Keyring:
    """The keys that seal secrets, derived from the same master keys as the cursors'."""
    return attrs.evolve(keyring, purpose=_PURPOSE)


def lock(keys: Keyring, secret: bytes, place: str, nonce: bytes) -> str:
    """`secret` sealed for `place` with 12 random bytes that the caller draws."""
    if len(nonce) != NONCE_BYTES:
        raise VaultError(f"A secret is sealed with {NONCE_BYTES} random bytes, not {len(nonce)}.")
    head = bytes((keys.current,))
    sealed = keys.cipher(keys.current).encrypt(nonce, secret, head + place.encode())
    return _PREFIX + urlsafe_b64encode(head + nonce + sealed).decode()


def unlock(keys: Keyring, text: str, place: str) -> bytes:
    """The secret that `lock` sealed for the same place.

    Raises:
        VaultError: it is not such a secret; the reason is not told.
    """
    data = _data(text)
    try:
        cipher = keys.cipher(data[0])
        return cipher.decrypt(data[1:_HEAD_BYTES], data[_HEAD_BYTES:], data[:1] + place.encode())
    except (CursorError, InvalidTag) as refused:
        raise VaultError("The secret cannot be opened.") from refused


def needs_new_seal(keys: Keyring, text: str) -> bool:
    """Whether the secret was sealed with another key than the present one."""
    return sealed_with(text) != keys.current


def sealed_with(text: str) -> int:
    """The id of the key that sealed the secret.

    Raises:
        VaultError: it is no sealed secret.
    """
    return _data(text)[0]


def _data(text: str) -> bytes:
    try:
        data = urlsafe_b64decode(text.removeprefix(_PREFIX))
    except ValueError as garbled:
        raise VaultError("The secret cannot be opened.") from garbled
    if not text.startswith(_PREFIX) or len(data) <= _HEAD_BYTES:
        raise VaultError("The secret cannot be opened.")
    return data
