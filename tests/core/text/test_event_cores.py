"""Groups of one large event are joined by what they share with its core, and no others."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_core.text.event_cores import ITEMS_MIN, join_by_core
from svc_core.text.evidence import Reading, reading_of
from svc_core.text.frequencies import Frequencies
from svc_core.text.meanings import Row

CORE = ("zeppelin", "fjordby", "hangar", "blaze")
PARTS = ("dockers", "comet", "orchard", "glacier", "railway", "senate", "volcano", "ferry")
LARGE, SMALL, OTHER = range(ITEMS_MIN), range(ITEMS_MIN, ITEMS_MIN + 2), range(20, 40)
NO_MEANINGS: list[Row] = [()] * 70

Make = Callable[..., Any]


def readings_of(make: Make, *, core: int, hours: float = 0) -> list[Reading]:
    """A large group that shares its core, a small one of which each item has so many words of it,
    and other items.
    """
    large = [make(" ".join([*CORE, PARTS[at]]), id=f"{at:02}") for at in LARGE]
    small = [
        make(f"{' '.join(CORE[:core])} {PARTS[at]}zz", id=f"{at:02}", hours=hours) for at in SMALL
    ]
    other = [make(f"{chr(ord('a') + at % 26)}qua{at}", id=f"{at:02}") for at in range(8, 60)]
    return [reading_of(item) for item in (*large, *small, *other)]


@pytest.mark.parametrize(
    ("core", "hours", "is_joined"), [(4, 0, True), (3, 20, True), (1, 0, False), (3, 30, False)]
)
def test_a_group_joins_a_large_one_by_more_than_one_word_of_its_core_within_a_day(
    make: Make, core: int, hours: float, is_joined: bool
) -> None:
    items = readings_of(make, core=core, hours=hours)
    groups = join_by_core([[*LARGE], [*SMALL]], items, Frequencies(), NO_MEANINGS)
    assert groups == ([[*LARGE, *SMALL]] if is_joined else [[*LARGE], [*SMALL]])


def test_two_large_groups_join_where_each_has_the_core_of_the_other(make: Make) -> None:
    items = readings_of(make, core=4)
    again = [reading_of(make(" ".join([*CORE, PARTS[at]]), id=f"{at + 60}")) for at in LARGE]
    second = [len(items) + at for at in LARGE]
    every = [*items, *again]
    groups = join_by_core([[*LARGE], second], every, Frequencies(), NO_MEANINGS)
    assert groups == [[*LARGE, *second]]


@pytest.mark.parametrize(("cosine", "is_joined"), [(0.9, True), (0.1, False)])
def test_a_group_whose_vectors_are_unlike_does_not_join(
    make: Make, cosine: float, is_joined: bool
) -> None:
    items = readings_of(make, core=4)
    other = cosine, (1 - cosine**2) ** 0.5
    rows = [other if at in SMALL else (1.0, 0.0) for at in range(60)]
    groups = join_by_core([[*LARGE], [*SMALL]], items, Frequencies(), rows)
    assert len(groups) == 2 - is_joined


def test_a_group_of_few_items_has_no_core(make: Make) -> None:
    items = readings_of(make, core=4)
    groups = [[*LARGE][:-1], [*SMALL]]
    assert join_by_core(groups, items, Frequencies(), NO_MEANINGS) == groups


@settings(max_examples=30)
@given(st.data())
def test_the_order_of_groups_does_not_matter_and_no_item_is_lost(make: Make, draws: Any) -> None:
    words = st.lists(st.sampled_from((*CORE, *PARTS)), min_size=2, max_size=5)
    titles = draws.draw(st.lists(words, min_size=16, max_size=24))
    hours = draws.draw(st.lists(st.integers(0, 60), min_size=24, max_size=24))
    items = [
        reading_of(make(" ".join(title), id=f"{at:02}", hours=hours[at]))
        for at, title in enumerate(titles)
    ]
    cuts = sorted(draws.draw(st.sets(st.integers(1, len(items) - 1), max_size=4)))
    edges = [0, *cuts, len(items)]
    groups: list[Sequence[int]] = [range(start, end) for start, end in pairwise(edges)]
    again = draws.draw(st.permutations(groups))
    joined = join_by_core(groups, items, Frequencies(), NO_MEANINGS)
    assert joined == join_by_core(again, items, Frequencies(), NO_MEANINGS)
    assert sorted(index for group in joined for index in group) == [*range(len(items))]
    assert all(any({*part} <= {*group} for group in joined) for part in groups)
