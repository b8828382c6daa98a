"""A payment that was settled, and a place that has such payments."""

from datetime import UTC, datetime

from svc_core.base.ids import EXAMPLE_DIGITS
from svc_core.payments.payment_rows import Payment
from svc_core.payments.states import State

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
_AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
PAYMENT = Payment(
    id="pay_" + "4" * 24,
    receipt_id=f"rct_{EXAMPLE_DIGITS}",
    network="eip155:84532",
    asset="0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    pay_to=PAYEE,
    payer="0x" + "1d" * 20,
    nonce="0x" + "2e" * 32,
    amount=250_000,
    valid_before=1_900_000_000,
    operation="getReport",
    tier="T4_PREMIUM_SINGLE",
    price="0.25",
    url="https://api.example.org/api/v1/reports/rpt_" + "3" * 24,
    fingerprint="f" * 64,
    payload='{"signature":"0x77"}',
    payload_digest="e" * 64,
    identifier="client-name-of-it-1",
    state=State.SETTLED,
    lease=None,
    reserved_at=_AT,
    updated_at=_AT,
    settled_at=_AT,
    delivered_at=_AT,
    transaction="0x" + "ab" * 32,
)
"""The one with the receipt of the documents' examples."""


class Shelf:
    """What looks receipts up, over these payments."""

    def __init__(self, *payments: Payment) -> None:
        self.payments = payments

    async def receipt(self, reference: str) -> Payment | None:
        payments = [
            payment
            for payment in self.payments
            if reference in {payment.receipt_id, payment.transaction}
        ]
        return payments[0] if payments else None
