"""Webhook secrets and the header fields that sign a delivery.

Rule 1: the signature is over the exact raw body bytes (Spec: Events); `X-Svc-Signature` is the
        HMAC-SHA256 of them, and the three fields of Standard Webhooks stand beside it, so that
        its libraries verify a delivery as it is.
Rule 2: while a rotated secret still signs, `webhook-signature` holds a signature by each.
Rule 3: signatures are compared in constant time.
"""

import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final

from svc_core.base import instants
from svc_core.outbox.model import OutboxEvent

CONTENT_TYPE: Final = "application/cloudevents+json"
SECRET_BYTES: Final = 32
_PREFIX: Final = "whsec_"
_CHAR: Final = "[A-Za-z0-9+/]"
_ONE_BYTE, _TWO_BYTES = f"{_CHAR}[AQgw]==", f"{_CHAR}{{2}}[AEIMQUYcgkosw048]="
SECRET_PATTERN: Final = (  # the form of one: eight to 21 groups of three bytes, and what is left
    f"whsec_(?:{_CHAR}{{4}}){{8,20}}(?:{_CHAR}{{4}}(?:{_ONE_BYTE})?|{_TWO_BYTES}|{_ONE_BYTE})?"
)
"""Standard Webhooks, "Signature scheme": a secret has 24 to 64 bytes. It has one spelling here, so
that no two libraries read two keys in it."""
TOLERANCE_SECONDS: Final = 300
"""How far the time of an attempt may be from the receiver's clock (Standard Webhooks)."""


class SecretError(ValueError):
    """The text is no webhook secret."""


class SignatureError(ValueError):
    """The delivery is not signed by the secret, or too old."""


def secret_text(key: bytes) -> str:
    """The secret as people copy it."""
    return _PREFIX + b64encode(key).decode()


def secret_key(text: str) -> bytes:
    """The HMAC key of a secret.

    Raises:
        SecretError: it is not `whsec_` and the base64 of 24 to 64 bytes.
    """
    if re.fullmatch(SECRET_PATTERN, text) is None:
        raise SecretError("must be whsec_ and the base64 of 24 to 64 bytes")
    return b64decode(text.removeprefix(_PREFIX))


def fields(
    event: OutboxEvent, *, attempt_id: str, number: int, at: datetime, keys: Sequence[bytes]
) -> dict[str, str]:
    """The header fields of one attempt; `keys` sign, the present one first."""
    body = event.body.encode()
    seconds = str(int(at.timestamp()))
    message = b".".join((event.id.encode(), seconds.encode(), body))
    return {
        "Content-Type": CONTENT_TYPE,
        "Idempotency-Key": event.id,
        "X-Svc-Event-Id": event.id,
        "X-Svc-Attempt-Id": attempt_id,
        "X-Svc-Attempt": str(number),
        "X-Svc-Timestamp": instants.render(at),
        "X-Svc-Signature": "sha256=" + hmac.new(keys[0], body, sha256).hexdigest(),
        "webhook-id": event.id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{_standard_signature(key, message)}" for key in keys),
    }


def _standard_signature(key: bytes, message: bytes) -> str:
    return b64encode(hmac.new(key, message, sha256).digest()).decode()


def verify_delivery(headers: Mapping[str, str], body: bytes, key: bytes, now: datetime) -> None:
    """Check a delivery as a receiver does; `headers` has lower-case names.

    Raises:
        SignatureError: a field is missing, the signature is another, or the time is too far off.
    """
    try:
        id_, seconds = headers["webhook-id"], headers["webhook-timestamp"]
        signatures = headers["webhook-signature"].split(" ")
        age = abs(now.timestamp() - int(seconds))
    except (KeyError, ValueError) as error:
        raise SignatureError("A signature field is missing or cannot be read.") from error
    if age > TOLERANCE_SECONDS:
        raise SignatureError("The delivery is older than five minutes, or from the future.")
    signature = "v1," + _standard_signature(key, b".".join((id_.encode(), seconds.encode(), body)))
    if not any(hmac.compare_digest(signature.encode(), text.encode()) for text in signatures):
        raise SignatureError("No signature is by this secret.")
