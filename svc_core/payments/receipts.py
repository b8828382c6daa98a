"""Receipts of settled payments: the public one, and the signed one for the payer.

Rule 1: the public receipt says what was bought at which price and by which transfer, and nothing
        that names the payer, the payee, the request or what was answered.
Rule 2: whatever is not settled has no receipt, and the refusal is the same in every case.
Rule 3: the signed receipt goes to the payer alone, in `PAYMENT-RESPONSE` (x402, extension
        offer-receipt): a compact JWS (RFC 7515) over canonical JSON, by an Ed25519 key (RFC 8037)
        that the DID document of the service names (did:web).
"""

from base64 import urlsafe_b64encode
from datetime import datetime
from typing import Any, Final, Literal
from urllib.parse import quote, urlsplit

import attrs
from attrs import frozen

from svc_core.base import canonical, ids
from svc_core.base.views import reshape
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.host import Signer
from svc_core.payments.messages import RECEIPT, SCHEME, VERSION, SettlementResponse
from svc_core.payments.outcomes import transaction_of
from svc_core.payments.payment_rows import RECEIPT_PREFIX, Payment
from svc_core.payments.states import State

KEY_NAME: Final = "receipts"
"""Of the key in the DID document."""


@frozen
class Receipt:
    """What anybody who knows its identifier, or the transfer, may know of a settled payment."""

    id: str
    """Receipt identifier."""
    object: Literal["x402.receipt"]
    """What this is."""
    status: Literal["settled"]
    """No other payment has a receipt."""
    x402_version: Literal[2]
    """Version of the protocol."""
    scheme: Literal["exact"]
    """How it was paid."""
    network: str
    """The chain, by its CAIP-2 name."""
    asset: str
    """The contract of the token."""
    amount: str
    """What was paid, in the smallest unit of the token."""
    currency: Literal["USDC"]
    """The token."""
    price: str
    """The same in US dollars."""
    operation: str
    """What was bought."""
    tier: str
    """The price class."""
    transaction: str
    """The hash of the transfer on the chain."""
    settled_at: datetime
    """When the payment was found settled."""
    delivered: bool
    """Whether the answer was sent."""


def receipt_reference(text: str) -> str:
    """The normalised key of a receipt lookup: an identifier, or a transaction hash.

    Raises:
        Problem: RECEIPT_NOT_FOUND, the text is neither.
    """
    key = text if ids.is_id(RECEIPT_PREFIX, text) else transaction_of(text)
    if key is None:
        raise Problem(problem.RECEIPT_NOT_FOUND)
    return key


def public(payment: Payment | None) -> Receipt:
    """The public receipt of a payment.

    Raises:
        Problem: RECEIPT_NOT_FOUND, there is no payment or it is not settled.
    """
    if payment is None or payment.settled_at is None or payment.transaction is None:
        raise Problem(problem.RECEIPT_NOT_FOUND)
    return reshape(
        Receipt,
        payment,
        id=payment.receipt_id,
        object="x402.receipt",
        status="settled",
        x402_version=VERSION,
        scheme=SCHEME,
        currency="USDC",
        amount=str(payment.amount),
        delivered=payment.state is State.SETTLED,
    )


@frozen
class Signing:
    """Signs receipts: the key, and the public origin of the service that issues them."""

    signer: Signer
    origin: str

    @property
    def did(self) -> str:
        """The identifier of the service (did:web); the colon before a port is escaped there."""
        return f"did:web:{quote(urlsplit(self.origin).netloc, safe='.-')}"

    @property
    def kid(self) -> str:
        """The identifier of the key."""
        return f"{self.did}#{KEY_NAME}"

    def receipt(self, payment: Payment, now: datetime) -> dict[str, Any]:
        """The extension that carries the receipt of a settled payment."""
        members = {
            "version": 1,
            "network": payment.network,
            "resourceUrl": payment.url,
            "payer": payment.payer,
            "issuedAt": int(now.timestamp()),
            "transaction": payment.transaction,
        }
        head = _base64url(canonical.dumps({"alg": "EdDSA", "kid": self.kid}))
        message = f"{head}.{_base64url(canonical.dumps(members))}"
        signature = _base64url(self.signer.sign(message.encode("ascii")))
        jws = {"format": "jws", "signature": f"{message}.{signature}"}
        return {RECEIPT: {"info": {"receipt": jws}, "schema": {}}}

    def document(self) -> dict[str, Any]:
        """The DID document of `/.well-known/did.json`, with the public key of receipts."""
        key = {"kty": "OKP", "crv": "Ed25519", "x": _base64url(self.signer.public)}
        method = {"id": self.kid, "type": "JsonWebKey2020", "controller": self.did}
        return {
            "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1"],
            "id": self.did,
            "verificationMethod": [{**method, "publicKeyJwk": key}],
            "assertionMethod": [self.kid],
        }


def response(
    payment: Payment, payer: str, signing: Signing | None, now: datetime
) -> SettlementResponse:
    """The `PAYMENT-RESPONSE` message of a settled payment; `payer` is the checksummed address."""
    extensions = None if signing is None else signing.receipt(payment, now)
    answer = SettlementResponse(True, payment.transaction or "", payment.network, payer)
    return attrs.evolve(answer, amount=str(payment.amount), extensions=extensions)


def _base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
