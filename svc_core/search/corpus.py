"""Counts in how many stored items each term occurs, and finds the items that hold given terms.

Rule 1: counts are exact: they cover every item that is stored with its terms, and change in the
        unit of work that writes the item. Units of one writer run as if one after another, so
        there is nothing to reconcile.
Rule 2: a unit writes its changes as one small segment; eight segments of one level are merged into
        one of the next level, apart from intake (`next_merge`, `apply_merge`).
Rule 3: the version of a table (`Frequencies.version`) depends only on which items are counted in
        it, not on the order or the units of work in which they came.
"""

# The counts are kept like a log-structured merge tree:
#
#   level 0   | unit | unit | unit | ...      each unit of work appends the counts that it changed
#   level 1   |      eight of them      |     a worker adds up FAN segments into one
#   level 2   |              eight of those              |
#
# A segment maps terms to changes of their counts, so a table is the sum of its segments in any
# order. One row (`TermState`) names the segments; it is rewritten by every unit, which is cheap as
# it never names many more than FAN segments for each level. A removed item appends negative counts.
#
# Why not one row for each term: a unit of 200 items changes some 3,000 of them. Why not one row for
# all: every unit would rewrite a megabyte. With segments each count is rewritten once per level,
# five times for 100,000 items, and a reader that remembers a table fetches only the segments that
# are new to it.
#
# A merge reads and adds up outside of the unit that writes it (`Merge.sum_lines`), so intake is not
# held up. When two workers merge the same segments, the second finds that they are no longer named
# and changes nothing (`apply_merge`).
#
# The mark of a table is the sum, modulo 2**64, of a hash of every item with its terms. Addition
# forgets the order, so two stores with the same items have the same mark; and an update subtracts
# exactly what was added, because an item's terms are stored with it. A report names the mark, and
# so says on which counts its ranking rests.
#
# Weak spot: a change of the function that makes terms changes what would be subtracted, so terms
# must then be computed and counted anew for all items.

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any, Final, TypeVar, Unpack

import attrs
from attrs import define, field, frozen

from svc_core.operation.context import Context
from svc_core.operation.ports import Collection, Filters, Scope, StoredRow
from svc_core.text.frequencies import Frequencies

T = TypeVar("T")
K = TypeVar("K", str, tuple[int, str])

FAN: Final = 8
"""How many segments of one level are merged into one segment of the next."""
MERGED_MAX: Final = 64
"""Segments merged at once after no worker ran for long: as much text as one large segment."""
POSTINGS_MAX: Final = 10_000
"""Postings of the text index that one search reads: about 20 ms. See `rarest`."""
WINDOW_MAX: Final = 10_000
"""Items of a filtered window that are counted; a larger window counts as the whole store."""
BEST_MAX: Final = 300
"""Candidates in a window of `WINDOW_MAX` items: reading and ranking them takes about 30 ms."""
WEIGHT: Final = 1_000_000
WEIGHT_MAX: Final = 1_000_000_000
"""Weights of terms are handed to the store in millionths, up to what it takes."""
_MARKS: Final = 2**64
_STATE: Final = "terms"


@frozen
class TermSegment:
    """A part of a table: the id of its counts, and its level, which is how often it was merged."""

    id: str
    level: int = 0


@frozen
class TermState:
    """The state of a table: its segments, the number of items, and its mark as 16 hex digits.

    `made` counts the segments that were ever made.
    """

    id: str = _STATE
    segments: tuple[TermSegment, ...] = ()
    total: int = 0
    mark: str = "0" * 16
    made: int = 0

    def segment(self, seed: str, level: int = 0) -> TermSegment:
        """The next segment; its id is new, also after a unit of work that was rolled back."""
        return TermSegment(sha256(f"{self.made} {seed}".encode()).hexdigest()[:24], level)


@frozen
class TermCounts:
    """The counts of one segment: each line is a count followed by the terms that have it.

    A count is negative where the unit removed a term from more items than it added it to.
    """

    id: str
    lines: str


@frozen
class Corpus:
    """The two collections in which the table of some texts is kept, shared or for each tenant."""

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
    """Add the changes of some items to the table, in the unit of work that writes the items."""
    total, marks, counts = 0, 0, Counter[str]()
    for change in changes:
        for sign, terms in ((-1, change.before), (1, change.after)):
            if terms is not None:
                total += sign
                marks += sign * _mark(change.id, terms)
                counts.update(dict.fromkeys(terms.split(), sign))
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
    """What an item and its terms add to the mark of a table: a hash of 64 bits."""
    return int.from_bytes(sha256(f"{id_}\n{terms}".encode()).digest()[:8], "big")


def _lines(counts: Mapping[str, int]) -> str:
    """The stored form of counts; terms whose count is 0 are left out."""
    pairs = sorted((number, term) for term, number in counts.items() if number)
    groups = groupby(pairs, key=itemgetter(0))
    return "\n".join(" ".join([str(n), *(term for _, term in group)]) for n, group in groups)


def _add(counts: dict[str, int], lines: str, sign: int = 1) -> None:
    """Add the lines of a segment to counts in place, or subtract them with a `sign` of -1."""
    for line in lines.splitlines():
        number, *terms = line.split(" ")
        change = sign * int(number)
        for term in terms:
            counts[term] = counts.get(term, 0) + change
            if not counts[term]:
                del counts[term]


# -- merging (a read unit, work aside, a write unit) -------------------------------------------


@frozen
class Merge:
    """Segments of one level that are to be replaced by a single segment."""

    parts: tuple[TermSegment, ...]
    lines: tuple[str, ...] = field(repr=False)
    corpus: Corpus

    def sum_lines(self) -> str:
        """The counts of all parts added up; runs outside of units of work."""
        counts: dict[str, int] = {}
        for lines in self.lines:
            _add(counts, lines)
        return _lines(counts)


async def next_merge(ctx: Context, corpus: Corpus) -> Merge | None:
    """The next merge of a corpus; None where no level has `FAN` segments."""
    state = await ctx.find(corpus.state, _STATE) or TermState()
    for level in sorted({segment.level for segment in state.segments}):
        parts = tuple(part for part in state.segments if part.level == level)[:MERGED_MAX]
        if len(parts) >= FAN:
            counts = await ctx.find_many(corpus.counts, [part.id for part in parts])
            return Merge(parts, tuple(part.lines for part in counts.values()), corpus)
    return None


async def apply_merge(ctx: Context, merge: Merge, lines: str) -> bool:
    """Replace the parts of a merge by one segment; False where another worker was first."""
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
    """The frequency tables that a process remembers, each with the lines of its segments.

    The host lends this object to units of work. A table is never changed after it was returned,
    so any thread may use it.
    """

    by_owner: dict[tuple[str, str], tuple[Mapping[str, str], Frequencies]] = field(factory=dict)


_TABLES_MAX: Final = 16
"""Tables that a process remembers: the shared ones, and those of the last tenants that searched."""


async def term_frequencies(ctx: Context, corpus: Corpus) -> Frequencies:
    """The frequencies of terms among the items that are stored now."""
    state = await ctx.find(corpus.state, _STATE) or TermState()
    tables: Tables = ctx.host.providers.get(Tables) or Tables()
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


async def candidate_ids(
    ctx: Context,
    terms: Mapping[str, float],
    table: Frequencies,
    *,
    texts: Collection[T],
    limit: int,
    **filters: Unpack[Filters],
) -> tuple[StoredRow[T], ...]:
    """At most `limit` items that hold any of the terms, ranked by the weight of their terms.

    `terms` maps each term of a question to a factor of its weight; `filters` are those of
    `Documents.search`. In a window of `WINDOW_MAX` items and more there are at most `BEST_MAX`.
    """
    items = await items_within(ctx, table, texts=texts, **filters)
    share = 1.0 if items >= WINDOW_MAX else items / max(items, table.total, 1)
    limit = min(limit, BEST_MAX) if items >= WINDOW_MAX else limit
    sought = rarest({term: share * table.counts.get(term, 0) for term in terms})
    weights = term_weights({term: terms[term] for term in sought}, table)
    page = await ctx.tx.documents.search(texts, weights, limit=limit, **filters)
    return page.rows


async def items_within(
    ctx: Context, table: Frequencies, *, texts: Collection[T], **filters: Unpack[Filters]
) -> int:
    """How many items the filters leave, counted up to `WINDOW_MAX`; all where there are none."""
    if all(edge is None for edge in filters.values()):
        return table.total
    return await ctx.tx.documents.count(texts, limit=WINDOW_MAX, **filters)


def term_weights(
    terms: Mapping[str, float], table: Frequencies, unit: int = WEIGHT
) -> dict[str, int]:
    """The weight of each term in parts of a `unit`: its rarity among all items times its factor."""
    weights = {term: round(table.idf(term) * factor * unit) for term, factor in terms.items()}
    return {term: max(1, min(WEIGHT_MAX, weight)) for term, weight in weights.items()}


async def holders(
    ctx: Context, texts: Collection[Any], tokens: Iterable[str], limit: int
) -> dict[str, int]:
    """How many rows hold each of these tokens, counted up to a limit."""
    count = ctx.tx.documents.count
    return {token: await count(texts, limit=limit, words=(token,)) for token in tokens}


def rarest(counts: Mapping[K, float], limit: int = POSTINGS_MAX) -> list[K]:
    """The words by which rows are sought, of which so many rows hold each: the rarest, up to so
    many postings in all.

    A row that holds only the commonest words of a question is not about it where the rarer words
    occur in thousands of rows. There is always one word, whatever it costs.
    """
    words = sorted(counts, key=lambda word: (counts[word], word))
    sums = accumulate(counts[word] for word in words)
    return [
        word for at, (word, n) in enumerate(zip(words, sums, strict=True)) if not at or n <= limit
    ]
