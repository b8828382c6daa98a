"""Admits the drafts of a batch one after another, with the state of their subjects in memory.

Rule 1: the standing of a subject is computed once per batch; each draft then costs what it changes.
Rule 2: the records of whole subjects are read before the unit of work, on a snapshot
        (`read_snapshot`). The unit of work reads only what was appended since, so that other
        writers wait for the entries and not for a subject's whole past.
Rule 3: what would still take long is refused: too many records about all subjects of a batch, or
        long chains of records that act on each other and that its entries change.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from attrs import define, field, frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.ledger.append.erasure import may_erase
from svc_core.ledger.append.rules import LedgerFacts, admit, check_room, cited_ids
from svc_core.ledger.fold.running_standing import RunningStanding
from svc_core.ledger.records import Draft, SealedRecord, decode
from svc_core.ledger.repository import head_of, lines_of
from svc_core.operation.context import Context

JUDGED_RECORDS_MAX: Final = 100_000
"""Records about all subjects that one batch acts on: a second or two of reading, 100 MB."""
STEPS_MAX: Final = 50_000
"""Records looked at while a batch is judged: a tenth of a second. One entry is never too much."""
LINES_AT_ONCE: Final = 100
"""Lines of named records that are read together: 6 MB at most."""

_MEMBERS: Final = ("state", "source")
"""The payload members that the admission rules read."""


@frozen
class BatchSnapshot:
    """The state of the subjects of a batch at ledger size `size`, read before the unit of work."""

    size: int
    standings: Mapping[str, RunningStanding]
    counts: Mapping[str, int]
    records: Mapping[str, SealedRecord]


async def read_snapshot(ctx: Context, drafts: Sequence[Draft]) -> BatchSnapshot:
    """Read the state of all subjects and records that the drafts refer to.

    Raises:
        Problem: RESOURCE_CONFLICT if the subjects have more records than one batch may act on.
    """
    subjects = _whole_subjects(drafts)
    counts = await ctx.tx.ledger.counts_of(_subjects(drafts))
    if sum(counts[subject] for subject in subjects) > JUDGED_RECORDS_MAX:
        raise Problem(
            problem.RESOURCE_CONFLICT,
            f"Its entries act on subjects with more than {JUDGED_RECORDS_MAX} records together.",
            resolution="Send the entries of fewer subjects in one request.",
        )
    standings = {subject: RunningStanding() for subject in subjects}
    async for subject, lines in lines_of(ctx, subjects):
        standings[subject] = RunningStanding.of(map(_slim_record, lines))
    for draft in drafts:
        if draft.subject in standings and draft.target is not None:
            standings[draft.subject].state(draft.target)  # found once, and kept by every copy
            standings[draft.subject].in_force(draft.target)
    size = (await head_of(ctx)).size
    return BatchSnapshot(size, standings, counts, await _records_of(ctx, _lookup_ids(drafts)))


@define
class BatchAdmission:
    """Checks drafts against the ledger and against the drafts admitted before them."""

    _allow_erasure: bool
    _standings: dict[str, RunningStanding]
    _stored_records: dict[str, SealedRecord]
    _counts: dict[str, int]
    _new: dict[str, SealedRecord] = field(factory=dict, init=False)

    @classmethod
    async def of(
        cls, ctx: Context, drafts: Sequence[Draft], snapshot: BatchSnapshot | None
    ) -> "BatchAdmission":
        """Create the admission of a batch, by a snapshot and what was appended after it.

        `snapshot` may be of more drafts than these; without one, everything is read now.

        Raises:
            Problem: as `read_snapshot`.
        """
        before = await read_snapshot(ctx, drafts) if snapshot is None else snapshot
        standings = {id_: before.standings[id_].copy() for id_ in _whole_subjects(drafts)}
        async for subject, lines in lines_of(ctx, standings, start=before.size):
            for line in lines:
                standings[subject].add(_slim_record(line))
        new_counts = await ctx.tx.ledger.counts_of(_subjects(drafts), start=before.size)
        ids = [id_ for id_ in _lookup_ids(drafts) if id_ not in before.records]
        ids += [str(draft.target) for draft in drafts if draft.op == "erase"]
        return cls(
            may_erase(ctx),
            standings,
            {**before.records, **await _records_of(ctx, ids)},
            {subject: before.counts[subject] + count for subject, count in new_counts.items()},
        )

    def admit(self, draft: Draft, record: SealedRecord) -> None:
        """Check that a draft may follow, and count its record from then on.

        Raises:
            Problem: it may not.
        """
        check_room(draft.op, self._counts.get(record.subject, 0))
        evidence = {id_: item for id_ in cited_ids(draft) if (item := self._find(id_))}
        admit(draft, LedgerFacts(self._standing(draft), evidence, self._allow_erasure))
        self._check_work()
        self._counts[record.subject] = self._counts.get(record.subject, 0) + 1
        self._new[record.id] = record
        if record.subject in self._standings:
            self._standings[record.subject].add(record)

    def _standing(self, draft: Draft) -> RunningStanding:
        """Return the standing of the draft's subject, as far as the rules need it.

        An assertion acts on nothing, and an erasure on content, in force or not: for these only the
        records that they name are taken.
        """
        if draft.op not in {"assert", "erase"}:
            return self._standings[str(draft.subject)]
        ids = dict.fromkeys(id_ for id_ in (draft.subject, draft.target) if id_)
        records = [record for id_ in ids if (record := self._find(id_))]
        acts = (record for record in self._new.values() if record.target == draft.target)
        return RunningStanding.of([*records, *(acts if draft.target else ())])

    def _find(self, id_: str) -> SealedRecord | None:
        return self._new.get(id_) or self._stored_records.get(id_)

    def _check_work(self) -> None:
        if self._new and sum(standing.steps for standing in self._standings.values()) > STEPS_MAX:
            raise Problem(
                problem.RESOURCE_CONFLICT,
                "/target: too many records act on each other to judge it in one batch",
                resolution="Send fewer entries in one request.",
            )


def _whole_subjects(drafts: Iterable[Draft]) -> list[str]:
    """Return the subjects whose records are all needed: those with a record to displace."""
    acts = (draft.subject for draft in drafts if draft.op not in {"assert", "erase"})
    return sorted({subject for subject in acts if subject})


def _subjects(drafts: Iterable[Draft]) -> list[str]:
    return sorted({draft.subject for draft in drafts if draft.subject})


def _lookup_ids(drafts: Sequence[Draft]) -> list[str]:
    """Return the records that drafts refer to, except those whose current content matters."""
    return sorted({*_subjects(drafts)}.union(*map(cited_ids, drafts)))


async def _records_of(ctx: Context, ids: Sequence[str]) -> dict[str, SealedRecord]:
    records: dict[str, SealedRecord] = {}
    for start in range(0, len(ids), LINES_AT_ONCE):
        lines = await ctx.tx.ledger.get_many(ids[start : start + LINES_AT_ONCE])
        records |= {id_: _slim_record(line.line) for id_, line in lines.items()}
    return records


def _slim_record(line: bytes) -> SealedRecord:
    """Decode a record with only the members that the rules read, to save memory."""
    record = decode(line)
    if record.payload is None:
        return record
    return record._replace(payload={k: record.payload[k] for k in _MEMBERS if k in record.payload})
