"""The stored rows of payments, wallets and held answers.

Rule 1: a payment has the identifier that follows from network, asset, payer and nonce, which the
        chain takes once. So two requests with one authorization meet in one row, whoever serves
        them, whatever else differs, for ever.
Rule 2: payers, nonces and hashes, which strangers write, are kept in lower case, so that equal
        ones are equal texts.
Rule 3: a record changes by the table of `states` alone, and every change counts its `revision`.
"""

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Final

import attrs
from attrs import field, frozen

from svc_core.access.limits import DAY_SECONDS, MINUTE_SECONDS
from svc_core.base import ids
from svc_core.base.views import reshape
from svc_core.payments.states import WATCHED, Event, State, step

PREFIX: Final = "pay"
RECEIPT_PREFIX: Final = "rct"
RECEIPTS_PATH: Final = "/api/v1/x402/receipts/"


@frozen
class Lease:
    """The lease on a payment: its holder, and the instant at which it ends."""

    holder: str
    until: datetime


@frozen(kw_only=True)
class PaymentRow:
    """What the operator is shown of a payment.

    `amount` is in the smallest unit of the asset, `price` in US dollars. `receipt_id` is random, so
    that nobody finds a receipt who was not told of it. `reason` says why nothing was charged, or
    what is waited for. `attempts` counts how often a facilitator was or may have been asked to
    settle it since it was reserved. `transaction` is the transfer's hash as far as one is known.
    """

    id: str
    receipt_id: str
    state: State = field(converter=State)  # a row has it as text
    operation: str
    tier: str
    price: str
    url: str
    network: str
    asset: str
    amount: int
    payer: str
    pay_to: str
    transaction: str | None = None
    reason: str | None = None
    attempts: int = 0
    reserved_at: datetime
    updated_at: datetime
    settled_at: datetime | None = None
    delivered_at: datetime | None = None


@frozen(kw_only=True)
class Payment(PaymentRow):
    """One authorization, what was bought with it, and where that stands.

    `fingerprint` is the digest of the request, `payload_digest` that of the bytes the client sent,
    both SHA-256 in hex; `payload` is their JSON text, with which a facilitator is asked again.
    `identifier` is the client's own name of the payment. The chain refuses the authorization from
    Unix second `valid_before` on.
    """

    nonce: str
    valid_before: int
    fingerprint: str
    payload: str
    payload_digest: str
    identifier: str | None
    lease: Lease | None
    revision: int = 1

    @property
    def row(self) -> PaymentRow:
        """The row for the operator, without the signed payload."""
        return reshape(PaymentRow, self)

    @property
    def keys(self) -> "PaymentKeys":
        """Where the rows of it are."""
        return PaymentKeys(self.id, self.payer, self.identifier)

    @property
    def holder(self) -> str | None:
        """The holder of the current or last lease."""
        return None if self.lease is None else self.lease.holder

    def is_worked_on(self, now: datetime) -> bool:
        """Whether a lease on it still runs."""
        return self.lease is not None and now < self.lease.until

    def after(self, event: Event, now: datetime, lease: Lease | None = None) -> "Payment":
        """The payment after an event; it keeps a lease only in the states that are watched.

        Raises:
            Superseded: its state does not allow the event.
        """
        state = step(self.state, event)
        is_paid = event in (Event.CONFIRM, Event.OBSERVE)
        is_sent = state is State.SETTLED
        return attrs.evolve(
            self,
            state=state,
            lease=lease if state in WATCHED else None,
            updated_at=now,
            settled_at=(self.settled_at or now) if is_paid else self.settled_at,
            delivered_at=now if is_sent else self.delivered_at,
            reason=None if is_paid or is_sent else self.reason,
            attempts=self.attempts + (event is Event.SETTLE),
            revision=self.revision + 1,
        )


@frozen
class HeldAnswer:
    """The answer to a paid request as it is sent: held back until the money moved.

    `payment_response` is the value of `PAYMENT-RESPONSE` from the moment there is one.
    """

    status: int
    media_type: str | None
    headers: tuple[tuple[str, str], ...]
    body: bytes
    payment_response: str | None = None


@frozen
class Wallet:
    """The counts of a payer in the current UTC windows.

    `requests` were reserved in the minute that begins at Unix second `minute`; `spent` units are
    reserved or settled since the day that begins at `day`; `rejections` are the times of the
    newest payments that could not be settled, oldest first.
    """

    payer: str
    minute: int = 0
    requests: int = 0
    day: int = 0
    spent: int = 0
    rejections: tuple[datetime, ...] = ()


@frozen
class PaymentKeys:
    """The keys of the rows of one decision.

    The payment `id`, the wallet of `payer`, the client's `identifier`, if it sent one, and the
    `transaction` that the decision is about.
    """

    id: str
    payer: str
    identifier: str | None = None
    transaction: str | None = None


@frozen
class PaymentRows:
    """The stored rows of one decision, on one snapshot.

    `namesake` is the payment with the client's identifier that is not released; it may be the
    payment itself. `owner` is another payment, not released, that names the transaction.
    """

    payment: Payment | None = None
    namesake: Payment | None = None
    wallet: Wallet | None = None
    answers: Mapping[str, HeldAnswer] = field(factory=dict)
    """By the identifiers of payment and namesake."""
    owner: Payment | None = None


@frozen
class Writes:
    """The rows to write, all or none; None leaves a row unchanged.

    `answer` is kept under the payment's identifier; with `forget` the one that is kept goes.
    """

    payment: Payment
    wallet: Wallet | None = None
    answer: HeldAnswer | None = None
    forget: bool = False


def payment_id(network: str, asset: str, payer: str, nonce: str) -> str:
    """The identifier that an authorization has here: `pay_` and 24 hex digits, in any case of its
    texts the same."""
    return ids.derived_id(PREFIX, network, asset.lower(), f"{payer.lower()} {nonce.lower()}")


def fingerprint(method: str, url: str) -> str:
    """The digest of a request: its method and its whole address, as the challenge names it."""
    return sha256(f"{method} {url}".encode()).hexdigest()


def identifier_key(payer: str, identifier: str) -> str:
    """One text for a payer's own name of a payment, to find it by."""
    return f"{payer} {identifier}"


def minute_of(now: datetime) -> int:
    """The Unix second at which the minute began."""
    return int(now.timestamp()) // MINUTE_SECONDS * MINUTE_SECONDS


def day_of(now: datetime) -> int:
    """The Unix second at which the day (UTC) began."""
    return int(now.timestamp()) // DAY_SECONDS * DAY_SECONDS
