"""Items of a window are compared by their vectors, as far as they have them."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_core.text.evidence import Reading, readings
from svc_core.text.frequencies import Frequencies
from svc_core.text.grouping import NO_VECTORS, group_readings
from svc_core.text.meanings import FEWEST, centred, dot, near_pairs

Make = Callable[..., Any]
COUNT = FEWEST + 10
WORDS = ("ferry", "comet", "orchard", "glacier", "railway", "senate", "volcano", "zeppelin")


def packed(chance: Random, like: bytes = b"", by: int = 0) -> bytes:
    """A random vector, or one that differs from another in its first numbers."""
    fresh = bytes(chance.randrange(256) for _ in range(64))
    return fresh[:by] + like[by:] if like else fresh


def window(make: Make, seed: int) -> tuple[list[Reading], dict[str, bytes]]:
    """Items of random words, and their vectors, of which every fourth is like the one before."""
    chance = Random(seed)
    titles = [" ".join([*chance.choices(WORDS, k=3), f"{at}x"]) for at in range(COUNT)]
    items = readings([make(title, id=f"{at:02}") for at, title in enumerate(titles)])
    vectors: dict[str, bytes] = {}
    for at in range(COUNT):
        before = vectors.get(f"{at - 1:02}", b"") if at % 4 == 0 else b""
        vectors[f"{at:02}"] = packed(chance, before, 4)
    return items, vectors


def ids_of(items: list[Reading], vectors: dict[str, bytes]) -> set[frozenset[str]]:
    events = group_readings(items, Frequencies(), vectors)
    return {frozenset(item.evidence.id for part in event for item in part) for event in events}


@settings(max_examples=10)
@given(st.integers(0, 99), st.sets(st.integers(0, COUNT - 1)), st.randoms(use_true_random=False))
def test_neither_the_order_of_items_nor_missing_vectors_lose_one(
    make: Make, seed: int, lacking: set[int], chance: Random
) -> None:
    items, vectors = window(make, seed)
    rest = {id_: vector for id_, vector in vectors.items() if int(id_) not in lacking}
    events = ids_of(items, rest)
    assert events == ids_of(chance.sample(items, COUNT), dict(reversed(rest.items())))
    assert sorted(id_ for event in events for id_ in event) == sorted(vectors)
    assert ids_of(items, {**rest, **dict.fromkeys(vectors.keys() - rest.keys(), b"")}) == events


def test_reports_of_few_common_words_meet_by_meaning_and_without_vectors_by_words(
    make: Make,
) -> None:
    items, vectors = window(make, 1)
    pair = readings([make("Walkout shuts harbour gates today", id="a"),
                     make("Dockers strike beside harbour quay", id="b")])  # fmt: skip
    like = {"a": vectors["00"], "b": packed(Random(2), vectors["00"], 6)}
    both = frozenset("ab")
    assert both in ids_of([*items[1:], *pair], vectors | like)
    unlike = like | {"b": bytes(-number % 256 for number in like["a"])}
    assert both not in ids_of([*items[1:], *pair], vectors | unlike)
    few = {id_: vectors[id_] for id_ in sorted(vectors)[: FEWEST - 3]} | like
    assert ids_of([*items[1:], *pair], few) == ids_of([*items[1:], *pair], dict(NO_VECTORS))


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_by_signs_are_those_with_the_highest_cosines(make: Make, seed: int) -> None:
    _, vectors = window(make, seed)
    rows = centred([*vectors.values(), b""])
    pairs = set(near_pairs(rows))
    for at, row in enumerate(rows[:-1]):
        near = max((other for other in range(COUNT) if other != at),
                   key=lambda other: dot(rows[other], row))  # fmt: skip
        assert dot(rows[near], row) < 0.5 or (at, near) in pairs
    assert not any(COUNT in pair for pair in pairs)
