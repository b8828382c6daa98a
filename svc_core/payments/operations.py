"""Operations on payments: the public receipt lookup, and the operator's list, show and reconcile.

The receipt is public (Spec: "the sanitized x402 receipt lookup is public"). The operator's use
cases run in units of the system; no row of theirs shows a signature or an answer.
"""

from functools import partial
from typing import Annotated, Any, Literal, Protocol

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.base.ids import EXAMPLE_DIGITS
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page, Single
from svc_core.operation.caller import CallContext
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, Operation, declare, local
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import WorkContext
from svc_core.payments import decisions, receipts, store
from svc_core.payments.admission import Limits
from svc_core.payments.messages import Bytes32
from svc_core.payments.outcomes import PaymentOutcome, transaction_of
from svc_core.payments.payment_rows import RECEIPT_PREFIX, Payment, PaymentRow, PaymentRows, Writes
from svc_core.payments.receipts import Receipt
from svc_core.payments.states import IN_DOUBT, Event, State
from svc_core.payments.steps import Checkout
from svc_core.payments.store import PAYMENTS
from svc_core.wire.constraints import Arg, Example, Ge, Le

BY_HAND = "said by the operator"

StateName = Literal["released", "reserved", "settling", "pending", "unknown", "owed", "settled"]


class Receipts(Protocol):
    """The payments of this service, by their receipts."""

    async def receipt(self, reference: str) -> Payment | None:
        """The payment with this receipt identifier, or with this transaction hash."""


@frozen
class GetReceipt:
    """One receipt."""

    receipt_id: Annotated[str, PATH, Example(f"{RECEIPT_PREFIX}_{EXAMPLE_DIGITS}")]
    """`X-Svc-Payment-Receipt` of a paid answer, or the hash of the transfer."""


async def get_receipt(ctx: CallContext, request: GetReceipt) -> Single[Receipt]:
    """What was bought with an x402 payment, for how much, and by which transfer; neither who paid
    nor what was read. Anybody may ask, within a limit for each address. A payment that is unknown
    or not settled answers 404 `RECEIPT_NOT_FOUND`.

    Raises:
        Problem: RECEIPT_NOT_FOUND, the same whatever the reason.
    """
    reference = receipts.receipt_reference(request.receipt_id)
    store_ = ctx.host.providers.get(Receipts)
    payment: Payment | None = None if store_ is None else await store_.receipt(reference)
    return Single(wire.to_bytes(receipts.public(payment)))


# -- of the operator ---------------------------------------------------------------------------


@frozen
class ListPayments:
    """Which payments."""

    state: StateName | None = None
    """Those in this state alone."""
    limit: Annotated[int, Ge(1), Le(1_000)] = 100
    """At most so many."""
    older_than: str | None = None
    """Those that follow this payment in the list."""


@frozen
class ShowPayment:
    """A payment."""

    id: Annotated[str, Arg(positional=True)]
    """Its id, its receipt's, or the hash of its transfer."""


@frozen
class ReconcilePayments:
    """One payment of which it is known what became of it, or all in doubt."""

    id: Annotated[str | None, Arg(positional=True)] = None
    """The payment that is known to be settled or failed. Default: all that nobody works on."""
    settled: Bytes32 | None = None
    """The money moved, in this transaction."""
    failed: bool = False
    """The money did not move and will not."""


async def list_payments(ctx: Context, request: ListPayments) -> Page[PaymentRow]:
    """Payments, newest first."""
    states = frozenset({State(request.state)} if request.state else ())
    limit, after = request.limit, request.older_than
    payments = await store.scan_payments(ctx.tx, states=states, limit=limit, after=after)
    return _page(payments)


async def show_payment(ctx: Context, request: ShowPayment) -> Single[PaymentRow]:
    """One payment.

    Raises:
        Problem: NOT_FOUND.
    """
    return Single(wire.to_bytes((await _payment(ctx, request.id)).row))


async def reconcile_payments(ctx: WorkContext, request: ReconcilePayments) -> Page[PaymentRow]:
    """Payments that moved on, as they are now.

    Raises:
        Problem: NOT_FOUND; VALIDATION_FAILED for half an order; RESOURCE_CONFLICT where the payment
            is not in doubt, or another names the transaction; SERVICE_UNAVAILABLE where this host
            takes no payments.
    """
    hash_ = transaction_of(request.settled or "")
    if request.id is None and not request.settled and not request.failed:
        if Checkout not in ctx.host.providers:
            raise Problem(problem.SERVICE_UNAVAILABLE, "This service takes no payments.")
        return _page(await ctx.borrow(Checkout).reconcile(at_once=True))
    if request.id is None or bool(hash_) is request.failed:
        detail = "/: name one payment with either --settled TRANSACTION or --failed"
        raise Problem(problem.VALIDATION_FAILED, detail)
    outcome = (
        PaymentOutcome(Event.OBSERVE, None, hash_)
        if hash_
        else PaymentOutcome(Event.REJECT, BY_HAND)
    )
    payment = await ctx.work.write(SYSTEM, partial(_resolve, id_=request.id, outcome=outcome))
    return _page((payment,))


async def _resolve(ctx: Context, *, id_: str, outcome: PaymentOutcome) -> Payment:
    payment = await _payment(ctx, id_)
    if payment.state not in IN_DOUBT:
        detail = f"The payment is {payment.state}, so there is nothing to say of it."
        raise Problem(problem.RESOURCE_CONFLICT, detail)
    limits = Limits()  # of them a rejection needs how many are remembered

    def rule(rows: PaymentRows) -> Writes:
        if rows.owner is not None:
            detail = (
                f"That transaction is named by another payment: svc payments show {rows.owner.id}"
            )
            raise Problem(problem.RESOURCE_CONFLICT, detail)
        return decisions.move(rows, outcome, ctx.now, limits)

    keys = attrs.evolve(payment.keys, transaction=outcome.transaction)
    _, after = await store.update(ctx.tx, keys, rule)
    return after


async def _payment(ctx: Context, id_: str) -> Payment:
    """Raises: Problem NOT_FOUND."""
    payment = await ctx.find(PAYMENTS, id_) or await store.stored_receipt(ctx.tx, id_.lower())
    if payment is None:
        raise Problem(problem.NOT_FOUND, "There is no such payment.")
    return payment


def _page(payments: tuple[Payment, ...]) -> Page[PaymentRow]:
    return Page(tuple(wire.to_bytes(payment.row) for payment in payments))


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    declare(
        "payments receipt",
        "GET /x402/receipts/{receiptId}",
        "Look up the receipt of a payment",
        get_receipt,
        id_="getPaymentReceipt",
        auth="public",
        pool="address",
        fails=(problem.RECEIPT_NOT_FOUND,),
    ),
)

_on_payments = partial(
    local,
    binding="system",
    columns=("id", "state", "operation", "price", "payer", "reservedAt", "transaction"),
    notes=("reason",),
)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _on_payments("payments list", "List payments, newest first", list_payments, method="GET"),
    _on_payments("payments show", "Show a payment", show_payment, method="GET"),
    _on_payments(
        "payments reconcile",
        "Settle payments in doubt, or record the outcome of one",
        reconcile_payments,
        description=(
            "Workers do so every few seconds. With `x402_rpc` the chain tells what became of a "
            "payment; without it, look for its nonce there and say that it settled or "
            "failed. The payer of one that settled gets its answer by sending the request "
            "again; one that failed may be paid for anew."
        ),
    ),
)
