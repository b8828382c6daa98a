"""The tree of a damaged log, grown from the seals that the log itself vouches for.

The seal that stands in a line may be false; the next line's head holds the one that was sealed. As
long as every leaf is known in this way, the tree still shows whether all else is what was signed.
"""

from collections.abc import Iterable

from svc_core.ledger.log import tree
from svc_core.ledger.verify.shown import Leaves
from svc_core.ledger.verify.terms import Anchor, Terms
from svc_core.ledger.verify.verdict import Fault


class Trunk:
    """Push the leaves in order; `false` is then the first anchor that they do not reproduce."""

    def __init__(self, terms: Terms) -> None:
        self.size = terms.base
        self.frontier: tree.Frontier | None = terms.start.frontier if terms.start else ()
        self.proven = 0
        self.false: Anchor | None = None
        self.false_root = b""
        self._anchors = terms.anchors
        self._due = list(reversed(terms.anchors))
        self._shown = Leaves(terms.shown)

    def push(self, seal: str) -> None:
        """The next leaf is this seal, in hexadecimal digits."""
        if self.frontier is None:
            return
        leaves = [bytes.fromhex(seal)]
        self.frontier = tree.extend(self.frontier, self.size, leaves)
        self._shown.take(self.size, leaves)
        self.size += 1
        due = []
        while self._due and self._due[-1].size == self.size:
            due.append(self._due.pop())
        if due and self.false is None:
            self._judge(due, tree.root(self.frontier))

    def _judge(self, due: Iterable[Anchor], root: bytes) -> None:
        for anchor in due:
            if anchor.root == root:
                self.proven = self.size
            else:
                self.false, self.false_root = anchor, root

    def false_receipts(self) -> tuple[Fault, ...]:
        """The receipts that are false, though the log reproduces the roots that they lead to."""
        return () if self.false else tuple(self._shown.false(self.proven))

    def lose(self) -> None:
        """The next leaf is not known, so that nothing after it can be judged."""
        self.frontier = None

    def fits(self, *seals: str) -> bool:
        """Whether an anchor tells that these are the next leaves."""
        if self.frontier is None:
            return False
        size = self.size + len(seals)
        leaves = map(bytes.fromhex, seals)
        root = tree.root(tree.extend(self.frontier, self.size, leaves))
        return any(anchor[:2] == (size, root) for anchor in self._anchors)
