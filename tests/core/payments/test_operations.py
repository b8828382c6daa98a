"""What the operator sees of payments and says of those in doubt."""

import json
from datetime import timedelta
from typing import Any

import pytest

from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.host import Host
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import Units
from svc_core.payments import operations
from svc_core.payments.operations import ListPayments, ReconcilePayments, ShowPayment
from svc_core.payments.payment_rows import Payment, Writes
from svc_core.payments.states import State
from svc_core.payments.steps import Checkout
from svc_core.payments.store import COLLECTIONS, StoredPayments
from svc_core.testing.clock import CountingIds
from svc_http.stores import MemoryStorage
from tests.storage.test_payments import START, payment

HASH = "0x" + "7" * 64
NOW = START + timedelta(hours=1)


class Desk:
    """The operator's place at a store."""

    def __init__(self) -> None:
        self.storage = MemoryStorage(COLLECTIONS)
        self.store = StoredPayments(self.storage)
        self.host = Host()

    def keep(self, row: Payment) -> Payment:
        drive.run(self.store.update(row.keys, lambda _: Writes(payment=row)))
        return row

    @property
    def hands(self) -> Units:
        return Units(
            self.storage, CountingIds(), lambda: NOW, Keyring({1: b"0" * 32}, 1), self.host
        )

    def ask(self, run: Any, request: Any) -> Any:
        """What an operation answers, read; several units where it changes something."""
        if isinstance(request, ReconcilePayments):
            page = drive.run(run(self.hands.context(Actor(SYSTEM)), request))
        else:
            page = drive.run(self.hands.read(SYSTEM, lambda ctx: run(ctx, request)))
        if hasattr(page, "raw"):
            return json.loads(page.raw)
        return [json.loads(row) for row in page.rows]

    def reconcile(self, *arguments: Any, **members: Any) -> Any:
        return self.ask(operations.reconcile_payments, ReconcilePayments(*arguments, **members))


def refusal_of(kind: problem.ProblemType, desk: Desk, *arguments: Any, **members: Any) -> None:
    with pytest.raises(Problem) as failure:
        desk.reconcile(*arguments, **members)
    assert failure.value.type is kind


def test_payments_are_listed_newest_first_without_what_was_signed() -> None:
    desk = Desk()
    payments = [desk.keep(payment(n, state=state)) for n, state in enumerate(State, 1)]
    rows = desk.ask(operations.list_payments, ListPayments())
    assert [row["id"] for row in rows] == [row.id for row in reversed(payments)]
    assert not {"payload", "payloadDigest", "nonce", "identifier", "lease"} & rows[0].keys()
    (row,) = desk.ask(operations.list_payments, ListPayments(state="unknown"))
    assert row["state"] == "unknown"
    older = desk.ask(operations.list_payments, ListPayments(older_than=payments[1].id))
    assert [row["id"] for row in older] == [payments[0].id]


def test_a_payment_is_shown_by_each_of_its_names() -> None:
    desk = Desk()
    payment_ = desk.keep(payment(1, transaction=HASH))
    for name in (payment_.id, payment_.receipt_id, HASH.upper().replace("X", "x")):
        assert desk.ask(operations.show_payment, ShowPayment(name))["id"] == payment_.id
    with pytest.raises(Problem) as failure:
        desk.ask(operations.show_payment, ShowPayment("pay_" + "0" * 24))
    assert failure.value.type is problem.NOT_FOUND


@pytest.mark.parametrize("state", [State.SETTLING, State.PENDING, State.UNKNOWN])
def test_of_a_payment_in_doubt_the_operator_says_what_became_of_it(state: State) -> None:
    desk = Desk()
    paid_row, failed_row = (desk.keep(payment(n, state=state, payer=n)) for n in (1, 2))
    (row,) = desk.reconcile(paid_row.id, HASH)
    assert (row["state"], row["transaction"]) == ("owed", HASH)
    (row,) = desk.reconcile(failed_row.receipt_id, failed=True)
    assert (row["state"], row["reason"]) == ("released", operations.BY_HAND)
    refusal_of(problem.RESOURCE_CONFLICT, desk, paid_row.id, failed=True)
    refusal_of(problem.RESOURCE_CONFLICT, desk, failed_row.id, HASH)


def test_the_transaction_of_one_payment_settles_no_other_one() -> None:
    desk = Desk()
    desk.keep(payment(1, state=State.SETTLED, transaction=HASH))
    second = desk.keep(payment(2, state=State.UNKNOWN))
    refusal_of(problem.RESOURCE_CONFLICT, desk, second.id, HASH)
    assert desk.ask(operations.show_payment, ShowPayment(second.id))["state"] == "unknown"


def test_half_an_order_is_refused() -> None:
    desk = Desk()
    payment_ = desk.keep(payment(1, state=State.UNKNOWN))
    refusal_of(problem.VALIDATION_FAILED, desk, payment_.id)
    refusal_of(problem.VALIDATION_FAILED, desk, payment_.id, HASH, failed=True)
    refusal_of(problem.VALIDATION_FAILED, desk, None, HASH)
    refusal_of(problem.VALIDATION_FAILED, desk, payment_.id, "0x" + "0" * 64)  # names no transfer
    refusal_of(problem.NOT_FOUND, desk, "pay_" + "0" * 24, HASH)


def test_all_in_doubt_are_looked_after_where_payments_are_taken() -> None:
    desk = Desk()
    refusal_of(problem.SERVICE_UNAVAILABLE, desk)
    desk.keep(payment(1, state=State.RESERVED))
    no_checkout: Any = None
    checkout = Checkout(desk.store, no_checkout, no_checkout, CountingIds(), lambda: NOW)
    desk.host = Host(providers={Checkout: checkout})
    (row,) = desk.reconcile()
    assert row["state"] == "released"
