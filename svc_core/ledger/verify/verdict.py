"""What a verification finds: codes, faults, checks and the verdict.

Rule 1: a code never changes its meaning. A line that has several faults tells them in the order of
        `CODES`: what was done to its bytes first, what its content says last.
Rule 2: `assurance` says openly what was proven. A log without an outside anchor can be cut or
        rewritten as a whole and still agree with itself.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from attrs import field, fields, frozen

from svc_core.constraints import Doc, Example
from svc_core.ledger.log.seal import TreeHead

Level = Literal["integrity", "strict"]
Assurance = Literal["self_consistent", "anchored", "witnessed", "failed"]

FAULTS_MAX: Final = 100
"""Faults that a verdict lists: enough to see what happened, however much of a log was damaged."""

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
    "EMPTY_INTERVAL": "format",
    "TRUNCATED": "tree",
    "HISTORY_REWRITTEN": "tree",
    "CHECKPOINT_MALFORMED": "checkpoints",
    "CHECKPOINT_UNSIGNED": "checkpoints",
    "CHECKPOINT_SIGNATURE_INVALID": "checkpoints",
}
"""Every code and the check that it fails."""

_RANK: Final = {code: rank for rank, code in enumerate(CODES)}


@frozen
class Fault:
    """One thing that is wrong.

    `line` counts from 1 at the first line of the log; `seq` is the number of the record that should
    stand there. Both are None for a fault of a checkpoint. `pinned_by` is the line whose head holds
    the seal that was expected here.
    """

    line: Annotated[int | None, Doc("Line, from 1; null for a checkpoint."), Example(4)]
    seq: Annotated[int | None, Doc("The record that should stand there."), Example(3)]
    code: Annotated[str, Doc("What was found."), Example("PAYLOAD_ALTERED")]
    detail: Annotated[str, Doc("It in words."), Example("The payload is not the sealed one.")]
    expected: Annotated[str | None, Doc("What should be there."), Example(None)] = None
    actual: Annotated[str | None, Doc("What is there."), Example(None)] = None
    pinned_by: Annotated[
        int | None, Doc("The line whose head holds the expected seal."), Example(5)
    ] = None


@frozen
class Checks:
    """Whether each check held; None when it was not made at this level or could not be judged."""

    format: Annotated[bool | None, Doc("Every line is of the grammar."), Example(True)] = True
    seals: Annotated[bool | None, Doc("Every seal is its head's hash."), Example(True)] = True
    payloads: Annotated[
        bool | None, Doc("Every payload is the sealed one, or lawfully erased."), Example(True)
    ] = True
    chain: Annotated[bool | None, Doc("Every head holds the seal before it."), Example(True)] = True
    sequence: Annotated[bool | None, Doc("Numbers count up without a gap."), Example(True)] = True
    record_time: Annotated[bool | None, Doc("Record time never falls."), Example(True)] = True
    references: Annotated[
        bool | None, Doc("Identifiers are unique and targets are there."), Example(True)
    ] = True
    tree: Annotated[bool | None, Doc("The tree has the roots that are known."), Example(True)] = (
        True
    )
    checkpoints: Annotated[bool | None, Doc("Checkpoints are signed."), Example(True)] = True
    canonical: Annotated[bool | None, Doc("Every line is canonical JSON."), Example(True)] = True


@frozen
class Verdict:
    """The outcome of a verification.

    `start` is the size that was trusted to begin with, `size` the lines of the log including it.
    `root` is the tree's over the seals that the log itself vouches for; None when lines are missing
    so that it cannot be told. `head` is what appends and later verifications may begin from; it is
    None unless `ok`. `fault_count` may be larger than the list of `faults`.
    """

    assurance: Assurance
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


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Faults by line, those of checkpoints last; several of a line by the order of `CODES`."""
    return sorted(faults, key=lambda f: (f.line is None, f.line or 0, _RANK[f.code]))


def checks(faults: Iterable[Fault], level: Level, *, has_tree: bool) -> Checks:
    """The map of checks at `level` after these faults."""
    failed = {CODES[fault.code] for fault in faults}
    undone = {"references", "canonical"} if level == "integrity" else set()
    if not has_tree:
        undone.add("tree")
    names = [member.name for member in fields(Checks)]
    return Checks(**{n: False if n in failed else None if n in undone else True for n in names})
