"""A paid request from end to end, as its client sees it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import attrs
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from svc_core.base import drive
from svc_core.contract import problem
from svc_core.contract.problem import Problem, ProblemType
from svc_core.ledger.log.note import Ed25519Signer
from svc_core.payments.admission import Limits, rate_limit_problem
from svc_core.payments.messages import SettlementResponse, Verdict
from svc_core.payments.outcomes import PaymentOutcome
from svc_core.payments.payment_rows import HeldAnswer, Payment
from svc_core.payments.receipts import Signing
from svc_core.payments.states import Event, State, Superseded
from svc_core.payments.steps import ClientGone, PaidReply, PaymentPolicy
from tests.paying import (
    FAULTS,
    PRICE,
    REQUIREMENTS,
    URL,
    Broker,
    Chain,
    Task,
    World,
    answer,
    decode,
    in_turn,
    purchase,
)
from tests.wallets import field, nonce, wallet

NAME = "identifier-00000001"
SECOND_URL = f"{URL}/text"
NONCE_REASON = "invalid_exact_evm_nonce_already_used"


def paid_payment(world: World, number: int = 0, wallet_number: int = 0, **members: Any) -> str:
    """The field of a payment that is signed now."""
    return field(wallet(wallet_number).payment(REQUIREMENTS, world.second, number, **members))


def serve(world: World, value: str, url: str = URL, **work: Any) -> PaidReply:
    reply: PaidReply = drive.run(world.checkout.serve(purchase(value, url=url), world.work(**work)))
    return reply


def refusal_of(
    world: World, value: str, kind: ProblemType | None, url: str = URL, **work: Any
) -> dict[str, Any]:
    """The fields of the refusal, read; without a kind it is one of those that leave doubt."""
    with pytest.raises(Problem) as failure:
        serve(world, value, url, **work)
    assert failure.value.type in (DOUBTFUL.values() if kind is None else (kind,))
    return {
        name: decode(text) if name.startswith("PAYMENT") else text
        for name, text in failure.value.headers.items()
    }


def code_of(task: Task) -> ProblemType:
    """The kind of the refusal that ended a task."""
    assert isinstance(task.error, Problem)
    return task.error.type


def charges(world: World) -> int:
    return len(world.chain.charges)


# -- it is paid --------------------------------------------------------------------------------


def test_a_good_payment_buys_one_answer() -> None:
    world = World()
    reply = serve(world, paid_payment(world, url=URL))
    assert reply.answer.body == b"report"
    assert reply.answer.payment_response is not None
    payment = world.only()
    assert decode(reply.answer.payment_response) == {
        "success": True,
        "transaction": payment.transaction,
        "network": "eip155:84532",
        "payer": wallet().address,
        "amount": "250000",
    }
    assert reply.receipt_id == payment.receipt_id
    assert payment.state is State.SETTLED
    assert payment.settled_at == payment.delivered_at == world.clock.now()
    assert (charges(world), world.runs, world.broker.calls) == (1, 1, ["verify", "settle"])
    # Without an identifier nobody can ask for the answer again, so it is not kept.
    assert world.store.answers == {}


def test_a_facilitator_need_not_be_asked_before() -> None:
    world = World(policy=PaymentPolicy(verifies=False))
    serve(world, paid_payment(world))
    assert world.broker.calls == ["settle"]


def test_a_receipt_is_signed_where_there_is_a_key() -> None:
    world = World()
    key = Ed25519Signer(Ed25519PrivateKey.from_private_bytes(b"k" * 32))
    world.patch(signing=Signing(key, "https://api.svc.test"))
    reply = serve(world, paid_payment(world))
    members = decode(reply.answer.payment_response or "")
    assert members["extensions"]["offer-receipt"]["info"]["receipt"]["format"] == "jws"


# -- it is paid once ---------------------------------------------------------------------------


def test_the_same_payment_buys_nothing_else() -> None:
    world = World()
    value = paid_payment(world)
    receipt = serve(world, value).receipt_id
    upper = wallet().payment(REQUIREMENTS, world.second)
    upper["payload"]["authorization"]["nonce"] = "0x" + nonce(0)[2:].upper()
    for again, url in [(value, URL), (field(upper), URL), (value, SECOND_URL)]:
        fields = refusal_of(world, again, problem.PAYMENT_REPLAYED, url)
        assert fields["PAYMENT-REQUIRED"]["error"] == NONCE_REASON
        assert "PAYMENT-RESPONSE" not in fields
    with pytest.raises(Problem, match="PAYMENT_REPLAYED") as failure:
        serve(world, value)
    assert failure.value.detail.endswith(f"/api/v1/x402/receipts/{receipt}")
    assert (charges(world), world.runs) == (1, 1)


def test_of_many_at_once_one_is_served() -> None:
    world = World(pause=in_turn)
    value = paid_payment(world)
    tasks = [Task(world.checkout.serve(purchase(value), world.work())) for _ in range(50)]
    while not all(task.is_done for task in tasks):
        for task in tasks:
            if not task.is_done:
                task.step()
    results = [task.result for task in tasks if task.result]
    refusals = [task.error for task in tasks if isinstance(task.error, Problem)]
    assert (len(results), len(refusals), charges(world), world.runs) == (1, 49, 1, 1)
    for row in refusals:
        assert row.type is problem.PAYMENT_IN_PROGRESS
        assert dict(row.headers) == {"Retry-After": "1"}


# -- an answer is given again ------------------------------------------------------------------


def test_who_named_the_payment_gets_a_lost_answer_again() -> None:
    world = World()
    value = paid_payment(world, identifier=NAME)
    first = serve(world, value)
    assert serve(world, value) == first
    # The clients of the field sign anew, under the same name.
    assert serve(world, paid_payment(world, 1, identifier=NAME)) == first
    world.advance(1_000)
    assert serve(world, value) == first
    assert (charges(world), world.runs) == (1, 1)


def test_a_name_without_the_signature_of_its_payer_gives_nothing() -> None:
    world = World()
    serve(world, paid_payment(world, identifier=NAME))
    forgery = wallet(1).payment(REQUIREMENTS, world.second, 1, identifier=NAME)
    forgery["payload"]["authorization"]["from"] = wallet(0).address
    fields = refusal_of(world, field(forgery), problem.PAYMENT_INVALID)
    assert fields["PAYMENT-REQUIRED"]["error"] == "invalid_exact_evm_payload_signature"


# -- it is not taken ---------------------------------------------------------------------------


def test_a_refusal_says_why_and_asks_anew() -> None:
    world = World()
    cases = {
        "invalid_exact_evm_payload_authorization_value_mismatch": paid_payment(
            world, value=str(PRICE - 1)
        ),
        "resource_mismatch": paid_payment(world, url=SECOND_URL),
    }
    for reason, value in cases.items():
        fields = refusal_of(world, value, problem.PAYMENT_INVALID)
        assert fields.keys() == {"PAYMENT-REQUIRED"}
        assert fields["PAYMENT-REQUIRED"]["error"] == reason
        assert fields["PAYMENT-REQUIRED"]["resource"]["url"] == URL
    assert (world.store.payments, world.broker.calls, world.runs) == ({}, [], 0)


def test_an_empty_wallet_gets_no_work_done() -> None:
    world = World()
    value = paid_payment(world)
    world.chain.balances[wallet().address.lower()] = PRICE - 1
    fields = refusal_of(world, value, problem.PAYMENT_INVALID)
    assert fields["PAYMENT-REQUIRED"]["error"] == "insufficient_funds"
    assert fields["PAYMENT-RESPONSE"]["success"] is False
    assert fields["PAYMENT-RESPONSE"]["errorReason"] == "insufficient_funds"
    assert (world.runs, world.only().state) == (0, State.RELEASED)
    assert world.only().reason == "insufficient_funds"
    # The same authorization is good when there is money.
    world.chain.balances.clear()
    serve(world, value)


def test_a_facilitator_that_names_another_payer_is_not_believed() -> None:
    world = World()
    world.broker.says = Verdict(True, payer="0x" + "11" * 20)
    refusal_of(world, paid_payment(world), problem.PAYMENT_INVALID)
    world.broker.says = Verdict(False)
    refusal_of(world, paid_payment(world), problem.PAYMENT_INVALID)
    world.broker.says = Verdict(True, payer=wallet().address)
    serve(world, paid_payment(world))


def test_without_a_facilitator_nothing_is_begun() -> None:
    world = World()
    world.broker.silent = True
    value = paid_payment(world)
    assert refusal_of(world, value, problem.SERVICE_UNAVAILABLE) == {"Retry-After": "5"}
    assert (world.runs, world.only().state) == (0, State.RELEASED)
    world.broker.silent = False
    serve(world, value)


def test_the_signature_of_a_contract_wallet_is_judged_by_a_facilitator_first() -> None:
    world = World(policy=PaymentPolicy(verifies=False))
    payload = wallet().payment(REQUIREMENTS, world.second)
    payload["payload"]["signature"] = "0x" + "ab" * 200
    world.broker.says = Verdict(False, "invalid_exact_evm_payload_signature")
    refusal_of(world, field(payload), problem.PAYMENT_INVALID)
    assert (world.store.payments, world.broker.calls) == ({}, ["verify"])
    world.broker.says = Verdict(True)
    serve(world, field(payload))
    assert world.broker.calls == ["verify", "verify", "settle"]


def test_a_contract_wallet_in_doubt_is_not_asked_to_pay_again() -> None:
    world = World()
    payload = wallet().payment(REQUIREMENTS, world.second)
    payload["payload"]["signature"] = "0x" + "ab" * 200
    world.broker.fault = "sent and lost"
    refusal_of(world, field(payload), problem.SETTLEMENT_UNKNOWN)
    world.chain.mine_block()
    second = field({**payload, "extensions": {}})
    assert refusal_of(world, second, problem.SETTLEMENT_UNKNOWN) == {"Retry-After": "5"}
    assert serve(world, field(payload)).answer.body == b"report"
    assert charges(world) == 1


# -- failures are free -------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_a_failed_answer_is_passed_on_and_costs_nothing(status: int) -> None:
    world = World()
    value = paid_payment(world)
    reply = serve(world, value, status=status)
    assert reply == PaidReply(answer(status=status))
    assert (charges(world), world.only().state) == (0, State.RELEASED)
    assert serve(world, value).receipt_id is not None


@pytest.mark.parametrize("status", [200, 206, 302, 304, 399])
def test_any_other_answer_is_paid_for(status: int) -> None:
    world = World()
    assert serve(world, paid_payment(world), status=status).receipt_id is not None


def test_what_the_work_raises_is_passed_on_and_costs_nothing() -> None:
    world = World()
    value = paid_payment(world)

    async def missing() -> HeldAnswer:
        raise Problem(problem.NOT_FOUND)

    with pytest.raises(Problem, match="NOT_FOUND"):
        drive.run(world.checkout.serve(purchase(value), missing))
    assert charges(world) == 0
    serve(world, value)


def test_a_refused_settlement_gives_nothing_and_costs_nothing() -> None:
    world = World(policy=PaymentPolicy(verifies=False))
    value = paid_payment(world)
    world.broker.fault = "refused"
    fields = refusal_of(world, value, problem.SETTLEMENT_FAILED)
    assert fields["PAYMENT-RESPONSE"] == {
        "success": False,
        "transaction": "",
        "network": "eip155:84532",
        "payer": wallet().address.lower(),
        "errorReason": "insufficient_funds",
    }
    assert fields["PAYMENT-REQUIRED"]["error"] == "insufficient_funds"
    assert (charges(world), world.store.answers) == (0, {})
    world.broker.fault = "none"
    serve(world, value)


# -- doubt -------------------------------------------------------------------------------------

DOUBTFUL = {
    "unheard": problem.SETTLEMENT_UNKNOWN,
    "lost": problem.SETTLEMENT_UNKNOWN,
    "sent and lost": problem.SETTLEMENT_UNKNOWN,
    "garbled": problem.SETTLEMENT_UNKNOWN,
    "failed": problem.SETTLEMENT_UNKNOWN,
    "pending": problem.SETTLEMENT_PENDING,
    "settled and pending": problem.SETTLEMENT_PENDING,
}


@pytest.mark.parametrize("fault", DOUBTFUL)
def test_who_may_have_paid_is_not_asked_to_pay_again(fault: str) -> None:
    world = World(sees=False)
    value = paid_payment(world)
    world.broker.fault = fault
    for kind in (DOUBTFUL[fault], None):
        fields = refusal_of(world, value, kind)
        assert fields.keys() == {"PAYMENT-RESPONSE", "Retry-After"}
        assert fields["PAYMENT-RESPONSE"]["success"] is False
    assert world.runs == 1


@pytest.mark.parametrize("fault", DOUBTFUL)
def test_with_a_view_of_the_chain_doubt_ends_with_an_answer_given_once(fault: str) -> None:
    world = World()
    value = paid_payment(world, identifier=NAME)
    world.broker.fault = fault
    reply: Any = None
    for _ in range(4):
        task = Task(world.checkout.serve(purchase(value), world.work()))
        task.finish()
        reply = task.result
        if isinstance(task.error, Problem):
            assert task.error.type in DOUBTFUL.values()
            assert "PAYMENT-REQUIRED" not in task.error.headers
        world.chain.mine_block()
        if fault == "unheard":
            world.broker.fault = "none"
    assert reply.answer.body == b"report"
    assert (charges(world), world.runs) == (1, 1)


def test_a_payment_in_doubt_is_resumed_after_its_authorization_ended() -> None:
    world = World()
    value = paid_payment(world)
    world.broker.fault = "sent and lost"
    refusal_of(world, value, problem.SETTLEMENT_UNKNOWN)
    world.chain.mine_block()
    world.advance(3_600)
    assert serve(world, value).answer.body == b"report"


def test_a_refusal_after_doubt_is_doubt() -> None:
    # The wallet is empty because the first attempt went through.
    world = World(sees=False, policy=PaymentPolicy(verifies=False))
    value = paid_payment(world)
    world.chain.balances[wallet().address.lower()] = PRICE
    world.broker.fault = "lost"
    fields = refusal_of(world, value, problem.SETTLEMENT_UNKNOWN)
    assert fields["PAYMENT-RESPONSE"]["errorReason"] == "insufficient_funds"
    assert charges(world) == 1


def test_a_transfer_that_was_named_stays_named() -> None:
    world = World(sees=False)
    world.broker.fault = "pending"
    value = paid_payment(world)
    transaction = refusal_of(world, value, problem.SETTLEMENT_PENDING)["PAYMENT-RESPONSE"][
        "transaction"
    ]
    assert world.only().transaction is not None
    world.broker.fault = "unheard"
    header_ = refusal_of(world, value, problem.SETTLEMENT_PENDING)["PAYMENT-RESPONSE"]
    assert header_["transaction"] == transaction == world.only().transaction != ""


class ScriptedBroker(Broker):
    """A facilitator that gives these answers to settlements."""

    def __init__(self, chain: Chain, *replies: SettlementResponse) -> None:
        super().__init__(chain)
        self.replies = list(replies)

    async def settle(self, _: Any) -> SettlementResponse:
        return self.replies.pop(0)


def test_of_a_pending_transfer_and_silence_the_transfer_is_told() -> None:
    world = World(sees=False)
    under_way = SettlementResponse(False, nonce(1), error_reason="settlement_pending")
    unclear = SettlementResponse(False, "", error_reason="unexpected_settle_error")
    world.patch(facilitator=ScriptedBroker(world.chain, under_way, unclear))
    fields = refusal_of(world, paid_payment(world), problem.SETTLEMENT_PENDING)
    assert fields["PAYMENT-RESPONSE"]["transaction"] == nonce(1)


def test_a_cancelled_authorization_is_refused() -> None:
    world = World()
    value = paid_payment(world)
    world.broker.fault = "unheard"
    refusal_of(world, value, problem.SETTLEMENT_UNKNOWN)
    world.chain.cancel(wallet().address, nonce(0))
    fields = refusal_of(world, value, problem.SETTLEMENT_FAILED)
    assert fields["PAYMENT-REQUIRED"]["error"] == "authorization_canceled"
    assert world.only().state is State.RELEASED


# -- limits ------------------------------------------------------------------------------------


def test_a_wallet_pays_so_much_and_no_more() -> None:
    world = World(policy=PaymentPolicy(Limits(wallet_minute=2)))
    serve(world, paid_payment(world, 1))
    serve(world, paid_payment(world, 2))
    assert refusal_of(world, paid_payment(world, 3), problem.PAYMENT_RATE_LIMITED) == {
        "Retry-After": "55"
    }
    serve(world, paid_payment(world, 4, 1))
    world.advance(55)
    serve(world, paid_payment(world, 5))
    assert charges(world) == 4


def test_an_operation_is_paid_for_so_often_and_no_more() -> None:
    world = World()

    async def full(operation: str) -> None:
        raise rate_limit_problem(f"{operation} is full.", 3)

    world.patch(gate=full)
    assert refusal_of(world, paid_payment(world), problem.PAYMENT_RATE_LIMITED) == {
        "Retry-After": "3"
    }
    assert world.store.payments == {}


# -- what was cut off --------------------------------------------------------------------------


def cut(world: World, value: str, steps: int) -> None:
    """A worker dies after so many steps."""
    task = Task(world.checkout.serve(purchase(value), world.work()))
    for _ in range(steps):
        task.step()
    assert not task.is_done
    task.die()


def finish(coroutine: Any) -> Any:
    task = Task(coroutine)
    task.finish()
    if task.error is not None:
        raise task.error
    return task.result


def steps_of_a_payment() -> int:
    world, count = World(pause=in_turn), 0
    task = Task(world.checkout.serve(purchase(paid_payment(world)), world.work()))
    while not task.is_done:
        task.step()
        count += 1
    return count


@pytest.mark.parametrize("at", range(1, steps_of_a_payment()))
@pytest.mark.parametrize("is_reconciled", [False, True])
def test_whenever_a_worker_dies_its_client_gets_the_answer_for_one_charge(
    at: int, is_reconciled: bool
) -> None:
    world = World(pause=in_turn)
    value = paid_payment(world, identifier=NAME)
    cut(world, value, at)
    # Its lease is not over: nobody else may do what it might still do.
    early = Task(world.checkout.serve(purchase(value), world.work()))
    early.finish()
    if isinstance(early.error, Problem):
        assert early.error.type is problem.PAYMENT_IN_PROGRESS
        assert "PAYMENT-REQUIRED" not in early.error.headers
    world.advance(181)
    if is_reconciled:
        finish(world.checkout.reconcile())
    reply = finish(world.checkout.serve(purchase(value), world.work()))
    assert reply.answer.body == b"report"
    assert charges(world) == 1


def test_the_reconciler_releases_what_was_never_asked_for() -> None:
    world = World(pause=in_turn)
    cut(world, paid_payment(world), 3)
    assert world.only().state is State.RESERVED
    assert finish(world.checkout.reconcile()) == ()
    world.advance(181)
    (payment_,) = finish(world.checkout.reconcile())
    assert (payment_.state, payment_.lease) == (State.RELEASED, None)
    assert world.store.wallets[payment_.payer].spent == 0


def in_doubt(world: World, fault: str = "unheard", **members: Any) -> str:
    value = paid_payment(world, **members)
    world.broker.fault = fault
    with pytest.raises(Problem):
        serve(world, value)
    world.advance(30)
    return value


def reconcile(world: World) -> tuple[Payment, ...]:
    payment_: tuple[Payment, ...] = drive.run(world.checkout.reconcile())
    return payment_


def test_the_reconciler_finds_what_was_paid_and_the_client_gets_it_once() -> None:
    world = World()
    value = in_doubt(world, "sent and lost")
    assert reconcile(world) == ()
    world.chain.mine_block()
    assert reconcile(world) == ()  # it was looked at a moment ago
    world.advance(60)
    (payment_,) = reconcile(world)
    assert (payment_.state, payment_.transaction) == (State.OWED, payment_.transaction)
    assert payment_.delivered_at is None
    assert payment_.settled_at is not None
    assert reconcile(world) == ()
    assert serve(world, value).receipt_id == payment_.receipt_id
    refusal_of(world, value, problem.PAYMENT_REPLAYED)
    assert world.runs == 1


def test_the_reconciler_gives_up_what_can_never_be_paid() -> None:
    world = World()
    in_doubt(world)
    world.advance(359)
    (payment_,) = reconcile(world)
    assert (payment_.state, payment_.attempts) == (State.RELEASED, 1)
    assert world.store.answers == {}


def test_what_the_chain_does_not_tell_stays_in_doubt() -> None:
    world = World()
    in_doubt(world)
    world.view.down = True
    world.advance(10_000)
    assert reconcile(world) == ()
    assert world.only().state is State.UNKNOWN
    world.view.down = False
    world.advance(10_000)
    assert len(reconcile(world)) == 1


def test_the_operator_need_not_wait_for_the_next_look() -> None:
    world = World()
    world.view.down = True
    in_doubt(world, "lost")
    world.advance(10_000)
    assert reconcile(world) == ()
    world.view.down = False
    assert reconcile(world) == ()
    (payment_,) = drive.run(world.checkout.reconcile(at_once=True))
    assert payment_.state is State.OWED


def test_what_is_under_way_is_left_to_who_has_it() -> None:
    world = World(pause=in_turn)
    held_until(world, paid_payment(world), lambda world: world.runs == 1)
    assert finish(world.checkout.reconcile(at_once=True)) == ()


def test_without_a_view_a_pending_transfer_is_asked_about() -> None:
    world = World(sees=False)
    value = in_doubt(world, "pending")
    assert world.only().state is State.PENDING
    world.broker.fault = "none"
    (payment_,) = reconcile(world)
    assert payment_.state is State.OWED
    serve(world, value)
    assert charges(world) == 1


@pytest.mark.parametrize("fault", ["pending", "unheard"])
def test_a_transfer_under_way_is_asked_about_again_and_less_and_less_often(fault: str) -> None:
    world = World(sees=False)
    value = in_doubt(world, "pending")
    world.broker.fault = fault
    for wait in (3, 20, 22, 25):
        world.advance(wait - 3)
        assert wait == 3 or reconcile(world) == ()
        world.advance(3)
        (seen,) = reconcile(world)
        assert seen.state is State.PENDING
    world.broker.fault = "none"
    serve(world, value)  # its client need not wait so long
    assert charges(world) == 1


def test_without_a_view_what_stays_unclear_waits_for_the_operator() -> None:
    world = World(sees=False)
    value = in_doubt(world, "pending")
    world.chain.mine_block()
    (payment_,) = reconcile(world)  # the nonce is used: by whom, a facilitator does not say
    assert payment_.state is State.UNKNOWN
    world.advance(1_000)
    assert reconcile(world) == ()
    outcome = drive.run(
        world.checkout.resolve(payment_, PaymentOutcome(Event.OBSERVE, None, nonce(9)))
    )
    assert (outcome.state, outcome.transaction) == (State.OWED, nonce(9))
    serve(world, value)
    with pytest.raises(Superseded):
        drive.run(world.checkout.resolve(outcome, PaymentOutcome(Event.REJECT, "lost")))


def test_what_the_operator_gives_up_is_free_again() -> None:
    world = World(sees=False)
    value = in_doubt(world)
    world.broker.fault = "none"
    drive.run(world.checkout.resolve(world.only(), PaymentOutcome(Event.REJECT, "never arrived")))
    serve(world, value)


# -- one who was given up comes back -----------------------------------------------------------


Until = Callable[[World], bool]


def held_until(world: World, value: str, is_there: Until) -> Task:
    task = Task(world.checkout.serve(purchase(value), world.work()))
    while not is_there(world):
        task.step()
    return task


def working(world: World) -> bool:
    return world.runs == 1


def settling(world: World) -> bool:
    return bool(world.chain.transfer_count)


def test_one_that_took_too_long_to_work_settles_nothing() -> None:
    world = World(pause=in_turn)
    task = held_until(world, paid_payment(world), working)
    world.advance(181)
    finish(world.checkout.reconcile())
    task.finish()
    assert code_of(task) is problem.PAYMENT_IN_PROGRESS
    assert charges(world) == 0


def test_one_that_took_too_long_and_failed_says_how() -> None:
    world = World(pause=in_turn)
    value = paid_payment(world)
    task = Task(world.checkout.serve(purchase(value), world.work(status=404)))
    while not world.runs:
        task.step()
    world.advance(181)
    finish(world.checkout.reconcile())
    task.finish()
    assert task.result == PaidReply(answer(status=404))


def test_good_news_from_one_that_was_given_up_counts() -> None:
    world = World(pause=in_turn)
    task = held_until(world, paid_payment(world), settling)
    world.view.down = True
    world.advance(181)
    finish(world.checkout.reconcile())
    assert world.only().state is State.UNKNOWN
    task.finish()
    assert task.result.answer.body == b"report"
    assert world.only().state is State.SETTLED


@pytest.mark.parametrize("name", [None, NAME])
def test_good_news_of_what_another_has_sent_sends_it_to_nobody_else(name: str | None) -> None:
    world = World(pause=in_turn)
    value = paid_payment(world, identifier=name)
    task = held_until(world, value, settling)
    world.advance(181)
    second = finish(world.checkout.serve(purchase(value), world.work()))
    task.finish()
    if name is None:
        assert isinstance(task.error, Problem)
        assert task.error.type is problem.PAYMENT_REPLAYED
    else:
        assert task.result == second
    assert charges(world) == 1


@pytest.mark.parametrize("is_reserved_anew", [False, True])
def test_what_was_given_up_meanwhile_is_not_resumed(is_reserved_anew: bool) -> None:
    world = World(pause=in_turn)
    value = paid_payment(world)
    world.broker.fault = "unheard"
    with pytest.raises(Problem):
        finish(world.checkout.serve(purchase(value), world.work()))
    task = Task(world.checkout.serve(purchase(value), world.work()))
    for _ in range(2):
        task.step()  # it knows of the doubt, and is about to settle on
    rejection = PaymentOutcome(Event.REJECT, "never arrived")
    finish(world.checkout.resolve(world.only(), rejection))
    second = None
    if is_reserved_anew:
        second = held_until(world, value, lambda world: world.runs == 2)
    task.finish()
    assert code_of(task) is problem.PAYMENT_IN_PROGRESS
    if second is not None:
        world.broker.fault = "none"
        second.finish()
        assert second.result.answer.body == b"report"


def test_the_doubt_of_another_request_is_not_resumed() -> None:
    world = World(pause=in_turn)
    value = paid_payment(world)
    world.broker.fault = "unheard"
    with pytest.raises(Problem):
        finish(world.checkout.serve(purchase(value), world.work()))
    task = Task(world.checkout.serve(purchase(value), world.work()))
    task.step()
    task.step()
    finish(world.checkout.resolve(world.only(), PaymentOutcome(Event.REJECT, "never arrived")))
    with pytest.raises(Problem):
        finish(world.checkout.serve(purchase(value, url=SECOND_URL), world.work("another")))
    world.broker.fault = "none"
    task.finish()
    assert code_of(task) is problem.PAYMENT_IN_PROGRESS


def test_good_news_counts_though_it_is_late_and_its_client_has_left() -> None:
    world = World(pause=in_turn, sees=False)
    value = paid_payment(world)
    leaving = attrs.evolve(purchase(value), is_awaited=lambda: not world.chain.charges)
    task = Task(world.checkout.serve(leaving, world.work()))
    while not settling(world):
        task.step()
    world.advance(181)
    finish(world.checkout.reconcile())
    assert world.only().state is State.UNKNOWN
    task.finish()
    assert isinstance(task.error, ClientGone)
    assert world.only().state is State.OWED
    assert finish(world.checkout.serve(purchase(value), world.work())).answer.body == b"report"


def test_good_news_of_a_pending_transfer_counts_though_it_is_late() -> None:
    world = World(pause=in_turn, sees=False)
    value = paid_payment(world)
    world.broker.fault = "pending"
    with pytest.raises(Problem):
        finish(world.checkout.serve(purchase(value), world.work()))
    world.broker.fault = "none"
    world.advance(30)
    task = Task(world.checkout.reconcile())
    while not world.chain.charges:
        task.step()
    world.advance(400)
    (payment_,) = finish(world.checkout.reconcile())
    assert payment_.state is State.UNKNOWN
    task.finish()
    assert world.only().state is State.OWED
    assert finish(world.checkout.serve(purchase(value), world.work())).answer.body == b"report"


def test_bad_news_from_one_that_was_given_up_counts_for_nothing() -> None:
    world = World(pause=in_turn, policy=PaymentPolicy(verifies=False))
    world.broker.fault = "refused"
    value = paid_payment(world)
    task = held_until(world, value, lambda world: world.broker.calls == ["settle"])
    world.advance(181)
    world.view.down = True
    finish(world.checkout.reconcile())
    task.finish()
    assert code_of(task) is problem.SETTLEMENT_UNKNOWN
    assert world.only().state is State.UNKNOWN


def test_every_fault_is_tried() -> None:
    assert set(FAULTS) == {"none", "refused", *DOUBTFUL, *COPIES}
    assert timedelta(seconds=180) == PaymentPolicy().lease


def test_two_reconcilers_do_not_meet() -> None:
    world = World(pause=in_turn)
    cut(world, paid_payment(world), 3)
    world.advance(181)
    tasks = [Task(world.checkout.reconcile()) for _ in range(2)]
    while not all(task.is_done for task in tasks):
        for task in tasks:
            if not task.is_done:
                task.step()
    assert sorted(len(task.result) for task in tasks) == [0, 1]


# -- one transaction for two payments ----------------------------------------------------------

COPIES = ("copied", "copied and pending")


@pytest.mark.parametrize("sees", [False, True])
@pytest.mark.parametrize("first", ["none", "pending"])
@pytest.mark.parametrize("fault", COPIES)
def test_a_transaction_that_is_named_by_another_payment_buys_nothing(
    fault: str, first: str, sees: bool
) -> None:
    world = World(sees=sees)
    former = paid_payment(world, 1, identifier=NAME)
    world.broker.fault = first
    if first == "none":
        serve(world, former)
    else:
        refusal_of(world, former, problem.SETTLEMENT_PENDING)
    value = paid_payment(world, 2, 1)
    world.broker.fault = fault
    for _ in range(2):
        fields = refusal_of(world, value, problem.PAYMENT_REPLAYED)
        assert fields["PAYMENT-RESPONSE"]["errorReason"] == "transaction_already_used"
        assert fields["PAYMENT-RESPONSE"]["transaction"] == ""
        assert fields["PAYMENT-REQUIRED"]["error"] == "transaction_already_used"
    first_, second = sorted(world.store.payments.values(), key=lambda row: row.nonce)
    assert (second.state, second.transaction) == (State.UNKNOWN, None)
    assert second.reason == f"transaction_already_used {first_.transaction}"

    world.broker.fault = "unheard"  # the mark stays
    refusal_of(world, value, problem.PAYMENT_REPLAYED)
    assert world.store.payments[second.id].reason == second.reason
    world.broker.fault = "none"  # it is paid for after all, in its own transaction
    serve(world, value)
    assert world.store.payments[second.id].reason is None
    world.chain.mine_block()
    if (
        sees or first == "none"
    ):  # else a facilitator says that its nonce is used, which proves nothing
        serve(world, former)
    assert charges(world) == 2


def test_a_client_that_has_left_is_owed_nothing_for_the_transaction_of_another() -> None:
    world = World()
    serve(world, paid_payment(world, 1))
    world.broker.fault = "copied"
    awaited = iter([True, False])
    order = attrs.evolve(
        purchase(paid_payment(world, 2, 1)), is_awaited=lambda: next(awaited, False)
    )
    with pytest.raises(ClientGone):
        drive.run(world.checkout.serve(order, world.work()))
    states = [row.state for row in world.store.payments.values()]
    assert states == [State.SETTLED, State.UNKNOWN]


def test_the_transaction_of_a_payment_that_was_given_up_is_free() -> None:
    world = World(sees=False)
    in_doubt(world, "pending")
    payment_ = world.only()
    drive.run(world.checkout.resolve(payment_, PaymentOutcome(Event.REJECT, "never arrived")))
    value = paid_payment(world, 2, 1)
    world.broker.others = lambda _: payment_.transaction
    world.broker.fault = "copied"
    serve(world, value)
