"""Groups contributions into rows: decides which of them are about one thing.

Each contribution has names: the row ids that its own key and the other keys of its record give.

Rule 1: contributions with a name in common make one row. Its id is the name of its strongest own
        key; of equally strong keys the one that its source stated first.
Rule 2: a thing has at most one name of an exclusive scheme, such as an LEI. A contribution with two
        is joined by neither. A link that would give one row two is refused; the name belongs to the
        stronger contribution, and stands in `apart` of the other.
Rule 3: a name that very many rows have beside their own (`0000`) joins nothing.
Rule 4: a shared name, such as the legal name in a register, joins nothing where two things have it,
        or where the operator says that its bearers are distinct.
Rule 5: last, the operator's merges join, except where Rule 2 or a `distinct` of his forbids it. The
        merged row has the id of the row that the other was merged into.
"""

# Why a union-find with refusals, and why its result does not depend on the order of reading
#
# Names are nodes, and a contribution is an edge from its own name to each of its other names. A row
# would be a connected component of that graph, which is a pure function of the edges: whatever was
# read first, the components are the same, and when a source withdraws an edge, what it alone held
# together falls apart. That is why a row is never merged in place: every write that touches a
# component computes it again from the contributions.
#
# Components alone are not enough for companies and people: one wrong id in one collection joins
# two listed companies with all that is known of either. Three cures were weighed.
#
#   1. Undo a component that has two LEIs. Nothing false is shown, but one wrong statement parts two
#      right rows apart from everything that they were joined with.
#   2. Join by likeness of names. Measured on vendors and issuers, nearly all that likeness adds is
#      wrong; such pairs are shown to a person as candidates, and join nothing.
#   3. Take the edges in a stated order and refuse the one that would put two names of an exclusive
#      scheme into one set. This is what stands here: the stronger format's statement holds, the
#      weaker one is told apart, and nothing else is lost.
#
# For 3 to be a pure function the order must be one of the contributions, never of arrival:
#
#   - edges of sources by (rank of format, id of contribution): `_weight`;
#   - then merges of the operator by (when he said it, id), so a designator that arrives later is
#     still heard before him;
#   - the id of a row by (rank of the key's scheme, earliest stamp, name): `_age`. `since` is kept
#     over readings, so that a row does not change its id because a source restamped its record.
#
# `NameSets` (`svc_core.intel.folding.union`) keeps of each set its one name of each exclusive
# scheme, and refuses to join two sets whose names contradict each other.
#
# `muted_names` never become edges: names that too many rows share, and contested shared names. They
# must be known before the first edge is taken, or the result would depend on when a name turned out
# to be common. For the same reason `common` also counts what is stored and not among `claims`.
#
# What is weak: of two wrong statements of equally strong formats the one with the lower id wins,
# which is stable and otherwise arbitrary. A set with more than `limit` own keys is given up as a
# whole and each contribution stands under its own key, as a chain of that length is no thing.
# `tests/core/intel/intake/test_settling.py` checks the laws over random statements and orders.

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime

from attrs import frozen

from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.deltas import with_changes
from svc_core.intel.folding.kind import RowKind
from svc_core.intel.folding.union import NameSets, shared_names

_NamedClaim = tuple[Contribution, Mapping[str, str], Set[str]]
"""A contribution, its one name of each exclusive scheme, and names that contradict each other."""


@frozen
class Grouping:
    """The contributions of each row id, and the names that each contribution was refused."""

    rows: dict[str, list[Contribution]]
    apart: dict[str, set[str]]


def group_claims(
    kind: RowKind, claims: Sequence[Contribution], common: Set[str], limit: int
) -> Grouping:
    """The rows that contributions make; names in `common`, or of over `limit` rows, join none."""
    originals = {claim.id: claim for claim in claims}
    claims = with_changes(claims)
    muted_names = common | shared_names(other_names(claims), limit)
    groups, refusals = NameSets(), defaultdict[str, set[str]](set)
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
        muted = muted_names | doubtful if doubtful else muted_names
        refusals[claim.id] = groups.bear(claim.names[0], claim.names[1:], muted)
    row_names: dict[str, str] = {}
    for claim in sorted(by_weight, key=lambda claim: _age(kind, claim)):
        row_names.setdefault(groups.leader(claim.names[0]), claim.names[0])
    merges = [claim for claim in pairs if claim.pair == "merge"]
    _join_merges(groups, row_names, refusals, merges, distinct)
    rows = _rows(groups, row_names, claims, limit)
    return Grouping({row: [originals[c.id] for c in part] for row, part in rows.items()}, refusals)


def _join_merges(
    groups: NameSets,
    row_names: dict[str, str],
    apart: dict[str, set[str]],
    merges: Sequence[Contribution],
    distinct: Sequence[Sequence[str]],
) -> None:
    """Join what the operator merged, in the order in which he said it."""
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
    groups: NameSets, names: dict[str, str], claims: Sequence[Contribution], limit: int
) -> dict[str, list[Contribution]]:
    by_id = sorted(claims, key=lambda claim: claim.id)
    members = groups.parts(by_id, lambda claim: claim.names[0])
    rows: dict[str, list[Contribution]] = defaultdict(list)
    for leader, group in members.items():
        is_thing = len({claim.names[0] for claim in group}) <= limit
        for claim in group:
            rows[names.get(leader, claim.names[0]) if is_thing else claim.names[0]].append(claim)
    return rows


def _contested_names(
    kind: RowKind, named_claims: Iterable[_NamedClaim], distinct: Sequence[Sequence[str]]
) -> set[str]:
    """The shared names that join nothing, as two different things have them."""
    marks: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    owners: dict[str, set[str]] = defaultdict(set)
    for claim, claim_marks, _ in named_claims:
        if name := kind.shared_name(claim):
            owners[name].update(claim.names)
            for scheme, mark in claim_marks.items():
                marks[name][scheme].add(mark)
    split = {name for name, ids in owners.items() if any(ids.issuperset(two) for two in distinct)}
    return split | {
        name for name, values in marks.items() if any(len(v) > 1 for v in values.values())
    }


def _weight(kind: RowKind, claim: Contribution) -> tuple[int, str]:
    return kind.rules.rank(claim.format), claim.id


def _age(kind: RowKind, claim: Contribution) -> tuple[int, datetime, str]:
    return kind.strength(claim.key), claim.since or claim.stated_at, claim.names[0]


def _exclusive_names(kind: RowKind, claim: Contribution) -> tuple[dict[str, str], set[str]]:
    """A contribution's one name of each exclusive scheme, and names that contradict each other."""
    values: dict[str, list[str]] = defaultdict(list)
    for scheme, name in kind.exclusive_names(claim):
        values[scheme].append(name)
    doubtful = {name for names in values.values() if len(names) > 1 for name in names}
    marks = {scheme: names[0] for scheme, names in values.items() if len(names) == 1}
    own_marks = {
        scheme: claim.names[0] for scheme, names in values.items() if claim.names[0] in names
    }
    return marks | own_marks, doubtful


def other_names(claims: Iterable[Contribution]) -> Iterator[tuple[str, Sequence[str]]]:
    """The own name of what each source says, and the other names that it gives."""
    return ((claim.names[0], claim.names[1:]) for claim in claims if not claim.pair)
