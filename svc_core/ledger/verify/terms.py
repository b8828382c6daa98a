"""What a log is held to: its ledger, a trusted beginning, and roots that others keep."""

from collections.abc import Iterable
from typing import NamedTuple

from attrs import frozen

from svc_core.ledger.log import tree
from svc_core.ledger.log.seal import TreeHead, genesis
from svc_core.ledger.verify.shown import Shown
from svc_core.ledger.verify.verdict import (
    FAULTS_MAX,
    Assurance,
    Fault,
    Level,
    Verdict,
    checks,
    in_order,
)


class Anchor(NamedTuple):
    """The root (32 bytes) that a tree of `size` is known to have.

    `proof` shows that a trusted beginning that is larger extends it; it is used for nothing else.
    """

    size: int
    root: bytes
    proof: tuple[bytes, ...] | None = None


class End(NamedTuple):
    """Where a pass over the lines ended; `frontier` is None when the tree cannot be told."""

    ledger: str | None
    size: int
    seal: str | None
    recorded_at: str | None
    frontier: tree.Frontier | None


@frozen
class Terms:
    """What both passes go by.

    `anchors` are larger than the trusted beginning, by size. `is_anchored` says whether there is
    an anchor that excludes something, `is_witnessed` whether enough witnesses have signed one.
    `faults` are those of the anchors themselves. `erased` are the records whose content was erased
    by a record that follows the lines. `shown` is what the receipts that count say besides.
    """

    level: Level
    ledger: str | None
    start: TreeHead | None
    anchors: tuple[Anchor, ...]
    is_anchored: bool
    is_witnessed: bool
    faults: tuple[Fault, ...]
    erased: frozenset[str] = frozenset()
    shown: tuple[Shown, ...] = ()

    @property
    def base(self) -> int:
        """Lines that are trusted and not looked at."""
        return self.start.size if self.start else 0

    def verdict(
        self, end: End, *, erased: int, faults: Iterable[Fault] = (), fault_count: int = 0
    ) -> Verdict:
        """The verdict over lines with these faults, of which there may be more than are told."""
        found = in_order((*faults, *self.faults))
        head = None if found else _head(end)
        frontier = end.frontier
        return Verdict(
            ok=not found,
            assurance=self._assurance(has_faults=bool(found)),
            level=self.level,
            ledger=end.ledger,
            start=self.base,
            size=end.size,
            head_seal=head.seal if head else end.seal,
            root=None if frontier is None else tree.root(frontier),
            erased=erased,
            checks=checks(found, self.level, has_tree=frontier is not None),
            first_fault=found[0] if found else None,
            faults=tuple(found[:FAULTS_MAX]),
            fault_count=fault_count + len(self.faults),
            head=head,
        )

    def _assurance(self, *, has_faults: bool) -> Assurance:
        if has_faults:
            return "failed"
        if self.is_witnessed:
            return "witnessed"
        return "anchored" if self.is_anchored else "self_consistent"


def _head(end: End) -> TreeHead | None:
    if end.ledger is None or end.frontier is None:
        return None
    seal = end.seal or genesis(end.ledger)
    return TreeHead(end.ledger, end.size, seal, end.recorded_at, end.frontier)
