"""Computes which records displace others, at which valid times, and which verdicts count.

Rule 1: a record displaces its target where it is not displaced itself: a supersession everywhere,
        an amendment or a retraction within its interval. Retracting a displacer therefore restores
        exactly what it displaced.
Rule 2: only an earlier record can be a target, so one pass, newest first, answers every question
        without recursion, whatever the records say of each other.
Rule 3: a verdict counts until it is displaced at every valid time; it has no valid time itself.
Rule 4: an erased or unreadable verdict means "unverified". The verdict before it is not revived.
"""

# The states of a record in a fold, and the moves between them.
#
# At a given record time and valid time a record is in one of three states:
#
#   displaced   a later record that is in force there replaces or withdraws it
#   in force    it is not displaced, and if it is a statement its own interval covers the time
#   erased      a property besides: the content is gone, but the record keeps its place and effect
#
# Let D(r) be the set of valid times at which r is displaced, and E(k) what a displacer k covers:
# all times for `supersede`, its interval for `amend` and `retract`. Then
#
#   D(r) = union, over all later k that target r, of  E(k) minus D(k)
#
# That is a definition by itself, because a target must have a smaller `seq`: D of the newest record
# is empty, and each D needs only those of newer records. So the equation has exactly one solution,
# cycles cannot arise, and one pass from the newest record back computes it (`displacements`). For
# one valid time the sets shrink to yes or no, and the pass to a dictionary (`displaced_at`).
#
# What follows: retracting a retraction restores its target on exactly the times that it took away.
# Nothing depends on the order in which records arrived, only on their numbers. Records whose target
# is unknown, of another subject or later act on nothing, so any set of records has a standing.

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from attrs import frozen

from svc_core.ledger.fold import verification_states as states
from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.segments import ALWAYS, NEVER, Periods, interval_union
from svc_core.ledger.fold.verification_states import RANK, UNVERIFIED
from svc_core.ledger.records import STATEMENTS, SealedRecord

DISPLACERS: Final = frozenset({"amend", "supersede", "retract"})
"""The operations of the records that may displace another."""


class Displacement(NamedTuple):
    """The records that displace a record, oldest first, and the valid times at which they do."""

    displacers: tuple[SealedRecord, ...]
    periods: Periods

    @property
    def is_total(self) -> bool:
        """Whether the record is displaced at every valid time."""
        return self.periods == ALWAYS


class RecordVerdicts(NamedTuple):
    """All verdicts on a record, oldest first; those that count; the resulting state."""

    rows: tuple[SealedRecord, ...]
    counting: tuple[SealedRecord, ...]
    state: states.State


NO_VERDICTS: Final = RecordVerdicts((), (), UNVERIFIED)


@frozen(slots=False)
class Standing:
    """The records of a subject and their effects on each other, whatever the present time is."""

    records: tuple[SealedRecord, ...]

    @staticmethod
    def of(
        records: Iterable[SealedRecord] | RecordSet,
        subject: str,
        *,
        record_time: str | None = None,
        size: int | None = None,
    ) -> "Standing":
        """Create the standing of a subject at a record time or at a ledger size."""
        visible = RecordSet.of(records).restrict(record_time=record_time, size=size).records
        return Standing(tuple([record for record in visible if record.subject == subject]))

    @cached_property
    def _acts(self) -> tuple[SealedRecord, ...]:
        """The records that have a target, newest first."""
        return tuple([record for record in reversed(self.records) if record.target is not None])

    @cached_property
    def displacers(self) -> tuple[SealedRecord, ...]:
        """The records that may displace another, newest first."""
        return tuple([record for record in self._acts if record.op in DISPLACERS])

    def displaced_at(self, valid_time: str) -> Mapping[str, int]:
        """Return, for each id displaced at a valid time, the greatest `seq` that displaces it.

        A record is displaced if its own `seq` is less: a target is always earlier.
        """
        newest: dict[str, int] = {}
        for record in self.displacers:
            if newest.get(record.id, record.seq) <= record.seq and (
                record.op == "supersede" or covers(record, valid_time)
            ):
                newest.setdefault(record.target or "", record.seq)
        return newest

    def live(self, valid_time: str) -> list[SealedRecord]:
        """Return the statements in force at a valid time, oldest first."""
        newest = self.displaced_at(valid_time)
        return [
            record
            for record in self.records
            if record.op in STATEMENTS
            and ((start := record.valid_from) is None or start <= valid_time)
            and ((end := record.valid_to) is None or valid_time < end)
            and (record.id not in newest or newest[record.id] <= record.seq)
        ]

    def validity(self, record: SealedRecord) -> Periods:
        """Return the valid times at which a statement is in force."""
        displacement = self.displacements.get((record.seq, record.id))
        free = ALWAYS if displacement is None else ~displacement.periods
        return free.within(record.valid_from, record.valid_to)

    def verdicts(self, record: SealedRecord) -> RecordVerdicts:
        """Return the verdicts on a record, and the state by the newest one that counts."""
        verdicts = self.verdicts_by_target.get(record.id)
        if verdicts is None:
            return NO_VERDICTS
        later = tuple([verdict for verdict in verdicts if verdict.seq > record.seq])
        counting = tuple([verdict for verdict in later if not self.is_withdrawn(verdict)])
        return RecordVerdicts(later, counting, state_of(counting[-1]) if counting else UNVERIFIED)

    def is_withdrawn(self, record: SealedRecord) -> bool:
        """Whether a record is displaced at every valid time."""
        if record.id not in self._targets:
            return False
        displacement = self.displacements.get((record.seq, record.id))
        return displacement is not None and displacement.is_total

    @cached_property
    def in_force(self) -> frozenset[str]:
        """The ids of the records that are not displaced at every valid time."""
        return frozenset([record.id for record in self.records if not self.is_withdrawn(record)])

    @cached_property
    def states(self) -> Mapping[str, states.State]:
        """The verification state of each record that was judged, by its id."""
        targets = [record for record in self.records if record.id in self.verdicts_by_target]
        return {record.id: self.verdicts(record).state for record in targets}

    @cached_property
    def _targets(self) -> frozenset[str]:
        return frozenset([record.target or "" for record in self.displacers])

    @cached_property
    def verdicts_by_target(self) -> Mapping[str, list[SealedRecord]]:
        """All verdicts by the id of their target, oldest first."""
        verdicts: dict[str, list[SealedRecord]] = {}
        for record in reversed(self._acts):
            if record.op == "verify":
                verdicts.setdefault(record.target or "", []).append(record)
        return verdicts

    @cached_property
    def displacements(self) -> Mapping[tuple[int, str], Displacement]:
        """The displacement of every record that is displaced somewhere, by `seq` and id."""
        effects: dict[str, list[tuple[SealedRecord, Periods]]] = {}
        # What is done to an id is forgotten after its oldest bearer, which bounds the memory.
        oldest = {record.id: index for index, record in reversed(list(enumerate(self.records)))}
        displacements = {}
        for index in range(len(self.records) - 1, -1, -1):
            record = self.records[index]
            take = effects.pop if oldest[record.id] == index else effects.get
            acts = [act for act in take(record.id, None) or () if act[0].seq > record.seq]
            extent = interval_union([periods for _, periods in acts]) if acts else NEVER
            if acts:
                displacers = tuple([act for act, _ in reversed(acts)])
                displacements[record.seq, record.id] = Displacement(displacers, extent)
            if record.op in DISPLACERS and record.target is not None:
                reach = effect(record, extent)
                if reach != NEVER:
                    effects.setdefault(record.target, []).append((record, reach))
        return displacements


def covers(record: SealedRecord, valid_time: str) -> bool:
    """Whether a valid time lies in the interval of a record."""
    start, end = record.valid_from, record.valid_to
    return (start is None or start <= valid_time) and (end is None or valid_time < end)


def effect(displacer: SealedRecord, periods: Periods) -> Periods:
    """Return where a displacer displaces its target, given where it is displaced itself."""
    if displacer.op == "supersede":
        return ~periods
    return (~periods).within(displacer.valid_from, displacer.valid_to)


def state_of(verdict: SealedRecord) -> states.State:
    """Return the state of a verdict; "unverified" if it is erased or unreadable."""
    state = (verdict.payload or {}).get("state")
    return _STATES.get(state, UNVERIFIED) if type(state) is str else UNVERIFIED


_STATES: Final[Mapping[str, states.State]] = {state: state for state in RANK}
