"""Signed URLs: a pass is short-lived permission to read one file, as the query of its address.

    expires=1771999200&key=17&pass=...

Rule 1: a pass names the file and its end under HMAC-SHA-256; no part of it can be changed.
Rule 2: the key is derived from a master key for this use alone and named by its id, so passes
        under an earlier master key still open while it is listed.
Rule 3: all passes for a file that are issued within ten minutes are equal, so that an answer
        which holds one stays the same, and each lasts at least an hour.
"""

import hmac
from base64 import urlsafe_b64encode
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import Final

from attrs import frozen
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from svc_core.base.seals import KEY_ID_MAX, Keyring

LIFETIME_SECONDS_MIN: Final = 3_600
"""How long a pass lasts at least: longer than a report takes to hear, paused once."""
STEP_SECONDS: Final = 600
_INFO: Final = b"svc media pass"


class PassError(ValueError):
    """The text is no pass for this file, or has ended."""


@frozen
class Pass:
    """Permission to read one file until a moment, in seconds since 1970."""

    expires: int
    key_id: int
    signature: str

    @property
    def query(self) -> str:
        """The pass as the query of a URL."""
        return f"expires={self.expires}&key={self.key_id}&pass={self.signature}"


def issue(keyring: Keyring, name: str, now: datetime) -> Pass:
    """Issue permission to read the file of that name for at least an hour from now."""
    expires = expiry_of(now)
    return Pass(expires, keyring.current, _signature(keyring.keys[keyring.current], name, expires))


def expiry_of(now: datetime) -> int:
    """When a pass that is issued now ends, in seconds since 1970."""
    return (int(now.timestamp()) // STEP_SECONDS + 1) * STEP_SECONDS + LIFETIME_SECONDS_MIN


def verify_pass(keyring: Keyring, permit: Pass, name: str, now: datetime) -> None:
    """Check that the pass opens the file now.

    Raises:
        PassError: it is not one for this file, its key is gone, or it has expired; which of these
            is not disclosed.
    """
    master = keyring.keys.get(permit.key_id)
    mark = _signature(master or bytes(32), name, permit.expires)
    is_ours = hmac.compare_digest(mark, permit.signature) and master is not None
    if not is_ours or now.timestamp() >= permit.expires:
        raise PassError("The pass does not open this file, or has ended.")


def parse_pass(values: dict[str, str]) -> Pass:
    """The pass that the parameters of a query contain.

    Raises:
        PassError: they are none.
    """
    expires, key_id, mark = (values.get(name, "") for name in ("expires", "key", "pass"))
    if not _is_number(expires) or not _is_number(key_id) or not mark.isascii():
        raise PassError("The address has no pass.")
    if int(key_id) > KEY_ID_MAX:
        raise PassError("The address has no pass.")
    return Pass(int(expires), int(key_id), mark)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 12


def _signature(master: bytes, name: str, expires: int) -> str:
    # The length in front keeps a name that ends in digits apart from the end of the pass.
    message = b"%d:%s:%d" % (len(name.encode()), name.encode(), expires)
    digest = hmac.digest(_key(master), message, sha256)
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


@lru_cache(maxsize=16)  # the present secret and a few earlier ones
def _key(master: bytes) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=_INFO).derive(master)
