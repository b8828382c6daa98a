"""Maintains the standing of a subject incrementally, one appended record after another.

Rule 1: after each record it agrees with the `Standing` of all records so far, for a subject of a
        ledger that verifies.
Rule 2: the cost of a record is what it changes, not what is there; `steps` counts it.
"""

from collections.abc import Iterable, Iterator

from attrs import Factory, define

from svc_core.ledger.fold.segments import ALWAYS, NEVER, Periods, interval_union
from svc_core.ledger.fold.standing import DISPLACERS, effect, state_of
from svc_core.ledger.fold.verification_states import UNVERIFIED, State
from svc_core.ledger.records import SealedRecord

_Acts = tuple[SealedRecord, "_Acts"] | None  # the newest, and those before it
"""Records that act on one: a list that copies share."""


@define(eq=False)
class RunningStanding:
    """The standing of the records so far; `add` appends one, `copy` makes an independent one.

    `records` has them by id, oldest first; `erased_ids` the ids whose content is gone, or is to go.
    """

    records: dict[str, SealedRecord] = Factory(dict)
    erased_ids: set[str] = Factory(set)
    steps: int = 0
    _displacers: dict[str, _Acts] = Factory(dict)
    _verdicts: dict[str, _Acts] = Factory(dict)
    _periods: dict[str, Periods] = Factory(dict)  # where it is known; all that it rests on is too

    @staticmethod
    def of(records: Iterable[SealedRecord]) -> "RunningStanding":
        """Create the standing of the records of one subject, oldest first."""
        standing = RunningStanding()
        for record in records:
            standing.add(record)
        return standing

    def copy(self) -> "RunningStanding":
        """Return an independent copy with `steps` at 0."""
        return RunningStanding(
            dict(self.records),
            set(self.erased_ids),
            0,
            dict(self._displacers),
            dict(self._verdicts),
            dict(self._periods),
        )

    def add(self, record: SealedRecord) -> None:
        """Add the next record; a target that was not added before is ignored."""
        self.records[record.id] = record
        if record.payload is None:
            self.erased_ids.add(record.id)
        target = self.records.get(record.target or "")
        if target is None or target is record:
            return
        if record.op == "erase":
            self.erased_ids.add(target.id)
        elif record.op == "verify":
            self._verdicts[target.id] = (record, self._verdicts.get(target.id))
        elif record.op in DISPLACERS:
            self._displace(target, record)

    def in_force(self, id_: str) -> bool:
        """Whether a record exists and is not displaced at every valid time."""
        return id_ in self.records and self._displaced_periods(id_) != ALWAYS

    def verdict(self, id_: str) -> SealedRecord | None:
        """Return the newest verdict in force on a record: the one that counts."""
        for verdict in self._chain(self._verdicts.get(id_)):
            if self.in_force(verdict.id):
                return verdict
        return None

    def state(self, id_: str) -> State:
        """Return the verification state of a record."""
        verdict = self.verdict(id_)
        return UNVERIFIED if verdict is None else state_of(verdict)

    def _displace(self, target: SealedRecord, displacer: SealedRecord) -> None:
        before = self._periods.get(target.id)
        if target.id not in self._displacers:
            before = NEVER
        self._displacers[target.id] = (displacer, self._displacers.get(target.id))
        if before is None:
            return
        after = self._periods[target.id] = interval_union([before, effect(displacer, NEVER)])
        while after != before and target.op in DISPLACERS and target.target in self._periods:
            # What the target did elsewhere is to be found anew, and what rests on that.
            self.steps += 1
            del self._periods[target.target]
            target = self.records[target.target]

    def _displaced_periods(self, id_: str) -> Periods:
        """Compute the valid times at which a record is displaced, without recursion."""
        stack = [id_]
        while stack:
            acts = self._displacers.get(stack[-1])
            if acts is None or stack[-1] in self._periods:
                stack.pop()
                continue
            displacers = list(self._chain(acts))
            unknown = [
                act.id
                for act in displacers
                if act.id in self._displacers and act.id not in self._periods
            ]
            if unknown:
                stack += unknown
                continue
            periods = [effect(act, self._periods.get(act.id, NEVER)) for act in displacers]
            self._periods[stack.pop()] = interval_union(periods)
        return self._periods.get(id_, NEVER)

    def _chain(self, acts: _Acts) -> Iterator[SealedRecord]:
        while acts is not None:
            self.steps += 1
            record, acts = acts
            yield record
