"""Laws over every interleaving of workers: exactness with any number of them.

Rule 1: no more attempts are under way than failures are left before the fifth.
Rule 2: nothing is attempted twice unless a hold was lost or a person asked for it.
Rule 3: everything ends: delivered, failed or skipped; and the books agree with one another.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from svc_core.outbox.model import delivery_id
from svc_core.webhooks.delivery_queue import DeliveryTask
from svc_core.webhooks.rules import HOLD, AttemptOutcome, attempt_outcome
from tests.sampling import examples

ANSWERS = [attempt_outcome(status, 1) for status in (200, 500, 500, 302, 410)]
OUTCOMES = st.sampled_from([*ANSWERS, AttemptOutcome(None, "timeout", 10_000)])
END_STATES = {"delivered", "failed", "skipped"}


class Worker:
    """Looks, takes what it saw, and tells how its attempts went, each at any moment."""

    def __init__(self, yard: Any) -> None:
        self.yard = yard
        self.seen: list[Any] = []
        self.held_tasks: list[DeliveryTask] = []

    @property
    def is_idle(self) -> bool:
        return not self.seen and not self.held_tasks

    def step(self, answer: Callable[[DeliveryTask], AttemptOutcome]) -> None:
        if self.seen:
            row = self.seen.pop()
            self.held_tasks += self.yard.take(row.document.id, row.document)
        elif self.held_tasks:
            task = self.held_tasks.pop(0)
            self.yard.conclude(task, answer(task))
        else:
            self.seen = list(self.yard.due())


def work_off(
    yard: Any, turns: Any, answer: Callable[[DeliveryTask], AttemptOutcome], number: int = 8
) -> None:
    """Let the workers step in an order that `turns` decides, until there is nothing to do."""
    workers = [Worker(yard) for _ in range(number)]
    while yard.due() or not all(worker.is_idle for worker in workers):
        turns.choice(workers).step(answer)


@examples(15)
@given(turns=st.randoms(use_true_random=False))
def test_eight_workers_make_exactly_five_attempts_at_a_dead_address(
    yard_factory: Callable[[], Any], turns: Any
) -> None:
    yard = yard_factory()
    dead, well = yard.webhook()["id"], yard.webhook()["id"]
    events = [yard.tell(dead, well) for _ in range(30)]
    hits: Counter[str] = Counter()
    arrivals: defaultdict[str, list[str]] = defaultdict(list)

    def answer(task: DeliveryTask) -> AttemptOutcome:
        hits[task.webhook_id] += 1
        arrivals[task.webhook_id].append(task.event.body)
        return attempt_outcome(500 if task.webhook_id == dead else 200, 1)

    work_off(yard, turns, answer)
    assert hits == {dead: 5, well: 30}
    assert sorted(arrivals[well]) == sorted(event.body for event in events)
    assert Counter(yard.statuses(dead)) == {"failed": 5, "skipped": 25}
    assert yard.statuses(well) == ["delivered"] * 30
    state = yard.state(dead)
    assert (state.status, state.consecutive_failures) == ("disabled", 5)
    assert yard.state(well).status == "enabled"
    assert yard.newest_change(dead) == yard.version(dead) == 2


@examples(15)
@given(turns=st.randoms(use_true_random=False), data=st.data())
def test_however_it_answers_every_event_ends_and_is_attempted_once(
    yard_factory: Callable[[], Any], turns: Any, data: Any
) -> None:
    yard = yard_factory()
    hook = yard.webhook()["id"]
    for _ in range(20):
        yard.tell(hook)
    hits: Counter[str] = Counter()
    answers = data.draw(st.lists(OUTCOMES, min_size=20, max_size=20))

    def answer(task: DeliveryTask) -> AttemptOutcome:
        hits[task.event.id] += 1
        return answers[hits.total() - 1]

    work_off(yard, turns, answer, number=4)
    assert set(hits.values()) <= {1}
    deliveries = {row.event_id: row.status for row in yard.deliveries(hook)}
    assert set(deliveries.values()) <= END_STATES
    assert {id_ for id_, status in deliveries.items() if status != "skipped"} == set(hits)
    is_enabled = yard.state(hook).status == "enabled"
    assert is_enabled == ("skipped" not in deliveries.values() and _is_spared(answers))


def _is_spared(answers: list[AttemptOutcome]) -> bool:
    """Whether answers in this order leave a webhook enabled."""
    failures = 0
    for answer in answers:
        failures = 0 if answer.is_success else failures + 1
        if failures == 5:
            return False
    return True


# -- with lost holds, redeliveries and people --------------------------------------------------


class Deliveries(RuleBasedStateMachine):
    """Two webhooks, any workers, and a plain model of what each was told."""

    attempts: Bundle[DeliveryTask] = Bundle("attempts")
    yard_factory: Callable[[], Any]

    @initialize()
    def begin(self) -> None:
        self.yard = type(self).yard_factory()
        self.hooks = [self.yard.webhook()["id"] for _ in range(2)]
        self.failures = dict.fromkeys(self.hooks, 0)
        self.disabled: set[str] = set()
        self.claims: dict[str, tuple[DeliveryTask, Any]] = {}
        self.begun: Counter[str] = Counter()
        self.allowed: Counter[str] = Counter()
        self.bodies: dict[str, str] = {}

    @rule(hook_numbers=st.sets(st.integers(0, 1), min_size=1))
    def tell(self, hook_numbers: set[int]) -> None:
        hooks = [self.hooks[at] for at in hook_numbers if self.hooks[at] not in self.disabled]
        event = self.yard.tell(*hooks)
        for hook in hooks:
            self.allowed[delivery_id(hook, event.id)] += 1
        self.bodies[event.id] = event.body

    @rule(at=st.integers(0, 1), target=attempts)
    def take(self, at: int) -> Any:
        hook, now = self.hooks[at], self.yard.house.clock.now()
        for id_, (task, until) in list(self.claims.items()):
            if task.webhook_id == hook and until <= now:
                del self.claims[id_]
                self.allowed[task.delivery_id] += 1
        tasks = self.yard.take(hook)
        assert not tasks or hook not in self.disabled
        for task in tasks:
            self.claims[task.attempt_id] = (task, now + HOLD)
            self.begun[task.delivery_id] += 1
            assert task.number == self.begun[task.delivery_id]
            assert task.event.body == self.bodies[task.event.id]
        return multiple(*tasks)

    @rule(task=consumes(attempts), result=OUTCOMES)
    def conclude(self, task: DeliveryTask, result: AttemptOutcome) -> None:
        hook = task.webhook_id
        after = self.yard.conclude(task, result)
        assert (after is not None) == (task.attempt_id in self.claims)
        if after is None:
            return
        del self.claims[task.attempt_id]
        self.failures[hook] = 0 if result.is_success else self.failures[hook] + 1
        if self.failures[hook] == 5:
            self.disabled.add(hook)
        status = "delivered" if result.is_success else "failed"
        assert self.yard.delivery(hook, task.event.id).status == status
        if hook in self.disabled:
            assert self.yard.waiting(hook) == set()
            assert self.yard.newest_change(hook) == self.yard.version(hook)

    @rule(task=consumes(attempts))
    def die(self, task: DeliveryTask) -> None:
        """Its worker is killed: nobody will say how the attempt went."""

    @rule()
    def restart(self) -> None:
        """The server is killed with all its workers, and the next one begins."""
        under_way = [task for task, _ in self.claims.values()]
        assert self.yard.restart() == {task.webhook_id for task in under_way}
        self.allowed.update(task.delivery_id for task in under_way)
        self.claims.clear()

    @rule(seconds=st.sampled_from([1, 29, 30, 31]))
    def forward(self, seconds: int) -> None:
        self.yard.forward(seconds=seconds)

    @rule(at=st.integers(0, 1))
    def enable(self, at: int) -> None:
        self.yard.enable(self.hooks[at])
        self.disabled.discard(self.hooks[at])
        self.failures[self.hooks[at]] = 0

    @rule(at=st.integers(0, 1), data=st.data())
    def redeliver(self, at: int, data: Any) -> None:
        hook = self.hooks[at]
        deliveries = self.yard.deliveries(hook)
        if not deliveries:
            return
        row = data.draw(st.sampled_from(deliveries))
        may = row.status in END_STATES and hook not in self.disabled
        if not may:
            path = {"webhookId": hook, "eventId": row.event_id}
            refusal = self.yard.house.refusal("redeliverEvent", path=path)
            assert refusal.type.code == "RESOURCE_CONFLICT"
            return
        self.yard.redeliver(hook, row.event_id)
        self.allowed[delivery_id(hook, row.event_id)] += 1

    @invariant()
    def no_more_are_under_way_than_may_fail(self) -> None:
        for hook in self.hooks:
            under_way = [task for task, _ in self.claims.values() if task.webhook_id == hook]
            holds = {hold.attempt_id for hold in self.yard.queue(hook).holds}
            assert holds == {task.attempt_id for task in under_way}
            if hook not in self.disabled:
                assert len(holds) <= 5 - self.failures[hook]

    @invariant()
    def the_books_agree(self) -> None:
        for hook in self.hooks:
            state = self.yard.state(hook)
            assert state.status == ("disabled" if hook in self.disabled else "enabled")
            assert state.consecutive_failures == self.failures[hook]
            deliveries = {
                delivery_id(hook, row.event_id): row for row in self.yard.deliveries(hook)
            }
            pending = {id_ for id_, row in deliveries.items() if row.status == "pending"}
            assert self.yard.waiting(hook) == pending
            under_way = {id_ for id_, row in deliveries.items() if row.status == "delivering"}
            holds = {hold.delivery_id for hold in self.yard.queue(hook).holds}
            assert under_way == holds

    @invariant()
    def nothing_is_attempted_without_a_reason(self) -> None:
        assert all(self.begun[id_] <= self.allowed[id_] for id_ in self.begun)

    def teardown(self) -> None:
        """Whatever happened, once somebody attends to it everything ends."""
        for _ in range(3):
            self.yard.deliver(200)
            self.yard.forward(seconds=31)
        for hook in self.hooks:
            assert set(self.yard.statuses(hook)) <= END_STATES
            assert self.yard.queue(hook).holds == ()
            assert self.yard.queue(hook).wake_at is None


def test_any_work_of_any_workers_keeps_the_books(yard_factory: Callable[[], Any]) -> None:
    machine = type("Bound", (Deliveries,), {"yard_factory": staticmethod(yard_factory)})
    run_state_machine_as_test(
        machine,
        settings=examples(60, stateful_step_count=40, suppress_health_check=list(HealthCheck)),
    )
