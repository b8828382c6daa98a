"""The life of a payment, pair by pair, and what holds of every life."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.payments.states import (
    IN_DOUBT,
    IN_FLIGHT,
    TABLE,
    WATCHED,
    Event,
    State,
    Superseded,
    step,
)

# Each event with the state that it leads to from each; "-" is refused.
EVENTS = "reserve fail     settle   confirm observe reject   pend    lose    lapse    deliver"
GRID = {
    "released": "reserved -      -        settled -       -        -       -       released -",
    "reserved": "- released      settling settled -       released -       -       released -",
    "settling": "- -             -        settled owed    released pending unknown unknown  -",
    "pending": "-  -             settling settled owed    released pending pending pending  -",
    "unknown": "-  -             settling settled owed    released pending unknown unknown  -",
    "owed": "-     -             -        settled owed    -        -       -       owed settled",
    "settled": "-  -             -        -       -       -        -       -       -        -",
}
PAIRS = [
    (State(state), Event(event), cell)
    for state, row in GRID.items()
    for event, cell in zip(EVENTS.split(), row.split(), strict=True)
]


@pytest.mark.parametrize(("state", "event", "expected"), PAIRS)
def test_every_pair_is_decided(state: State, event: Event, expected: str) -> None:
    if expected == "-":
        with pytest.raises(Superseded, match=f"payment that is {state} takes no {event}"):
            step(state, event)
    else:
        assert step(state, event) == expected


def test_no_pair_is_left_out() -> None:
    assert set(TABLE) == set(State)
    assert all(set(row) == set(Event) for row in TABLE.values())
    assert len(PAIRS) == len(State) * len(Event)


def test_the_reconciler_looks_after_what_may_go_on_without_a_client() -> None:
    assert WATCHED == IN_FLIGHT | IN_DOUBT
    assert {State.RELEASED, State.OWED, State.SETTLED} == set(State) - WATCHED


def test_money_that_moved_is_noted_in_every_state_but_the_last() -> None:
    for state in set(State) - {State.SETTLED}:
        assert step(state, Event.CONFIRM) is State.SETTLED


@given(st.lists(st.sampled_from(Event), max_size=60))
def test_what_holds_of_every_life(events: list[Event]) -> None:
    state, was_asked = State.RELEASED, False
    for event in events:
        try:
            after = step(state, event)
        except Superseded:
            continue
        # Out of doubt lead a refusal and the sight of the money, and nothing else.
        if state in IN_DOUBT and after not in IN_DOUBT:
            assert event in (Event.REJECT, Event.CONFIRM, Event.OBSERVE)
        # What is owed is sent or stays owed; what is sent stays sent.
        if state is State.OWED:
            assert after in (State.OWED, State.SETTLED)
        assert state is not State.SETTLED
        was_asked = event is Event.SETTLE or (was_asked and after is not State.RELEASED)
        if after in IN_DOUBT | {State.OWED}:
            assert was_asked
        state = after


@pytest.mark.parametrize("state", sorted(State))
def test_from_every_state_the_end_can_be_reached(state: State) -> None:
    reachable, waiting = {state}, [state]
    while waiting:
        for move in TABLE[waiting.pop()].values():
            if move is not None and move not in reachable:
                reachable.add(move)
                waiting.append(move)
    assert State.SETTLED in reachable
