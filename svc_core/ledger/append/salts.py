"""Salts that come again when the same input is appended again.

Rule 1: a salt keeps people from finding an erased payload by hashing guesses, so it takes the
        master secret to make one: what was appended does not suffice.
Rule 2: a salt stands for one place in one input to one tenant. The same record under the same
        salt has the same identifier, so an append that is repeated finds what it did before.
"""

from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from svc_core.cursor import Keyring
from svc_core.ledger.append.drafts import SALT_BYTES

_PURPOSE: Final = b"svc ledger salt\n"


def repeatable(keyring: Keyring, tenant: str, mark: str) -> bytes:
    """The salt of the place `mark` in an input; another one after the secret was changed."""
    info = _PURPOSE + f"{tenant}\n{mark}".encode()
    return HKDF(SHA256(), SALT_BYTES, salt=None, info=info).derive(keyring.keys[keyring.current])
