"""Formats the outcome of a verification as text for people, with what to do next."""

from collections.abc import Iterator, Mapping
from typing import Final

from svc_core.ledger.log.note import to_base64
from svc_core.ledger.verify.outcome import Fault, VerificationOutcome

FAULTS_SHOWN: Final = 10
"""More than a person reads at once; the outcome has up to 100."""

_ASSURANCE: Final[Mapping[str, str]] = {
    "self_consistent": (
        "self-consistent. Every line is as it was sealed and stands where it belongs. This does "
        "not exclude that lines were cut from the end, or that the whole was made anew: that "
        "takes something kept elsewhere. Give a checkpoint, a receipt, or a "
        "size and a root that you noted."
    ),
    "anchored": (
        "anchored up to {size} records. The file reproduces every root that you gave: nothing that "
        "they cover was cut, changed or made anew. What follows is self-consistent only."
    ),
    "witnessed": (
        "witnessed, and anchored up to {size} records. The file reproduces a checkpoint that as "
        "many witnesses have signed as the policy asks for: others saw the same log."
    ),
}
_NO_KEY: Final = (
    "The file agrees with the checkpoints and receipts, but no key was given that says whose they "
    "are, so they prove nothing: give the ledger's key as --key."
)

_NO_KEY_FAULT: Final = (
    "Give the ledger's key as --key: without it nobody knows whose the checkpoints and receipts "
    "are, and anybody can make some that do not agree with a sound ledger."
)
_COMPARISON_CODES: Final = frozenset({"HISTORY_REWRITTEN", "TRUNCATED"})
"""Codes of faults that are found only by comparison with outside evidence."""

_RECHECK: Final = (
    "Export the ledger again. If the line is the same there, what is stored was changed: compare "
    "it with a backup, and keep this file."
)
_REWRITE_STEP: Final = (
    "Keep this file and what you hold against it: together they prove that the history was "
    "changed by somebody who could seal."
)
_ORDER_STEP: Final = (
    "Export the ledger again, pages in order and each once. If the fault stays, lines are missing "
    "in the store itself."
)
_RULE_STEP: Final = (
    "The bytes are as they were sealed, and say what no ledger may say: a program that does not "
    "keep the rules has sealed them. Keep the file and tell whoever runs that program."
)
_NOTE_STEP: Final = (
    "Look at the checkpoints, the receipts and the key: they must be of this ledger and "
    "unchanged. The lines themselves may be sound; verify without them to see."
)
_NEXT_STEPS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("MALFORMED", "NOT_CANONICAL", "HEAD_ALTERED", "SEAL_ALTERED", "PAYLOAD_ALTERED"),
        _RECHECK,
    ),
    **dict.fromkeys(("RESEALED", "FORKED", "HISTORY_REWRITTEN"), _REWRITE_STEP),
    **dict.fromkeys(("REORDERED", "MISSING_LINES", "DUPLICATE_LINE"), _ORDER_STEP),
    **dict.fromkeys(
        ("CHECKPOINT_MALFORMED", "CHECKPOINT_UNSIGNED", "CHECKPOINT_SIGNATURE_INVALID"), _NOTE_STEP
    ),
    "PAYLOAD_NOT_ERASED": (
        "What was to be forgotten is in this file: its content was put back, or the pages of the "
        "export were read before and after the erasure. Delete the file and export the ledger "
        "again; if the content is there too, it is still stored."
    ),
    "PAYLOAD_MISSING": (
        "The content was taken away without a record that erases it. If this is an export of an "
        "earlier size, export the whole ledger: the erasure may be recorded later."
    ),
    "TRUNCATED": (
        "The file ends before what you hold against it. Export the ledger again; if it is still "
        "too short, lines were cut from the ledger itself, and what you hold proves it."
    ),
    "WRONG_LEDGER": "This is a line of another ledger: see that files were not mixed up.",
    "GENESIS_MISMATCH": "The file does not begin where its ledger begins: export from the start.",
}


def outcome_lines(
    name: str, outcome: VerificationOutcome, *, is_keyed: bool, has_notes: bool
) -> Iterator[str]:
    """Yield the outcome of the file `name` as lines of text."""
    first, is_open = outcome.first_fault, has_notes and not is_keyed
    if first is None:
        yield from _sound(name, outcome)
        if is_open:
            yield _NO_KEY
    else:
        yield from _unsound(name, outcome, first)
        is_theirs = is_open and first.code in _COMPARISON_CODES
        step = _NO_KEY_FAULT if is_theirs else _NEXT_STEPS.get(first.code, _RULE_STEP)
        yield f"What to do: {step}"


def _sound(name: str, outcome: VerificationOutcome) -> Iterator[str]:
    suffix = f", {outcome.erased} erased" if outcome.erased else ""
    yield f"OK  {name}: {outcome.size - outcome.start} records{suffix}, {outcome.level}"
    root = None if outcome.root is None else to_base64(outcome.root)
    rows = {"ledger": outcome.ledger, "head seal": outcome.head_seal, "root": root}
    yield from (f"{title:<11}{text}" for title, text in rows.items() if text is not None)
    yield f"Assurance: {_ASSURANCE[outcome.assurance].format(size=outcome.anchored_size)}"


def _unsound(name: str, outcome: VerificationOutcome, first: Fault) -> Iterator[str]:
    yield f"FAILED  {name}: {_place(first)}{first.code}"
    yield f"  {first.detail}"
    rows = {"expected": first.expected, "actual": first.actual}
    yield from (f"  {title:<10}{text}" for title, text in rows.items() if text is not None)
    if first.pinned_by is not None:
        yield f"  line {first.pinned_by} holds what was expected"
    rest = outcome.faults[1:FAULTS_SHOWN]
    if rest:
        yield f"{outcome.fault_count} faults in all, these among them:"
        yield from (f"  {_place(fault)}{fault.code}: {fault.detail}" for fault in rest)


def _place(fault: Fault) -> str:
    if fault.line is None:
        return ""
    return f"line {fault.line}" + ("" if fault.seq is None else f" (record {fault.seq})") + ": "
