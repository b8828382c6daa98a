"""The payment store: `PaymentStore` implemented over the service's own `Storage`.

Rule 1: every change is one unit of the system, and those run as if one after another, in this
        process and in others. So an authorization has one row for ever, a client's name of a
        payment and a transaction belong to one that is not released, and a wallet is counted
        exactly.
Rule 2: an answer may be forgotten from the moment at which it was delivered; one that is still
        held back never.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, Final

from attrs import frozen

from svc_core.access.limits import DAY_SECONDS
from svc_core.operation.members import NEVER, micros, micros_or_never
from svc_core.operation.ports import (
    SYSTEM,
    Collection,
    Position,
    Storage,
    Transaction,
)
from svc_core.payments import bodies
from svc_core.payments.payment_ports import Rule
from svc_core.payments.payment_rows import (
    PREFIX,
    Payment,
    PaymentKeys,
    PaymentRows,
    Wallet,
    identifier_key,
)
from svc_core.payments.states import WATCHED, State

_SECOND: Final = 1_000_000
_CLAIMING: Final = frozenset(State) - {State.RELEASED}
"""The states in which a payment has the transaction that it names."""


def _looked_at(payment: Payment) -> int | None:
    """Minus the microsecond from which the reconciler must look at it: lists run downwards."""
    if payment.state not in WATCHED:
        return None
    return -micros(payment.updated_at if payment.lease is None else payment.lease.until)


def _identifier_key(payment: Payment) -> str | None:
    if payment.identifier is None or payment.state is State.RELEASED:
        return None
    return identifier_key(payment.payer, payment.identifier)


PAYMENTS: Collection[Payment] = Collection(
    name="payments",
    model=Payment,
    prefix=PREFIX,
    order=lambda payment: micros(payment.reserved_at),
    scope="system",
    keys={
        "state": lambda payment: payment.state,
        "receipt": lambda payment: payment.receipt_id,
        "transaction": lambda payment: payment.transaction,
        "named": _identifier_key,
    },
    numbers={
        "looked_at": _looked_at,
        "lapses_at": lambda payment: (
            min(payment.valid_before * _SECOND, NEVER) if payment.state is State.RELEASED else None
        ),
    },
)


@frozen
class PaidAnswer:
    """A kept answer as a row: as `bodies` packs it, and when it was delivered."""

    id: str
    packed: str
    delivered_at: datetime | None


PAID_ANSWERS: Collection[PaidAnswer] = Collection(
    name="paid_answers",
    model=PaidAnswer,
    prefix=PREFIX,
    order=lambda row: micros_or_never(row.delivered_at),
    scope="system",
)

WALLETS: Collection[Wallet] = Collection(
    name="wallets", model=Wallet, prefix="", order=lambda wallet: wallet.day, scope="system"
)


COLLECTIONS: tuple[Collection[Any], ...] = (PAYMENTS, PAID_ANSWERS, WALLETS)


PaymentListener = Callable[[Payment | None, Payment], None]
"""Called after a payment was written, with the payment before and after."""


def _ignore(_before: Payment | None, _after: Payment) -> None:
    pass


@frozen(eq=False)
class StoredPayments:
    """`PaymentStore` over `Storage`, whose units run one after another for the system."""

    storage: Storage
    listener: PaymentListener = _ignore

    async def look(self, place: PaymentKeys) -> PaymentRows:
        """The rows of a place, as of one moment."""
        return await self.storage.read(SYSTEM, lambda tx: _rows(tx, place))

    async def update(self, place: PaymentKeys, rule: Rule) -> Payment:
        """Read the rows, apply the rule and store its writes; the new payment."""
        before, after = await self.storage.write(SYSTEM, lambda tx: update(tx, place, rule))
        self.listener(before, after)
        return after

    async def receipt(self, reference: str) -> Payment | None:
        """The payment with this receipt identifier, or with this transaction hash."""
        return await self.storage.read(SYSTEM, lambda tx: stored_receipt(tx, reference))

    async def due(
        self, now: datetime, *, states: frozenset[State] = WATCHED, limit: int
    ) -> tuple[Payment, ...]:
        """Payments in one of the states, of those `WATCHED`, that no running lease covers, those
        first that have waited longest to be looked at."""
        ranges, filters = {"looked_at": (-micros(now), None)}, {"state": tuple(states)}
        scan = partial(_scan, order="looked_at", ranges=ranges, where=filters, limit=limit)
        return await self.storage.read(SYSTEM, scan)

    async def list_payments(
        self, *, states: frozenset[State] = frozenset(), limit: int, after: str | None = None
    ) -> tuple[Payment, ...]:
        """Payments, newest reservation first, of these states or of all; `after` is the identifier
        of the last one of the page before."""

        scan = partial(scan_payments, states=states, limit=limit, after=after)
        return await self.storage.read(SYSTEM, scan)

    async def forget(self, before: datetime, *, limit: int) -> int:
        """Drop answers of settled payments that were delivered before, released payments that are
        no longer valid then, and wallets whose day ended before; how many rows went, `limit` at
        most. Settled payments stay for ever."""
        end, day = micros(before) - 1, int(before.timestamp()) - DAY_SECONDS
        expired_rows: tuple[tuple[Collection[Any], dict[str, Any]], ...] = (
            (PAID_ANSWERS, {"end": end}),
            (PAYMENTS, {"order": "lapses_at", "ranges": {"lapses_at": (0, end)}}),
            (WALLETS, {"end": day}),
        )

        async def unit(tx: Transaction) -> int:
            room = limit
            for rows, bounds in expired_rows:
                page = await tx.documents.scan(rows, limit=room or 1, **bounds)
                for row in page.rows[:room]:
                    await tx.documents.delete(rows, row.id)
                    room -= 1
            return limit - room

        return await self.storage.write(SYSTEM, unit)


# -- in a unit of the system -------------------------------------------------------------------


async def update(tx: Transaction, place: PaymentKeys, rule: Rule) -> tuple[Payment | None, Payment]:
    """Apply a rule to the rows and store its writes; the payment before and after."""
    current = await _rows(tx, place)
    writes = rule(current)
    before, after = current.payment, writes.payment
    if before is None and await stored_receipt(tx, after.receipt_id) is not None:
        raise AssertionError("two payments have one receipt identifier")
    await tx.documents.put(PAYMENTS, after.id, after)
    if writes.wallet is not None:
        await tx.documents.put(WALLETS, writes.wallet.payer, writes.wallet)
    answer = writes.answer
    if answer is None and after.delivered_at is not None:
        answer = current.answers.get(after.id)  # from now on it may be forgotten
    if writes.forget:
        await tx.documents.delete(PAID_ANSWERS, after.id)
    elif answer is not None:
        row = PaidAnswer(after.id, bodies.pack(answer), after.delivered_at)
        await tx.documents.put(PAID_ANSWERS, after.id, row)
    return before, after


async def stored_receipt(tx: Transaction, reference: str) -> Payment | None:
    """The payment with this receipt identifier, or with this transaction hash."""
    return await _first(tx, "transaction" if reference.startswith("0x") else "receipt", reference)


async def scan_payments(
    tx: Transaction, *, states: frozenset[State], limit: int, after: str | None
) -> tuple[Payment, ...]:
    """Payments, newest reservation first, of these states or of all; `after` is the last one of
    the page before."""
    filters = {"state": tuple(states)} if states else {}
    last = None if after is None else await tx.documents.get(PAYMENTS, after)
    place = None if last is None else Position(last.order, last.id)
    return await _scan(tx, where=filters, after=place, limit=limit)


async def _scan(tx: Transaction, *, limit: int, **bounds: Any) -> tuple[Payment, ...]:
    page = await tx.documents.scan(PAYMENTS, limit=limit, **bounds)
    return tuple(PAYMENTS.decode(row.raw) for row in page.rows)


async def _first(tx: Transaction, key: str, value: str) -> Payment | None:
    return next(iter(await _scan(tx, where={key: (value,)}, limit=1)), None)


async def _rows(tx: Transaction, place: PaymentKeys) -> PaymentRows:
    document = await tx.documents.get(PAYMENTS, place.id)
    payment = None if document is None else PAYMENTS.decode(document.raw)
    namesake = None
    if place.identifier is not None:
        namesake = await _first(tx, "named", identifier_key(place.payer, place.identifier))
    owner = None
    if place.transaction is not None:
        filters = {"transaction": (place.transaction,), "state": tuple(_CLAIMING)}
        owners = await _scan(tx, where=filters, limit=2)
        owner = next((row for row in owners if row.id != place.id), None)
    wallet_row = await tx.documents.get(WALLETS, place.payer)
    wallet = None if wallet_row is None else WALLETS.decode(wallet_row.raw)
    ids = tuple(dict.fromkeys(row.id for row in (payment, namesake) if row is not None))
    rows = await tx.documents.get_many(PAID_ANSWERS, ids)
    answers = {id_: bodies.unpack(PAID_ANSWERS.decode(row.raw).packed) for id_, row in rows.items()}
    return PaymentRows(payment, namesake, wallet, answers, owner)
