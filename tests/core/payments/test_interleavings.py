"""Any number of requests, workers that die between any two steps, facilitators that fail in every
way, blocks that come late, and the reconciler: nobody pays twice, nobody gets what is not paid,
and nothing that was paid is lost."""

from typing import Any

import pytest
from attrs import define, field
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from svc_core.contract.problem import Problem
from svc_core.payments.messages import PAYMENT_REQUIRED
from svc_core.payments.outcomes import PaymentOutcome
from svc_core.payments.payment_rows import payment_id
from svc_core.payments.states import Event, State
from svc_core.payments.steps import PaidReply
from tests.paying import FAULTS, PRICE, REQUIREMENTS, URL, Task, World, in_turn, purchase
from tests.sampling import examples
from tests.wallets import field as encoded
from tests.wallets import nonce, wallet

SECOND_URL = f"{URL}/text"


@define
class SignedPayment:
    """One signed payment of a client, for one request."""

    value: str
    payer: str
    nonce: str
    url: str
    identifier: str | None
    answers: list[Any] = field(factory=list)
    asked_anew: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.payer, self.nonce

    @property
    def id(self) -> str:
        return payment_id(REQUIREMENTS.network, REQUIREMENTS.asset, self.payer, self.nonce)


class Interleavings(RuleBasedStateMachine):
    sees = True
    faults = FAULTS

    def __init__(self) -> None:
        super().__init__()
        self.world = World(pause=in_turn, sees=self.sees)
        self.bought: list[SignedPayment] = []
        self.tasks: list[tuple[Task, SignedPayment | None]] = []

    # -- what happens --------------------------------------------------------------------------

    @precondition(lambda self: len(self.bought) < 5)
    @rule(
        wallet_number=st.integers(0, 1),
        name=st.sampled_from([None, "of-its-own-{:08}", "shared-by-several"]),
        url=st.sampled_from([URL, URL, SECOND_URL]),
    )
    def sign(self, wallet_number: int, name: str | None, url: str) -> None:
        payer, number = wallet(wallet_number), len(self.bought)
        identifier = None if name is None else name.format(number)
        payload = payer.payment(
            REQUIREMENTS, self.world.second, number, identifier=identifier, url=url
        )
        self.bought.append(
            SignedPayment(encoded(payload), payer.address.lower(), nonce(number), url, identifier)
        )

    @precondition(lambda self: self.bought and len(self.tasks) < 4)
    @rule(data=st.data(), status=st.sampled_from([200, 200, 200, 404]))
    def send(self, data: st.DataObject, status: int) -> None:
        """A request with a payment, perhaps one that was sent before."""
        row = data.draw(st.sampled_from(self.bought))
        self._start(row, status)

    def _start(self, row: SignedPayment, status: int = 200) -> Task:
        order = purchase(row.value, url=row.url)
        text = f"{row.url} {len(self.tasks)}"
        task = Task(self.world.checkout.serve(order, self.world.work(text, status)))
        self.tasks.append((task, row))
        return task

    @precondition(lambda self: len(self.tasks) < 5)
    @rule()
    def reconcile(self) -> None:
        self.tasks.append((Task(self.world.checkout.reconcile()), None))

    @precondition(lambda self: self.tasks)
    @rule(data=st.data(), steps=st.integers(1, 12))
    def step(self, data: st.DataObject, steps: int) -> None:
        at = data.draw(st.integers(0, len(self.tasks) - 1))
        for _ in range(steps):
            if not self.tasks[at][0].is_done:
                self.tasks[at][0].step()
        self._collect()

    @precondition(lambda self: self.tasks)
    @rule(data=st.data())
    def die(self, data: st.DataObject) -> None:
        self.tasks.pop(data.draw(st.integers(0, len(self.tasks) - 1)))[0].die()

    @rule(seconds=st.sampled_from([1, 20, 100, 200, 400]))
    def wait(self, seconds: int) -> None:
        self.world.advance(seconds)

    @rule()
    def own_id(self) -> None:
        self.world.chain.mine_block()

    @rule(data=st.data())
    def change_facilitator(self, data: st.DataObject) -> None:
        self.world.broker.fault = data.draw(st.sampled_from(self.faults))

    @rule(wallet_number=st.integers(0, 1), payments=st.integers(0, 3))
    def fund(self, wallet_number: int, payments: int) -> None:
        self.world.chain.balances[wallet(wallet_number).address.lower()] = payments * PRICE

    @rule(down=st.booleans())
    def lose_sight(self, down: bool) -> None:
        self.world.view.down = down

    # -- what is told --------------------------------------------------------------------------

    def _collect(self) -> None:
        for task, row in self.tasks:
            if task.is_done and row is not None:
                self._check_reply(task, row)
            elif task.is_done and task.error is not None:
                raise task.error
        self.tasks = [(task, row) for task, row in self.tasks if not task.is_done]

    def _check_reply(self, task: Task, row: SignedPayment) -> None:
        if isinstance(task.error, Problem):
            row.asked_anew |= PAYMENT_REQUIRED in task.error.headers
            assert task.error.type.status in (402, 409, 429, 500, 503)
        elif task.error is not None:
            raise task.error
        else:
            assert isinstance(task.result, PaidReply)
            if task.result.receipt_id is not None:
                used = [self.world.chain.used.get(second.key) for second in self._named_as(row)]
                assert any(used), "an answer that is not paid"
                assert task.result.answer.status == 200
                row.answers.append(task.result)

    # -- what always holds ---------------------------------------------------------------------

    @invariant()
    def nobody_is_charged_twice(self) -> None:
        charges = self.world.chain.charges
        assert len(charges) == len(set(charges))

    @invariant()
    def a_transaction_pays_for_one_request(self) -> None:
        payments = self.world.store.payments.values()
        paid = [row.transaction for row in payments if row.state in (State.OWED, State.SETTLED)]
        assert len(paid) == len(set(paid))
        assert None not in paid

    @invariant()
    def a_name_is_charged_once(self) -> None:
        charges = [
            (row.payer, row.identifier)
            for row in self.bought
            if row.identifier is not None and row.key in self.world.chain.charges
        ]
        assert len(charges) == len(set(charges))

    @invariant()
    def an_answer_is_given_once_or_is_the_same(self) -> None:
        for row in self.bought:
            if row.identifier is None:
                assert len(row.answers) <= 1
            answers = self._answers(row)
            assert all(second == answers[0] for second in answers)

    def _named_as(self, row: SignedPayment) -> list[SignedPayment]:
        """The payments that stand for each other: of one payer, for one request, with one name."""
        claim = (row.payer, row.url, row.identifier)
        return [
            second
            for second in self.bought
            if second is row
            or (
                row.identifier is not None
                and claim == (second.payer, second.url, second.identifier)
            )
        ]

    def _answers(self, row: SignedPayment) -> list[Any]:
        return [answer for second in self._named_as(row) for answer in second.answers]

    @invariant()
    def what_a_wallet_spent_is_what_is_not_given_up(self) -> None:
        for payer, purse in self.world.store.wallets.items():
            holder = sum(
                payment.amount
                for payment in self.world.store.payments.values()
                if payment.payer == payer and payment.state is not State.RELEASED
            )
            assert purse.spent == holder

    @invariant()
    def what_may_be_paid_has_its_answer_kept(self) -> None:
        for payment in self.world.store.payments.values():
            if payment.state in (State.SETTLING, State.PENDING, State.UNKNOWN, State.OWED):
                assert payment.id in self.world.store.answers

    def teardown(self) -> None:
        """The storm is over: every client that paid gets what it paid for."""
        world = self.world
        for task, _ in self.tasks:
            task.finish()
        self._collect()
        world.broker.fault, world.view.down = "none", False
        world.chain.mine_block()
        for _ in range(6):
            world.advance(200)
            self._finish(Task(world.checkout.reconcile()))
        charges = set(world.chain.charges)
        for row in self.bought:
            payment = world.store.payments.get(row.id)
            was_sent = payment is not None and payment.state is State.SETTLED
            is_lost = was_sent and row.identifier is None and not self._answers(row)
            if row.key in charges and not self._answers(row) and not is_lost:
                self._collect_what_is_owed(row)
            if row.asked_anew and row.key in charges:
                assert self._answers(row) or is_lost, "asked to pay again for what was paid"
        super().teardown()

    def _collect_what_is_owed(self, row: SignedPayment) -> None:
        self._start(row).finish()
        self._collect()
        if not self.sees and not self._answers(row):
            # Nobody can tell whether the nonce was used for this; the operator looks it up.
            payment, transfer = self.world.store.payments[row.id], self.world.chain.used[row.key]
            assert transfer is not None
            outcome = PaymentOutcome(Event.OBSERVE, None, transfer.transaction)
            self._finish(Task(self.world.checkout.resolve(payment, outcome)))
            self._start(row).finish()
            self._collect()
        assert self._answers(row), self.world.store.payments[row.id]

    def _finish(self, task: Task) -> None:
        task.finish()
        if task.error is not None:
            raise task.error


class WithoutAView(Interleavings):
    """Nobody looks at the chain; what stays in doubt is for the operator."""

    sees = False


class Copies(Interleavings):
    """A facilitator that says of one payment what is so of another."""

    faults = ("none", "none", "lost", "copied", "copied and pending")


class Storm(Interleavings):
    """The same, for long."""


FEW = examples(40, stateful_step_count=40)
Interleavings.TestCase.settings = WithoutAView.TestCase.settings = FEW
Copies.TestCase.settings = FEW
Storm.TestCase.settings = settings(max_examples=3_000, stateful_step_count=60, deadline=None)

TestInterleavings = Interleavings.TestCase
TestInterleavingsWithoutAView = WithoutAView.TestCase
TestCopies = Copies.TestCase
TestStorm = pytest.mark.soak(Storm.TestCase)
