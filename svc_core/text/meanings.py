"""Compares items of a window by the embedding vectors of their texts, in whole sums of them.

A cosine of raw vectors says little, as all point much the same way: what tells is how they differ
from the window's mean. Of an item that has no vector nothing is said.

Rule 1: the vectors are 8 bits a dimension, and likenesses are rounded, so that they are the same on
        every machine and in every order.
Rule 2: the work grows with the square of the items by a tenth of a microsecond alone: whose signs
        agree in most dimensions is found by counting bits (Charikar 2002), and only those compared.
"""

from array import array
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from itertools import repeat
from math import sqrt
from operator import add, gt, mul, sub

from attrs import field, frozen

FEWEST = 50
"""Of fewer vectors the mean is that of their subjects; by reason, not measured."""
_BY_SIGNS, _COUNT = 12, 6  # as many neighbours are compared, and count; by words it is six, too
_NEAR_MIN = 0.35  # the cosine of a neighbour

_Row = Sequence[float]


def dot(left: _Row, right: _Row) -> float:
    """The product of two vectors; 0 where one of them is missing."""
    return float(sum(map(mul, left, right)))


def total(rows: Iterable[_Row]) -> _Row:
    """The sum of those vectors that are there; empty where none is."""
    whole: _Row = ()
    for row in rows:
        whole = array("d", map(add, whole, row)) if whole and row else whole or row
    return whole


def _times(row: _Row, factor: float) -> _Row:
    return array("d", map(mul, row, repeat(factor)))


def _unit(row: _Row) -> _Row:
    return _times(row, 1 / (sqrt(dot(row, row)) or 1.0))


@frozen(eq=False)
class Meanings:
    """The centred vectors of items, of length 1, by number; an empty one where there is none."""

    rows: Sequence[_Row] = field(repr=False)

    @classmethod
    def of(cls, vectors: Sequence[bytes]) -> "Meanings":
        """Those of packed vectors, all of one model; of fewer than `FEWEST` none."""
        rows = [_unit(array("b", vector)) for vector in vectors]
        count = sum(map(bool, rows))
        if count < FEWEST:
            return cls([()] * len(rows))
        mean = _times(total(rows), 1 / count)
        return cls([_unit(array("d", map(sub, row, mean))) for row in rows])

    def neighbours(self) -> list[tuple[int, int]]:
        """Pairs of an item and one of those nearest to it, nearer than `_NEAR_MIN`."""
        signs = {at: _signs(row) for at, row in enumerate(self.rows) if row}
        size, pairs = len(self.rows), list[tuple[int, int]]()
        for at, own in signs.items():
            # Of whole numbers, which take a third of the time of pairs.
            far = [(own ^ other).bit_count() * size + number for number, other in signs.items()]
            likely = [key % size for key in nsmallest(_BY_SIGNS + 1, far) if key % size != at]
            near = [(-round(dot(self.rows[at], self.rows[other]), 9), other) for other in likely]
            pairs += [(at, other) for less, other in nsmallest(_COUNT, near) if -less >= _NEAR_MIN]
        return pairs

    def borrowed(self, near: Sequence[Sequence[tuple[float, int]]]) -> list[_Row]:
        """Each with what it borrows from its neighbours, by their likeness; of length 1."""
        shares = ([_times(self.rows[at], share) for share, at in pairs] for pairs in near)
        return [_unit(total([row, *rest])) if row else row
                for row, rest in zip(self.rows, shares, strict=True)]  # fmt: skip

    def likeness(self, left: Sequence[int], right: Sequence[int]) -> float | None:
        """The mean cosine of two groups of items; None where one of them has no vectors."""
        first, second = (
            [self.rows[at] for at in group if self.rows[at]] for group in (left, right)
        )
        count = len(first) * len(second)
        return round(dot(total(first), total(second)) / count, 9) if count else None


def _signs(row: _Row) -> int:
    return int("".join(map("01".__getitem__, map(gt, row, repeat(0.0)))), 2)
