"""What is decided about a payment, row by row."""

from datetime import datetime, timedelta
from typing import Any

import attrs
import pytest

from svc_core.contract.problem import Problem
from svc_core.payments import header, records
from svc_core.payments.admission import Limits
from svc_core.payments.decisions import (
    SECOND_MAX,
    Attempt,
    PriorAnswer,
    check_claim,
    fault,
    move,
    recall,
    reservation,
    reserve_payment,
)
from svc_core.payments.outcomes import Outcome
from svc_core.payments.records import Known, Lease, Payment
from svc_core.payments.states import Event, State, Superseded
from tests.paying import JUDGE, PAYEE, URL, WANTED, World, answer, purchase
from tests.wallets import field, wallet

NAME = "identifier-00000001"
OTHER = f"{URL}/text"
WORLD = World()
NOW = WORLD.clock.now()
LATER = NOW + timedelta(seconds=180)
LEASE = Lease("a", LATER)
KEPT = answer()


def attempt(number: int = 0, url: str = URL, **members: Any) -> Attempt:
    value = field(wallet().payment(WANTED, WORLD.second, number, **members))
    bought = purchase(value, url=url)
    return Attempt(bought, header.read(bought.values))


PLAIN = attempt()
NAMED = attempt(identifier=NAME)


def payment(of: Attempt, state: State, lease: Lease | None = None) -> Payment:
    made = reservation(of, "rct_65f1c0de8badf00d12345678", LEASE, NOW)
    return attrs.evolve(made, state=state, lease=lease)


def known(of: Attempt, state: State, lease: Lease | None = None, *, kept: bool = True) -> Known:
    found = payment(of, state, lease)
    is_namesake = of.payment.identifier is not None and state is not State.RELEASED
    answers = {found.id: KEPT} if kept else {}
    return Known(found, found if is_namesake else None, None, answers)


def decided(decide: Any, found: Known, of: Attempt, now: datetime = NOW) -> str:
    """What is decided: `free`, the code of the refusal, or what is done with the answer."""
    try:
        decide(found, of, now)
    except Problem as refused:
        return refused.type.code
    except PriorAnswer as kept:
        return GIVEN.get(kept.payment.state, RESUME)
    return FREE


FREE, REPLAY, DELIVER, RESUME = "free", "replay", "deliver", "resume"
GIVEN = {State.SETTLED: REPLAY, State.OWED: DELIVER}
BUSY, USED, CONFLICT = (
    "PAYMENT_IN_PROGRESS",
    "PAYMENT_REPLAYED",
    "PAYMENT_IDENTIFIER_CONFLICT",
)
SAME = [
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


@pytest.mark.parametrize(("state", "lease", "plain", "named"), SAME)
@pytest.mark.parametrize("decide", [recall, check_claim])
def test_the_same_request_with_the_same_payment(
    decide: Any, state: State, lease: Lease | None, plain: str, named: str
) -> None:
    assert decided(decide, known(PLAIN, state, lease), PLAIN) == plain
    assert decided(decide, known(NAMED, state, lease), NAMED) == named


@pytest.mark.parametrize(("state", "lease"), [(row[0], row[1]) for row in SAME])
def test_another_request_with_the_same_payment(state: State, lease: Lease | None) -> None:
    is_free = state is State.RELEASED or (state is State.RESERVED and lease is None)
    is_live = lease is not None and state in (State.RESERVED, State.SETTLING)
    plain = attempt(url=OTHER)
    assert decided(recall, known(PLAIN, state, lease), plain) == FREE
    found = decided(check_claim, known(PLAIN, state, lease), plain)
    assert found == (FREE if is_free else BUSY if is_live else USED)
    named = attempt(url=OTHER, identifier=NAME)
    expected = FREE if state is State.RELEASED else CONFLICT
    assert decided(recall, known(NAMED, state, lease), named) == expected
    assert decided(check_claim, known(NAMED, state, lease), named) == expected


@pytest.mark.parametrize(("state", "lease", "_", "named"), SAME[1:])
def test_a_new_payment_under_the_same_name_stands_for_the_first(
    state: State, lease: Lease | None, _: str, named: str
) -> None:
    again = attempt(1, identifier=NAME)
    found = Known(None, payment(NAMED, state, lease), None, {payment(NAMED, state).id: KEPT})
    assert decided(recall, found, again) == FREE
    # What was given up is not yet released: whoever had it may come back.
    assert decided(check_claim, found, again) == (BUSY if named is FREE else named)
    assert decided(check_claim, found, attempt(1, OTHER, identifier=NAME)) == CONFLICT


def test_the_authorization_under_another_name_or_none_gives_nothing() -> None:
    for of, other in ((NAMED, PLAIN), (PLAIN, NAMED)):
        for state in (State.OWED, State.SETTLED, State.UNKNOWN):
            found = attrs.evolve(known(of, state), namesake=None)
            assert decided(check_claim, found, other) == USED


def test_a_payment_without_its_answer_is_used_up() -> None:
    for state in (State.SETTLED, State.OWED):
        assert decided(check_claim, known(NAMED, state, kept=False), NAMED) == USED


def test_a_lease_ends_at_its_end() -> None:
    found = known(PLAIN, State.RESERVED, LEASE)
    assert decided(check_claim, found, PLAIN, LATER - timedelta(microseconds=1)) == BUSY
    assert decided(check_claim, found, PLAIN, LATER) == FREE


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
        ({"extra": {**WANTED.extra, "name": "USD Coin"}}, "invalid_payment_requirements"),
        ({"pay_to": PAYEE.lower(), "asset": WANTED.asset.lower()}, None),
    ],
)
def test_what_was_accepted_is_what_was_offered(
    changes: dict[str, Any], expected: str | None
) -> None:
    received = PLAIN.payment
    payload = attrs.evolve(received.payload, accepted=attrs.evolve(WANTED, **changes))
    other = attrs.evolve(PLAIN, payment=attrs.evolve(received, payload=payload))
    assert fault(other, JUDGE, NOW) == expected


def test_the_resource_is_the_one_that_is_asked_for() -> None:
    assert fault(attempt(), JUDGE, NOW) is None
    assert fault(_for(URL), JUDGE, NOW) is None
    assert fault(_for(OTHER), JUDGE, NOW) == "resource_mismatch"
    assert fault(_for(URL + "/"), JUDGE, NOW) == "resource_mismatch"


def _for(url: str) -> Attempt:
    payload = wallet().payment(WANTED, WORLD.second, url=url)
    return attrs.evolve(PLAIN, payment=header.read([field(payload)]))


def test_the_signature_is_judged_last() -> None:
    assert fault(attempt(value="1"), JUDGE, NOW) == (
        "invalid_exact_evm_payload_authorization_value_mismatch"
    )


# -- what is kept ------------------------------------------------------------------------------


def test_a_reservation_has_what_was_sent() -> None:
    made = reservation(NAMED, "rct_1", LEASE, NOW)
    assert (
        made.id
        == NAMED.keys.id
        == records.payment_id(WANTED.network, WANTED.asset, made.payer, made.nonce)
    )
    assert (made.state, made.lease, made.identifier) == (State.RESERVED, LEASE, NAME)
    assert made.payer == wallet().address.lower()
    assert made.payload == NAMED.payment.text
    far = attempt(validBefore=str(2**256 - 1))
    assert reservation(far, "rct_1", LEASE, NOW).valid_before == SECOND_MAX


def test_a_reservation_takes_what_is_free_and_nothing_else() -> None:
    fresh = reservation(PLAIN, "rct_2", LEASE, NOW)
    writes = reserve_payment(Known(), PLAIN, fresh, Limits())
    assert writes.payment == fresh
    assert writes.wallet is not None
    assert writes.wallet.spent == fresh.amount
    for state in (State.RELEASED, State.RESERVED):
        found = attrs.evolve(known(PLAIN, state), wallet=writes.wallet)
        again = reserve_payment(found, PLAIN, fresh, Limits())
        assert again.payment == attrs.evolve(fresh, revision=3)
        # The one that was given up is counted no more.
        assert again.wallet is not None
        spent = {State.RELEASED: 2, State.RESERVED: 1}[state] * fresh.amount
        assert again.wallet.spent == spent
    with pytest.raises(Problem, match=USED):
        reserve_payment(known(PLAIN, State.SETTLED), PLAIN, fresh, Limits())
    with pytest.raises(PriorAnswer):
        reserve_payment(known(PLAIN, State.OWED), PLAIN, fresh, Limits())


def moved(
    state: State, event: Event, *, holder: str | None = None, lease: Lease | None = None
) -> Payment:
    writes = move(
        known(PLAIN, state, lease), Outcome(event, "why", "0xabc"), NOW, Limits(), holder=holder
    )
    return writes.payment


def test_who_holds_a_payment_moves_it() -> None:
    after = moved(State.SETTLING, Event.PEND, holder="a", lease=LEASE)
    assert (after.state, after.reason, after.transaction) == (State.PENDING, "why", "0xabc")
    assert (after.lease, after.revision) == (None, 2)
    for lease in (None, Lease("b", LATER)):
        with pytest.raises(Superseded):
            moved(State.SETTLING, Event.PEND, holder="a", lease=lease)
        # That the money moved counts, whoever tells it.
        for event in (Event.CONFIRM, Event.OBSERVE):
            assert moved(State.SETTLING, event, holder="a", lease=lease).settled_at == NOW


def test_what_cannot_happen_does_not() -> None:
    with pytest.raises(Superseded):
        moved(State.SETTLED, Event.LAPSE)
    with pytest.raises(Superseded):
        move(Known(), Outcome(Event.CONFIRM), NOW, Limits())


def test_what_was_refused_is_counted_and_its_answer_forgotten() -> None:
    writes = move(known(PLAIN, State.SETTLING), Outcome(Event.REJECT, "why"), NOW, Limits())
    assert writes.forget
    assert writes.wallet is not None
    assert writes.wallet.rejections == (NOW,)
    failed = move(known(PLAIN, State.RESERVED), Outcome(Event.FAIL, "why"), NOW, Limits())
    assert failed.wallet is not None
    assert failed.wallet.rejections == ()
