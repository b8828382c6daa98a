"""Stored items as a collection of texts: how common a term is, which items hold which terms.

Rule 1: counts are exact: those of every item that is stored with its terms, changed in the unit of
        work that writes the item. The units of one writer run as if one after another, so there is
        nothing to reconcile.
Rule 2: a unit writes what it changed as one small segment; eight segments of a level are merged
        into one of the next, apart from intake (`to_merge`, `merged`). A table is the sum of its
        segments, so a reader asks only for those that it does not know.
Rule 3: the name of a table (`Frequencies.version`) follows from the items that are counted in it,
        in whatever order and units they came.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final, TypeVar, Unpack

import attrs
from attrs import define, field, frozen

from svc_core.operation.context import Context
from svc_core.operation.ports import Collection, Document, Filters, Scope
from svc_core.text.frequencies import Frequencies

T = TypeVar("T")

FAN: Final = 8
"""Segments of one level that are merged into one: a table has few segments, and each count is
written again once a level, which is five times for 100,000 items."""
MERGED_MAX: Final = 64
"""Segments merged at once, where nobody merged for long: as much text as a large segment has."""
POSTINGS_MAX: Final = 10_000
"""Places in the text index that one search walks: about 20 ms. See `_telling`."""
WINDOW_MAX: Final = 10_000
"""Items of a window that are counted; one of more is taken for the whole store."""
BEST_MAX: Final = 300
"""Candidates of so many items: reading and ranking them takes about 30 ms."""
WEIGHT: Final = 1_000_000
WEIGHT_MAX: Final = 1_000_000_000
"""Weights of terms are handed to the store in millionths, up to what it takes."""
_MARKS: Final = 2**64
_STATE: Final = "terms"


@frozen
class TermSegment:
    """A part of a table: where its counts are, and how often it was merged."""

    id: str
    level: int = 0


@frozen
class TermState:
    """A table: its segments, of how many items, and the sum of their marks as 16 hex digits.

    `made` is how many segments were ever made.
    """

    id: str = _STATE
    segments: tuple[TermSegment, ...] = ()
    total: int = 0
    mark: str = "0" * 16
    made: int = 0

    def segment(self, seed: str, level: int = 0) -> TermSegment:
        """The next segment; its name is its own, also after a unit that was undone."""
        return TermSegment(sha256(f"{self.made} {seed}".encode()).hexdigest()[:24], level)


@frozen
class TermCounts:
    """The counts of one segment: a line for each count, which begins it, then its terms.

    A count is below 0 where items lost more terms than they gained.
    """

    id: str
    lines: str


@frozen
class Corpus:
    """Where the table of some texts is kept: one for everybody, or one for each tenant."""

    state: Collection[TermState]
    counts: Collection[TermCounts]

    @classmethod
    def of(cls, scope: Scope, prefix: str = "") -> "Corpus":
        """The corpus whose collections have names with this prefix."""
        table: Any = partial(Collection, prefix="", order=lambda _: 0, scope=scope)
        return cls(
            table(name=f"{prefix}terms", model=TermState),
            table(name=f"{prefix}term_counts", model=TermCounts),
        )


# -- counting (in the unit that writes the items) ----------------------------------------------


@frozen
class TermChange:
    """The terms of one item before and after; None where it had or has none."""

    id: str
    before: str | None
    after: str | None


async def count(ctx: Context, changes: Sequence[TermChange], corpus: Corpus) -> None:
    """Count what changed, in the unit of work that changes it."""
    total, marks = 0, 0
    counts: dict[str, int] = {}
    for change in changes:
        for sign, terms in ((-1, change.before), (1, change.after)):
            if terms is None:
                continue
            total += sign
            marks += sign * _mark(change.id, terms)
            for term in set(terms.split()):
                counts[term] = counts.get(term, 0) + sign
    if not (total or marks):
        return
    state = await ctx.find(corpus.state, _STATE) or TermState()
    lines = _lines(counts)
    segment = state.segment(lines)
    await ctx.save(corpus.counts, segment.id, TermCounts(segment.id, lines))
    after = attrs.evolve(
        state,
        segments=(*state.segments, segment),
        total=state.total + total,
        mark=f"{(int(state.mark, 16) + marks) % _MARKS:016x}",
        made=state.made + 1,
    )
    await ctx.save(corpus.state, _STATE, after)


def _mark(id_: str, terms: str) -> int:
    """What an item and its terms add to the name of a table."""
    return int.from_bytes(sha256(f"{id_}\n{terms}".encode()).digest()[:8], "big")


def _lines(counts: Mapping[str, int]) -> str:
    """The stored form of counts; terms without one are left out."""
    by_count: dict[int, list[str]] = {}
    for term, number in sorted(counts.items()):
        if number:
            by_count.setdefault(number, [str(number)]).append(term)
    return "\n".join(" ".join(line) for _, line in sorted(by_count.items()))


def _add(counts: dict[str, int], lines: str, sign: int = 1) -> None:
    """Add a segment to counts, or take it off."""
    for line in lines.splitlines():
        number, *terms = line.split(" ")
        change = sign * int(number)
        for term in terms:
            after = counts.get(term, 0) + change
            if after:
                counts[term] = after
            else:
                del counts[term]


# -- merging (a read unit, work aside, a write unit) -------------------------------------------


@frozen
class Merge:
    """Segments of one level, and, once it is made, the one that takes their place."""

    parts: tuple[TermSegment, ...]
    lines: tuple[str, ...] = field(repr=False)
    corpus: Corpus

    def made(self) -> str:
        """The counts of all parts, to be made aside from any unit of work."""
        counts: dict[str, int] = {}
        for lines in self.lines:
            _add(counts, lines)
        return _lines(counts)


async def to_merge(ctx: Context, corpus: Corpus) -> Merge | None:
    """Segments that are to become one; None where there are few of every level."""
    state = await ctx.find(corpus.state, _STATE) or TermState()
    for level in sorted({segment.level for segment in state.segments}):
        parts = tuple(part for part in state.segments if part.level == level)[:MERGED_MAX]
        if len(parts) >= FAN:
            counts = await ctx.find_many(corpus.counts, [part.id for part in parts])
            return Merge(parts, tuple(part.lines for part in counts.values()), corpus)
    return None


async def merged(ctx: Context, merge: Merge, lines: str) -> bool:
    """Put one segment in the place of its parts; False where somebody else was first."""
    corpus = merge.corpus
    state = await ctx.find(corpus.state, _STATE) or TermState()
    if not set(merge.parts) <= set(state.segments):
        return False
    for part in merge.parts:
        await ctx.tx.documents.delete(corpus.counts, part.id)
    target = state.segment(" ".join(part.id for part in merge.parts), merge.parts[0].level + 1)
    await ctx.save(corpus.counts, target.id, TermCounts(target.id, lines))
    rest = (segment for segment in state.segments if segment not in merge.parts)
    after = attrs.evolve(state, segments=(target, *rest), made=state.made + 1)
    await ctx.save(corpus.state, _STATE, after)
    return True


# -- reading -----------------------------------------------------------------------------------


@define(eq=False)
class Tables:
    """The tables that a process remembers, each with its segments; a host lends it.

    A table is never changed once it is given out, so it may be used by any thread.
    """

    by_owner: dict[tuple[str, str], tuple[Mapping[str, str], Frequencies]] = field(factory=dict)


_TABLES_MAX: Final = 16
"""Tables remembered by a process: that of all items, and those of the tenants that asked last."""


async def frequencies(ctx: Context, corpus: Corpus) -> Frequencies:
    """How common terms are among the items that are stored now."""
    state = await ctx.find(corpus.state, _STATE) or TermState()
    tables: Tables = ctx.host.lends.get(Tables) or Tables()
    owner = (corpus.state.name, ctx.actor.tenant if corpus.state.scope == "tenant" else "")
    before, table = tables.by_owner.get(owner, ({}, Frequencies(version=state.mark)))
    missing = [segment.id for segment in state.segments if segment.id not in before]
    fresh = {id_: part.lines for id_, part in (await ctx.find_many(corpus.counts, missing)).items()}
    lines = {**before, **fresh}
    current = {segment.id: lines[segment.id] for segment in state.segments}
    if current.keys() != before.keys():
        counts = dict(table.counts)
        for text in fresh.values():
            _add(counts, text)
        for id_ in before.keys() - current.keys():
            _add(counts, before[id_], -1)
        table = Frequencies(state.total, counts, state.mark)
        tables.by_owner.pop(owner, None)
        for oldest in list(tables.by_owner)[: len(tables.by_owner) - _TABLES_MAX + 1]:
            tables.by_owner.pop(oldest, None)
        tables.by_owner[owner] = current, table
    return table


async def candidates(
    ctx: Context,
    terms: Mapping[str, float],
    table: Frequencies,
    *,
    texts: Collection[T],
    limit: int,
    **filters: Unpack[Filters],
) -> tuple[Document[T], ...]:
    """At most `limit` items that hold any of the terms, those with the most telling ones first.

    Of `WINDOW_MAX` items and more they are at most `BEST_MAX`.

    `terms` are those of a question with a factor on the weight of each; the `filters` are those of
    `Documents.search`.
    """
    documents = ctx.tx.documents
    items, share = table.total, 1.0
    if any(edge is not None for edge in filters.values()):
        items = await documents.count(texts, limit=WINDOW_MAX, **filters)
        share = 1.0 if items >= WINDOW_MAX else items / max(items, table.total, 1)
    if items >= WINDOW_MAX:
        limit = min(limit, BEST_MAX)
    weights = weighed(_rarest(terms, table, share), table)
    page = await documents.search(texts, weights, limit=limit, **filters)
    return page.rows


def weighed(terms: Mapping[str, float], table: Frequencies) -> dict[str, int]:
    """What holding each term weighs, by how rare it is among all items, times its factor."""
    return {
        term: max(1, min(WEIGHT_MAX, round(table.idf(term) * factor * WEIGHT)))
        for term, factor in terms.items()
    }


def _rarest(terms: Mapping[str, float], table: Frequencies, share: float) -> Mapping[str, float]:
    """The terms that candidates are sought by: the rarest, until the index has enough of them.

    `share` is the part of all items that is looked at. An item that holds none but the commonest
    words of a question is not about it where the rarer ones have thousands of items.
    """
    choice: dict[str, float] = {}
    postings = 0.0
    for term in sorted(terms, key=lambda term: (table.counts.get(term, 0), term)):
        postings += share * table.counts.get(term, 0)
        if choice and postings > POSTINGS_MAX:
            break
        choice[term] = terms[term]
    return choice
