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
from svc_core.search.listing import WEIGHT, Indexed, Match, TokenQuery, WeightedQuery
from svc_core.text.frequencies import Frequencies
from svc_core.wire.constraints import Doc, Example, MaxLen

T = TypeVar("T")
_Pair = tuple[Document[T], Document[Any]]  # a row, and what holds its words
_Hit = tuple[Document[T], Match | None]
_HitPage = tuple[list[_Hit[T]], Position | None]

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
    looked up, or that `keep` goes by. It `is_sorted` where the order was asked for. `text_rows` are
    the rows that hold the words of these, by the same ids and no earlier in order.
    """

    where: Mapping[str, Maybe[str | tuple[str, ...]]]
    order: str | None = None
    is_sorted: bool = False
    keep: Callable[[T], bool] | None = None
    asked: Mapping[str, tuple[str, ...]] = field(factory=dict)
    bounds: Bounds = field(factory=Bounds)
    text_rows: Collection[Any] | None = None

    @property
    def key_filters(self) -> dict[str, tuple[str, ...]]:
        """The filters that were sent."""
        return {
            name: (value,) if isinstance(value, str) else value
            for name, value in self.where.items()
            if not isinstance(value, Unset)
        }

    @property
    def filters(self) -> Filters:
        """What the store narrows a list to."""
        return {"where": self.key_filters, **self.bounds}


async def page(
    ctx: Context, collection: Collection[T], index: Indexed[Any], request: Any, query: Wanted[T]
) -> Page[T]:
    """One page of what a request asks for by its `q`, `include`, `cursor` and `limit`.

    `index` reads the rows, or those beside them.

    Raises:
        Problem: INVALID_CURSOR when the cursor is not one of this list with these filters.
    """
    text = given(request.q, None)
    identity = {**query.key_filters, **query.asked, "q": (text or "", str(query.is_sorted))}
    binding = ctx.list_binding(identity, query.order, **query.bounds)
    carry = [] if isinstance(request.cursor, Unset) else ctx.unsealed(request.cursor, binding)
    after = Position(*carry[:3]) if carry else None
    question = None
    if text is not None:
        question = await _weigh(ctx, query.text_rows or collection, index.query(text), carry[3:])
    search = _ListSearch(collection, index, query, question)
    if search.is_ranked and query.is_sorted:
        rows, end = await _sort_best(ctx, search, after, request.limit)
    else:
        rows, end = await _scan(ctx, search, after, request.limit)
    next_carry = [] if end is None else [end.rank, *search.weights]
    has_match = "match" in given(request.include, ())
    lines = tuple(with_match(row.raw, match) if has_match else row.raw for row, match in rows)
    return Page(lines, ctx.seal_cursor(end, binding, next_carry))


def with_match(row: bytes, match: Match | None) -> bytes:
    """The row with why it was found; null where nothing was asked."""
    return b'%b,"match":%b}' % (row[:-1], wire.dumps(match))


@frozen
class _ListSearch(Generic[T]):
    """What is looked for, and in what."""

    collection: Collection[T]
    index: Indexed[Any]
    query: Wanted[T]
    question: WeightedQuery | None

    @property
    def text_rows(self) -> Collection[Any] | None:
        """What holds the words of the rows, where it is not they."""
        return self.query.text_rows if self.question is not None else None

    @property
    def is_ranked(self) -> bool:
        """Whether the store ranks the rows by a question."""
        return self.question is not None and not self.question.is_common

    @property
    def weights(self) -> list[int]:
        """What a cursor carries: if the question is common, then the weights of its tokens."""
        if self.question is None:
            return []
        shares = self.question.query.shares
        return [
            int(self.question.is_common),
            *(self.question.weights.get(token, 0) for token in shares),
        ]

    async def fetch(
        self, ctx: Context, after: Position | None, limit: int
    ) -> tuple[list[_Pair[T]], Position | None]:
        """Some rows of the store, as far as that can tell, and where they go on."""
        documents = ctx.tx.documents
        part = await self._part(ctx, after, limit)
        if self.text_rows is None:
            return [(row, row) for row in part.rows], part.end
        ids = [row.id for row in part.rows]
        if self.is_ranked:
            rows = await documents.get_many(self.collection, ids)
            return [(rows[text.id], text) for text in part.rows if text.id in rows], part.end
        texts = await documents.get_many(self.text_rows, ids)
        return [(row, texts[row.id]) for row in part.rows if row.id in texts], part.end

    async def _part(self, ctx: Context, after: Position | None, limit: int) -> Slice[Any]:
        filters, documents = self.query.filters, ctx.tx.documents
        if self.question is None or not self.is_ranked:
            return await documents.scan(
                self.collection, order=self.query.order, after=after, limit=limit, **filters
            )
        if self.text_rows is not None:
            filters = {"start": filters.get("start")}
        collection = self.text_rows or self.collection
        return await documents.search(
            collection, self.question.store_tokens, after=after, limit=limit, **filters
        )

    def judge(self, pair: _Pair[T]) -> tuple[bool, Match | None]:
        """Whether a row is one that is looked for, and why."""
        row, words = pair
        match = None
        if self.question is not None:
            match = self.index.match(self._words(words), self.question)
            if match is None:
                return False, None
        if self.text_rows is not None and self.is_ranked and not self._is_within(row):
            return False, None
        return self.query.keep is None or self.query.keep(self.collection.decode(row.raw)), match

    def _words(self, words: Document[Any]) -> Any:
        return (self.text_rows or self.collection).decode(words.raw)

    def _is_within(self, document: Document[T]) -> bool:
        """Whether a row that the store did not narrow is where it must lie."""
        row, filters = self.collection.decode(document.raw), self.query.filters
        numbers = [(document.order, (filters.get("start"), filters.get("end")))]
        for name, span in (filters.get("ranges") or {}).items():
            number = self.collection.numbers[name](row)
            numbers.append((NO_NUMBER if number is None else number, span))
        return all(
            (low is None or number >= low) and (high is None or NO_NUMBER < number <= high)
            for number, (low, high) in numbers
        ) and all(
            not set(values).isdisjoint(self._values(name, row))
            for name, values in self.query.key_filters.items()
        )

    def _values(self, name: str, row: T) -> Iterable[str | None]:
        facet, key = self.collection.facets.get(name), self.collection.keys.get(name)
        return facet(row) if facet else (key(row),) if key else ()

    def number(self, row: T) -> int:
        """What the list is sorted by."""
        if self.query.order is None:
            return self.collection.order(row)
        number = self.collection.numbers[self.query.order](row)
        return NO_NUMBER if number is None else number

    def place(self, pair: _Pair[T]) -> Position:
        """Where the list goes on after a row."""
        document, words = pair
        if self.question is not None and self.is_ranked:
            rank = self.index.rank(self._words(words), self.question)
            return Position(words.order, document.id, rank)
        return Position(self.number(self.collection.decode(document.raw)), document.id)

    def is_over(self, end: Position) -> bool:
        """Whether no row after this one can be about the question."""
        return self.question is not None and self.is_ranked and end.rank < self.question.threshold


async def _scan(
    ctx: Context, search: _ListSearch[T], after: Position | None, limit: int
) -> _HitPage[T]:
    """Rows in their order, and where to go on."""
    rows: list[_Hit[T]] = []
    is_judged = search.question is not None or search.query.keep is not None
    size = max(limit, AT_ONCE) if is_judged else limit
    for _ in range(0, LOOKED_AT_MAX, size):
        part, after = await search.fetch(ctx, after, size)
        for at, pair in enumerate(part):
            is_match, match = search.judge(pair)
            if is_match:
                rows.append((pair[0], match))
            if len(rows) == limit and at + 1 < len(part):
                is_over = search.is_over(search.place(part[at + 1]))
                return rows, None if is_over else search.place(pair)
        if after is None or search.is_over(after):
            return rows, None
        if len(rows) == limit:
            break
    return rows, after


async def _sort_best(
    ctx: Context, search: _ListSearch[T], after: Position | None, limit: int
) -> _HitPage[T]:
    """The best rows in another order, and where to go on."""
    best, _ = await _scan(ctx, search, None, SORTED_MAX)
    keys = {
        document.id: (search.number(search.collection.decode(document.raw)), document.id)
        for document, _ in best
    }
    ranking = sorted(best, key=lambda hit: keys[hit[0].id], reverse=True)
    rest = [hit for hit in ranking if after is None or keys[hit[0].id] < (after.order, after.id)]
    end = Position(*keys[rest[limit - 1][0].id]) if len(rest) > limit else None
    return rest[:limit], end


async def _weigh(
    ctx: Context, collection: Collection[Any], query: TokenQuery, carry: Sequence[int]
) -> WeightedQuery:
    """The question with the weights of its tokens, those that a cursor carries where it does."""
    is_common, *weights = carry or await _token_weights(ctx, collection, query)
    table = {token: weight for token, weight in zip(query.shares, weights, strict=True) if weight}
    return WeightedQuery(query, table, bool(is_common))


async def _token_weights(ctx: Context, collection: Collection[Any], query: TokenQuery) -> list[int]:
    """Whether all that is asked is common, and what each token weighs; nothing for a common one."""
    count = ctx.tx.documents.count
    total = await count(collection, limit=ROWS_MAX)
    counts = {
        token: max(1, await count(collection, limit=COUNTED_MAX, words=(token,)))
        for token in query.shares
    }
    is_common = all(counts[token] >= COUNTED_MAX for token in query.tokens)
    table = Frequencies(total, counts, behind=None)
    return [
        is_common and bool(query.tokens),
        *(
            max(1, round(share * table.idf(token) * WEIGHT))
            if is_common or counts[token] < COUNTED_MAX
            else 0
            for token, share in query.shares.items()
        ),
    ]
