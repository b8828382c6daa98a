"""What the operator sees of payments and says of those in doubt."""

import json
from datetime import timedelta
from typing import Any

import attrs
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
from svc_core.payments.operations import (
    ListPayments,
    ListRevenue,
    ReconcilePayments,
    ShowPayment,
)
from svc_core.payments.records import Payment, Writes
from svc_core.payments.states import Event, State
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

    def keep(self, one: Payment) -> Payment:
        drive.run(self.store.update(one.place, lambda _: Writes(payment=one)))
        return one

    @property
    def hands(self) -> Units:
        return Units(
            self.storage, CountingIds(), lambda: NOW, Keyring({1: b"0" * 32}, 1), self.host
        )

    def ask(self, run: Any, request: Any) -> Any:
        """What an operation answers, read; several units where it changes something."""
        if isinstance(request, ReconcilePayments):
            found = drive.run(run(self.hands.context(Actor(SYSTEM)), request))
        else:
            found = drive.run(self.hands.read(SYSTEM, lambda ctx: run(ctx, request)))
        if hasattr(found, "raw"):
            return json.loads(found.raw)
        return [json.loads(row) for row in found.rows]

    def reconcile(self, *given: Any, **named: Any) -> Any:
        return self.ask(operations.reconcile_payments, ReconcilePayments(*given, **named))


def refused(kind: problem.ProblemType, desk: Desk, *given: Any, **named: Any) -> None:
    with pytest.raises(Problem) as caught:
        desk.reconcile(*given, **named)
    assert caught.value.type is kind


def test_payments_are_listed_newest_first_without_what_was_signed() -> None:
    desk = Desk()
    made = [desk.keep(payment(n, state=state)) for n, state in enumerate(State, 1)]
    rows = desk.ask(operations.list_payments, ListPayments())
    assert [row["id"] for row in rows] == [one.id for one in reversed(made)]
    assert not {"payload", "payloadDigest", "nonce", "identifier", "lease"} & rows[0].keys()
    (row,) = desk.ask(operations.list_payments, ListPayments(state="unknown"))
    assert row["state"] == "unknown"
    older = desk.ask(operations.list_payments, ListPayments(older_than=made[1].id))
    assert [row["id"] for row in older] == [made[0].id]


def test_a_payment_is_shown_by_each_of_its_names() -> None:
    desk = Desk()
    one = desk.keep(payment(1, transaction=HASH))
    for name in (one.id, one.receipt_id, HASH.upper().replace("X", "x")):
        assert desk.ask(operations.show_payment, ShowPayment(name))["id"] == one.id
    with pytest.raises(Problem) as caught:
        desk.ask(operations.show_payment, ShowPayment("pay_" + "0" * 24))
    assert caught.value.type is problem.NOT_FOUND


@pytest.mark.parametrize("state", [State.SETTLING, State.PENDING, State.UNKNOWN])
def test_of_a_payment_in_doubt_the_operator_says_what_became_of_it(state: State) -> None:
    desk = Desk()
    paid, failed = (desk.keep(payment(n, state=state, payer=n)) for n in (1, 2))
    (row,) = desk.reconcile(paid.id, HASH)
    assert (row["state"], row["transaction"]) == ("owed", HASH)
    (row,) = desk.reconcile(failed.receipt_id, failed=True)
    assert (row["state"], row["reason"]) == ("released", operations.BY_HAND)
    refused(problem.RESOURCE_CONFLICT, desk, paid.id, failed=True)
    refused(problem.RESOURCE_CONFLICT, desk, failed.id, HASH)


def test_half_an_order_is_refused() -> None:
    desk = Desk()
    one = desk.keep(payment(1, state=State.UNKNOWN))
    refused(problem.VALIDATION_FAILED, desk, one.id)
    refused(problem.VALIDATION_FAILED, desk, one.id, HASH, failed=True)
    refused(problem.VALIDATION_FAILED, desk, None, HASH)
    refused(problem.VALIDATION_FAILED, desk, one.id, "0x" + "0" * 64)  # names no transfer
    refused(problem.NOT_FOUND, desk, "pay_" + "0" * 24, HASH)


def test_all_in_doubt_are_looked_after_where_payments_are_taken() -> None:
    desk = Desk()
    refused(problem.SERVICE_UNAVAILABLE, desk)
    desk.keep(payment(1, state=State.RESERVED))
    unused: Any = None
    checkout = Checkout(desk.store, unused, unused, CountingIds(), lambda: NOW)
    desk.host = Host(lends={Checkout: checkout})
    (row,) = desk.reconcile()
    assert row["state"] == "released"


def test_revenue_is_counted_once_for_each_payment_by_day_and_operation() -> None:
    desk = Desk()
    for number, operation in ((1, "getReport"), (2, "getReport"), (3, "listReports")):
        settling = desk.keep(
            payment(number, state=State.UNKNOWN, operation=operation, amount=250_000)
        )
        later = NOW + timedelta(days=number // 2)
        owed = desk.keep(settling.moved(Event.OBSERVE, later))
        desk.keep(owed.moved(Event.DELIVER, later))
    desk.keep(attrs.evolve(payment(4), state=State.RELEASED))
    rows = desk.ask(operations.list_revenue, ListRevenue())
    told = [(row["day"], row["operation"], row["payments"], row["usd"]) for row in rows]
    assert sorted(told) == [
        ("2026-03-04", "getReport", 1, "0.25"),
        ("2026-03-05", "getReport", 1, "0.25"),
        ("2026-03-05", "listReports", 1, "0.25"),
    ]
    assert [row["day"] for row in rows] == ["2026-03-05", "2026-03-05", "2026-03-04"]
