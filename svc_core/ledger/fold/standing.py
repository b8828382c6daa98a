"""What stands: which records others displace, where in valid time, and which verdicts count.

Rule 1: `k` displaces its target where `k` itself is not displaced: a supersession everywhere, an
        amendment or a retraction where its interval covers. So whoever takes a displacer away
        restores what it displaced, exactly.
Rule 2: only an earlier record can be a target, so every question is answered newest first in one
        pass, without recursion, whatever the records say of each other.
Rule 3: a verdict counts until it is displaced at every valid time; it has no valid time itself.
Rule 4: an erased or unreadable verdict says "unverified". The verdict before it is not revived.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from attrs import frozen

from svc_core.ledger.fold import states
from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.segments import ALWAYS, NEVER, Periods, union
from svc_core.ledger.fold.states import RANK, UNVERIFIED
from svc_core.ledger.records import STATEMENTS, Record

DISPLACERS: Final = frozenset({"amend", "supersede", "retract"})
"""The operations of the records that may displace another."""


class Displacement(NamedTuple):
    """What displaces a record somewhere, oldest first, and at which valid times."""

    by: tuple[Record, ...]
    where: Periods

    @property
    def everywhere(self) -> bool:
        """Whether the record is displaced at every valid time."""
        return self.where == ALWAYS


class Verdicts(NamedTuple):
    """Every verdict on a record, oldest first; those that count; the state that follows."""

    all: tuple[Record, ...]
    counting: tuple[Record, ...]
    state: states.State


NO_VERDICTS: Final = Verdicts((), (), UNVERIFIED)


@frozen(slots=False)
class Standing:
    """The records of a subject, with what they do to each other. Nothing in it depends on now."""

    records: tuple[Record, ...]

    @staticmethod
    def of(
        records: Iterable[Record] | RecordSet,
        subject: str,
        *,
        record_time: str | None = None,
        size: int | None = None,
    ) -> "Standing":
        """The standing of what is known of the subject at a record time, at a size."""
        visible = RecordSet.of(records).restrict(record_time=record_time, size=size).records
        return Standing(tuple([record for record in visible if record.subject == subject]))

    @cached_property
    def _acts(self) -> tuple[Record, ...]:
        """The records that have a target, newest first."""
        return tuple([each for each in reversed(self.records) if each.target is not None])

    @cached_property
    def displacers(self) -> tuple[Record, ...]:
        """The records that may displace another, newest first."""
        return tuple([each for each in self._acts if each.op in DISPLACERS])

    def displaced_at(self, valid_time: str) -> Mapping[str, int]:
        """For each id that is displaced at a valid time, the newest `seq` that does it.

        A record is displaced if its own `seq` is less: a target is always earlier.
        """
        newest: dict[str, int] = {}
        for each in self.displacers:
            if newest.get(each.id, each.seq) <= each.seq and (
                each.op == "supersede" or covers(each, valid_time)
            ):
                newest.setdefault(each.target or "", each.seq)
        return newest

    def live(self, valid_time: str) -> list[Record]:
        """The statements in force at a valid time, oldest first."""
        displaced = self.displaced_at(valid_time)
        return [
            each
            for each in self.records
            if each.op in STATEMENTS
            and ((start := each.valid_from) is None or start <= valid_time)
            and ((end := each.valid_to) is None or valid_time < end)
            and (each.id not in displaced or displaced[each.id] <= each.seq)
        ]

    def holds(self, record: Record) -> Periods:
        """The valid times at which a statement is in force."""
        displaced = self.displacements.get((record.seq, record.id))
        free = ALWAYS if displaced is None else ~displaced.where
        return free.within(record.valid_from, record.valid_to)

    def verdicts(self, record: Record) -> Verdicts:
        """The verdicts on a record, and the state that the newest counting one gives it."""
        found = self.judged.get(record.id)
        if found is None:
            return NO_VERDICTS
        later = tuple([each for each in found if each.seq > record.seq])
        counting = tuple([each for each in later if not self.is_withdrawn(each)])
        return Verdicts(later, counting, state_of(counting[-1]) if counting else UNVERIFIED)

    def is_withdrawn(self, record: Record) -> bool:
        """Whether a record is displaced at every valid time."""
        if record.id not in self._targets:
            return False
        found = self.displacements.get((record.seq, record.id))
        return found is not None and found.everywhere

    @cached_property
    def in_force(self) -> frozenset[str]:
        """The ids of the records that are not displaced at every valid time."""
        return frozenset([each.id for each in self.records if not self.is_withdrawn(each)])

    @cached_property
    def states(self) -> Mapping[str, states.State]:
        """The verification state of each record that was judged, by its id."""
        judged = [each for each in self.records if each.id in self.judged]
        return {each.id: self.verdicts(each).state for each in judged}

    @cached_property
    def _targets(self) -> frozenset[str]:
        return frozenset([each.target or "" for each in self.displacers])

    @cached_property
    def judged(self) -> Mapping[str, list[Record]]:
        """All verdicts by the id of their target, oldest first."""
        judged: dict[str, list[Record]] = {}
        for each in reversed(self._acts):
            if each.op == "verify":
                judged.setdefault(each.target or "", []).append(each)
        return judged

    @cached_property
    def displacements(self) -> Mapping[tuple[int, str], Displacement]:
        """Of every record that is displaced somewhere, by `seq` and id: what displaces it."""
        effects: dict[str, list[tuple[Record, Periods]]] = {}
        # What is done to an id is forgotten after its oldest bearer, which bounds the memory.
        oldest = {each.id: index for index, each in reversed(list(enumerate(self.records)))}
        found = {}
        for index in range(len(self.records) - 1, -1, -1):
            record = self.records[index]
            take = effects.pop if oldest[record.id] == index else effects.get
            acts = [act for act in take(record.id, None) or () if act[0].seq > record.seq]
            where = union([periods for _, periods in acts]) if acts else NEVER
            if acts:
                by = tuple([by for by, _ in reversed(acts)])
                found[record.seq, record.id] = Displacement(by, where)
            if record.op in DISPLACERS and record.target is not None:
                reach = effect(record, where)
                if reach != NEVER:
                    effects.setdefault(record.target, []).append((record, reach))
        return found


def covers(record: Record, valid_time: str) -> bool:
    """Whether a valid time lies in the interval of a record."""
    start, end = record.valid_from, record.valid_to
    return (start is None or start <= valid_time) and (end is None or valid_time < end)


def effect(displacer: Record, displaced: Periods) -> Periods:
    """Where a displacer displaces its target, given where it is displaced itself."""
    if displacer.op == "supersede":
        return ~displaced
    return (~displaced).within(displacer.valid_from, displacer.valid_to)


def state_of(verdict: Record) -> states.State:
    """The state that a verdict gives; an erased or unreadable one says "unverified"."""
    state = (verdict.payload or {}).get("state")
    return _STATES.get(state, UNVERIFIED) if type(state) is str else UNVERIFIED


_STATES: Final[Mapping[str, states.State]] = {state: state for state in RANK}
