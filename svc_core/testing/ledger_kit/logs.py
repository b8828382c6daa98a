"""The laws of a sealed log, P19 to P22, P26, P29 and P30, for any functions that verify and export.

    from hypothesis import given, settings
    from svc_core.ledger.verify.log_verification import verify_log  # or your own
    from svc_core.testing.ledger_kit import history_strategies, logs

    @settings(deadline=None)  # how long a history takes depends on the machine
    @given(history_strategies.histories())
    def test_my_verifier_accepts_what_was_sealed(history):
        logs.check_sealed_verifies(verify_log, history)

Each check names the functions under test that it takes; those of this library fit as they are. A
verifier is called as `verify_log` is. Each check raises AssertionError, which begins with the law
that was broken.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from attrs import evolve

from svc_core.ledger.log.note import VerifierKey
from svc_core.ledger.log.proofs import consistency_ranges, inclusion_ranges, plan
from svc_core.ledger.log.receipt import LogReceipt
from svc_core.ledger.log.tree import grow
from svc_core.ledger.records import SealedRecord
from svc_core.ledger.verify.outcome import VerificationOutcome
from svc_core.testing.ledger_kit.edits import Edit
from svc_core.testing.ledger_kit.fold_questions import Question, holds, questions
from svc_core.testing.ledger_kit.folds import act
from svc_core.testing.ledger_kit.history_strategies import History
from svc_core.testing.rules import explain_failures

Verify: TypeAlias = Callable[..., VerificationOutcome]


# -- P19 to P22: verification --------------------------------------------------------------------


@explain_failures
def check_sealed_verifies(verify: Verify, history: History) -> None:
    """P19: what was sealed verifies, at both levels, and its end is the head of the last append."""
    head = history.head
    for level in ("integrity", "strict"):
        outcome = verify(history.lines, level=level, anchors=_anchors(history))
        holds(outcome.ok and outcome.first_fault is None, level, outcome)
        if history.lines:
            holds(outcome.root == head.root and outcome.head_seal == head.seal, level, outcome)
        holds(outcome.size == len(history.lines), level, outcome)
        holds(outcome.erased == sum(record.payload is None for record in history.records), outcome)


@explain_failures
def check_edit_is_found(verify: Verify, history: History, edit: Edit) -> None:
    """P20, P21: an edit is found and its line named; a cut needs an anchor that covers more."""
    outcome = verify(edit.lines)
    if edit.line is None:
        holds(outcome.ok and outcome.assurance == "self_consistent", edit.what, outcome)
        outcome = verify(edit.lines, anchors=[(history.head.size, history.head.root)])
        expected = len(edit.lines) + 1
    else:
        expected = edit.line
    fault = outcome.first_fault
    holds(not outcome.ok and fault is not None, edit.what, outcome)
    holds(fault is not None and fault.line == expected, edit.what, outcome.faults)


@explain_failures
def check_continuation(verify: Verify, history: History) -> None:
    """P22: verifying a log's end from a trusted head is verifying all of it."""
    # The rules on references look back before the head, so the levels that do not are compared.
    whole = verify(history.lines, level="integrity")
    for head in history.heads:
        rest = verify(history.lines[head.size :], level="integrity", start=head)
        # An erasure in the rest may name a line of the trusted part: that line is not looked at.
        count = sum(record.payload is None for record in history.records[head.size :])
        holds(rest.ok and rest.erased == count, head, rest)
        holds((rest.size, rest.head_seal, rest.head) == (whole.size, whole.head_seal, whole.head))


def _anchors(history: History) -> list[tuple[int, bytes]]:
    return [(head.size, head.root) for head in history.heads if head.size]


# -- P26: proofs, erasure --------------------------------------------------------------------


def inclusion(index: int, size: int, leaves: Sequence[bytes]) -> tuple[bytes, ...]:
    """The proof that leaf `index` is in the tree of the first `size` leaves, as a store makes it.

    Raises:
        ValueError: there is no such leaf.
    """
    return _prove(inclusion_ranges(index, size), leaves)


def consistency(old: int, size: int, leaves: Sequence[bytes]) -> tuple[bytes, ...]:
    """The proof that the tree of the first `size` leaves begins with that of `old`.

    Raises:
        ValueError: there are no such sizes.
    """
    return _prove(consistency_ranges(old, size), leaves)


def _prove(ranges: Iterable[tuple[int, int]], leaves: Sequence[bytes]) -> tuple[bytes, ...]:
    rows = {0: list(leaves)}
    for level, _, hash_ in grow((), 0, leaves).nodes:
        rows.setdefault(level, []).append(hash_)
    proof_plan = plan(ranges)
    return proof_plan.combine([rows[level][start:end] for level, start, end in proof_plan.spans])


@explain_failures
def check_lawful_erasure(
    verify: Verify, history: History, receipts: Sequence[LogReceipt], vkey: VerifierKey
) -> None:
    """P26: an erasure keeps every seal, root and receipt, and takes the content."""
    for target in [record for record in history.records if record.payload][-2:]:
        after = act(history, "erase", target)
        erased_record = after.records[target.seq]
        holds(erased_record._replace(payload=target.payload) == target, target.id)
        salt = str((target.payload or {}).get("salt")).encode()
        holds(salt in history.lines[target.seq], target.id)
        holds(salt not in after.lines[target.seq], target.id)
        outcome = verify(
            after.lines,
            anchors=_anchors(after),
            receipts=[receipt.text for receipt in receipts],
            vkey=vkey.vkey,
        )
        holds(outcome.ok and outcome.erased > 0, target.id, outcome)


# -- P29, P30: bytes --------------------------------------------------------------------


@explain_failures
def check_round_trip(
    decode: Callable[[bytes], SealedRecord],
    encode: Callable[[SealedRecord], bytes],
    history: History,
) -> None:
    """P29: a line that is read and written again has the same bytes."""
    for line in history.lines:
        record = decode(line)
        holds(encode(record) == line and decode(encode(record)) == record, line)


@explain_failures
def check_export(
    bundle: Callable[[Sequence[SealedRecord], Question], bytes], history: History
) -> None:
    """P30: the bytes of an export depend on the set of records and the two times alone."""
    for head in history.heads[-1:1:-3]:
        prefix = history.records[: head.size]
        for question in list(questions(history))[:6]:
            at_time = evolve(question, record_time=head.recorded_at)
            expected = bundle(prefix, at_time)
            for records in (prefix[::-1], (*prefix, *prefix), history.records):
                holds(bundle(records, at_time) == expected, at_time)
