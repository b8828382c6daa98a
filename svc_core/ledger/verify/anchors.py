"""Anchors of a verification: the ledger, a trusted start, and root hashes kept by others.

Rule 1: an anchor counts if its checkpoint is signed as the caller requires; one that does not count
        is a fault of its own and never excuses a line.
Rule 2: a receipt is checked only if the log reproduces the root that it leads to. Otherwise the log
        is at fault, and that is reported already.
Rule 3: only others can prove that nothing was cut off or replaced: by a root that the caller
        vouches for, or one under a verified signature. Checkpoints that the log's keeper stores
        must be reproduced, but prove nothing of that kind.
Rule 4: receipts of records that are not among the lines, trusted or cut off, are not checked.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypedDict, TypeVar, Unpack

from attrs import frozen

from svc_core.ledger.log import proofs, tree
from svc_core.ledger.log.checkpoint import Checkpoint
from svc_core.ledger.log.cosignature import cosigners
from svc_core.ledger.log.note import NoteError, VerifierKey, parse_note, signers
from svc_core.ledger.log.policy import Policy, PolicyError
from svc_core.ledger.log.receipt import LogReceipt
from svc_core.ledger.log.record_seals import TreeHead, genesis
from svc_core.ledger.verify.outcome import (
    Assurance,
    Fault,
    Findings,
    Level,
    VerificationOutcome,
    checks,
)
from svc_core.ledger.verify.reference_index import References

Text = str | bytes
T = TypeVar("T")

_LEDGER = re.compile("led_[0-9a-f]{24}")


class Anchor(NamedTuple):
    """The root (32 bytes) that a tree of `size` is known to have; empty where only the size is.

    `proof` shows that a trusted beginning that is larger extends it; it is used for nothing else.
    """

    size: int
    root: bytes
    proof: tuple[bytes, ...] | None = None


class Inclusion(NamedTuple):
    """A receipt that counts, with its checkpoint; `name` is how faults name it."""

    name: str
    receipt: LogReceipt
    checkpoint: Checkpoint


class LogEvidence(TypedDict, total=False):
    """The keyword arguments of a verification: everything that the lines are compared with.

    - `checkpoints` are signed notes, `receipts` tlog-proof texts. Their roots are anchors, and a
      receipt must show the record that stands in its place. With `vkey`, only what that key signed
      counts. Without it the lines are compared with them all the same, but nobody checked whose
      they are, so they anchor nothing.
    - `anchors` are roots that the caller vouches for.
    - `own_checkpoints` are checkpoints that the log's keeper signed, under any name, and stores
      itself; `root` is that of the stored head.
    - `ledger` is the identifier of the ledger; by default the one that the key or the checkpoints
      name.
    - `policy` says which witnesses make a log a witnessed one.
    - `start` is a trusted head that the lines continue; an anchor before it counts if it brings a
      consistency proof.
    - `erased_ids` are records that a record after the lines erases, for a check of part of a log.
    - `allow_content` passes content that a record erases, for a caller that removes it.
    """

    level: Level
    ledger: str | None
    start: TreeHead | None
    vkey: VerifierKey | str | None
    policy: Policy | None
    checkpoints: Iterable[Text]
    receipts: Iterable[Text]
    anchors: Iterable[Anchor | tuple[int, bytes] | tuple[int, bytes, tuple[bytes, ...]]]
    own_checkpoints: Iterable[Text]
    root: Anchor | None
    erased_ids: Iterable[str]
    allow_content: bool


@frozen
class Anchors:
    """The checked evidence that both passes compare the lines with.

    `roots` are larger than the trusted beginning, by size. `assurance` and `anchored_size` are what
    a log without faults has. `undone` names the checks for which there is nothing to check.
    `faults` are those of the anchors themselves. `erased_ids` are the records whose content was
    erased by a record that follows the lines; with `allow_content` that of others may be there.
    `inclusions` are what the receipts that count show.
    """

    level: Level
    ledger: str | None
    start: TreeHead | None
    roots: tuple[Anchor, ...]
    assurance: Assurance
    anchored_size: int | None
    undone: frozenset[str]
    faults: tuple[Fault, ...]
    erased_ids: frozenset[str]
    allow_content: bool
    inclusions: tuple[Inclusion, ...]

    @property
    def base(self) -> int:
        """The number of trusted lines, which are not read."""
        return self.start.size if self.start else 0


class AnchoredTree:
    """The Merkle tree over the lines so far, compared with every anchor as it reaches its size.

    `wrong_anchor` is the smallest anchor that it does not reproduce, `proven` the size of the
    largest that it does.
    """

    def __init__(self, anchors: Anchors) -> None:
        self.size = anchors.base
        self.frontier: tree.Frontier | None = anchors.start.frontier if anchors.start else ()
        self.proven = 0
        self.wrong_anchor: Anchor | None = None
        self.wrong_root = b""
        self._roots = anchors.roots
        self._due = list(reversed(anchors.roots))
        self._inclusions = anchors.inclusions
        self._indexes = sorted({item.receipt.index for item in anchors.inclusions}, reverse=True)
        self._leaves: dict[int, bytes] = {}

    @property
    def next_anchor(self) -> int | None:
        """The size of the next anchor; None where there is none."""
        return self._due[-1].size if self._due else None

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Add leaves; no anchor may lie between the first and the last of them."""
        if self.frontier is None:
            return
        start = self.size
        self.frontier = tree.extend(self.frontier, start, leaves)
        self.size += len(leaves)
        while self._indexes and self._indexes[-1] < self.size:
            index = self._indexes.pop()
            if index >= start:
                self._leaves[index] = leaves[index - start]
        while self._due and self._due[-1].size == self.size:
            self._judge(self._due.pop(), tree.root(self.frontier))

    def _judge(self, anchor: Anchor, root: bytes) -> None:
        if self.wrong_anchor is not None and self.wrong_anchor.size < anchor.size:
            return
        if anchor.root == root:
            self.proven = self.size
        else:
            self.wrong_anchor, self.wrong_root = anchor, root

    def lose(self) -> None:
        """Give up the tree: the next leaf is unknown, so nothing after it can be checked."""
        self.frontier = None

    def fits(self, *seals: str) -> bool:
        """Whether an anchor confirms that these seals are the next leaves."""
        if self.frontier is None:
            return False
        root = tree.root(tree.extend(self.frontier, self.size, map(bytes.fromhex, seals)))
        return any(anchor[:2] == (self.size + len(seals), root) for anchor in self._roots)

    def false_receipts(self) -> Iterator[Fault]:
        """Yield a fault for each false receipt under a root that the log reproduces."""
        for name, receipt, checkpoint in self._inclusions:
            size, root = checkpoint.size, checkpoint.root
            leaf = self._leaves.get(receipt.index)
            if leaf is None or self.wrong_anchor is not None or size > self.proven:
                continue
            try:
                proofs.verify_inclusion(receipt.index, size, leaf, receipt.proof, root)
            except proofs.ProofError:
                detail = f"Its proof does not lead from record {receipt.index} to its root."
                yield Fault(None, None, "CHECKPOINT_MALFORMED", f"{name}: {detail}")


class LogPass:
    """One pass over the lines: what they are compared with, and what was taken in of them."""

    def __init__(self, anchors: Anchors) -> None:
        start = anchors.start
        self._anchors = anchors
        self._strict = anchors.level == "strict"
        self._ledger = anchors.ledger
        self._time = (start.recorded_at or "").encode() if start else b""
        self._tree = AnchoredTree(anchors)
        self._references = References(
            is_partial=start is not None,
            only_erasures=not self._strict,
            allow_content=anchors.allow_content,
        )

    def _reference_findings(self, erased_later: Iterable[str]) -> Findings:
        return self._references.findings({*self._anchors.erased_ids, *erased_later})

    def _outcome(
        self, findings: Findings, *, size: int, seal: str, whole: bool = True
    ) -> VerificationOutcome:
        """Build the outcome from the findings; `whole` says whether every line was readable."""
        anchors, ledger, frontier = self._anchors, self._ledger, self._tree.frontier
        findings.take(*anchors.faults)
        undone = {*anchors.undone, *(() if frontier is not None else ("tree",))}
        head = None
        if not findings.count and ledger is not None and frontier is not None:
            recorded_at = self._time.decode() or None
            head = TreeHead(ledger, size, seal or genesis(ledger), recorded_at, frontier)
        return VerificationOutcome(
            assurance="failed" if findings.count else anchors.assurance,
            anchored_size=None if findings.count else anchors.anchored_size,
            level=anchors.level,
            ledger=ledger,
            start=anchors.base,
            size=size,
            head_seal=head.seal if head else seal or None,
            root=None if frontier is None else tree.root(frontier),
            erased=self._references.erased_count,
            checks=checks(findings.failures, anchors.level, unchecked=undone, whole=whole),
            faults=tuple(findings.first),
            fault_count=findings.count,
            head=head,
        )


# -- gathering ---------------------------------------------------------------------------------


def gather(**evidence: Unpack[LogEvidence]) -> Anchors:
    """Check the evidence of a verification, and return the anchors for its passes.

    `level` is `strict` unless the evidence says otherwise.

    Raises:
        ValueError: `vkey` is no key.
    """
    start, policy = evidence.get("start"), evidence.get("policy")
    vkey, own_root = evidence.get("vkey"), evidence.get("root")
    key = VerifierKey.parse(vkey) if isinstance(vkey, str) else vkey
    faults: list[Fault] = []
    notes = _counting(
        "checkpoint", evidence.get("checkpoints", ()), partial(_note, key=key), faults
    )
    inclusions = _counting(
        "receipt", evidence.get("receipts", ()), partial(_inclusion, key=key), faults
    )
    notes += [(item.receipt.checkpoint, item.checkpoint) for item in inclusions]
    own_notes = _counting(
        "kept checkpoint", evidence.get("own_checkpoints", ()), partial(_own_note, key=key), faults
    )
    cosigned = [] if policy is None else [note for note in notes if _is_witnessed(note[0], policy)]
    counting = notes if key else cosigned
    outside = {Anchor(*anchor) for anchor in evidence.get("anchors", ())}
    outside |= set(map(_root_of, counting))
    inside = set(map(_root_of, (*notes, *own_notes)))
    inside |= {own_root} if own_root else set()
    roots = sorted(outside | inside, key=lambda anchor: anchor[:2])
    base, root = (start.size, start.root) if start else (0, tree.EMPTY_ROOT)
    later = [anchor for anchor in roots if anchor.size > base]
    earlier = {item: _is_extended(item, base, root) for item in roots[: len(roots) - len(later)]}
    if False in earlier.values():
        detail = "The trusted beginning does not continue an older root."
        faults.append(Fault(base or None, None, "HISTORY_REWRITTEN", detail))
    reached = {anchor for anchor, is_extended in earlier.items() if is_extended} | set(later)
    anchored_size = max((anchor.size for anchor in reached & outside), default=None)
    is_unsigned = len(counting) < len(notes) or not (notes or own_notes)
    undone = ({"checkpoints"} if is_unsigned else set()) | (set() if reached else {"tree"})
    return Anchors(
        level=evidence.get("level", "strict"),
        ledger=evidence.get("ledger") or (start.ledger if start else _ledger_of(notes, key)),
        start=start,
        roots=tuple(later),
        assurance="witnessed" if cosigned else "anchored" if anchored_size else "self_consistent",
        anchored_size=anchored_size,
        undone=frozenset(undone),
        faults=tuple(faults),
        erased_ids=frozenset(evidence.get("erased_ids", ())),
        allow_content=evidence.get("allow_content", False),
        inclusions=tuple(inclusions),
    )


def _root_of(note: tuple[str, Checkpoint]) -> Anchor:
    return Anchor(note[1].size, note[1].root)


def _ledger_of(notes: Iterable[tuple[str, Checkpoint]], key: VerifierKey | None) -> str | None:
    """The ledger that the key, or else every checkpoint, names as `<host>/<ledger>`."""
    names = {key.name} if key else {checkpoint.origin for _, checkpoint in notes}
    ledgers = {name.rpartition("/")[2] for name in names}
    ledger = ledgers.pop() if len(ledgers) == 1 else ""
    return ledger if _LEDGER.fullmatch(ledger) else None


def _is_extended(anchor: Anchor, base: int, root: bytes) -> bool | None:
    """Whether the trusted start extends the anchor; None if that cannot be decided."""
    if anchor.proof is None and 0 < anchor.size < base:
        return None
    is_extended = proofs.is_consistent(anchor.size, base, anchor.root, root, anchor.proof or ())
    return is_extended and (True if anchor.size else None)


def _is_witnessed(note_text: str, policy: Policy) -> bool:
    try:
        checkpoint = policy.judge(note_text)
    except (PolicyError, NoteError):
        return False
    # A policy may ask for nobody; that nobody saw it is no witness.
    return bool(checkpoint.checkpoint.size and checkpoint.times)


def _counting(
    name: str, texts: Iterable[Text], read: Callable[[str, str], T], faults: list[Fault]
) -> list[T]:
    """Read the texts that count; each of the others is a fault that names it."""
    items = []
    for number, raw in enumerate(texts, 1):
        title = f"{name} {number}"
        try:
            items.append(read(title, raw if isinstance(raw, str) else raw.decode()))
        except (_RefusedError, ValueError) as error:
            faults.append(_unread(title, error))
    return items


def _inclusion(name: str, text: str, key: VerifierKey | None) -> Inclusion:
    receipt = LogReceipt.parse(text)
    checkpoint = _open(receipt.checkpoint, key)
    if receipt.index >= checkpoint.size:
        coverage = f"its checkpoint covers {checkpoint.size} records"
        raise NoteError(f"It is of record {receipt.index}, and {coverage}.")
    return Inclusion(name, receipt, checkpoint)


def _note(_: str, text: str, key: VerifierKey | None) -> tuple[str, Checkpoint]:
    return text, _open(text, key)


def _own_note(_: str, text: str, key: VerifierKey | None) -> tuple[str, Checkpoint]:
    """Open the keeper's own checkpoint: the log may have had another address at that time."""
    return text, _open(text, key and VerifierKey(_open(text, None).origin, key.public))


def _unread(name: str, error: Exception) -> Fault:
    """Build the fault of a checkpoint or receipt that does not count."""
    if isinstance(error, _RefusedError):
        code, reason = error.args
    else:
        code = "CHECKPOINT_MALFORMED"
        reason = str(error) if isinstance(error, NoteError) else "It is no UTF-8."
    return Fault(None, None, code, f"{name}: {reason}")


class _RefusedError(Exception):
    """A readable checkpoint does not count; the arguments are the code and the reason."""


def _open(note_text: str, key: VerifierKey | None) -> Checkpoint:
    if _is_bare(note_text):
        raise _RefusedError("CHECKPOINT_UNSIGNED", "It has no signature.")
    note = parse_note(note_text)
    checkpoint = Checkpoint.parse(note.text)
    if key is None:
        return checkpoint
    try:
        is_signed = signers(note, [key]) or cosigners(note, [key])
    except NoteError as error:
        raise _RefusedError("CHECKPOINT_SIGNATURE_INVALID", str(error)) from error
    if key.name != checkpoint.origin or not is_signed:
        raise _RefusedError("CHECKPOINT_UNSIGNED", "This log has not signed it.")
    return checkpoint


def _is_bare(text: str) -> bool:
    """Whether a text is a checkpoint without signatures, with or without its last LF."""
    try:
        Checkpoint.parse(text.rstrip("\n") + "\n")
    except NoteError:
        return False
    return True
