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
from svc_core.intel.folding.kind import RowKind

ALIKE_MAX = 100
"""Own keys of rows that may have one other key in common, and that may be joined to one row: a
hazard has a dozen of ids."""


_NamedClaim = tuple[Contribution, Mapping[str, str], Set[str]]
"""A contribution with its names of exclusive schemes, and those that doubt each other."""


@frozen
class Grouping:
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
        root, other_root = self.leader(name), self.leader(other)
        if root != other_root:
            marks, other_marks = self.marks[root], self.marks[other_root]
            if any(other_marks.get(scheme, mark) != mark for scheme, mark in marks.items()):
                return False
            self.leaders[other_root] = root
            marks |= other_marks
        return True


def group_claims(
    kind: RowKind, claims: Sequence[Contribution], common: Set[str], limit: int
) -> Grouping:
    """The rows that contributions make; `common` names join nothing."""
    muted_names = common | shared_names(claims, limit)
    groups, apart = _Groups(), defaultdict[str, set[str]](set)
    by_weight = sorted((c for c in claims if not c.pair), key=lambda c: _weight(kind, c))
    named_claims = [(c, *_exclusive_names(kind, c)) for c in by_weight]
    pairs = sorted((c for c in claims if c.pair), key=lambda c: (c.read_at, c.id))
    distinct = [claim.names for claim in pairs if claim.pair == "distinct"]
    muted_names |= _contested_names(kind, named_claims, distinct)
    for claim, marks, _ in named_claims:
        for scheme, name in marks.items():
            groups.marks[claim.names[0]].setdefault(scheme, name)
            groups.marks[name].setdefault(scheme, name)
    for claim, _, doubtful in named_claims:
        for name in claim.names[1:]:
            if name in muted_names or name in doubtful or not groups.join(claim.names[0], name):
                apart[claim.id].add(name)
    row_names: dict[str, str] = {}
    for claim in sorted(by_weight, key=lambda claim: _age(kind, claim)):
        row_names.setdefault(groups.leader(claim.names[0]), claim.names[0])
    merges = [claim for claim in pairs if claim.pair == "merge"]
    _join_merges(groups, row_names, apart, merges, distinct)
    return Grouping(_rows(groups, row_names, claims, limit), apart)


def _join_merges(
    groups: _Groups,
    row_names: dict[str, str],
    apart: dict[str, set[str]],
    merges: Sequence[Contribution],
    distinct: Sequence[Sequence[str]],
) -> None:
    """Join what the operator merged, what he said first first."""
    for merge in merges:
        target, other = merge.names
        ends = {groups.leader(target), groups.leader(other)}
        first = row_names.get(groups.leader(target)) or row_names.get(groups.leader(other), target)
        is_barred = any({groups.leader(a), groups.leader(b)} == ends for a, b in distinct)
        if (is_barred and len(ends) > 1) or not groups.join(target, other):
            apart[merge.id].add(other)
        elif len(ends) > 1:
            row_names[groups.leader(target)] = first


def _rows(
    groups: _Groups, names: dict[str, str], claims: Sequence[Contribution], limit: int
) -> dict[str, list[Contribution]]:
    members: dict[str, list[Contribution]] = defaultdict(list)
    for claim in sorted(claims, key=lambda claim: claim.id):
        members[groups.leader(claim.names[0])].append(claim)
    rows: dict[str, list[Contribution]] = defaultdict(list)
    for leader, group in members.items():
        is_thing = len({claim.names[0] for claim in group}) <= limit
        for claim in group:
            rows[names.get(leader, claim.names[0]) if is_thing else claim.names[0]].append(claim)
    return rows


def _contested_names(
    kind: RowKind, named_claims: Iterable[_NamedClaim], distinct: Sequence[Sequence[str]]
) -> set[str]:
    """The legal names that two companies have, by what they have of exclusive schemes."""
    marks: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    owners: dict[str, set[str]] = defaultdict(set)
    for claim, claim_marks, _ in named_claims:
        if key := claim.said.get("registered"):
            name = kind.derived(key)
            owners[name].update(claim.names)
            for scheme, mark in claim_marks.items():
                marks[name][scheme].add(mark)
    split = {name for name, own in owners.items() if any(own.issuperset(two) for two in distinct)}
    return split | {
        name for name, values in marks.items() if any(len(v) > 1 for v in values.values())
    }


def _weight(kind: RowKind, claim: Contribution) -> tuple[int, str]:
    return kind.rules.rank(claim.format), claim.id


def _age(kind: RowKind, claim: Contribution) -> tuple[int, datetime, str]:
    return kind.strength(claim.key), claim.since or claim.stated_at, claim.names[0]


def _exclusive_names(kind: RowKind, claim: Contribution) -> tuple[dict[str, str], set[str]]:
    """The names that a contribution has of exclusive schemes, and those that doubt each other."""
    values: dict[str, list[str]] = defaultdict(list)
    designators = [(item["scheme"], item["value"]) for item in claim.said.get("designators") or ()]
    key = tuple(claim.key.split(":", 1)) if ":" in claim.key else ("cve", claim.key)
    for scheme, value in dict.fromkeys([key, *designators]):
        if scheme in kind.exclusive:
            values[scheme].append(kind.derived(value if scheme == "cve" else f"{scheme}:{value}"))
    doubtful = {name for names in values.values() if len(names) > 1 for name in names}
    marks = {scheme: names[0] for scheme, names in values.items() if len(names) == 1}
    own = {scheme: claim.names[0] for scheme, names in values.items() if claim.names[0] in names}
    return marks | own, doubtful


def shared_names(contributions: Iterable[Contribution], limit: int) -> set[str]:
    """The names that more than so many rows have beside that of their own key."""
    owners: dict[str, set[str]] = defaultdict(set)
    for claim in contributions:
        for name in () if claim.pair else claim.names[1:]:
            owners[name].add(claim.names[0])
    return {name for name, rows in owners.items() if len(rows) > limit}
