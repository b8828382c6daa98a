"""The storage form of a held answer: one compressed text with its head and body.

Rule: unpacking gives the packed answer byte for byte, so that a repeated answer is the same answer.
"""

import json
from base64 import b64decode, b64encode
from typing import Final
from zlib import compress, decompress

from svc_core.payments.payment_rows import HeldAnswer

_FASTEST: Final = 1
"""The level of compression: at it already, JSON shrinks to a fifth."""


def pack(answer: HeldAnswer) -> str:
    """The answer in ASCII: a line of JSON with all but the body, then the body, compressed."""
    head = [answer.status, answer.media_type, answer.headers, answer.payment_response]
    line = json.dumps(head).encode("ascii") + b"\n"
    return b64encode(compress(line + answer.body, _FASTEST)).decode("ascii")


def unpack(text: str) -> HeldAnswer:
    """The answer that `pack` wrote."""
    line, _, body = decompress(b64decode(text)).partition(b"\n")
    status, media_type, headers, payment_response = json.loads(line)
    pairs = tuple((name, value) for name, value in headers)
    return HeldAnswer(status, media_type, pairs, body, payment_response)
