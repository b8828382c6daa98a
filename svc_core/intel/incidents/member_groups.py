"""Groups members into incidents: union by common marks, with press stories kept apart."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set

from svc_core.intel.events.model import mark
from svc_core.intel.folding.union import ALIKE_MAX, NameSets, shared_names
from svc_core.intel.incidents.incident_members import PRESS, Member
from svc_core.intel.incidents.model import Incident


def group_members(members: Sequence[Member], common: Set[str] = frozenset()) -> list[list[Member]]:
    """The members of each incident, in an order that depends on nothing but them.

    Marks in `common` join nothing. Weak marks join no member that a press story has, so two stories
    stay apart however alike machines coded them.
    """
    press_ids = {
        member.id
        for group in _components(members, lambda member: member.marks, common)
        if any(member.provider == PRESS for member in group)
        for member in group
    }
    return _components(
        members, lambda m: m.marks if m.id in press_ids else (*m.marks, *m.weak), common
    )


def _components(
    members: Sequence[Member], marks: Callable[[Member], Iterable[str]], common: Set[str]
) -> list[list[Member]]:
    bearers = [(member.home, tuple(marks(member))) for member in members]
    muted, homes = common | shared_names(bearers, ALIKE_MAX), NameSets()
    for home, names in bearers:
        homes.bear(home, names, muted)
    by_strength = sorted(members, key=lambda member: member.strength)
    return list(homes.parts(by_strength, lambda member: member.home).values())


def group_id(group: Sequence[Member]) -> str:
    """The id of the incident that a group makes: its story's, else its strongest member's."""
    press = [member for member in group if member.provider == PRESS]
    return min(press or group, key=lambda member: member.strength).home


def surviving_group(row: Incident, groups: Sequence[Sequence[Member]]) -> int | None:
    """The index of the group that a stored incident became; None where nothing of it is left."""
    keys, ids = set(row.keys), set(row.observation_ids)
    marks = {mark(item.scheme, item.value) for item in row.designators}
    counts = Counter[int]()
    for i, group in enumerate(groups):
        for m in group:
            counts[i] += m.home in keys or m.id in ids or not marks.isdisjoint(m.marks)
    ranking = [(-count, groups[i][0].strength, i) for i, count in counts.items() if count]
    return min(ranking)[-1] if ranking else None
