"""Made values keep the constraints of their annotation; the clock and identifiers are exact."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import pytest
from attrs import frozen
from hypothesis import find, given
from hypothesis import strategies as st

from svc_core.base.ids import is_id
from svc_core.base.unset import UNSET, Maybe
from svc_core.contract.answer import Answer
from svc_core.operation.ports import FeedPosition, Position
from svc_core.testing import _hook
from svc_core.testing.annotated_values import from_annotation
from svc_core.testing.clock import START, CountingIds, FrozenClock
from svc_core.testing.sample import NOTES, Note
from svc_core.wire.constraints import Ge, IdOf, Le, MaxLen, MinLen, Pattern


@frozen
class Leaf:
    id: Annotated[str, IdOf("prf")]
    share: Annotated[float, Ge(0), Le(1)]


@frozen
class Tree:
    name: Annotated[str, Pattern("[a-z]+"), MinLen(2), MaxLen(4)]
    count: Annotated[int, Ge(1), Le(3)]
    kind: Literal["a", "b"]
    leaves: Annotated[tuple[Leaf, ...], MinLen(1), MaxLen(2)]
    pair: tuple[int, bool]
    words: Annotated[list[Annotated[str, MaxLen(3)]], MinLen(4)]
    table: Mapping[str, bytes]
    few: Annotated[dict[str, int], MaxLen(1)]
    at: datetime | None
    note: Maybe[str | None] = UNSET


@given(from_annotation(Tree))
def test_values_keep_every_constraint(tree: Tree) -> None:
    assert re.fullmatch("[a-z]{2,4}", tree.name)
    assert 1 <= tree.count <= 3
    assert tree.kind in ("a", "b")
    assert 1 <= len(tree.leaves) <= 2
    assert all(is_id("prf", leaf.id) and 0 <= leaf.share <= 1 for leaf in tree.leaves)
    assert len(tree.words) == 4
    assert all(len(word) <= 3 for word in tree.words)
    assert len(tree.few) <= 1
    assert tree.at is None or tree.at.tzinfo is UTC


def test_every_kind_of_absence_is_met() -> None:
    for sample in (UNSET, None, ""):
        assert find(from_annotation(Maybe[str | None]), lambda x, s=sample: x == s) == sample


def test_an_annotation_without_a_rule_is_refused() -> None:
    with pytest.raises(TypeError, match="no rule"):
        from_annotation(complex)


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
