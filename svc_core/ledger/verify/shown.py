"""What receipts show of a log: that a record stands at its place in a tree that was signed.

Rule 1: a proof is judged only where the log reproduces the root that it leads to. Where it does
        not, the log is what is at fault, and that is told already.
Rule 2: a record that is not among the lines, because it is trusted or was cut off, is not judged.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from svc_core.ledger.log import tree
from svc_core.ledger.verify.verdict import Fault


class Shown(NamedTuple):
    """What one receipt says: leaf `number` is in the tree of `size` leaves with this root.

    `name` is how faults name the receipt.
    """

    name: str
    number: int
    size: int
    root: bytes
    proof: tuple[bytes, ...]


class Leaves:
    """Take in the leaves of a log in order, then ask which receipts are `false`."""

    def __init__(self, shown: Iterable[Shown]) -> None:
        self._shown = tuple(shown)
        self._due = sorted({each.number for each in self._shown}, reverse=True)
        self._leaves: dict[int, bytes] = {}

    def take(self, start: int, seals: Sequence[bytes]) -> None:
        """These are the leaves from number `start` on."""
        while self._due and self._due[-1] < start + len(seals):
            number = self._due.pop()
            if number >= start:
                self._leaves[number] = seals[number - start]

    def false(self, size: int) -> Iterator[Fault]:
        """The receipts that are false; every root up to `size` is reproduced."""
        for each in self._shown:
            leaf = self._leaves.get(each.number)
            if leaf is None or each.size > size:
                continue
            try:
                tree.verify_inclusion(each.number, each.size, leaf, each.proof, each.root)
            except tree.ProofError:
                detail = (
                    f"{each.name}: Its proof does not lead from record {each.number} to its root."
                )
                yield Fault(None, None, "CHECKPOINT_MALFORMED", detail)
