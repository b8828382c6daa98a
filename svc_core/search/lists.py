"""Lists that may be asked for by words: one page of rows, whatever narrows them.

Rule 1: weights follow from how many rows hold a word, counted up to a bound, when the first page is
        asked for; its cursor carries them, so that pages join while rows come in.
Rule 2: what the store cannot filter by is looked for among what it gives, a bounded number of rows
        for one page: a page may be short, and its cursor goes on.
Rule 3: with a question and a sort, the best rows are sorted, a bounded number of them.
Rule 4: a word that very many rows hold is asked for only where no rarer one is; rows that hold it
        then come in the order of the list, as it tells none from another.
Rule 5: where the words of rows are kept beside them, those are sought, and what the rows are
        narrowed to is looked at one by one (Rule 2).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

from attrs import field, frozen

from svc_core import wire
from svc_core.base.unset import Maybe, Unset, given
from svc_core.contract.result import Page
from svc_core.operation.context import Context
from svc_core.operation.declaration import QUERY
from svc_core.operation.filters import Listed
from svc_core.operation.members import NOT_BLANK
from svc_core.operation.ports import Bounds, Collection, Document, Position, Slice
from svc_core.operation.ports.documents import NO_NUMBER, Filters
from svc_core.search.listing import WEIGHT, Asked, Indexed, Match, Sought
from svc_core.text.frequencies import Frequencies
from svc_core.wire.constraints import Doc, Example, MaxLen

T = TypeVar("T")
_Pair = tuple[Document[T], Document[Any]]  # a row, and what holds its words
_Hit = tuple[Document[T], Match | None]
_Some = tuple[list[_Hit[T]], Position | None]

COUNTED_MAX = 10_000  # rows that hold a word: what more of them hold is no rarer
ROWS_MAX = 100_000  # that are counted: beside them few rows hold a word
SORTED_MAX = 200  # rows that a question finds, where they are sorted by something else
AT_ONCE, LOOKED_AT_MAX = 100, 1_000  # rows that are looked at for one page: about 0.2 s

Q = Annotated[
    Maybe[str],
    QUERY,
    MaxLen(300),
    NOT_BLANK,
    Doc(
        "Words that rows are sought by, the best first where no `sort` is asked for. `-word` "
        "excludes; words in quotation marks must stand side by side."
    ),
    Example("container port"),
]
Include = Annotated[Listed[Literal["match"]], Doc("`match` tells with `q` why each row was found.")]


@frozen(kw_only=True)
class Wanted(Generic[T]):
    """What a list is narrowed to beside a question, as `Context.page` takes it.

    `keep` says of a row whether it is one; `asked` are filters as they were sent whose values are
    looked up, or that `keep` goes by. It `is_sorted` where the order was asked for. `beside` are
    the rows that hold the words of these, by the same ids and no earlier in order.
    """

    where: Mapping[str, Maybe[str | tuple[str, ...]]]
    order: str | None = None
    is_sorted: bool = False
    keep: Callable[[T], bool] | None = None
    asked: Mapping[str, tuple[str, ...]] = field(factory=dict)
    bounds: Bounds = field(factory=Bounds)
    beside: Collection[Any] | None = None

    @property
    def sent(self) -> dict[str, tuple[str, ...]]:
        """The filters that were sent."""
        return {
            name: (value,) if isinstance(value, str) else value
            for name, value in self.where.items()
            if not isinstance(value, Unset)
        }

    @property
    def filters(self) -> Filters:
        """What the store narrows a list to."""
        return {"where": self.sent, **self.bounds}


async def page(
    ctx: Context, collection: Collection[T], indexed: Indexed[Any], request: Any, wanted: Wanted[T]
) -> Page[T]:
    """One page of what a request asks for by its `q`, `include`, `cursor` and `limit`.

    `indexed` reads the rows, or those beside them.

    Raises:
        Problem: INVALID_CURSOR when the cursor is not one of this list with these filters.
    """
    question = given(request.q, None)
    apart = {**wanted.sent, **wanted.asked, "q": (question or "", str(wanted.is_sorted))}
    binding = ctx.list_binding(apart, wanted.order, **wanted.bounds)
    sealed = [] if isinstance(request.cursor, Unset) else ctx.unsealed(request.cursor, binding)
    after = Position(*sealed[:3]) if sealed else None
    asked = None
    if question is not None:
        asked = await _weighed(
            ctx, wanted.beside or collection, indexed.sought(question), sealed[3:]
        )
    seen = _Seen(collection, indexed, wanted, asked)
    if seen.is_ranked and wanted.is_sorted:
        rows, end = await _sorted(ctx, seen, after, request.limit)
    else:
        rows, end = await _found(ctx, seen, after, request.limit)
    more = [] if end is None else [end.rank, *seen.weights]
    has_match = "match" in given(request.include, ())
    told = tuple(with_match(one.raw, why) if has_match else one.raw for one, why in rows)
    return Page(told, ctx.seal_cursor(end, binding, more))


def with_match(row: bytes, match: Match | None) -> bytes:
    """The row with why it was found; null where nothing was asked."""
    return b'%b,"match":%b}' % (row[:-1], wire.dumps(match))


@frozen
class _Seen(Generic[T]):
    """What is looked for, and in what."""

    collection: Collection[T]
    indexed: Indexed[Any]
    wanted: Wanted[T]
    asked: Asked | None

    @property
    def beside(self) -> Collection[Any] | None:
        """What holds the words of the rows, where it is not they."""
        return self.wanted.beside if self.asked is not None else None

    @property
    def is_ranked(self) -> bool:
        """Whether the store ranks the rows by a question."""
        return self.asked is not None and not self.asked.is_common

    @property
    def weights(self) -> list[int]:
        """What a cursor carries: if the question is common, then the weights of its tokens."""
        if self.asked is None:
            return []
        every = self.asked.sought.every
        return [int(self.asked.is_common), *(self.asked.weights.get(one, 0) for one in every)]

    async def fetch(
        self, ctx: Context, after: Position | None, limit: int
    ) -> tuple[list[_Pair[T]], Position | None]:
        """Some rows of the store, as far as that can tell, and where they go on."""
        documents = ctx.tx.documents
        part = await self._part(ctx, after, limit)
        if self.beside is None:
            return [(row, row) for row in part.rows], part.end
        ids = [row.id for row in part.rows]
        if self.is_ranked:
            rows = await documents.get_many(self.collection, ids)
            return [(rows[one.id], one) for one in part.rows if one.id in rows], part.end
        held = await documents.get_many(self.beside, ids)
        return [(row, held[row.id]) for row in part.rows if row.id in held], part.end

    async def _part(self, ctx: Context, after: Position | None, limit: int) -> Slice[Any]:
        filters, documents = self.wanted.filters, ctx.tx.documents
        if self.asked is None or not self.is_ranked:
            return await documents.scan(
                self.collection, order=self.wanted.order, after=after, limit=limit, **filters
            )
        if self.beside is not None:
            filters = {"start": filters.get("start")}
        sought = self.beside or self.collection
        return await documents.search(
            sought, self.asked.wanted, after=after, limit=limit, **filters
        )

    def judged(self, pair: _Pair[T]) -> tuple[bool, Match | None]:
        """Whether a row is one that is looked for, and why."""
        row, words = pair
        match = None
        if self.asked is not None:
            match = self.indexed.match(self._words(words), self.asked)
            if match is None:
                return False, None
        if self.beside is not None and self.is_ranked and not self._is_wanted(row):
            return False, None
        return self.wanted.keep is None or self.wanted.keep(self.collection.decode(row.raw)), match

    def _words(self, words: Document[Any]) -> Any:
        return (self.beside or self.collection).decode(words.raw)

    def _is_wanted(self, document: Document[T]) -> bool:
        """Whether a row that the store did not narrow is where it must lie."""
        row, filters = self.collection.decode(document.raw), self.wanted.filters
        numbers = [(document.order, (filters.get("start"), filters.get("end")))]
        for name, span in (filters.get("ranges") or {}).items():
            number = self.collection.numbers[name](row)
            numbers.append((NO_NUMBER if number is None else number, span))
        return all(
            (low is None or number >= low) and (high is None or NO_NUMBER < number <= high)
            for number, (low, high) in numbers
        ) and all(
            not set(values).isdisjoint(self._values(name, row))
            for name, values in self.wanted.sent.items()
        )

    def _values(self, name: str, row: T) -> Iterable[str | None]:
        facet, key = self.collection.facets.get(name), self.collection.keys.get(name)
        return facet(row) if facet else (key(row),) if key else ()

    def number(self, row: T) -> int:
        """What the list is sorted by."""
        if self.wanted.order is None:
            return self.collection.order(row)
        told = self.collection.numbers[self.wanted.order](row)
        return NO_NUMBER if told is None else told

    def place(self, pair: _Pair[T]) -> Position:
        """Where the list goes on after a row."""
        document, words = pair
        if self.asked is not None and self.is_ranked:
            rank = self.indexed.rank(self._words(words), self.asked)
            return Position(words.order, document.id, rank)
        return Position(self.number(self.collection.decode(document.raw)), document.id)

    def is_over(self, end: Position) -> bool:
        """Whether no row after this one can be about the question."""
        return self.asked is not None and self.is_ranked and end.rank < self.asked.least


async def _found(ctx: Context, seen: _Seen[T], after: Position | None, limit: int) -> _Some[T]:
    """Rows in their order, and where to go on."""
    rows: list[_Hit[T]] = []
    is_judged = seen.asked is not None or seen.wanted.keep is not None
    size = max(limit, AT_ONCE) if is_judged else limit
    for _ in range(0, LOOKED_AT_MAX, size):
        part, after = await seen.fetch(ctx, after, size)
        for at, pair in enumerate(part):
            is_one, match = seen.judged(pair)
            if is_one:
                rows.append((pair[0], match))
            if len(rows) == limit and at + 1 < len(part):
                is_over = seen.is_over(seen.place(part[at + 1]))
                return rows, None if is_over else seen.place(pair)
        if after is None or seen.is_over(after):
            return rows, None
        if len(rows) == limit:
            break
    return rows, after


async def _sorted(ctx: Context, seen: _Seen[T], after: Position | None, limit: int) -> _Some[T]:
    """The best rows in another order, and where to go on."""
    best, _ = await _found(ctx, seen, None, SORTED_MAX)
    placed = {
        document.id: (seen.number(seen.collection.decode(document.raw)), document.id)
        for document, _ in best
    }
    ranked = sorted(best, key=lambda hit: placed[hit[0].id], reverse=True)
    left = [hit for hit in ranked if after is None or placed[hit[0].id] < (after.order, after.id)]
    end = Position(*placed[left[limit - 1][0].id]) if len(left) > limit else None
    return left[:limit], end


async def _weighed(
    ctx: Context, collection: Collection[Any], sought: Sought, sealed: Sequence[int]
) -> Asked:
    """The question with the weights of its tokens, those that a cursor carries where it does."""
    is_common, *weights = sealed or await _counted(ctx, collection, sought)
    kept = {token: weight for token, weight in zip(sought.every, weights, strict=True) if weight}
    return Asked(sought, kept, bool(is_common))


async def _counted(ctx: Context, collection: Collection[Any], sought: Sought) -> list[int]:
    """Whether all that is asked is common, and what each token weighs; nothing for a common one."""
    count = ctx.tx.documents.count
    total = await count(collection, limit=ROWS_MAX)
    held = {
        token: max(1, await count(collection, limit=COUNTED_MAX, words=(token,)))
        for token in sought.every
    }
    is_common = all(held[token] >= COUNTED_MAX for token in sought.tokens)
    table = Frequencies(total, held, behind=None)
    return [
        is_common and bool(sought.tokens),
        *(
            max(1, round(share * table.idf(token) * WEIGHT))
            if is_common or held[token] < COUNTED_MAX
            else 0
            for token, share in sought.every.items()
        ),
    ]
