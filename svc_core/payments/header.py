"""Strict parsing of the `PAYMENT-SIGNATURE` field of a request.

Rule 1: one field, of bounded length, in standard base64 with its padding, of one JSON object whose
        members are sent once. Whatever else comes is answered 400, never with anything worse.
Rule 2: the bounds are far above what the clients in use send: 1,100 bytes with nothing besides the
        payment, 2,436 with every extension echoed.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, Literal

from attrs import frozen

from svc_core import wire
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.payments.evm import UINT256_MAX
from svc_core.payments.messages import (
    IDENTIFIER,
    PAYMENT_SIGNATURE,
    Identifier,
    PaymentPayload,
)
from svc_core.wire import OpenShape, WireError

LENGTH_MAX: Final = 12_288
"""Characters of the field. Nesting is bounded by the reader of JSON."""
FAULTS_SHOWN_MAX: Final = 5


@frozen
class _Info(OpenShape):
    # A client echoes what the challenge said, and may add to it.
    required: Literal[False] = False
    id: Identifier | None = None


@frozen
class _Extension(OpenShape):
    info: _Info


@frozen
class ReceivedPayment:
    """A payment as a client sent it: parsed, and as its original text.

    `text` is the JSON, for a facilitator; `digest` the SHA-256 of its bytes in hex; `identifier`
    the client's own name of the payment, if it gave one.
    """

    payload: PaymentPayload
    text: str
    digest: str
    identifier: str | None


def parse_payment(values: Sequence[str]) -> ReceivedPayment:
    """Parse the values of the field, one for each time it was sent.

    Raises:
        Problem: INVALID_PAYMENT, with the faults.
    """
    if len(values) != 1:
        raise _payment_problem("is to be sent once")
    (value,) = values
    if not 0 < len(value) <= LENGTH_MAX:
        raise _payment_problem(f"has {len(value):,} characters, not 1 to {LENGTH_MAX:,}")
    try:
        raw = b64decode(value, validate=True)
        if b64encode(raw).decode("ascii") != value:
            raise _payment_problem("is not base64 in its one form")
        payload = wire.structure(PaymentPayload, wire.decode_json(raw))
        extension = (payload.extensions or {}).get(IDENTIFIER)
        identifier = None if extension is None else wire.structure(_Extension, extension).info.id
    except WireError as error:
        raise _payment_problem("; ".join(map(str, error.faults[:FAULTS_SHOWN_MAX]))) from error
    except ValueError as error:  # of base64, of UTF-8 and of JSON
        raise _payment_problem(str(error)) from error
    transfer = payload.payload.authorization
    # 78 digits may be somewhat more than 256 bits hold.
    if max(map(int, (transfer.value, transfer.valid_after, transfer.valid_before))) > UINT256_MAX:
        raise _payment_problem("holds a number of more than 256 bits")
    return ReceivedPayment(payload, raw.decode("utf-8-sig"), sha256(raw).hexdigest(), identifier)


def _payment_problem(words: str) -> Problem:
    return Problem(problem.INVALID_PAYMENT, f"{PAYMENT_SIGNATURE}: {words}.")
