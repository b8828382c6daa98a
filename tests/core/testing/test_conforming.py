"""Made values are those of stores; the clock and identifiers are exact."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base.ids import is_id
from svc_core.contract.answer import Answer
from svc_core.operation.ports import FeedPosition, Position
from svc_core.testing import _hook
from svc_core.testing.clock import START, CountingIds, FrozenClock
from svc_core.testing.sample import NOTES, Note


@given(st.data())
def test_hypothesis_knows_the_values_of_stores(data: st.DataObject) -> None:
    _hook.register()
    kinds: list[Any] = [Answer, FeedPosition, Note, Position]
    for kind in kinds:
        assert isinstance(data.draw(st.from_type(kind)), kind)


@given(st.from_type(Note))
def test_a_stored_note_comes_back_as_it_was(note: Note) -> None:
    assert NOTES.decode(NOTES.record(note).raw) == note


def test_the_clock_moves_only_when_it_is_moved() -> None:
    clock = FrozenClock()
    assert clock.now() == clock.now() == START
    assert clock.advance(0.5) == clock.now()
    assert (clock.now() - START).total_seconds() == 0.5
    clock.advance(-1)
    assert clock.now() < START


def test_identifiers_count_and_two_counters_agree() -> None:
    row, two = CountingIds(), CountingIds(FrozenClock())
    assert [row.new("prf"), row.new("prf")] == [two.new("prf"), two.new("prf")]
    sample = [row.new("prf") for _ in range(300)]
    assert sample == sorted(sample)
    assert len(set(sample)) == 300
    assert all(is_id("prf", row) for row in sample)


@pytest.mark.parametrize("size", [0, 1, 8, 12, 32, 33, 100])
def test_random_bytes_have_their_size_and_repeat_only_with_the_count(size: int) -> None:
    ids = CountingIds()
    first, second = ids.random(size), ids.random(size)
    assert len(first) == len(second) == size
    assert size == 0 or first != second
    assert CountingIds().random(size) == first
