"""Checks a ledger's stored nodes, indexes and head against its lines, by recomputing them.

Rule 1: the lines are what was sealed; nodes, indexes and the stored head follow from them. A
        difference does not say which side was changed: the verification of the lines does.
Rule 2: lines are read in runs, which may be read one after another while the ledger grows; memory
        is constant.
Rule 3: lines may be damaged. A line that is not the sealed one is not compared with its index
        entries, and after a line whose head is not the sealed one the tree cannot be checked.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from attrs import evolve

from svc_core.ledger.append.batches import stored_line
from svc_core.ledger.log import tree
from svc_core.ledger.log.checkpoint import Checkpoint
from svc_core.ledger.log.note import parse_note
from svc_core.ledger.log.record_seals import TreeHead, genesis
from svc_core.ledger.records import decode
from svc_core.ledger.verify.lines import Line, read_line
from svc_core.ledger.verify.outcome import Fault, Findings
from svc_core.operation.ports import (
    LedgerCheckpoint,
    LedgerEnd,
    LedgerHead,
    LedgerKey,
    LedgerNode,
    SealedLine,
    key_digest,
)

_INDEX_MEMBERS: Final = ("id", "subject", "opens", "recorded_at", "keys", "seal")
_NODE: Final = "The kept node is not the hash of these lines."


class StoredLedger(NamedTuple):
    """The stored data of a ledger as a whole: head, end, checkpoints, nodes beyond the head."""

    head: LedgerHead | None
    end: LedgerEnd
    checkpoints: tuple[LedgerCheckpoint, ...]
    beyond: tuple[LedgerNode, ...]


class LineRun(NamedTuple):
    """The stored lines from number `start` to before `stop`, with their index and tree data.

    `by_id` are the line numbers that the index gives for their identifiers, `nodes` the stored
    nodes that they complete.
    """

    start: int
    stop: int
    rows: tuple[SealedLine, ...]
    by_id: Mapping[str, int]
    nodes: tuple[LedgerNode, ...]


def completed_nodes(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the level and number of each stored node that these leaves complete."""
    for level in tree.KEPT_LEVELS:
        for number in range(start >> level, stop >> level):
            yield level, number


class Fsck:
    """The check of one ledger: feed it all runs in order, then the index, then the head.

    `roots` has the root at each of the requested `sizes`, computed from the lines.
    """

    def __init__(self, sizes: Collection[int] = ()) -> None:
        self.findings = Findings()
        self.roots: dict[int, bytes] = {}
        self._sizes = frozenset(sizes)
        self._days: dict[int, str] = {}
        self._ledger = ""
        self._size = 0
        self._seal = ""
        self._recorded_at: str | None = None
        self._frontier: tree.Frontier | None = ()
        self._leaves: list[bytes] = []

    # -- lines -----------------------------------------------------------------------------------

    def feed(self, run: LineRun) -> None:
        """Compare the index data of a run's lines, and the nodes over them."""
        nodes = {(node.level, node.number): node.hash for node in run.nodes}
        rows = {row.seq: row for row in run.rows}
        for seq in range(run.start, run.stop):
            row = rows.get(seq)
            line = None if row is None else read_line(seq + 1, row.line)
            if row is None or line is None or not self._follows(line, seq):
                self._grow(nodes)
                self._frontier = None
            elif self._size in self._sizes:
                self._grow(nodes)
            if row is not None and line is not None and line.is_sealed and line.has_payload:
                self._compare(row, line, run.by_id)
        self._grow(nodes)

    def _follows(self, line: Line, seq: int) -> bool:
        """Add the line as the next leaf if it is sealed and continues the chain."""
        if self._frontier is None or not line.is_sealed or line.head is None or line.seq != seq:
            return False
        self._ledger = self._ledger or line.head.ledger.decode()
        if line.prev != (self._seal or genesis(self._ledger)):
            return False
        self._leaves.append(bytes.fromhex(line.seal))
        self._size, self._seal = seq + 1, line.seal
        self._recorded_at = line.head.recorded_at.decode()
        return True

    def _grow(self, nodes: Mapping[tuple[int, int], bytes]) -> None:
        """Add the pending leaves to the tree, and compare the nodes that they complete."""
        if self._frontier is None:
            return
        growth = tree.grow(self._frontier, self._size - len(self._leaves), self._leaves)
        for node in growth.nodes:
            if nodes.get((node.level, node.number)) != node.hash:
                self._tell_node(node.level, node.number)
        self._frontier, self._leaves = growth.frontier, []
        if self._size in self._sizes:
            self.roots[self._size] = tree.root(growth.frontier)
            self._days[self._size] = str(self._recorded_at)[:10]

    def _compare(self, row: SealedLine, line: Line, by_id: Mapping[str, int]) -> None:
        try:
            record = decode(row.line)
        except ValueError:
            return
        expected = stored_line(record, bytes.fromhex(line.seal), row.line)
        names = [name for name in _INDEX_MEMBERS if getattr(row, name) != getattr(expected, name)]
        if not names and by_id.get(expected.id) != row.seq:
            names = ["id"]
        if names:
            detail = f"It is not found by what it says: {', '.join(names)}."
            texts = [_text(line, names[0]) for line in (expected, row)]
            self._tell("INDEX_DIFFERS", detail, *texts, seq=row.seq)

    # -- what finds them -------------------------------------------------------------------------

    def feed_index(self, entries: Iterable[LedgerKey], rows: Iterable[SealedLine]) -> None:
        """Compare entries of the designator index with the stored lines that they name."""
        pairs = {(key_digest(key), row.seq) for row in rows for key in row.keys}
        for entry in entries:
            if entry not in pairs:
                detail = "It is found by a designator that it does not state."
                self._tell("INDEX_DIFFERS", detail, seq=entry.seq)

    # -- the ledger as a whole -------------------------------------------------------------------

    def compare(self, ledger: StoredLedger, size: int) -> None:
        """Compare head, end and checkpoints of the ledger, of which `size` lines were to be fed."""
        head, end = ledger.head, ledger.end
        head_size = 0 if head is None else head.size
        for node in ledger.beyond:
            self._tell_node(node.level, node.number)
        if head_size != end.size:
            self._tell(
                "TREE_HEAD_DIFFERS",
                "The stored head is of another number of lines.",
                end.size,
                head_size,
            )
        is_all = size >= max(head_size, end.size)
        if is_all and self._frontier is not None and self._size == end.size:
            self._compare_head(head, end, self._frontier)
            sizes = {checkpoint.size for checkpoint in ledger.checkpoints}
            if self._size and self._size not in sizes:
                self._tell("INDEX_DIFFERS", "No checkpoint of the newest record is kept.")
        for checkpoint in ledger.checkpoints:
            self._compare_checkpoint(checkpoint)

    def _compare_head(
        self, head: LedgerHead | None, end: LedgerEnd, frontier: tree.Frontier
    ) -> None:
        tree_head = TreeHead(self._ledger, self._size, self._seal, self._recorded_at, frontier)
        if self._size and (head is None or _tree_head(head) != tree_head):
            self._tell("TREE_HEAD_DIFFERS", "The stored head is not that of the lines.")
        if end.recorded_at != (self._recorded_at or ""):
            detail = "The next record is held against another time than that of the last."
            self._tell("TREE_HEAD_DIFFERS", detail, self._recorded_at, end.recorded_at)

    def _compare_checkpoint(self, row: LedgerCheckpoint) -> None:
        try:
            size = Checkpoint.parse(parse_note(row.text.decode()).text).size
        except ValueError:
            return  # the outcome over the checkpoints tells it
        if size != row.size:
            self._tell(
                "INDEX_DIFFERS", f"The checkpoint of {size} records is filed as one of {row.size}."
            )
        elif size in self._days and self._days[size] != row.day:
            self._tell(
                "INDEX_DIFFERS", f"The checkpoint of {size} records is filed under {row.day}."
            )

    def _tell(
        self,
        code: str,
        detail: str,
        expected: object = None,
        actual: object = None,
        *,
        seq: int | None = None,
    ) -> None:
        texts = [None if item is None else str(item) for item in (expected, actual)]
        line = None if seq is None else seq + 1
        self.findings.take(Fault(line, seq, code, detail, texts[0], texts[1]))

    def _tell_node(self, level: int, number: int) -> None:
        self._tell("NODE_DIFFERS", f"{_NODE} It is that of level {level}, number {number}.")


def _tree_head(head: LedgerHead) -> TreeHead | None:
    """Decode a stored head without its host; None if it is unreadable."""
    try:
        # Its host is no matter of the lines.
        return evolve(TreeHead.decode(head.tree_head), host=None)
    except ValueError:
        return None


def _text(line: SealedLine, name: str) -> str:
    value = getattr(line, name)
    if isinstance(value, bytes):
        return value.hex()
    return ", ".join(value) if isinstance(value, tuple) else str(value)
