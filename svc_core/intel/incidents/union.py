"""Which members tell of the same event, and by which id it goes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence, Set

from svc_core.intel.events.model import mark
from svc_core.intel.incidents.members import PRESS, Member
from svc_core.intel.incidents.model import Incident

ALIKE_MAX = 100
"""Incidents that may have one mark in common and be one: a mark of more says nothing."""


def grouped(members: Sequence[Member], mute: Set[str] = frozenset()) -> list[list[Member]]:
    """The members of each event, in an order that depends on nothing but them; `mute` marks join
    nothing.

    What the press tells apart stays apart, however alike machines read it.
    """
    told = {
        one.id
        for group in _joined(members, lambda one: one.marks, mute)
        if any(each.provider == PRESS for each in group)
        for one in group
    }
    return _joined(
        members, lambda one: one.marks if one.id in told else (*one.marks, *one.weak), mute
    )


def _joined(
    members: Sequence[Member], marks: Callable[[Member], Iterable[str]], mute: Set[str]
) -> list[list[Member]]:
    homes: dict[str, set[str]] = defaultdict(set)
    for one in members:
        for each in set(marks(one)) - mute:
            homes[each].add(one.home)
    leaders: dict[str, str] = {}

    def leader(name: str) -> str:
        while leaders.setdefault(name, name) != name:
            leaders[name] = name = leaders[leaders[name]]
        return name

    for together in homes.values():
        first, *others = sorted(together)
        for other in others if len(together) <= ALIKE_MAX else ():
            leaders[leader(other)] = leader(first)
    groups: dict[str, list[Member]] = defaultdict(list)
    for one in sorted(members, key=lambda one: one.strength):
        groups[leader(one.home)].append(one)
    return list(groups.values())


def name_of(group: Sequence[Member]) -> str:
    """The id of the event: of its story, else of its strongest member."""
    press = [one for one in group if one.provider == PRESS]
    return min(press or group, key=lambda one: one.strength).home


def survivor(row: Incident, groups: Sequence[Sequence[Member]]) -> int | None:
    """The place of the event that a row has become; None where nothing of it is left."""
    keys, held = set(row.keys), set(row.observation_ids)
    marks = {mark(one.scheme, one.value) for one in row.designators}
    counts = Counter[int]()
    for at, group in enumerate(groups):
        for one in group:
            counts[at] += one.home in keys or one.id in held or not marks.isdisjoint(one.marks)
    found = [(-count, groups[at][0].strength, at) for at, count in counts.items() if count]
    return min(found)[-1] if found else None
