"""What was believed when, and for when: each statement over record time and valid time.

Rule 1: a cell says the same as the fold at every point in it: the statement is in force, in this
        state, and contested where another value of a single-valued predicate is in force as well.
Rule 2: cells of one statement do not overlap, and outside of them it is not in force.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Final

from attrs import evolve, frozen

from svc_core.ledger.fold.claims import value_text
from svc_core.ledger.fold.segments import NEVER, Periods, union
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.fold.states import State
from svc_core.ledger.predicates import is_single
from svc_core.ledger.records import STATEMENTS, Record

STATEMENTS_MAX: Final = 400
"""Statements that are looked at, the newest; many more than anybody can look at in one picture."""
STEPS_MAX: Final = 48
"""Record times that are told apart, the newest: at 64 pixels a row more would be thinner than one
pixel each. What was believed before is shown as it was at the first of them."""

WORK_MAX: Final = 100_000
"""Records times record times that are looked at, half a second; of a subject with very many
records fewer record times are told apart."""


@frozen
class Cell:
    """From `since` on and before `until` (None: to the end) a statement held at `periods`.

    `contested` are those of them at which another value was held as well, `ended` those at which
    it holds no longer after `until`.
    """

    since: str
    until: str | None
    periods: Periods
    state: State
    contested: Periods = NEVER
    ended: Periods = NEVER


@frozen(slots=False)
class Belief:
    """A statement, what it was believed to hold for, and the records that act on it."""

    record: Record
    cells: tuple[Cell, ...]
    acts: tuple[Record, ...]

    @cached_property
    def predicate(self) -> str | None:
        """What a claim says something of; None for other kinds and where it is not known."""
        name = (self.record.payload or {}).get("predicate")
        return name if self.record.kind == "claim" and isinstance(name, str) else None

    @cached_property
    def value(self) -> str | None:
        """The canonical text of the value of a claim; None where it has none."""
        return value_text((self.record.payload or {}).get("value"))


@frozen
class Beliefs:
    """The newest statements about a subject, oldest first; how many there are besides.

    `moments` are the record times that are told apart, ascending; `earlier` counts those before.
    """

    shown: tuple[Belief, ...]
    omitted: int
    moments: tuple[str, ...]
    earlier: int


def beliefs(records: Sequence[Record]) -> Beliefs:
    """What the visible records of one subject (in order of `seq`) were believed to say."""
    statements = [each for each in records if each.op in STATEMENTS]
    kept = {(each.seq, each.id) for each in statements[-STATEMENTS_MAX:]}
    trees = [tree for tree in _trees(records) if any((r.seq, r.id) in kept for r in tree)]
    moments = sorted({record.recorded_at for tree in trees for record in tree})
    steps = max(min(STEPS_MAX, WORK_MAX // max(len(records), 1)), 1)
    told_apart = tuple(moments[-steps:])
    found = [
        each
        for tree in trees
        for each in _of_tree(tree, told_apart)
        if (each.record.seq, each.record.id) in kept
    ]
    found.sort(key=lambda each: (each.record.seq, each.record.id))
    return Beliefs(
        tuple(_with_contests(found, told_apart)),
        len(statements) - len(kept),
        told_apart,
        len(moments) - len(told_apart),
    )


def intersection(one: Periods, other: Periods) -> Periods:
    """The valid times that are in both."""
    return ~union([~one, ~other])


def spans(periods: Periods) -> list[tuple[str | None, str | None]]:
    """The intervals of a set of valid times, ascending; None is an open side."""
    bounds = [None, *periods.changes] if periods.starts_inside else list(periods.changes)
    ends = [*bounds, None] if len(bounds) % 2 else bounds
    return list(zip(ends[::2], ends[1::2], strict=True))


# -- one statement -----------------------------------------------------------------------------


def _trees(records: Iterable[Record]) -> list[list[Record]]:
    """The records in families: an assertion, what acts on it, what acts on that."""
    roots: dict[str, str] = {}
    found: dict[str, list[Record]] = {}
    for record in records:
        root = roots.get(record.target or "", record.id)
        roots.setdefault(record.id, root)
        found.setdefault(roots[record.id], []).append(record)
    return list(found.values())


def _of_tree(tree: list[Record], moments: Sequence[str]) -> list[Belief]:
    first = moments[0]
    times = sorted({max(each.recorded_at, first) for each in tree})
    cells: dict[tuple[int, str], list[Cell]] = {}
    for since in times:
        standing = Standing(tuple([each for each in tree if each.recorded_at <= since]))
        displaced = _displaced(standing)
        for record in standing.records:
            if record.op in STATEMENTS:
                held = (~displaced[record.seq, record.id]).within(
                    record.valid_from, record.valid_to
                )
                cell = Cell(since, None, held, standing.verdicts(record).state)
                cells.setdefault((record.seq, record.id), []).append(cell)
    return [
        Belief(record, tuple(cells[record.seq, record.id]), _acts(tree, record))
        for record in tree
        if record.op in STATEMENTS
    ]


def _displaced(standing: Standing) -> Mapping[tuple[int, str], Periods]:
    """Where in valid time each record is displaced."""
    found: dict[tuple[int, str], Periods] = {}
    for record in reversed(standing.records):
        hit = standing.displacements.get((record.seq, record.id))
        effects = [_effect(by, found[by.seq, by.id]) for by in hit.by] if hit else []
        found[record.seq, record.id] = union(effects) if effects else NEVER
    return found


def _effect(by: Record, displaced: Periods) -> Periods:
    if by.op == "supersede":
        return ~displaced
    return (~displaced).within(by.valid_from, by.valid_to)


def _acts(tree: list[Record], record: Record) -> tuple[Record, ...]:
    """What acts on a record, and what acts on that."""
    direct = [each for each in tree if each.target == record.id]
    ids = {each.id for each in direct}
    return tuple([each for each in tree if each.target == record.id or each.target in ids])


# -- statements against each other -------------------------------------------------------------


def _with_contests(found: Sequence[Belief], moments: Sequence[str]) -> list[Belief]:
    rivals: dict[str, list[Belief]] = {}
    for each in found:
        if each.predicate is not None and each.value is not None and is_single(each.predicate):
            rivals.setdefault(each.predicate, []).append(each)
    contested: dict[str, list[tuple[str, Periods]]] = {
        name: [(at, _contest(claims, at)) for at in moments]
        for name, claims in rivals.items()
        if len({each.value for each in claims}) > 1
    }
    return [
        evolve(each, cells=_joined(_cut(each.cells, contested.get(each.predicate or "", []))))
        for each in found
    ]


def _contest(claims: Sequence[Belief], at: str) -> Periods:
    """The valid times at which several values were held at a record time."""
    held: dict[str | None, list[Periods]] = {}
    for claim in claims:
        cell = _at(claim.cells, at)
        if cell is not None and cell.state != "refuted" and cell.periods != NEVER:
            held.setdefault(claim.value, []).append(cell.periods)
    once = twice = NEVER
    for periods in map(union, held.values()):
        twice = union([twice, intersection(once, periods)])
        once = union([once, periods])
    return twice


def _at(cells: Sequence[Cell], at: str) -> Cell | None:
    """The last of the cells that had begun by a record time."""
    index = bisect_right(cells, at, key=attrgetter("since"))
    return cells[index - 1] if index else None


def _cut(cells: Sequence[Cell], contests: list[tuple[str, Periods]]) -> list[Cell]:
    """The cells, cut wherever what is contested changes as well."""
    if not contests:
        return list(cells)
    found = []
    for at, contest in contests:
        cell = _at(cells, at)
        if cell is not None:
            where = NEVER if cell.state == "refuted" else intersection(cell.periods, contest)
            found.append(evolve(cell, since=at, contested=where))
    return found


def _joined(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The cells without those that only go on, each with its end; empty ones are left out."""
    distinct: list[Cell] = []
    for each in cells:
        if not distinct or evolve(each, since=distinct[-1].since) != distinct[-1]:
            distinct.append(each)
    found = []
    for each, after in zip(distinct, [*distinct[1:], None], strict=True):
        if each.periods != NEVER:
            ended = NEVER if after is None else intersection(each.periods, ~after.periods)
            until = None if after is None else after.since
            found.append(evolve(each, until=until, ended=ended))
    return tuple(found)
