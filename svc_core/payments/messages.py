"""The messages between clients, this service and facilitators (x402, version 2).

Rule 1: what a client sends is read strictly (`PaymentPayload`): exact types, bounded texts, no
        member of the signed part that is not known. A member that one reader understands and
        another passes over is how keys against replay were got around.
Rule 2: a facilitator's answer is parsed leniently: unknown members are ignored and reasons are
        opaque. What the answer must contain is checked in `outcomes`.
Rule 3: amounts and times are decimal texts of ASCII digits. `int` would also take "250_000",
        " 1", "+1" and digits of other scripts.
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from annotated_types import MaxLen, MinLen
from attrs import field, frozen

from svc_core import wire
from svc_core.wire import Json, OpenShape
from svc_core.wire.constraints import Pattern

T = TypeVar("T")

VERSION: Final = 2
SCHEME: Final = "exact"

IDENTIFIER: Final = "payment-identifier"
"""The extension that names a payment, so that a lost answer can be asked for again."""
RECEIPT: Final = "offer-receipt"
"""The extension that carries a signed receipt."""

PAYMENT_REQUIRED: Final = "PAYMENT-REQUIRED"
PAYMENT_SIGNATURE: Final = "PAYMENT-SIGNATURE"
PAYMENT_RESPONSE: Final = "PAYMENT-RESPONSE"
"""The fields of the HTTP transport, in the order in which they travel."""

Version = Literal[2]
Decimal = Annotated[str, Pattern("0|[1-9][0-9]{0,77}", "a whole number in decimal digits")]
"""Of 256 bits at most: 2^256 has 78 digits."""
Address = Annotated[str, Pattern("0x[0-9a-fA-F]{40}", "0x and 40 hexadecimal digits")]
Bytes32 = Annotated[str, Pattern("0x[0-9a-fA-F]{64}", "0x and 64 hexadecimal digits")]
Signature = Annotated[str, Pattern("0x(?:[0-9a-fA-F]{2}){1,4096}", "0x and pairs of hex digits")]
"""Of any length: those of contract wallets are not of 65 bytes."""
Caip2 = Annotated[str, Pattern("[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}", "a CAIP-2 chain")]
Url = Annotated[str, MinLen(1), MaxLen(4_096)]
Identifier = Annotated[str, Pattern("[A-Za-z0-9_-]{16,128}", "16 to 128 of A-Z a-z 0-9 _ -")]


# -- what is asked for -------------------------------------------------------------------------


@frozen
class PaymentRequirements(OpenShape):
    """One way to pay: `amount` in the smallest unit of `asset`, to `pay_to`, on `network`.

    `extra` has the name and version of the EIP-712 domain that the asset is signed under.
    """

    scheme: Annotated[str, MaxLen(64)]
    network: Caip2
    amount: Decimal
    asset: Address
    pay_to: Address
    max_timeout_seconds: int
    extra: Mapping[str, Json] = field(factory=dict)


@frozen
class PaidResource(OpenShape):
    """What is paid for, by its address; the rest is for people."""

    url: Url
    description: Annotated[str, MaxLen(4_096)] | None = None
    mime_type: Annotated[str, MaxLen(256)] | None = None


# -- what a client sends -----------------------------------------------------------------------


@frozen
class Authorization:
    """A transfer that the payer has signed (EIP-3009): `value` units from `from_` to `to`.

    Good from after Unix second `valid_after` until before `valid_before`; `nonce` is used once.
    The members stand in the order in which they are signed.
    """

    from_: Address
    to: Address
    value: Decimal
    valid_after: Decimal
    valid_before: Decimal
    nonce: Bytes32


@frozen
class SignedTransfer:
    """The authorization and its signature, as the scheme `exact` has them on EVM chains."""

    signature: Signature
    authorization: Authorization


@frozen
class PaymentPayload(OpenShape):
    """What `PAYMENT-SIGNATURE` says: the way to pay that was taken, and the signed transfer."""

    x402_version: Version
    accepted: PaymentRequirements
    payload: SignedTransfer
    resource: PaidResource | None = None
    extensions: Mapping[str, Json] | None = None


# -- what a facilitator says -------------------------------------------------------------------


@frozen
class Verdict(OpenShape):
    """A facilitator's answer to `/verify`."""

    is_valid: bool
    invalid_reason: str | None = None
    invalid_message: str | None = None
    payer: str | None = None


@frozen
class SettlementResponse(OpenShape):
    """A facilitator's answer to `/settle`, and what `PAYMENT-RESPONSE` says to the client.

    `transaction` is "" where there is none; of a failure with the reason `settlement_pending` it
    is the transfer that is under way.
    """

    success: bool
    transaction: str = ""
    network: str = ""
    payer: str | None = None
    error_reason: str | None = None
    error_message: str | None = None
    amount: str | None = None
    extensions: Mapping[str, Json] | None = None

    def header(self) -> str:
        """The value of `PAYMENT-RESPONSE`: what is not known is left out."""
        return encode_field(message_members(self))


@frozen
class Kind(OpenShape):
    """A scheme and a network that a facilitator takes."""

    x402_version: int
    scheme: str
    network: str


@frozen
class SupportedKinds(OpenShape):
    """A facilitator's answer to `/supported`."""

    kinds: tuple[Kind, ...]


def facilitator_request(payload: Json) -> dict[str, Any]:
    """The body of `/verify` and `/settle` for a payload as it was sent, which has been read as a
    `PaymentPayload`. The requirements are those that it accepted: they were found equal to ours."""
    assert isinstance(payload, dict)  # noqa: S101 - it was read as an object
    return {
        "x402Version": VERSION,
        "paymentPayload": payload,
        "paymentRequirements": payload["accepted"],
    }


def facilitator_reply(class_: type[T], body: bytes) -> T:
    """Parse a facilitator's answer; a null member counts as absent.

    Raises:
        ValueError: the body is not a message of this class.
    """
    members = wire.decode_json(body)
    if isinstance(members, dict):
        members = {name: value for name, value in members.items() if value is not None}
    return wire.structure(class_, members)


# -- writing -----------------------------------------------------------------------------------


def message_members(message: Any) -> dict[str, Any]:
    """The members of a message that are not None, by wire name."""
    members: Any = wire.to_json(message)
    return {name: value for name, value in members.items() if value is not None}


def encode_field(members: Mapping[str, Any]) -> str:
    """The value of a field: standard base64, padded, of the JSON in UTF-8."""
    return b64encode(wire.to_bytes(dict(members))).decode("ascii")
