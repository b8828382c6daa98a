"""Payments are kept the same way in every store, and as a plain list of them would say."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from svc_core.payments.admission import Limits
from svc_core.payments.decisions import move
from svc_core.payments.outcomes import TRANSACTION_USED, PaymentOutcome
from svc_core.payments.payment_rows import (
    HeldAnswer,
    Lease,
    Payment,
    PaymentKeys,
    PaymentRows,
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
ANSWER = HeldAnswer(200, "application/json", (("ETag", '"a"'),), b'{"data":\xff\n1}', "e30=")


def payment(number: int, *, payer: int = 1, **members: Any) -> Payment:
    wallet, nonce = f"0x{payer:040x}", f"0x{number:064x}"
    at = START + timedelta(seconds=number)
    defaults: dict[str, Any] = {
        "id": payment_id(NETWORK, ASSET, wallet, nonce),
        "receipt_id": f"rct_{number:024x}",
        "network": NETWORK,
        "asset": ASSET,
        "pay_to": PAYEE,
        "payer": wallet,
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
    return Payment(**defaults | members)


class Rows:
    """The port, spoken to without `await`."""

    def __init__(self, runner: asyncio.Runner, store: Any) -> None:
        self.store, self.port = store, StoredPayments(store)
        self._runner, self.run = runner, runner.run

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **how: self._runner.run(getattr(self.port, name)(*args, **how))

    def keep(self, row: Payment, **writes: Any) -> None:
        assert self.update(row.keys, lambda _: Writes(payment=row, **writes)) == row


@pytest.fixture(params=NAMES)
def rows(request: pytest.FixtureRequest) -> Iterator[Rows]:
    with asyncio.Runner() as runner:
        port = Rows(runner, store_of(request.param, COLLECTIONS))
        yield port
        runner.run(port.store.close())


def test_a_rule_is_told_what_is_known_and_what_it_says_is_kept(rows: Rows) -> None:
    first = payment(1, identifier="a" * 16)
    assert rows.look(first.keys) == PaymentRows()

    wallet = Wallet(first.payer, 60, 1, 0, 10_000, (START,))
    rows.keep(first, wallet=wallet, answer=ANSWER)
    facts = PaymentRows(first, first, wallet, {first.id: ANSWER})
    assert rows.look(first.keys) == facts
    assert rows.look(first.keys).payment.state is State.RESERVED
    calls: list[PaymentRows] = []
    assert rows.update(first.keys, lambda now: calls.append(now) or Writes(first)) == first
    assert calls == [facts]

    second = payment(2, identifier="a" * 16)  # a new authorization for what was named before
    assert rows.look(second.keys) == PaymentRows(None, first, wallet, {first.id: ANSWER})
    stranger = PaymentKeys(second.id, "0x" + "9" * 40, "a" * 16)  # nobody else's name
    assert rows.look(stranger) == PaymentRows()
    rows.update(first.keys, lambda _: Writes(first, forget=True))
    assert rows.look(first.keys).answers == {}
    rows.keep(attrs.evolve(first, state=State.RELEASED))
    assert rows.look(second.keys).namesake is None  # the name is free again


def test_what_a_rule_raises_undoes_all(rows: Rows) -> None:
    row = payment(1)

    def refuse(_: PaymentRows) -> Writes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        rows.update(row.keys, refuse)
    assert rows.look(row.keys) == PaymentRows()
    rows.keep(row)
    with pytest.raises(AssertionError, match="one receipt"):
        rows.keep(payment(2, receipt_id=row.receipt_id))
    assert rows.look(payment(2).keys).payment is None


def test_a_payment_is_found_by_its_receipt_and_its_transaction(rows: Rows) -> None:
    row = payment(1, transaction="0x" + "7" * 64)
    rows.keep(row)
    assert rows.receipt(row.receipt_id) == rows.receipt(row.transaction) == row
    assert rows.receipt("rct_" + "f" * 24) is rows.receipt("0x" + "8" * 64) is None


def test_a_transaction_is_of_the_first_that_names_it_whatever_came_before(rows: Rows) -> None:
    hash_ = "0x" + "7" * 64
    released = payment(1, state=State.RELEASED, transaction=hash_)
    first, second = (payment(number, state=State.UNKNOWN) for number in (2, 3))
    for row in (released, first, second):
        rows.keep(row)
    outcome, keys = PaymentOutcome(Event.OBSERVE, None, hash_), {"transaction": hash_}

    async def claim(row: Payment) -> Payment:
        rule = partial(move, outcome=outcome, now=START, limits=Limits())
        return await rows.port.update(attrs.evolve(row.keys, **keys), rule)

    async def both() -> list[Payment]:
        return list(await asyncio.gather(claim(first), claim(second)))

    after = sorted(rows.run(both()), key=lambda row: row.state)
    assert [(row.state, row.transaction) for row in after] == [("owed", hash_), ("unknown", None)]
    assert after[1].reason == f"{TRANSACTION_USED} {hash_}"
    assert rows.receipt(hash_) == after[0]
    for row in (first, second, payment(4)):
        owner = rows.look(attrs.evolve(row.keys, **keys)).owner
        assert owner == (None if row.id == after[0].id else after[0])


def test_an_answer_that_is_held_back_is_never_forgotten(rows: Rows) -> None:
    row = payment(1, state=State.SETTLING)
    rows.keep(row, answer=ANSWER)
    late = START + timedelta(days=400)
    assert rows.forget(late, limit=9) == 0
    after = row.after(Event.CONFIRM, START + timedelta(days=1))
    rows.keep(after)  # the answer is not said again
    assert rows.forget(START + timedelta(days=1), limit=9) == 0
    assert rows.look(row.keys).answers == {row.id: ANSWER}
    assert rows.forget(late, limit=9) == 1
    assert rows.look(row.keys) == PaymentRows(after)


def test_wallets_are_forgotten_once_their_day_is_over(rows: Rows) -> None:
    midnight = START.replace(hour=0, minute=0, second=0)
    row = payment(1)
    rows.keep(row, wallet=Wallet(row.payer, 60, 1, int(midnight.timestamp()), 10_000))
    day = timedelta(days=1)
    assert rows.forget(midnight + day - timedelta(seconds=1), limit=9) == 0
    assert rows.look(row.keys).wallet is not None
    assert rows.forget(midnight + day, limit=9) == 1
    assert rows.look(row.keys) == PaymentRows(row)


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
    unique_by=lambda row: row.id,
)


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(_PAYMENTS, _MOMENTS, st.integers(1, 9), st.frozensets(st.sampled_from(State)))
def test_lists_are_those_of_a_plain_look_at_every_payment(
    rows: Rows, every: list[Payment], now: datetime, limit: int, states: frozenset[State]
) -> None:
    for row in every:
        rows.keep(row)

    waiting = [row for row in every if row.state in WATCHED and not row.is_worked_on(now)]
    since = {row.id: row.lease.until if row.lease else row.updated_at for row in waiting}
    since = {id_: at for id_, at in since.items() if at <= now}
    due = rows.due(now, limit=limit)
    assert [since[row.id] for row in due] == sorted(since.values())[:limit]
    assert {row.id for row in due} <= since.keys()
    ids = [row.id for row in waiting if row.state in states and row.id in since]
    assert sorted(row.id for row in rows.due(now, limit=99, states=states & WATCHED)) == sorted(ids)

    matches = [row for row in every if not states or row.state in states]
    newest = sorted(matches, key=lambda row: (row.reserved_at, row.id), reverse=True)
    pages: list[Payment] = []
    while page := rows.list_payments(
        states=states, limit=limit, after=pages[-1].id if pages else None
    ):
        pages += page
    assert pages == newest

    expiries = [
        row
        for row in every
        if row.state is State.RELEASED and row.valid_before < int(now.timestamp())
    ]
    assert rows.forget(now, limit=limit) == min(limit, len(expiries))
    listing = rows.list_payments(limit=99)
    assert len(listing) == len(every) - min(limit, len(expiries))
    assert {row.id for row in every} - {row.id for row in listing} <= {row.id for row in expiries}
    for row in every:  # the next example begins anew
        release = attrs.evolve(row, state=State.RELEASED, valid_before=0, lease=None)
        rows.keep(release)
    rows.forget(START, limit=99)
