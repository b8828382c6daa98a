"""Admits the drafts of a batch one after another, by the records that act on what they act on.

Rule 1: whether a record is in force, and in which state, follows from that record and from the acts
        on it alone: the records whose target it is, those whose target these are, and so on. No
        other record of its subject is read.
Rule 2: what would take long is refused: too many records about all subjects of a batch, or too many
        that act on each other and that its entries change.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from attrs import define, field

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger.append.erasure import may_erase
from svc_core.ledger.append.rules import LedgerFacts, admit, check_room, cited_ids
from svc_core.ledger.records import STATEMENTS, Draft, SealedRecord, decode
from svc_core.ledger.repository import records_by_id
from svc_core.operation.context import Context

JUDGED_RECORDS_MAX: Final = 100_000
"""Records about all subjects that one batch acts on: a store looks through them in 0.2 seconds."""
ACTS_MAX: Final = 50_000
"""Records that all entries of a batch are judged by: half a second. One entry is never too much."""
CHAIN_MAX: Final = 100
"""Withdrawals of withdrawals, each of which is read by itself."""


@define
class BatchAdmission:
    """Checks drafts against the ledger and against the drafts admitted before them.

    `_records` are those that the drafts name, with what acts on them; `_acts` are their ids by the
    id that they act on, oldest first; `_counts` are how many records the subjects have.
    """

    _allow_erasure: bool
    _counts: dict[str, int]
    _records: dict[str, SealedRecord] = field(factory=dict, init=False)
    _acts: dict[str, list[str]] = field(factory=dict, init=False)
    _act_count: int = field(default=0, init=False)
    _is_first: bool = field(default=True, init=False)

    @classmethod
    async def of(cls, ctx: Context, drafts: Sequence[Draft]) -> "BatchAdmission":
        """Create the admission of a batch, with all records that it is judged by.

        Raises:
            Problem: RESOURCE_CONFLICT if the subjects have more records than one batch may act on.
        """
        subjects = {draft.subject for draft in drafts if draft.subject}
        judged = {draft.subject for draft in drafts if draft.subject and _acts_on_effect(draft)}
        counts = await ctx.tx.ledger.counts_of(sorted(subjects))
        if sum(counts[subject] for subject in judged) > JUDGED_RECORDS_MAX:
            raise problem.conflict(
                f"Its entries act on subjects with more than {JUDGED_RECORDS_MAX} records "
                "together.",
                "Send the entries of fewer subjects in one request.",
            )
        admission = cls(may_erase(ctx), counts)
        named = subjects.union(*map(cited_ids, drafts))
        targets = await admission._read(ctx, named, {draft.target for draft in drafts} - {None})
        if judged:
            acts = await ctx.tx.ledger.acts(sorted(targets), subjects=sorted(judged))
            admission._add(map(decode, acts))
        return admission

    async def _read(self, ctx: Context, named: set[str], targets: set[Any]) -> set[str]:
        """Read these records; return the targets, with what withdrawals among them withdraw.

        Raises:
            Problem: RESOURCE_CONFLICT if too many withdrawals act on each other.
        """
        self._add(await records_by_id(ctx, sorted(named | targets)))
        for _ in range(CHAIN_MAX):
            further = {id_ for target in targets for id_ in self._chain(target)} - targets
            if not further:
                return targets
            self._add(await records_by_id(ctx, sorted(further)))
            targets = targets | further
        raise _excess()

    def admit(self, draft: Draft, record: SealedRecord) -> None:
        """Check that a draft may follow, and count its record from then on.

        Raises:
            Problem: it may not.
        """
        check_room(draft.op, self._counts.get(record.subject, 0))
        records = self._judging(draft)
        admit(draft, LedgerFacts.of(records, allow_erasure=self._allow_erasure))
        self._act_count += len(records)
        if self._act_count > ACTS_MAX and not self._is_first:
            raise _excess()
        self._is_first = False
        self._counts[record.subject] = self._counts.get(record.subject, 0) + 1
        self._add([record])

    def _add(self, records: Iterable[SealedRecord]) -> None:
        for record in records:
            if record.id not in self._records:
                self._records[record.id] = record
                self._acts.setdefault(record.target or "", []).append(record.id)

    def _chain(self, target: str | None) -> list[str]:
        """Return a target, and if it withdraws something that as well, and so on."""
        ids = []
        while target is not None:
            ids.append(target)
            record = self._records.get(target)
            target = None if record is None or record.op in STATEMENTS else record.target
        return ids

    def _judging(self, draft: Draft) -> list[SealedRecord]:
        """Return the records that a draft names, with the acts on its target or what that is of."""
        pending = self._chain(draft.target)
        ids = dict.fromkeys(pending)
        for id_ in pending:
            acts = [act for act in self._acts.get(id_, ()) if act not in ids]
            ids |= dict.fromkeys(acts)
            pending += acts
        ids |= dict.fromkeys((draft.subject or "", *cited_ids(draft)))
        return [self._records[id_] for id_ in ids if id_ in self._records]


def _acts_on_effect(draft: Draft) -> bool:
    """Whether a draft acts on a record in force; an erasure acts on content, in force or not."""
    return draft.op not in {"assert", "erase"}


def _excess() -> Problem:
    return Problem(
        problem.RESOURCE_CONFLICT,
        "/target: too many records act on each other to judge it in one batch",
        resolution="Send fewer entries in one request.",
    )
