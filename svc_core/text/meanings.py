"""Compares the items of a window by the embedding vectors of their texts.

A cosine of raw vectors says little, as all point much the same way: what tells is how they differ
from the window's mean. Of an item that has no vector nothing is said.

Rule 1: vectors come in 8 bits a dimension, and likenesses are rounded, so that they are the same on
        every machine.
Rule 2: of each pair of items only the signs are compared, by counting bits (Charikar 2002), which
        takes a tenth of a microsecond; the vectors themselves only of those that agree in most.
"""

from array import array
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from itertools import repeat
from math import sqrt
from operator import add, gt, mul, sub

FEWEST = 50
"""Of fewer vectors the mean is that of their subjects; by reason, not measured."""
_BY_SIGNS, _COUNT = 12, 6  # as many neighbours are compared, and count; by words it is six, too

Row = Sequence[float]


def dot(left: Row, right: Row) -> float:
    """The product of two vectors; 0 where one of them is missing."""
    return float(sum(map(mul, left, right)))


def total(rows: Iterable[Row]) -> Row:
    """The sum of those vectors that are there; empty where none is."""
    whole: Row = ()
    for row in rows:
        whole = array("d", map(add, whole, row)) if whole and row else whole or row
    return whole


def _times(row: Row, factor: float) -> Row:
    return array("d", map(mul, row, repeat(factor)))


def _unit(row: Row) -> Row:
    return _times(row, 1 / (sqrt(dot(row, row)) or 1.0))


def centred(vectors: Sequence[bytes]) -> list[Row]:
    """Packed vectors of one model without their mean, of length 1; of fewer than `FEWEST` none.

    An empty one stands for an item that has none.
    """
    rows = [_unit(array("b", vector)) for vector in vectors]
    count = sum(map(bool, rows))
    if count < FEWEST:
        return [()] * len(rows)
    mean = _times(total(rows), 1 / count)
    return [_unit(array("d", map(sub, row, mean))) for row in rows]


def near_pairs(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Pairs of a vector and one of those nearest to it, by number."""
    signs = {at: _signs(row) for at, row in enumerate(rows) if row}
    pairs: list[tuple[int, int]] = []
    for at, own in signs.items():
        # Of whole numbers, which take a third of the time of pairs.
        far = [(own ^ other).bit_count() * len(rows) + to for to, other in signs.items()]
        likely = [key % len(rows) for key in nsmallest(_BY_SIGNS + 1, far)]
        near = [(-round(dot(rows[at], rows[to]), 9), to) for to in likely if to != at]
        pairs += [(at, to) for _, to in nsmallest(_COUNT, near)]
    return pairs


def borrowed(rows: Sequence[Row], near: Sequence[Sequence[tuple[float, int]]]) -> list[Row]:
    """Each vector with what it borrows from its neighbours, by their likeness; of length 1."""
    shares = ([_times(rows[at], share) for share, at in pairs] for pairs in near)
    return [_unit(total([row, *rest])) if row else row
            for row, rest in zip(rows, shares, strict=True)]  # fmt: skip


def _signs(row: Row) -> int:
    return int("".join(map("01".__getitem__, map(gt, row, repeat(0.0)))), 2)
