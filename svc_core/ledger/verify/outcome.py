"""The outcome of a verification: fault codes, faults, checks, and the level of assurance.

Rule 1: a code never changes its meaning. A line that has several faults tells them in the order of
        `CODES`: what was done to its bytes first, what its content says last.
Rule 2: `assurance` says openly what was proven. A log without an outside anchor can be cut or
        rewritten as a whole and still agree with itself.
Rule 3: what was not checked is null: at this level, for want of anything to compare with, or
        because a line could not be read.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Final, Literal

from attrs import define, evolve, field, fields, frozen

from svc_core.ledger.log.record_seals import TreeHead
from svc_core.wire.constraints import Example

Level = Literal["integrity", "strict"]
Assurance = Literal["self_consistent", "anchored", "witnessed", "failed"]

FAULTS_MAX: Final = 100
"""Faults that an outcome lists: enough to see what happened, however much of a log was damaged."""

CODES: Final[Mapping[str, str]] = {
    "MALFORMED": "format",
    "NOT_CANONICAL": "canonical",
    "HEAD_ALTERED": "seals",
    "SEAL_ALTERED": "seals",
    "RESEALED": "chain",
    "PAYLOAD_ALTERED": "payloads",
    "WRONG_LEDGER": "chain",
    "REORDERED": "sequence",
    "MISSING_LINES": "sequence",
    "DUPLICATE_LINE": "sequence",
    "FORKED": "sequence",
    "PAYLOAD_MISSING": "payloads",
    "GENESIS_MISMATCH": "chain",
    "TIME_REGRESSION": "record_time",
    "ID_MISMATCH": "references",
    "DUPLICATE_ID": "references",
    "BAD_TARGET": "references",
    "PAYLOAD_NOT_ERASED": "references",
    "EMPTY_INTERVAL": "format",
    "TRUNCATED": "tree",
    "HISTORY_REWRITTEN": "tree",
    "CHECKPOINT_MALFORMED": "checkpoints",
    "CHECKPOINT_UNSIGNED": "checkpoints",
    "CHECKPOINT_SIGNATURE_INVALID": "checkpoints",
    "INDEX_DIFFERS": "store",
    "NODE_DIFFERS": "store",
    "TREE_HEAD_DIFFERS": "store",
}
"""Every code and the check that it fails."""

_RANK: Final = {code: rank for rank, code in enumerate(CODES)}


@frozen
class Fault:
    """One thing that is wrong.

    `line` counts from 1 at the first line of the log; `seq` is the number of the record that should
    stand there. Both are None for a fault that is of no line. `pinned_by` is the line whose head
    holds the seal that was expected here.
    """

    line: Annotated[int | None, Example(4)]
    """Line, from 1; null where it is of no line."""
    seq: Annotated[int | None, Example(3)]
    """The record that should stand there."""
    code: Annotated[str, Example("PAYLOAD_ALTERED")]
    """What was found."""
    detail: Annotated[str, Example("The payload is not the sealed one.")]
    """It in words."""
    expected: Annotated[str | None, Example(None)] = None
    """What should be there."""
    actual: Annotated[str | None, Example(None)] = None
    """What is there."""
    pinned_by: Annotated[int | None, Example(5)] = None
    """The line whose head holds the expected seal."""


@frozen
class Checks:
    """Whether each check held; None when it was not made or could not be judged."""

    format: Annotated[bool | None, Example(True)] = True
    """Every line is of the grammar."""
    seals: Annotated[bool | None, Example(True)] = True
    """Every seal is its head's hash."""
    payloads: Annotated[bool | None, Example(True)] = True
    """Every payload is the sealed one, or lawfully erased."""
    chain: Annotated[bool | None, Example(True)] = True
    """Every head holds the seal before it."""
    sequence: Annotated[bool | None, Example(True)] = True
    """Numbers count up without a gap."""
    record_time: Annotated[bool | None, Example(True)] = True
    """Record time never falls."""
    references: Annotated[bool | None, Example(True)] = True
    """Identifiers are unique, targets are there, and what was erased has no content."""
    tree: Annotated[bool | None, Example(True)] = True
    """The tree has the roots that are known; null where none is."""
    checkpoints: Annotated[bool | None, Example(True)] = True
    """Checkpoints are signed; null where there is none, or no key to tell by."""
    canonical: Annotated[bool | None, Example(True)] = True
    """Every line is canonical JSON."""
    store: Annotated[bool | None, Example(True)] = None
    """Nodes, indexes and head are those of the lines; null for a file, which has none."""


@frozen
class VerificationOutcome:
    """The outcome of a verification.

    `start` is the size that was trusted to begin with, `size` the lines of the log including it.
    `root` is the tree's over the seals that the log itself vouches for; None when lines are missing
    so that it cannot be told. `anchored_size` is the largest size at which an outside anchor was
    reproduced, None without one or with a fault. `head` is what appends and later verifications
    may begin from; it is None unless `ok`. `fault_count` may be larger than the list of `faults`.
    """

    assurance: Assurance
    anchored_size: int | None
    level: Level
    ledger: str | None
    start: int
    size: int
    head_seal: str | None
    root: bytes | None = field(repr=lambda root: "None" if root is None else root.hex())
    erased: int
    checks: Checks
    faults: tuple[Fault, ...]
    fault_count: int
    head: TreeHead | None = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    @property
    def first_fault(self) -> Fault | None:
        """The fault of the first line that has one."""
        return self.faults[0] if self.faults else None


def _in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Sort faults by line, those without a line last; within a line by the order of `CODES`."""
    return sorted(faults, key=lambda f: (f.line is None, f.line or 0, _RANK[f.code]))


@define
class Findings:
    """Collects faults: counts all of them, keeps the first, and notes the checks that fail."""

    count: int = 0
    failures: set[str] = field(factory=set)
    _first: list[Fault] = field(factory=list)

    def take(self, *faults: Fault) -> None:
        """Add faults, in any order."""
        for fault in faults:
            self.count += 1
            self.failures.add(CODES[fault.code])
            self._first.append(fault)
            if len(self._first) > 2 * FAULTS_MAX:
                self._first = self.first

    def join(self, other: "Findings") -> None:
        """Add the findings of another collection."""
        self.take(*other.first)
        self.count += other.count - len(other.first)
        self.failures |= other.failures

    @property
    def is_of_one_line(self) -> bool:
        """Whether all faults are of one line."""
        return len({fault.line for fault in self.first}) == 1

    def reword_first(self, reword: Callable[[Fault], Fault]) -> None:
        """Replace the text of the first fault."""
        first, *rest = self.first
        self._first = [reword(first), *rest]

    @property
    def first(self) -> list[Fault]:
        """The first faults in order, at most as many as an outcome lists."""
        return _in_order(self._first)[:FAULTS_MAX]


_OF_EVERY_LINE: Final = frozenset(
    ("format", "seals", "payloads", "chain", "record_time", "references", "canonical")
)


def checks(
    failures: Collection[str], level: Level, *, unchecked: Iterable[str], whole: bool
) -> Checks:
    """The map of checks at `level`, of which some failed and some were not made.

    Where the lines were not read as a `whole`, nothing holds for every one of them.
    """
    blank = {"store", *unchecked}
    if level == "integrity":
        blank |= {"references", "canonical"}
    if not whole:
        blank |= _OF_EVERY_LINE
    names = [member.name for member in fields(Checks)]
    return Checks(**{n: False if n in failures else None if n in blank else True for n in names})


def beside(outcome: VerificationOutcome, store: Findings) -> VerificationOutcome:
    """Merge the findings of the store check into the outcome over the lines."""
    if not store.count:
        return evolve(outcome, checks=evolve(outcome.checks, store=True))
    return evolve(
        outcome,
        assurance="failed",
        anchored_size=None,
        checks=evolve(outcome.checks, store=False),
        faults=tuple(_in_order((*outcome.faults, *store.first))[:FAULTS_MAX]),
        fault_count=outcome.fault_count + store.count,
        head=None,
    )
