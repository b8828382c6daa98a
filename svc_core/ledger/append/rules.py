"""The admission rules: which drafts may be appended to a ledger, given its present state.

A fold does not apply them: it accepts any set of records.

Rule 1: a draft is judged by its target, the acts on that, and the evidence that it cites.
Rule 2: a verdict follows the state that its target is in, by the table of `states`. Retracting a
        verdict takes its target back to the verdict before it, or to none. Retracting that
        retraction gives the verdict again, so it is judged as the verdict would be.
Rule 3: who states something does not confirm or refute it (four eyes).
Rule 4: a full subject takes no more statements, but they can still be withdrawn (a reserve as
        large as the bound) and erased. Erasures need no bound: none is of an erasure, and of any
        other record there is one at most.
Rule 5: content can be erased only where the operator allows it, whether it is in force or not.
        An erasure stands: it has no content to erase, and it cannot be withdrawn.

A known gap: an author may retract a verdict on a statement of their own. Both records stay in the
ledger, with their authors.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from attrs import frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.fold.verification_states import FOUR_EYES, TRANSITIONS, UNVERIFIED, State
from svc_core.ledger.records import STATEMENTS, Draft, Op, SealedRecord
from svc_core.ledger.repository import SUBJECT_RECORDS_MAX

ACTS_ON: Final[Mapping[Op, frozenset[str]]] = {
    "assert": frozenset(),
    # They state something in the place of what they act on, so that is a statement.
    "amend": STATEMENTS,
    "supersede": STATEMENTS,
    # A retracted retraction restores its target, a retracted verdict the one before it.
    "retract": STATEMENTS | {"retract", "verify"},
    "verify": STATEMENTS,
    # Reasons, notes and methods are words of people, too.
    "erase": STATEMENTS | {"retract", "verify"},
}
"""The operations of the records that each operation may have as its target."""

_HOST: Final = re.compile("https?://([^/?#]+)")


@frozen(slots=False)
class LedgerFacts:
    """The ledger as one draft finds it, earlier drafts of the same batch included.

    `records` are those that the draft names and that there are, what its target withdraws, and all
    acts on these, by their ids, oldest first.
    """

    records: Mapping[str, SealedRecord] = {}
    allow_erasure: bool = False

    @staticmethod
    def of(records: Iterable[SealedRecord], *, allow_erasure: bool = False) -> "LedgerFacts":
        """Create the facts from these records; what they erase has no content in them."""
        known = RecordSet.of(records).records
        return LedgerFacts({record.id: record for record in known}, allow_erasure)

    @cached_property
    def standing(self) -> Standing:
        """What is in force of the records, and in which state."""
        return Standing(tuple(self.records.values()))


def cited_ids(draft: Draft) -> frozenset[str]:
    """Return the ids of the records that a draft cites as evidence."""
    return frozenset(draft.payload.get("evidence", ()))


def admit(draft: Draft, facts: LedgerFacts) -> None:
    """Check that a draft may be appended to the ledger as it is.

    Raises:
        Problem: ERASURE_NOT_ALLOWED, UNKNOWN_SUBJECT, UNKNOWN_TARGET, UNKNOWN_EVIDENCE,
            TARGET_NOT_IN_FORCE, FOUR_EYES_REQUIRED, TRANSITION_NOT_ALLOWED, or VALIDATION_FAILED
            if the operation does not act on such a target; the first that applies.
    """
    if draft.op == "erase" and not facts.allow_erasure:
        raise Problem(problem.ERASURE_NOT_ALLOWED, "/op: erase is not allowed in this workspace")
    _check_subject(draft, facts)
    _check_evidence(draft, facts)
    if draft.op == "assert":
        return
    target = _target(draft, facts)
    if draft.op == "erase":
        _check_content(target)
        return
    if target.id not in facts.standing.in_force:
        raise Problem(problem.TARGET_NOT_IN_FORCE, "/target: is displaced for all valid times")
    if draft.op == "verify":
        _check_verdict(draft, target, facts)
    if draft.op == "retract" and target.op not in STATEMENTS:
        _check_withdrawal(draft, target, facts)


def check_new(ids: Iterable[str]) -> None:
    """Check that no two records of a batch have the same id.

    Raises:
        Problem: DUPLICATE_RECORD, naming the first that repeats.
    """
    seen: set[str] = set()
    for id_ in ids:
        if id_ in seen:
            raise Problem(problem.DUPLICATE_RECORD, f"{id_} is already in the ledger.")
        seen.add(id_)


def check_room(op: Op, count: int) -> None:
    """Check that a subject with `count` records takes one more with this operation.

    Raises:
        Problem: RESOURCE_CONFLICT if the subject is full.
    """
    limit = SUBJECT_RECORDS_MAX * (2 if op == "retract" else 1)
    if op != "erase" and count >= limit:
        raise problem.conflict(
            f"/subject: it has {limit} records already", "Open another subject and append to that."
        )


# -- what is referred to -------------------------------------------------------------------------


def _check_subject(draft: Draft, facts: LedgerFacts) -> None:
    if draft.subject is None:
        return
    opening = facts.records.get(draft.subject)
    if opening is None or (opening.kind, opening.op) != ("subject", "assert"):
        raise Problem(problem.UNKNOWN_SUBJECT, f"/subject: there is no {draft.subject}")


def _check_evidence(draft: Draft, facts: LedgerFacts) -> None:
    unknown = sorted(id_ for id_ in cited_ids(draft) if id_ not in facts.records)
    if unknown:
        raise Problem(problem.UNKNOWN_EVIDENCE, f"/evidence: there is no {', '.join(unknown)}")


def _target(draft: Draft, facts: LedgerFacts) -> SealedRecord:
    target = facts.records.get(draft.target or "")
    if target is None or (target.subject, target.kind) != (draft.subject, draft.kind):
        raise Problem(
            problem.UNKNOWN_TARGET, f"/target: there is no such {draft.kind} of this subject"
        )
    if target.op not in ACTS_ON[draft.op]:
        raise Problem(problem.VALIDATION_FAILED, f"/target: {draft.op} does not act on {target.op}")
    return target


def _check_content(target: SealedRecord) -> None:
    if target.payload is None:
        raise Problem(problem.TARGET_NOT_IN_FORCE, "/target: its content is erased")


# -- verdicts ------------------------------------------------------------------------------------


def _check_verdict(draft: Draft, target: SealedRecord, facts: LedgerFacts) -> None:
    _check_content(target)
    verdict: State = draft.payload["state"]
    _check_four_eyes(verdict, draft.author, target)
    _check_transition(verdict, target, facts)
    if verdict == "corroborated" and not any(
        _is_independent(facts.records[id_], target) for id_ in cited_ids(draft)
    ):
        raise Problem(
            problem.VALIDATION_FAILED, "/evidence: must have one of another author or source"
        )


def _check_four_eyes(verdict: State, author: str, target: SealedRecord) -> None:
    if verdict in FOUR_EYES and author == target.author:
        raise Problem(
            problem.FOUR_EYES_REQUIRED, f"/state: the author of a record cannot call it {verdict}"
        )


def _check_transition(verdict: State, target: SealedRecord, facts: LedgerFacts) -> None:
    state = facts.standing.states.get(target.id, UNVERIFIED)
    if verdict not in TRANSITIONS[state]:
        raise Problem(
            problem.TRANSITION_NOT_ALLOWED,
            f"/state: {', '.join(TRANSITIONS[state])} may follow {state}",
        )


def _is_independent(evidence: SealedRecord, target: SealedRecord) -> bool:
    """Whether evidence comes from another author, or from another source, than its target."""
    if evidence.author != target.author:
        return True
    origin = _origin(evidence)
    return origin is not None and origin != _origin(target)


def _origin(record: SealedRecord) -> str | None:
    """Return the publisher of a record's source, or else its host; None if neither is stated."""
    match (record.payload or {}).get("source"):
        case {"publisher": str(publisher)}:
            return publisher.casefold()
        case {"url": str(url)} if host := _HOST.match(url):
            return host[1].casefold()
        case _:
            return None


# -- withdrawals of what is no statement ---------------------------------------------------------


def _check_withdrawal(draft: Draft, target: SealedRecord, facts: LedgerFacts) -> None:
    verdict, restores = _verdict_behind(target, facts)
    if verdict is None:
        return
    if (draft.valid_from, draft.valid_to) != (None, None):
        raise Problem(
            problem.VALIDATION_FAILED, "/validFrom: a verdict has no valid time to withdraw it for"
        )
    statement = facts.records.get(verdict.target or "")
    if restores and statement is not None:
        # An erased verdict, or one from elsewhere that no verdict is, gives no state again.
        state: State = (verdict.payload or {}).get("state", UNVERIFIED)
        _check_four_eyes(state, draft.author, statement)
        if state != UNVERIFIED and _is_newest(verdict, statement, facts):
            _check_transition(state, statement, facts)


def _verdict_behind(target: SealedRecord, facts: LedgerFacts) -> tuple[SealedRecord | None, bool]:
    """Return the verdict at the end of a chain of retractions, and whether this restores it."""
    restores = False
    while target.op == "retract":
        restores = not restores
        earlier = facts.records.get(target.target or "")
        if earlier is None or earlier.seq >= target.seq:
            return None, restores
        target = earlier
    return (target if target.op == "verify" else None), restores


def _is_newest(verdict: SealedRecord, statement: SealedRecord, facts: LedgerFacts) -> bool:
    """Whether a verdict on a statement, if it were in force, would be the one that counts."""
    counting = facts.standing.verdicts(statement).counting
    return not counting or counting[-1].seq <= verdict.seq
