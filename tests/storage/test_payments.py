"""Payments are kept the same way in every store, and as a plain list of them would say."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from svc_core.payments.records import (
    KeptAnswer,
    Known,
    Lease,
    Payment,
    Place,
    Wallet,
    Writes,
    fingerprint,
    payment_id,
)
from svc_core.payments.states import WATCHED, Event, State
from svc_core.payments.store import COLLECTIONS, StoredPayments
from tests.backends import NAMES, store_of
from tests.sampling import examples

START = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
NETWORK, ASSET, PAYEE = "eip155:84532", "0x" + "ab" * 20, "0x" + "ee" * 20
ANSWER = KeptAnswer(200, "application/json", (("ETag", '"a"'),), b'{"data":\xff\n1}', "e30=")


def payment(number: int, *, payer: int = 1, **members: Any) -> Payment:
    who, nonce = f"0x{payer:040x}", f"0x{number:064x}"
    at = START + timedelta(seconds=number)
    known: dict[str, Any] = {
        "id": payment_id(NETWORK, ASSET, who, nonce),
        "receipt_id": f"rct_{number:024x}",
        "network": NETWORK,
        "asset": ASSET,
        "pay_to": PAYEE,
        "payer": who,
        "nonce": nonce,
        "amount": 10_000,
        "valid_before": int(at.timestamp()) + 300,
        "operation": "listReports",
        "tier": "T3_ENRICHED",
        "price": "0.01",
        "url": "https://api.example/a",
        "fingerprint": fingerprint("GET", "https://api.example/a"),
        "payload": "{}",
        "payload_digest": "00" * 32,
        "identifier": None,
        "state": State.RESERVED,
        "lease": None,
        "reserved_at": at,
        "updated_at": at,
    }
    return Payment(**known | members)


class Rows:
    """The port, spoken to without `await`."""

    def __init__(self, runner: asyncio.Runner, store: Any) -> None:
        self.store, self.port = store, StoredPayments(store)
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *given, **how: self._runner.run(getattr(self.port, name)(*given, **how))

    def keep(self, one: Payment, **writes: Any) -> None:
        assert self.update(one.place, lambda _: Writes(payment=one, **writes)) == one


@pytest.fixture(params=NAMES)
def rows(request: pytest.FixtureRequest) -> Iterator[Rows]:
    with asyncio.Runner() as runner:
        made = Rows(runner, store_of(request.param, COLLECTIONS))
        yield made
        runner.run(made.store.close())


def test_a_rule_is_told_what_is_known_and_what_it_says_is_kept(rows: Rows) -> None:
    mine = payment(1, identifier="a" * 16)
    assert rows.look(mine.place) == Known()

    wallet = Wallet(mine.payer, 60, 1, 0, 10_000, (START,))
    rows.keep(mine, wallet=wallet, answer=ANSWER)
    known = Known(mine, mine, wallet, {mine.id: ANSWER})
    assert rows.look(mine.place) == known
    assert rows.look(mine.place).payment.state is State.RESERVED
    heard: list[Known] = []
    assert rows.update(mine.place, lambda now: heard.append(now) or Writes(mine)) == mine
    assert heard == [known]

    other = payment(2, identifier="a" * 16)  # a new authorization for what was named before
    assert rows.look(other.place) == Known(None, mine, wallet, {mine.id: ANSWER})
    stranger = Place(other.id, "0x" + "9" * 40, "a" * 16)  # nobody else's name
    assert rows.look(stranger) == Known()
    rows.update(mine.place, lambda _: Writes(mine, forget=True))
    assert rows.look(mine.place).answers == {}
    rows.keep(attrs.evolve(mine, state=State.RELEASED))
    assert rows.look(other.place).namesake is None  # the name is free again


def test_what_a_rule_raises_undoes_all(rows: Rows) -> None:
    mine = payment(1)

    def refuse(_: Known) -> Writes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        rows.update(mine.place, refuse)
    assert rows.look(mine.place) == Known()
    rows.keep(mine)
    with pytest.raises(AssertionError, match="one receipt"):
        rows.keep(payment(2, receipt_id=mine.receipt_id))
    assert rows.look(payment(2).place).payment is None


def test_a_payment_is_found_by_its_receipt_and_its_transaction(rows: Rows) -> None:
    mine = payment(1, transaction="0x" + "7" * 64)
    rows.keep(mine)
    assert rows.receipt(mine.receipt_id) == rows.receipt(mine.transaction) == mine
    assert rows.receipt("rct_" + "f" * 24) is rows.receipt("0x" + "8" * 64) is None


def test_an_answer_that_is_held_back_is_never_forgotten(rows: Rows) -> None:
    mine = payment(1, state=State.SETTLING)
    rows.keep(mine, answer=ANSWER)
    late = START + timedelta(days=400)
    assert rows.forget(late, limit=9) == 0
    sent = mine.moved(Event.CONFIRM, START + timedelta(days=1))
    rows.keep(sent)  # the answer is not said again
    assert rows.forget(START + timedelta(days=1), limit=9) == 0
    assert rows.look(mine.place).answers == {mine.id: ANSWER}
    assert rows.forget(late, limit=9) == 1
    assert rows.look(mine.place) == Known(sent)


def test_wallets_are_forgotten_once_their_day_is_over(rows: Rows) -> None:
    midnight = START.replace(hour=0, minute=0, second=0)
    mine = payment(1)
    rows.keep(mine, wallet=Wallet(mine.payer, 60, 1, int(midnight.timestamp()), 10_000))
    day = timedelta(days=1)
    assert rows.forget(midnight + day - timedelta(seconds=1), limit=9) == 0
    assert rows.look(mine.place).wallet is not None
    assert rows.forget(midnight + day, limit=9) == 1
    assert rows.look(mine.place) == Known(mine)


_MOMENTS = st.integers(0, 9).map(lambda second: START + timedelta(seconds=second))
_PAYMENTS = st.lists(
    st.builds(
        payment,
        st.integers(1, 8),
        state=st.sampled_from(State),
        updated_at=_MOMENTS,
        reserved_at=_MOMENTS,
        valid_before=st.integers(0, 9).map(lambda second: int(START.timestamp()) + second)
        | st.just(2**255),
        lease=st.none() | st.builds(Lease, st.just("me"), _MOMENTS),
    ),
    max_size=8,
    unique_by=lambda one: one.id,
)


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(_PAYMENTS, _MOMENTS, st.integers(1, 9), st.frozensets(st.sampled_from(State)))
def test_lists_are_those_of_a_plain_look_at_every_payment(
    rows: Rows, every: list[Payment], now: datetime, limit: int, states: frozenset[State]
) -> None:
    for one in every:
        rows.keep(one)

    waiting = [one for one in every if one.state in WATCHED and not one.is_worked_on(now)]
    since = {one.id: one.lease.until if one.lease else one.updated_at for one in waiting}
    since = {id_: at for id_, at in since.items() if at <= now}
    due = rows.due(now, limit=limit)
    assert [since[one.id] for one in due] == sorted(since.values())[:limit]
    assert {one.id for one in due} <= since.keys()
    some = [one.id for one in waiting if one.state in states and one.id in since]
    assert sorted(one.id for one in rows.due(now, limit=99, states=states & WATCHED)) == sorted(
        some
    )

    chosen = [one for one in every if not states or one.state in states]
    newest = sorted(chosen, key=lambda one: (one.reserved_at, one.id), reverse=True)
    walked: list[Payment] = []
    while page := rows.listed(states=states, limit=limit, after=walked[-1].id if walked else None):
        walked += page
    assert walked == newest

    lapsed = [
        one
        for one in every
        if one.state is State.RELEASED and one.valid_before < int(now.timestamp())
    ]
    assert rows.forget(now, limit=limit) == min(limit, len(lapsed))
    left = rows.listed(limit=99)
    assert len(left) == len(every) - min(limit, len(lapsed))
    assert {one.id for one in every} - {one.id for one in left} <= {one.id for one in lapsed}
    for one in every:  # the next example begins anew
        gone = attrs.evolve(one, state=State.RELEASED, valid_before=0, lease=None)
        rows.keep(gone)
    rows.forget(START, limit=99)
