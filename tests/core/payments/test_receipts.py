"""What is told of a settled payment, and to whom."""

import json
from base64 import urlsafe_b64decode
from datetime import datetime
from typing import Any

import attrs
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from svc_core import wire
from svc_core.base import canonical, drive
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger.log.note import Ed25519Signer
from svc_core.payments.payment_rows import Payment
from svc_core.payments.receipts import Signing, public, receipt_reference, response
from svc_core.payments.states import State
from tests.paying import REQUIREMENTS, URL, World, purchase
from tests.wallets import field, nonce, wallet

NAME = "identifier-00000001"


def _payment() -> Payment:
    world = World()
    value = field(wallet().payment(REQUIREMENTS, world.second, identifier=NAME, url=URL))
    drive.run(world.checkout.serve(purchase(value), world.work()))
    return world.only()


PAYMENT = _payment()
KEY = Ed25519Signer(Ed25519PrivateKey.from_private_bytes(b"k" * 32))
SIGNING = Signing(KEY, "https://api.svc.test")


def test_everybody_may_know_what_was_bought_and_nothing_else() -> None:
    members: Any = wire.to_json(public(PAYMENT))
    assert members == {
        "id": PAYMENT.receipt_id,
        "object": "x402.receipt",
        "status": "settled",
        "x402Version": 2,
        "scheme": "exact",
        "network": "eip155:84532",
        "asset": REQUIREMENTS.asset,
        "amount": "250000",
        "currency": "USDC",
        "price": "0.25",
        "operation": "getReport",
        "tier": "T4_PREMIUM_SINGLE",
        "transaction": PAYMENT.transaction,
        "settledAt": "2026-01-02T03:04:05Z",
        "delivered": True,
    }
    text = json.dumps(members).lower()
    secrets_ = [PAYMENT.payer, PAYMENT.pay_to.lower(), PAYMENT.nonce, NAME, "rpt_", PAYMENT.id]
    assert [part for part in secrets_ if part in text] == []


def test_what_is_owed_has_a_receipt_too() -> None:
    assert not public(attrs.evolve(PAYMENT, state=State.OWED)).delivered


@pytest.mark.parametrize(
    "payment",
    [
        None,
        attrs.evolve(PAYMENT, state=State.PENDING, settled_at=None),
        attrs.evolve(PAYMENT, transaction=None),
    ],
)
def test_what_is_not_settled_has_none(payment: Payment | None) -> None:
    with pytest.raises(Problem) as failure:
        public(payment)
    assert failure.value.type is problem.RECEIPT_NOT_FOUND
    assert failure.value.detail == "No such receipt."


def test_a_receipt_is_looked_up_by_its_identifier_or_its_transfer() -> None:
    assert receipt_reference(PAYMENT.receipt_id) == PAYMENT.receipt_id
    assert receipt_reference(nonce(1).upper().replace("X", "x")) == nonce(1)
    for text in ("", PAYMENT.id, "rct_x", "0x12", PAYMENT.receipt_id + "0"):
        with pytest.raises(Problem, match="RECEIPT_NOT_FOUND"):
            receipt_reference(text)


def unpad(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_the_payer_has_a_receipt_that_anybody_can_check() -> None:
    extension = SIGNING.receipt(PAYMENT, datetime.fromisoformat("2026-01-02T03:04:06Z"))
    jws = extension["offer-receipt"]["info"]["receipt"]
    assert jws["format"] == "jws"
    head, body, signature = jws["signature"].split(".")
    assert json.loads(unpad(head)) == {
        "alg": "EdDSA",
        "kid": "did:web:api.svc.test#receipts",
    }
    members = json.loads(unpad(body))
    assert members == {
        "version": 1,
        "network": "eip155:84532",
        "resourceUrl": URL,
        "payer": PAYMENT.payer,
        "issuedAt": 1_767_323_046,
        "transaction": PAYMENT.transaction,
    }
    assert unpad(body) == canonical.dumps(members)
    (method,) = SIGNING.document()["verificationMethod"]
    key = Ed25519PublicKey.from_public_bytes(unpad(method["publicKeyJwk"]["x"]))
    key.verify(unpad(signature), f"{head}.{body}".encode())
    with pytest.raises(InvalidSignature):
        key.verify(unpad(signature), f"{head}.{body[:-1]}A".encode())


@pytest.mark.parametrize(
    ("origin", "did"),
    [
        ("https://api.svc.test", "did:web:api.svc.test"),
        ("http://127.0.0.1:8000", "did:web:127.0.0.1%3A8000"),
    ],
)
def test_the_key_is_found_under_the_address_of_the_service(origin: str, did: str) -> None:
    document = Signing(KEY, origin).document()
    assert document["id"] == did
    assert document["assertionMethod"] == [f"{did}#receipts"]
    assert document["verificationMethod"][0]["controller"] == did


def test_the_answer_carries_the_receipt_where_there_is_a_key() -> None:
    plain = response(PAYMENT, wallet().address, None, PAYMENT.updated_at)
    assert plain.extensions is None
    signature_text = response(PAYMENT, wallet().address, SIGNING, PAYMENT.updated_at)
    assert signature_text.extensions is not None
    assert len(signature_text.header()) < 1_100
    lacking = attrs.evolve(PAYMENT, transaction=None)
    assert response(lacking, "0x", None, PAYMENT.updated_at).transaction == ""
