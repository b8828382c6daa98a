"""Which contributions tell of one row: a pure function of them, the same in whatever order.

Rule 1: what has a name in common is one row, which has the name of its strongest own key, of
        equally strong ones of the one that was told first by its source's word.
Rule 2: a thing has one name of an exclusive scheme. What names two of one names nothing by it, and
        what would be a row of two stays apart, whatever else they have in common: the name is that
        of the stronger contribution, and is kept `apart` from the others.
Rule 3: a name that says nothing (`0000`) joins nothing: one that many rows have beside their own.
Rule 4: a legal name in a register joins nothing where two companies have it, or where the operator
        says that those who have it are distinct.
Rule 5: then the operator's word joins, but for what Rule 2 or his own word holds apart; the row has
        the name of what the other was merged into.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime

from attrs import define, field, frozen

from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.kind import Kind

ALIKE_MAX = 100
"""Own keys of rows that may have one other key in common, and that may be joined to one row: a
hazard has a dozen of ids."""


_Named = tuple[Contribution, Mapping[str, str], Set[str]]
"""A contribution with its names of exclusive schemes, and those that doubt each other."""


@frozen
class Grouped:
    """Contributions by the names of their rows, and the names that are not those of their row."""

    rows: dict[str, list[Contribution]]
    apart: dict[str, set[str]]


@define
class _Groups:
    """Names that mean one thing, and the one name that each has of an exclusive scheme."""

    leaders: dict[str, str] = field(factory=dict)
    marks: dict[str, dict[str, str]] = field(factory=lambda: defaultdict(dict))

    def leader(self, name: str) -> str:
        while self.leaders.setdefault(name, name) != name:
            self.leaders[name] = name = self.leaders[self.leaders[name]]
        return name

    def join(self, name: str, other: str) -> bool:
        """Whether they are one now."""
        mine, theirs = self.leader(name), self.leader(other)
        if mine != theirs:
            marks, more = self.marks[mine], self.marks[theirs]
            if any(more.get(scheme, mark) != mark for scheme, mark in marks.items()):
                return False
            self.leaders[theirs] = mine
            marks |= more
        return True


def grouped(kind: Kind, held: Sequence[Contribution], common: Set[str], most: int) -> Grouped:
    """The rows that contributions make; `common` names join nothing."""
    mute = common | alike(held, most)
    groups, apart = _Groups(), defaultdict[str, set[str]](set)
    told = sorted((one for one in held if not one.pair), key=lambda one: _weight(kind, one))
    named = [(one, *_exclusive(kind, one)) for one in told]
    pairs = sorted((one for one in held if one.pair), key=lambda one: (one.read_at, one.id))
    distinct = [one.names for one in pairs if one.pair == "distinct"]
    mute |= _contested(kind, named, distinct)
    for one, marks, _ in named:
        for scheme, name in marks.items():
            groups.marks[one.names[0]].setdefault(scheme, name)
            groups.marks[name].setdefault(scheme, name)
    for one, _, doubtful in named:
        for name in one.names[1:]:
            if name in mute or name in doubtful or not groups.join(one.names[0], name):
                apart[one.id].add(name)
    firsts: dict[str, str] = {}
    for one in sorted(told, key=lambda one: _age(kind, one)):
        firsts.setdefault(groups.leader(one.names[0]), one.names[0])
    merges = [one for one in pairs if one.pair == "merge"]
    _settle(groups, firsts, apart, merges, distinct)
    return Grouped(_rows(groups, firsts, held, most), apart)


def _settle(
    groups: _Groups,
    firsts: dict[str, str],
    apart: dict[str, set[str]],
    merges: Sequence[Contribution],
    distinct: Sequence[Sequence[str]],
) -> None:
    """Join what the operator merged, what he said first first."""
    for one in merges:
        into, other = one.names
        ends = {groups.leader(into), groups.leader(other)}
        first = firsts.get(groups.leader(into)) or firsts.get(groups.leader(other), into)
        is_barred = any({groups.leader(a), groups.leader(b)} == ends for a, b in distinct)
        if (is_barred and len(ends) > 1) or not groups.join(into, other):
            apart[one.id].add(other)
        elif len(ends) > 1:
            firsts[groups.leader(into)] = first


def _rows(
    groups: _Groups, firsts: dict[str, str], held: Sequence[Contribution], most: int
) -> dict[str, list[Contribution]]:
    members: dict[str, list[Contribution]] = defaultdict(list)
    for one in sorted(held, key=lambda one: one.id):
        members[groups.leader(one.names[0])].append(one)
    rows: dict[str, list[Contribution]] = defaultdict(list)
    for leader, group in members.items():
        is_thing = len({one.names[0] for one in group}) <= most
        for one in group:
            rows[firsts.get(leader, one.names[0]) if is_thing else one.names[0]].append(one)
    return rows


def _contested(kind: Kind, named: Iterable[_Named], distinct: Sequence[Sequence[str]]) -> set[str]:
    """The legal names that two companies have, by what they have of exclusive schemes."""
    marks: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    owners: dict[str, set[str]] = defaultdict(set)
    for one, of_one, _ in named:
        if key := one.said.get("registered"):
            name = kind.derived(key)
            owners[name].update(one.names)
            for scheme, mark in of_one.items():
                marks[name][scheme].add(mark)
    barred = {name for name, own in owners.items() if any(own.issuperset(two) for two in distinct)}
    return barred | {
        name for name, each in marks.items() if any(len(one) > 1 for one in each.values())
    }


def _weight(kind: Kind, one: Contribution) -> tuple[int, str]:
    return kind.rules.place(one.format), one.id


def _age(kind: Kind, one: Contribution) -> tuple[int, datetime, str]:
    return kind.strength(one.key), one.since or one.told_at, one.names[0]


def _exclusive(kind: Kind, one: Contribution) -> tuple[dict[str, str], set[str]]:
    """The names that a contribution has of exclusive schemes, and those that doubt each other."""
    values: dict[str, list[str]] = defaultdict(list)
    designators = [(each["scheme"], each["value"]) for each in one.said.get("designators") or ()]
    key = tuple(one.key.split(":", 1)) if ":" in one.key else ("cve", one.key)
    for scheme, value in dict.fromkeys([key, *designators]):
        if scheme in kind.exclusive:
            values[scheme].append(kind.derived(value if scheme == "cve" else f"{scheme}:{value}"))
    doubtful = {name for names in values.values() if len(names) > 1 for name in names}
    marks = {scheme: names[0] for scheme, names in values.items() if len(names) == 1}
    own = {scheme: one.names[0] for scheme, names in values.items() if one.names[0] in names}
    return marks | own, doubtful


def alike(contributions: Iterable[Contribution], most: int) -> set[str]:
    """The names that more than so many rows have beside that of their own key."""
    owned: dict[str, set[str]] = defaultdict(set)
    for one in contributions:
        for name in () if one.pair else one.names[1:]:
            owned[name].add(one.names[0])
    return {name for name, rows in owned.items() if len(rows) > most}
