"""The roots that others hold against a log: checkpoints, receipts and anchors by themselves."""

import re
from collections.abc import Iterable
from typing import TypedDict, Unpack

from svc_core.ledger.log import tree
from svc_core.ledger.log.checkpoint import Checkpoint
from svc_core.ledger.log.cosignature import cosigners
from svc_core.ledger.log.note import NoteError, VerifierKey, parse, signers
from svc_core.ledger.log.policy import Policy, PolicyError
from svc_core.ledger.log.receipt import Receipt
from svc_core.ledger.log.seal import TreeHead
from svc_core.ledger.verify.shown import Shown
from svc_core.ledger.verify.terms import Anchor, Terms
from svc_core.ledger.verify.verdict import Fault, Level

Text = str | bytes

_LEDGER = re.compile("led_[0-9a-f]{24}")


class Evidence(TypedDict, total=False):
    """What a verification may be given besides the lines.

    `checkpoints` are signed notes and `receipts` tlog-proof texts; their roots are anchors, and a
    receipt must show the record that stands in its place. Without
    `vkey` the caller vouches for them; with it, only what that key has signed counts. Without
    `ledger` the lines are held to be of the one that the key or the checkpoints name. `policy` says
    which witnesses make a log a witnessed one. `start` is a trusted head of which the lines are the
    continuation; an anchor before it counts if it brings a consistency proof. `erased` are ids of
    records that were erased by a record after the lines: for whoever looks at a part of a log.
    """

    level: Level
    ledger: str | None
    start: TreeHead | None
    vkey: VerifierKey | str | None
    policy: Policy | None
    checkpoints: Iterable[Text]
    receipts: Iterable[Text]
    anchors: Iterable[Anchor | tuple[int, bytes] | tuple[int, bytes, tuple[bytes, ...]]]
    erased: Iterable[str]


def gather(**given: Unpack[Evidence]) -> Terms:
    """The terms of a verification. `level` is `strict` unless told otherwise.

    Raises:
        ValueError: `vkey` is no key.
    """
    start = given.get("start")
    vkey = given.get("vkey")
    key = VerifierKey.parse(vkey) if isinstance(vkey, str) else vkey
    notes, shown, faults = _read(given.get("checkpoints", ()), given.get("receipts", ()), key)
    held = {Anchor(*anchor) for anchor in given.get("anchors", ())}
    held |= {Anchor(checkpoint.size, checkpoint.root) for _, checkpoint in notes}
    anchors = sorted(held, key=lambda anchor: anchor[:2])
    base, root = (start.size, start.root) if start else (0, tree.EMPTY_ROOT)
    later = [anchor for anchor in anchors if anchor.size > base]
    earlier = [_is_begun(anchor, base, root) for anchor in anchors[: len(anchors) - len(later)]]
    if False in earlier:
        detail = "The trusted beginning does not continue an older root."
        faults.append(Fault(base or None, None, "HISTORY_REWRITTEN", detail))
    policy = given.get("policy")
    return Terms(
        level=given.get("level", "strict"),
        ledger=given.get("ledger") or (start.ledger if start else _ledger_of(notes, key)),
        start=start,
        anchors=tuple(later),
        is_anchored=bool(later) or True in earlier,
        is_witnessed=policy is not None and any(_is_witnessed(text, policy) for text, _ in notes),
        faults=tuple(faults),
        erased=frozenset(given.get("erased", ())),
        shown=tuple(shown),
    )


def _ledger_of(notes: Iterable[tuple[str, Checkpoint]], key: VerifierKey | None) -> str | None:
    """The ledger that the key, or else every checkpoint, names as `<host>/<ledger>`."""
    names = {key.name} if key else {checkpoint.origin for _, checkpoint in notes}
    ledgers = {name.rpartition("/")[2] for name in names}
    ledger = ledgers.pop() if len(ledgers) == 1 else ""
    return ledger if _LEDGER.fullmatch(ledger) else None


def _is_begun(anchor: Anchor, base: int, root: bytes) -> bool | None:
    """Whether the trusted beginning continues the anchor; None when that cannot be told."""
    if anchor.proof is None and 0 < anchor.size < base:
        return None
    try:
        tree.verify_consistency(anchor.size, base, anchor.root, root, anchor.proof or ())
    except tree.ProofError:
        return False
    return True if anchor.size else None


def _is_witnessed(signed: str, policy: Policy) -> bool:
    try:
        seen = policy.judge(signed)
    except (PolicyError, NoteError):
        return False
    # A policy may ask for nobody; that nobody saw it is no witness.
    return bool(seen.checkpoint.size and seen.seen)


def _read(
    checkpoints: Iterable[Text], receipts: Iterable[Text], key: VerifierKey | None
) -> tuple[list[tuple[str, Checkpoint]], list[Shown], list[Fault]]:
    """The checkpoints that count, as texts and read; what receipts show; what is wrong."""
    found: list[tuple[str, Checkpoint]] = []
    shown: list[Shown] = []
    faults: list[Fault] = []
    named = [(f"checkpoint {number}", text) for number, text in enumerate(checkpoints, 1)]
    named += [(f"receipt {number}", text) for number, text in enumerate(receipts, 1)]
    for name, raw in named:
        try:
            text = raw if isinstance(raw, str) else raw.decode()
            receipt = Receipt.parse(text) if name.startswith("receipt") else None
            signed = text if receipt is None else receipt.checkpoint
            checkpoint = _open(signed, key)
            if receipt is not None:
                shown.append(_shown(name, receipt, checkpoint))
            found.append((signed, checkpoint))
        except _RefusedError as refused:
            code, reason = refused.args
            faults.append(Fault(None, None, code, f"{name}: {reason}"))
        except ValueError as broken:
            reason = str(broken) if isinstance(broken, NoteError) else "It is no UTF-8."
            faults.append(Fault(None, None, "CHECKPOINT_MALFORMED", f"{name}: {reason}"))
    return found, shown, faults


def _shown(name: str, receipt: Receipt, checkpoint: Checkpoint) -> Shown:
    index, size = receipt.index, checkpoint.size
    if index >= size:
        raise NoteError(f"It is of record {index}, and its checkpoint covers {size} records.")
    return Shown(name, index, size, checkpoint.root, receipt.proof)


class _RefusedError(Exception):
    """A checkpoint can be read but does not count: the code and the reason."""


def _open(signed: str, key: VerifierKey | None) -> Checkpoint:
    if _is_bare(signed):
        raise _RefusedError("CHECKPOINT_UNSIGNED", "It has no signature.")
    note = parse(signed)
    checkpoint = Checkpoint.parse(note.text)
    if key is None:
        return checkpoint
    try:
        is_signed = signers(note, [key]) or cosigners(note, [key])
    except NoteError as false:
        raise _RefusedError("CHECKPOINT_SIGNATURE_INVALID", str(false)) from false
    if key.name != checkpoint.origin or not is_signed:
        raise _RefusedError("CHECKPOINT_UNSIGNED", "This log has not signed it.")
    return checkpoint


def _is_bare(text: str) -> bool:
    """Whether it is a checkpoint's text alone, with or without the line that ends it."""
    try:
        Checkpoint.parse(text.rstrip("\n") + "\n")
    except NoteError:
        return False
    return True
