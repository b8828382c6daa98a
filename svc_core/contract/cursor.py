"""Tokens for positions: encrypted cursors of lists, and watermarks of the change feed.

Rule 1: a cursor opens only for the tenant, operation, filters and order that it was sealed for;
        altered, foreign and stale ones are refused alike, so the refusal reveals nothing.
Rule 2: the id of the key is part of it, so that keys rotate while old cursors open.
Rule 3: a watermark outlives every key: it is not secret, only checked, because a client may keep
        one for years and rows are filtered by tenant whatever it says.
Rule 4: one token has one spelling; base64 that decodes alike but reads otherwise is refused.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from attrs import frozen
from cryptography.exceptions import InvalidTag

from svc_core.base import compact
from svc_core.base.compact import ascii_text
from svc_core.base.seals import NONCE_BYTES, Keyring, SealError

VERSION: Final = 1
LENGTH_MAX: Final = 512
"""Characters of a cursor, so that it fits a query beside its filters."""
FORM: Final = f"[A-Za-z0-9_-]{{1,{LENGTH_MAX}}}"
EPOCH_BYTES: Final = 8
POSITION_MAX: Final = 2**63 - 1
_HEAD_BYTES: Final = 2 + NONCE_BYTES
_CHECKSUM_BYTES: Final = 4
_WATERMARK_BYTES: Final = EPOCH_BYTES + 8 + 8 + _CHECKSUM_BYTES
_WATERMARK_PREFIX: Final = "w1."
WATERMARK_FORM: Final = r"w1\.[A-Za-z0-9_-]{38}"


# Why a cursor is encrypted and a watermark is not
# ------------------------------------------------
#
# A list is continued behind a row, not at an offset: with an offset, rows repeat or vanish while
# others are inserted before it. So a token has to carry the sort key of the last row. Three ways to
# carry it were weighed. In plain text, clients take it apart and build on its parts, and they can
# try positions that they never received. Signed, it cannot be altered, but it is still readable.
# Encrypted and authenticated (AES-256-GCM), it is opaque in fact, so its content may change freely.
#
#     cursor    = base64url(version (1) | key id (1) | nonce (12) | ciphertext and tag (16))
#     watermark = "w1." base64url(epoch (8) | global position (8) | tenant position (8) | check (4))
#
# The position means something only in its own list. Under other filters the same key would skip or
# repeat rows without anybody noticing. `binding` is a digest of tenant, operation, filters and
# order; it is associated data of the cipher, and so is not sent, but has to be the same to open.
# The page limit is no part of it, since it may change from page to page without harm. Wrong tenant,
# wrong filters, removed key, a flipped bit: all fail in the same check and give the same refusal,
# so nobody can learn by trying which of them was wrong.
#
# A watermark lives longer. A client may store it for years and come back after every key has been
# rotated away, so it must not depend on one. It is readable: an epoch and two counters are no
# secret, and the feed filters rows by tenant whatever a watermark says. A forged one can only start
# the feed of its own tenant at another place. The four check bytes find slips (a cut or mistyped
# token, a token of another tenant) with a chance of 1 in 2^32 to miss one; they are no protection
# against intent. The epoch tells apart databases: after a restore from backup, counters may repeat.
#
# Weak spots: `binding` sees filters as they were sent, so that two spellings of one filter are two
# lists. And a cursor does not expire by itself: it opens as long as its key is in the ring.


class CursorError(ValueError):
    """The text is no cursor of this list, or a position cannot make one."""


class WatermarkError(ValueError):
    """The text is no watermark of this tenant's feed."""


# -- cursors -----------------------------------------------------------------------------------


def binding(
    tenant: str, operation: str, filters: Mapping[str, object], order: str | Sequence[str]
) -> bytes:
    """A digest of the list that a cursor belongs to; the order of the filters does not matter.

    `filters` holds JSON values by name. The page limit does not belong here: a client may change
    it on the way.
    """
    return sha256(_binding_text([tenant, operation, filters, order]).encode()).digest()


def seal(keyring: Keyring, position: object, binding: bytes, nonce: bytes) -> str:
    """The cursor of a position, a JSON value; `nonce` is 12 random bytes that the caller draws.

    Raises:
        CursorError: the nonce has another length, or the cursor would pass 512 characters.
    """
    if len(nonce) != NONCE_BYTES:
        raise CursorError(f"A cursor is sealed with {NONCE_BYTES} random bytes, not {len(nonce)}.")
    head = bytes((VERSION, keyring.current))
    plain = ascii_text(position).encode()
    ciphertext = keyring.cipher(keyring.current).encrypt(nonce, plain, head + binding)
    text = _to_text(head + nonce + ciphertext)
    if len(text) > LENGTH_MAX:
        raise CursorError(f"The position needs a cursor beyond {LENGTH_MAX} characters.")
    return text


def unseal(keyring: Keyring, text: str, binding: bytes) -> Any:
    """The position that `seal` put into the cursor under the same binding.

    Raises:
        CursorError: it is not such a cursor; the reason is not disclosed.
    """
    data = _from_text(text) if len(text) <= LENGTH_MAX else b""
    if len(data) <= _HEAD_BYTES or data[0] != VERSION:
        raise CursorError("The cursor cannot be opened.")
    try:
        cipher = keyring.cipher(data[1])
        plain = cipher.decrypt(data[2:_HEAD_BYTES], data[_HEAD_BYTES:], data[:2] + binding)
    except (SealError, InvalidTag) as error:
        raise CursorError("The cursor cannot be opened.") from error
    return json.loads(plain.decode())


# Escaped to ASCII, so that every text has a form; sorted, so that equal filters have one.
_binding_text = compact.compact_encoder(ascii_only=True, sort_keys=True)

# -- watermarks --------------------------------------------------------------------------------


@frozen
class Watermark:
    """A place in the change feed: behind these positions, in the database of this epoch.

    `epoch` is 8 bytes, drawn once per database; positions count from 0, which is the beginning.
    """

    epoch: bytes
    global_position: int
    tenant_position: int


def seal_watermark(watermark: Watermark, tenant: str) -> str:
    """The token of a watermark for one tenant: `w1.` and 38 characters.

    Raises:
        WatermarkError: the epoch is not 8 bytes, or a position is negative or beyond 2^63-1.
    """
    if len(watermark.epoch) != EPOCH_BYTES:
        raise WatermarkError(f"An epoch has {EPOCH_BYTES} bytes, not {len(watermark.epoch)}.")
    positions = (watermark.global_position, watermark.tenant_position)
    if not all(0 <= position <= POSITION_MAX for position in positions):
        raise WatermarkError(f"A position lies between 0 and {POSITION_MAX}.")
    data = watermark.epoch + b"".join(position.to_bytes(8, "big") for position in positions)
    return _WATERMARK_PREFIX + _to_text(data + _checksum(data, tenant))


def open_watermark(text: str, tenant: str) -> Watermark:
    """The watermark in a token of this tenant.

    Whether its epoch is the database's, and its positions lie within the feed, is for the caller.

    Raises:
        WatermarkError: the token is not one that this tenant was given, or has a slip in it.
    """
    data = _from_text(text[len(_WATERMARK_PREFIX) :]) if text.startswith(_WATERMARK_PREFIX) else b""
    body, check = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    if len(data) != _WATERMARK_BYTES or check != _checksum(body, tenant):
        raise WatermarkError("The text is no watermark of this feed; pass it on unchanged.")
    epoch, *positions = (
        body[:8],
        *(int.from_bytes(body[start : start + 8], "big") for start in (8, 16)),
    )
    return Watermark(epoch, *positions)


def _checksum(data: bytes, tenant: str) -> bytes:
    # The fixed length of the data in front keeps it apart from the tenant.
    return sha256(data + tenant.encode("utf-8", "surrogatepass")).digest()[:_CHECKSUM_BYTES]


# -- text --------------------------------------------------------------------------------------


def _to_text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _from_text(text: str) -> bytes:
    """The bytes of base64url without padding; none where the text is not their one spelling."""
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""
    # The decoder skips foreign characters and ignores unused bits; writing it again shows both.
    return data if _to_text(data) == text else b""
