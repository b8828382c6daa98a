"""The ports of payments: cryptography, a facilitator, a view of the chain, and stored rows.

Rule 1: the flow waits for nothing but these, so that all of it runs in a test without a loop.
Rule 2: a port that does not answer raises `Unavailable`; the call may have taken effect or not.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from attrs import frozen

from svc_core.payments.messages import SettlementResponse, Verdict
from svc_core.payments.payment_rows import Payment, PaymentKeys, PaymentRows, Writes
from svc_core.payments.states import WATCHED, State
from svc_core.wire import Json


class Unavailable(Exception):  # noqa: N818 - said as the state that it is
    """A facilitator or a chain gave no usable answer; the message gives the reason."""


class Crypto(Protocol):
    """The two functions that signatures of Ethereum are made of."""

    def keccak(self, data: bytes) -> bytes:
        """The Keccak-256 of the data, 32 bytes; not SHA3-256, which pads in another way."""

    def recover(self, digest: bytes, signature: bytes) -> bytes | None:
        """The public key (64 bytes, x and y) whose signature of a 32-byte digest this is.

        The signature is of 65 bytes: r, s, and the recovery id, which is 0 or 1. None where there
        is no such key.
        """


class Facilitator(Protocol):
    """The service that verifies payments and settles them on the chain (x402, section 7)."""

    async def verify(self, payload: Json) -> Verdict:
        """Whether a payload, as a client sent it, could be settled now.

        Raises:
            Unavailable: there was no answer, or not one of this form.
        """

    async def settle(self, payload: Json) -> SettlementResponse:
        """Have it settled; what the answer is worth, `outcomes.judge` says.

        Some say that a settlement is pending with status 500: a body of this form is an answer,
        whatever its status.

        Raises:
            Unavailable: there was no answer, or not one of this form.
        """


@frozen
class Sighting:
    """Whether an authorization was used or cancelled, as of the time of the block looked at."""

    is_used: bool
    at: datetime


@frozen
class Transfer:
    """Money that moved by an authorization: in which transaction, at the time of which block."""

    transaction: str
    at: datetime


class ChainReader(Protocol):
    """A view of the chain that a payment is on, at a depth that is not undone any more."""

    async def authorization_state(self, payment: Payment) -> Sighting:
        """Whether the payer's nonce is used up; that it is proves no payment.

        Raises:
            Unavailable: the chain could not be read.
        """

    async def transfer(self, payment: Payment) -> Transfer | None:
        """The transfer of exactly this amount of the asset from the payer to whom it was to go, in
        the transaction that used or cancelled the nonce; None where that one holds none.

        Raises:
            Unavailable: the chain could not be read, or that transaction was not found in it.
        """


Rule = Callable[[PaymentRows], Writes]
"""Computes the writes from the stored rows. It must be pure: it may be called again with other rows
if the first ones have changed meanwhile. An exception undoes everything."""


class PaymentStore(Protocol):
    """The rows of payments, wallets and kept answers.

    Calls of `update` happen as if one after another, in this process and in others, and are
    durable when they return.
    """

    async def look(self, place: PaymentKeys) -> PaymentRows:
        """The rows of a place, as of one moment."""

    async def update(self, place: PaymentKeys, rule: Rule) -> Payment:
        """Read the rows with their answers, apply the rule and store its writes; the new payment.

        Reservations, moves and leases are all made this way.
        """

    async def due(
        self, now: datetime, *, states: frozenset[State] = WATCHED, limit: int
    ) -> tuple[Payment, ...]:
        """Payments in one of the states, of those `WATCHED`, that no running lease covers
        (`is_worked_on`), those first that have waited longest to be looked at."""

    async def list_payments(
        self, *, states: frozenset[State] = frozenset(), limit: int, after: str | None = None
    ) -> tuple[Payment, ...]:
        """Payments, newest reservation first, of these states or of all; `after` is the identifier
        of the last one of the page before."""

    async def forget(self, before: datetime, *, limit: int) -> int:
        """Drop answers of settled payments that were delivered before, released payments that ended
        before, and wallets whose day ended before; how many rows went, `limit` at most.

        Settled payments stay for ever."""
