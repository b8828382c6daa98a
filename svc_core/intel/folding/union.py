"""Unites names that denote one thing: disjoint sets, of which some may not become one.

The engine knows no kind of row. Whoever unites rows states for each its own name and the other
names that it bears, in an order that depends on nothing but the rows.

Rule 1: a name that too many bear joins nothing.
Rule 2: a set has at most one name of each exclusive scheme; what would give it two is refused.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Container, Iterable, Set
from typing import TypeVar

from attrs import define, field

T = TypeVar("T")

ALIKE_MAX = 100
"""The most own names that may share one other name, and that may be one thing: a hazard has a dozen
ids, and a name of more says nothing."""


@define
class NameSets:
    """Disjoint sets of names (union-find with path halving).

    `marks` is the one name of each exclusive scheme that a set has, by the set's leader. A join
    attaches the second leader to the first and does not balance by size: sets are at most some
    hundred names, where path halving alone keeps every walk short.
    """

    leaders: dict[str, str] = field(factory=dict)
    marks: dict[str, dict[str, str]] = field(factory=lambda: defaultdict(dict))

    def leader(self, name: str) -> str:
        """The name by which the set of a name goes; its own where nothing was joined to it."""
        while self.leaders.setdefault(name, name) != name:
            self.leaders[name] = name = self.leaders[self.leaders[name]]
        return name

    def join(self, name: str, other: str) -> bool:
        """Join the sets of two names unless exclusive names forbid it; whether they are one."""
        root, other_root = self.leader(name), self.leader(other)
        if root != other_root:
            marks, other_marks = self.marks[root], self.marks[other_root]
            if any(other_marks.get(scheme, mark) != mark for scheme, mark in marks.items()):
                return False
            self.leaders[other_root] = root
            marks |= other_marks
        return True

    def bear(self, own: str, names: Iterable[str], muted: Container[str]) -> set[str]:
        """Join a row's own name with its other names; those that are muted or refused."""
        return {name for name in names if name in muted or not self.join(own, name)}

    def parts(self, rows: Iterable[T], own_name: Callable[[T], str]) -> dict[str, list[T]]:
        """The rows of each set, by its leader, in the order given."""
        parts: dict[str, list[T]] = defaultdict(list)
        for row in rows:
            parts[self.leader(own_name(row))].append(row)
        return parts


def shared_names(bearers: Iterable[tuple[str, Iterable[str]]], limit: int) -> set[str]:
    """The names that more than `limit` rows bear; each row has its own name and others."""
    owners: dict[str, set[str]] = defaultdict(set)
    for own, names in bearers:
        for name in names:
            owners[name].add(own)
    return {name for name, rows in owners.items() if len(rows) > limit}


async def follow_names(
    frontier: Set[str], read: Callable[[Set[str]], Awaitable[set[str]]], hops_max: int
) -> None:
    """Read what may belong together hop by hop, from names on.

    `read` gets names that were not read before and returns those to go on with, none to end.
    """
    seen = set[str]()
    for _ in range(hops_max):
        frontier = frontier - seen
        if not frontier:
            break
        seen |= frontier
        frontier = await read(frontier)
