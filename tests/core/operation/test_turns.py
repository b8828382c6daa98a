"""Owners take turns: nobody waits for more than one row of each of the others."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from svc_core.operation import turns as rules
from svc_core.operation.turns import Turns

Row = tuple[str, int]
ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), max_size=30, unique=True)


def new_turns() -> Turns[Row]:
    return Turns(lambda row: row[0])


@given(ROWS, st.lists(st.sampled_from("abcd")))
def test_all_rows_are_there_and_those_of_one_owner_in_their_order(
    rows: list[Row], past: list[str]
) -> None:
    turns = new_turns()
    for owner in past:
        turns.note((owner, 0))
    order = turns.order(rows)
    assert sorted(order) == sorted(rows)
    for owner in "abcd":
        assert [row for row in order if row[0] == owner] == [row for row in rows if row[0] == owner]


@given(ROWS, st.data())
def test_while_a_row_waits_nobody_else_has_two_turns(rows: list[Row], data: st.DataObject) -> None:
    """Rows come in between; each turn goes to the first of the order, as workers serve a queue."""
    turns, waiting = new_turns(), list(rows)
    turns_since: dict[str, Counter[str]] = {}
    while waiting:
        for owner in {owner for owner, _ in waiting}:
            turns_since.setdefault(owner, Counter())
        first = turns.order(waiting)[0]
        turns.note(first)
        waiting.remove(first)
        del turns_since[first[0]]
        for owner, counts in turns_since.items():
            counts[first[0]] += 1
            assert max(counts.values()) == 1, owner
        if len(rows) < 60 and data.draw(st.booleans()):
            rows = [*rows, (data.draw(st.sampled_from("abcd")), len(rows) + 10)]
            waiting.append(rows[-1])


def test_a_single_row_goes_before_the_second_of_a_crowd() -> None:
    turns = new_turns()
    crowd = [("a", number) for number in range(240)]
    assert turns.order([*crowd, ("b", 0)])[:3] == [("a", 0), ("b", 0), ("a", 1)]
    turns.note(("a", 0))
    assert turns.order([*crowd, ("b", 0)])[0] == ("b", 0)


def test_few_owners_are_remembered() -> None:
    turns = new_turns()
    for number in range(rules.OWNERS_MAX + 1):
        turns.note((str(number), 0))
    assert turns.order([("1", 0), ("0", 0)]) == [("0", 0), ("1", 0)]
