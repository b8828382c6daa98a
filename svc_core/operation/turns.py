"""Turns: owners of waiting work are served one after another, however much of it each has.

Rule 1: everybody's first row goes before anybody's second.
Rule 2: among rows of one rank, the owner whose last turn is longest ago goes first; who had none
        goes before all of them.

So while a row waits, every other owner is served at most once before it, beside what had begun.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, Generic, TypeVar

from attrs import define, field

R = TypeVar("R")

OWNERS_MAX: Final = 10_000
"""Owners whose last turn is remembered; who is forgotten goes first once more."""


@define(eq=False)
class Turns(Generic[R]):
    """The last turns of owners, for one queue of one process; `owner` says whose a row is."""

    owner: Callable[[R], str]
    _last_turns: dict[str, int] = field(factory=dict, init=False)
    _count: int = field(default=0, init=False)

    def order(self, rows: Iterable[R]) -> list[R]:
        """The rows in the order of turns; those of one owner stay in the order given."""
        ranks, keys = Counter[str](), list[tuple[int, int, R]]()
        for row in rows:
            owner = self.owner(row)
            keys.append((ranks[owner], self._last_turns.get(owner, 0), row))
            ranks[owner] += 1
        return [row for *_, row in sorted(keys, key=lambda key: key[:2])]

    def note(self, row: R) -> None:
        """Note that the owner of this row has its turn now."""
        owner = self.owner(row)
        self._count += 1
        self._last_turns.pop(owner, None)
        self._last_turns[owner] = self._count
        if len(self._last_turns) > OWNERS_MAX:
            del self._last_turns[next(iter(self._last_turns))]
