"""What is decided about a payment, row by row."""

from datetime import datetime, timedelta
from typing import Any

import attrs
import pytest

from svc_core.contract.problem import Problem
from svc_core.payments import header
from svc_core.payments import payment_rows as records
from svc_core.payments.admission import Limits
from svc_core.payments.decisions import (
    SECOND_MAX,
    PaymentAttempt,
    PriorAnswer,
    check_claim,
    fault,
    move,
    recall,
    reservation,
    reserve_payment,
)
from svc_core.payments.outcomes import PaymentOutcome
from svc_core.payments.payment_rows import Lease, Payment, PaymentRows
from svc_core.payments.states import Event, State, Superseded
from tests.paying import JUDGE, PAYEE, REQUIREMENTS, URL, World, answer, purchase
from tests.wallets import field, wallet

NAME = "identifier-00000001"
SECOND_URL = f"{URL}/text"
WORLD = World()
NOW = WORLD.clock.now()
LATER = NOW + timedelta(seconds=180)
LEASE = Lease("a", LATER)
ANSWER = answer()


def attempt(number: int = 0, url: str = URL, **members: Any) -> PaymentAttempt:
    value = field(wallet().payment(REQUIREMENTS, WORLD.second, number, **members))
    order = purchase(value, url=url)
    return PaymentAttempt(order, header.parse_payment(order.values))


PLAIN = attempt()
WITH_NAME = attempt(identifier=NAME)


def payment(of: PaymentAttempt, state: State, lease: Lease | None = None) -> Payment:
    row = reservation(of, "rct_65f1c0de8badf00d12345678", LEASE, NOW)
    return attrs.evolve(row, state=state, lease=lease)


def rows_of(
    of: PaymentAttempt, state: State, lease: Lease | None = None, *, has_answer: bool = True
) -> PaymentRows:
    payment_ = payment(of, state, lease)
    is_namesake = of.payment.identifier is not None and state is not State.RELEASED
    answers = {payment_.id: ANSWER} if has_answer else {}
    return PaymentRows(payment_, payment_ if is_namesake else None, None, answers)


def decide_code(decide: Any, rows: PaymentRows, of: PaymentAttempt, now: datetime = NOW) -> str:
    """What is decided: `free`, the code of the refusal, or what is done with the answer."""
    try:
        decide(rows, of, now)
    except Problem as error:
        return error.type.code
    except PriorAnswer as prior:
        return ANSWERS.get(prior.payment.state, RESUME)
    return FREE


FREE, REPLAY, DELIVER, RESUME = "free", "replay", "deliver", "resume"
ANSWERS = {State.SETTLED: REPLAY, State.OWED: DELIVER}
BUSY, USED, CONFLICT = (
    "PAYMENT_IN_PROGRESS",
    "PAYMENT_REPLAYED",
    "PAYMENT_IDENTIFIER_CONFLICT",
)
SAME_CASES = [
    (State.RELEASED, None, FREE, FREE),
    (State.RESERVED, LEASE, BUSY, BUSY),
    (State.RESERVED, None, FREE, FREE),
    (State.SETTLING, LEASE, BUSY, BUSY),
    (State.SETTLING, None, RESUME, RESUME),
    (State.PENDING, None, RESUME, RESUME),
    (State.PENDING, LEASE, RESUME, RESUME),
    (State.UNKNOWN, None, RESUME, RESUME),
    (State.OWED, None, DELIVER, DELIVER),
    (State.SETTLED, None, USED, REPLAY),
]


@pytest.mark.parametrize(("state", "lease", "plain", "with_name"), SAME_CASES)
@pytest.mark.parametrize("decide", [recall, check_claim])
def test_the_same_request_with_the_same_payment(
    decide: Any, state: State, lease: Lease | None, plain: str, with_name: str
) -> None:
    assert decide_code(decide, rows_of(PLAIN, state, lease), PLAIN) == plain
    assert decide_code(decide, rows_of(WITH_NAME, state, lease), WITH_NAME) == with_name


@pytest.mark.parametrize(("state", "lease"), [(row[0], row[1]) for row in SAME_CASES])
def test_another_request_with_the_same_payment(state: State, lease: Lease | None) -> None:
    is_free = state is State.RELEASED or (state is State.RESERVED and lease is None)
    is_live = lease is not None and state in (State.RESERVED, State.SETTLING)
    plain = attempt(url=SECOND_URL)
    assert decide_code(recall, rows_of(PLAIN, state, lease), plain) == FREE
    decision = decide_code(check_claim, rows_of(PLAIN, state, lease), plain)
    assert decision == (FREE if is_free else BUSY if is_live else USED)
    named_attempt = attempt(url=SECOND_URL, identifier=NAME)
    expected = FREE if state is State.RELEASED else CONFLICT
    assert decide_code(recall, rows_of(WITH_NAME, state, lease), named_attempt) == expected
    assert decide_code(check_claim, rows_of(WITH_NAME, state, lease), named_attempt) == expected


@pytest.mark.parametrize(("state", "lease", "_", "names"), SAME_CASES[1:])
def test_a_new_payment_under_the_same_name_stands_for_the_first(
    state: State, lease: Lease | None, _: str, names: str
) -> None:
    again = attempt(1, identifier=NAME)
    rows = PaymentRows(
        None, payment(WITH_NAME, state, lease), None, {payment(WITH_NAME, state).id: ANSWER}
    )
    assert decide_code(recall, rows, again) == FREE
    # What was given up is not yet released: whoever had it may come back.
    assert decide_code(check_claim, rows, again) == (BUSY if names is FREE else names)
    assert decide_code(check_claim, rows, attempt(1, SECOND_URL, identifier=NAME)) == CONFLICT


def test_the_authorization_under_another_name_or_none_gives_nothing() -> None:
    for of, second in ((WITH_NAME, PLAIN), (PLAIN, WITH_NAME)):
        for state in (State.OWED, State.SETTLED, State.UNKNOWN):
            rows = attrs.evolve(rows_of(of, state), namesake=None)
            assert decide_code(check_claim, rows, second) == USED


def test_a_payment_without_its_answer_is_used_up() -> None:
    for state in (State.SETTLED, State.OWED):
        assert (
            decide_code(check_claim, rows_of(WITH_NAME, state, has_answer=False), WITH_NAME) == USED
        )


def test_a_lease_ends_at_its_end() -> None:
    rows = rows_of(PLAIN, State.RESERVED, LEASE)
    assert decide_code(check_claim, rows, PLAIN, LATER - timedelta(microseconds=1)) == BUSY
    assert decide_code(check_claim, rows, PLAIN, LATER) == FREE


# -- the fault ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"scheme": "upto"}, "unsupported_scheme"),
        ({"scheme": "upto", "network": "eip155:8453"}, "unsupported_scheme"),
        ({"network": "eip155:8453", "amount": "1"}, "invalid_network"),
        ({"amount": "10000"}, "invalid_payment_requirements"),
        ({"pay_to": "0x" + "11" * 20}, "invalid_payment_requirements"),
        ({"asset": "0x" + "11" * 20}, "invalid_payment_requirements"),
        ({"max_timeout_seconds": 60}, "invalid_payment_requirements"),
        ({"extra": {}}, "invalid_payment_requirements"),
        ({"extra": {**REQUIREMENTS.extra, "name": "USD Coin"}}, "invalid_payment_requirements"),
        ({"pay_to": PAYEE.lower(), "asset": REQUIREMENTS.asset.lower()}, None),
    ],
)
def test_what_was_accepted_is_what_was_offered(
    changes: dict[str, Any], expected: str | None
) -> None:
    payment_ = PLAIN.payment
    payload = attrs.evolve(payment_.payload, accepted=attrs.evolve(REQUIREMENTS, **changes))
    second = attrs.evolve(PLAIN, payment=attrs.evolve(payment_, payload=payload))
    assert fault(second, JUDGE, NOW) == expected


def test_the_resource_is_the_one_that_is_asked_for() -> None:
    assert fault(attempt(), JUDGE, NOW) is None
    assert fault(_for(URL), JUDGE, NOW) is None
    assert fault(_for(SECOND_URL), JUDGE, NOW) == "resource_mismatch"
    assert fault(_for(URL + "/"), JUDGE, NOW) == "resource_mismatch"


def _for(url: str) -> PaymentAttempt:
    payload = wallet().payment(REQUIREMENTS, WORLD.second, url=url)
    return attrs.evolve(PLAIN, payment=header.parse_payment([field(payload)]))


def test_the_signature_is_judged_last() -> None:
    assert fault(attempt(value="1"), JUDGE, NOW) == (
        "invalid_exact_evm_payload_authorization_value_mismatch"
    )


# -- what is kept ------------------------------------------------------------------------------


def test_a_reservation_has_what_was_sent() -> None:
    row = reservation(WITH_NAME, "rct_1", LEASE, NOW)
    assert (
        row.id
        == WITH_NAME.keys.id
        == records.payment_id(REQUIREMENTS.network, REQUIREMENTS.asset, row.payer, row.nonce)
    )
    assert (row.state, row.lease, row.identifier) == (State.RESERVED, LEASE, NAME)
    assert row.payer == wallet().address.lower()
    assert row.payload == WITH_NAME.payment.text
    far = attempt(validBefore=str(2**256 - 1))
    assert reservation(far, "rct_1", LEASE, NOW).valid_before == SECOND_MAX


def test_a_reservation_takes_what_is_free_and_nothing_else() -> None:
    fresh = reservation(PLAIN, "rct_2", LEASE, NOW)
    writes = reserve_payment(PaymentRows(), PLAIN, fresh, Limits())
    assert writes.payment == fresh
    assert writes.wallet is not None
    assert writes.wallet.spent == fresh.amount
    for state in (State.RELEASED, State.RESERVED):
        rows = attrs.evolve(rows_of(PLAIN, state), wallet=writes.wallet)
        again = reserve_payment(rows, PLAIN, fresh, Limits())
        assert again.payment == attrs.evolve(fresh, revision=3)
        # The one that was given up is counted no more.
        assert again.wallet is not None
        spent_units = {State.RELEASED: 2, State.RESERVED: 1}[state] * fresh.amount
        assert again.wallet.spent == spent_units
    with pytest.raises(Problem, match=USED):
        reserve_payment(rows_of(PLAIN, State.SETTLED), PLAIN, fresh, Limits())
    with pytest.raises(PriorAnswer):
        reserve_payment(rows_of(PLAIN, State.OWED), PLAIN, fresh, Limits())


def move_to(
    state: State, event: Event, *, holder: str | None = None, lease: Lease | None = None
) -> Payment:
    writes = move(
        rows_of(PLAIN, state, lease),
        PaymentOutcome(event, "why", "0xabc"),
        NOW,
        Limits(),
        holder=holder,
    )
    return writes.payment


def test_who_holds_a_payment_moves_it() -> None:
    after = move_to(State.SETTLING, Event.PEND, holder="a", lease=LEASE)
    assert (after.state, after.reason, after.transaction) == (State.PENDING, "why", "0xabc")
    assert (after.lease, after.revision) == (None, 2)
    for lease in (None, Lease("b", LATER)):
        with pytest.raises(Superseded):
            move_to(State.SETTLING, Event.PEND, holder="a", lease=lease)
        # That the money moved counts, whoever tells it.
        for event in (Event.CONFIRM, Event.OBSERVE):
            assert move_to(State.SETTLING, event, holder="a", lease=lease).settled_at == NOW


def test_what_cannot_happen_does_not() -> None:
    with pytest.raises(Superseded):
        move_to(State.SETTLED, Event.LAPSE)
    with pytest.raises(Superseded):
        move(PaymentRows(), PaymentOutcome(Event.CONFIRM), NOW, Limits())


def test_what_was_refused_is_counted_and_its_answer_forgotten() -> None:
    writes = move(
        rows_of(PLAIN, State.SETTLING), PaymentOutcome(Event.REJECT, "why"), NOW, Limits()
    )
    assert writes.forget
    assert writes.wallet is not None
    assert writes.wallet.rejections == (NOW,)
    failure_row = move(
        rows_of(PLAIN, State.RESERVED), PaymentOutcome(Event.FAIL, "why"), NOW, Limits()
    )
    assert failure_row.wallet is not None
    assert failure_row.wallet.rejections == ()
