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
from svc_core.payments.outcomes import Outcome
from svc_core.payments.records import payment_id
from svc_core.payments.states import Event, State
from svc_core.payments.steps import Served
from tests.paying import FAULTS, PRICE, URL, WANTED, Task, World, in_turn, purchase
from tests.sampling import examples
from tests.wallets import field as encoded
from tests.wallets import nonce, wallet

OTHER = f"{URL}/text"


@define
class Bought:
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
        return payment_id(WANTED.network, WANTED.asset, self.payer, self.nonce)


class Interleavings(RuleBasedStateMachine):
    sees = True

    def __init__(self) -> None:
        super().__init__()
        self.world = World(pause=in_turn, sees=self.sees)
        self.bought: list[Bought] = []
        self.tasks: list[tuple[Task, Bought | None]] = []

    # -- what happens --------------------------------------------------------------------------

    @precondition(lambda self: len(self.bought) < 5)
    @rule(
        who=st.integers(0, 1),
        name=st.sampled_from([None, "of-its-own-{:08}", "shared-by-several"]),
        url=st.sampled_from([URL, URL, OTHER]),
    )
    def sign(self, who: int, name: str | None, url: str) -> None:
        payer, number = wallet(who), len(self.bought)
        identifier = None if name is None else name.format(number)
        payload = payer.payment(WANTED, self.world.second, number, identifier=identifier, url=url)
        self.bought.append(
            Bought(encoded(payload), payer.address.lower(), nonce(number), url, identifier)
        )

    @precondition(lambda self: self.bought and len(self.tasks) < 4)
    @rule(data=st.data(), status=st.sampled_from([200, 200, 200, 404]))
    def send(self, data: st.DataObject, status: int) -> None:
        """A request with a payment, perhaps one that was sent before."""
        one = data.draw(st.sampled_from(self.bought))
        self._start(one, status)

    def _start(self, one: Bought, status: int = 200) -> Task:
        bought = purchase(one.value, url=one.url)
        text = f"{one.url} {len(self.tasks)}"
        task = Task(self.world.checkout.serve(bought, self.world.work(text, status)))
        self.tasks.append((task, one))
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
            if not self.tasks[at][0].ended:
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
    def mine(self) -> None:
        self.world.chain.mine()

    @rule(fault=st.sampled_from(FAULTS))
    def change_facilitator(self, fault: str) -> None:
        self.world.broker.fault = fault

    @rule(who=st.integers(0, 1), payments=st.integers(0, 3))
    def fund(self, who: int, payments: int) -> None:
        self.world.chain.balances[wallet(who).address.lower()] = payments * PRICE

    @rule(down=st.booleans())
    def lose_sight(self, down: bool) -> None:
        self.world.view.down = down

    # -- what is told --------------------------------------------------------------------------

    def _collect(self) -> None:
        for task, one in self.tasks:
            if task.ended and one is not None:
                self._told(task, one)
            elif task.ended and task.raised is not None:
                raise task.raised
        self.tasks = [(task, one) for task, one in self.tasks if not task.ended]

    def _told(self, task: Task, one: Bought) -> None:
        if isinstance(task.raised, Problem):
            one.asked_anew |= PAYMENT_REQUIRED in task.raised.headers
            assert task.raised.type.status in (402, 409, 429, 500, 503)
        elif task.raised is not None:
            raise task.raised
        else:
            assert isinstance(task.result, Served)
            if task.result.receipt_id is not None:
                used = [self.world.chain.used.get(other.key) for other in self._named_as(one)]
                assert any(used), "an answer that is not paid"
                assert task.result.answer.status == 200
                one.answers.append(task.result)

    # -- what always holds ---------------------------------------------------------------------

    @invariant()
    def nobody_is_charged_twice(self) -> None:
        charges = self.world.chain.charges
        assert len(charges) == len(set(charges))

    @invariant()
    def a_name_is_charged_once(self) -> None:
        charged = [
            (one.payer, one.identifier)
            for one in self.bought
            if one.identifier is not None and one.key in self.world.chain.charges
        ]
        assert len(charged) == len(set(charged))

    @invariant()
    def an_answer_is_given_once_or_is_the_same(self) -> None:
        for one in self.bought:
            if one.identifier is None:
                assert len(one.answers) <= 1
            answers = self._answers(one)
            assert all(other == answers[0] for other in answers)

    def _named_as(self, one: Bought) -> list[Bought]:
        """The payments that stand for each other: of one payer, for one request, with one name."""
        same = (one.payer, one.url, one.identifier)
        return [
            other
            for other in self.bought
            if other is one
            or (one.identifier is not None and same == (other.payer, other.url, other.identifier))
        ]

    def _answers(self, one: Bought) -> list[Any]:
        return [answer for other in self._named_as(one) for answer in other.answers]

    @invariant()
    def what_a_wallet_spent_is_what_is_not_given_up(self) -> None:
        for payer, purse in self.world.store.wallets.items():
            held = sum(
                payment.amount
                for payment in self.world.store.payments.values()
                if payment.payer == payer and payment.state is not State.RELEASED
            )
            assert purse.spent == held

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
        world.chain.mine()
        for _ in range(6):
            world.advance(200)
            self._finish(Task(world.checkout.reconcile()))
        charged = set(world.chain.charges)
        for one in self.bought:
            payment = world.store.payments.get(one.id)
            was_sent = payment is not None and payment.state is State.SETTLED
            is_lost = was_sent and one.identifier is None and not self._answers(one)
            if one.key in charged and not self._answers(one) and not is_lost:
                self._collect_what_is_owed(one)
            if one.asked_anew and one.key in charged:
                assert self._answers(one) or is_lost, "asked to pay again for what was paid"
        super().teardown()

    def _collect_what_is_owed(self, one: Bought) -> None:
        self._start(one).finish()
        self._collect()
        if not self.sees and not self._answers(one):
            # Nobody can tell whether the nonce was used for this; the operator looks it up.
            payment, transfer = self.world.store.payments[one.id], self.world.chain.used[one.key]
            assert transfer is not None
            found = Outcome(Event.OBSERVE, None, transfer.transaction)
            self._finish(Task(self.world.checkout.resolve(payment, found)))
            self._start(one).finish()
            self._collect()
        assert self._answers(one), self.world.store.payments[one.id]

    def _finish(self, task: Task) -> None:
        task.finish()
        if task.raised is not None:
            raise task.raised


class WithoutAView(Interleavings):
    """Nobody looks at the chain; what stays in doubt is for the operator."""

    sees = False


class Storm(Interleavings):
    """The same, for long."""


FEW = examples(40, stateful_step_count=40)
Interleavings.TestCase.settings = WithoutAView.TestCase.settings = FEW
Storm.TestCase.settings = settings(max_examples=3_000, stateful_step_count=60, deadline=None)

TestInterleavings = Interleavings.TestCase
TestInterleavingsWithoutAView = WithoutAView.TestCase
TestStorm = pytest.mark.soak(Storm.TestCase)
