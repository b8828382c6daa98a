"""Pages of a list that is narrowed by filters and searched by words, with ranks and cursors.

Rule 1: the weights of words follow from how many rows hold each, counted up to a bound, when the
        first page is read. The cursor carries them, so that pages join while rows come in.
Rule 2: what the store cannot filter by is checked on the rows that it returns, a bounded number
        for one page: a page may be short, and its cursor goes on.
Rule 3: with a question and a sort order, a bounded number of the best rows is sorted.
Rule 4: a word that very many rows hold is searched only where the question has no rarer word. Rows
        that hold it then come in the order of the list, as the word does not rank them.
Rule 5: where the texts of rows are stored in rows of their own, those are searched, and the
        filters are checked row by row (Rule 2).
"""

# A list has three forms, and what the cursor holds depends on which one it is:
#
#   no question, or a common one   the order of the list            (order, id)
#   a question                     the store's rank by weights      (rank, order, id) and weights
#   a question and a sort          the best rows, sorted again      (number, id) and weights
#
# Why the weights travel: a rank is a sum of weights, and a weight depends on how many rows hold a
# word. Between two pages rows come and go; with weights counted anew, the rank at which the first
# page ended would mean another place, and rows would be repeated or skipped. With the weights of
# the first page a row has the same rank on every page, so keyset paging is exact for rows that
# stay, and new rows appear where their rank puts them. The weights are 16 tokens and 16 synonyms
# at most, which keeps the cursor short.
#
# The cursor is sealed for its list: `ctx.list_binding` hashes filters, order and question, so a
# cursor of another list or of changed filters is refused and never read as a position in this one.
#
# Weak spots: a common word is one that `COUNTED_MAX` rows hold when the first page is read, so the
# same question may be ranked today and listed tomorrow; and a sorted question has at most
# `SORTED_MAX` rows.

from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

from attrs import field, frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.contract.result import Page, Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import QUERY
from svc_core.operation.filters import Range, Selection, UnboundedValues, Values, list_selection
from svc_core.operation.members import NOT_BLANK
from svc_core.operation.ports import Collection, Position, RowBounds, Slice, StoredRow
from svc_core.operation.ports.documents import NO_NUMBER, Filters
from svc_core.operation.ports.selection import NumberSpan, criteria_of, number_bounds
from svc_core.search.corpus import holders, term_weights
from svc_core.search.field_index import WEIGHT, FieldIndex, Match, TokenQuery, WeightedQuery
from svc_core.text.frequencies import Frequencies
from svc_core.wire.constraints import Doc, Example, MaxLen

T = TypeVar("T")
_Pair = tuple[StoredRow[T], StoredRow[Any]]  # a row, and what holds its words
_Hit = tuple[StoredRow[T], Match | None]
_HitPage = tuple[list[_Hit[T]], Position | None]

COUNTED_MAX = 10_000  # rows that are counted for one word; a word in so many rows is common
ROWS_MAX = 100_000  # rows of the list that are counted, as the total behind the rarity of words
SORTED_MAX = 200  # the best rows of a question that are sorted by another order
AT_ONCE, LOOKED_AT_MAX = 100, 1_000  # rows read at once, and for one page: about 0.2 s

Q = Annotated[
    Maybe[str],
    QUERY,
    MaxLen(300),
    NOT_BLANK,
    Doc(
        "Words to search for, the best match first unless `sort` is given. `-word` "
        "excludes; words in quotation marks must stand side by side."
    ),
    Example("container port"),
]
Include = Annotated[
    UnboundedValues[Literal["match"]], Doc("`match` tells with `q` why each row was found.")
]


LookUp = Callable[[Context, Values], Awaitable[Values]]
"""Turns the values of a filter, as they were sent, into those that rows hold now."""
Completion = Callable[[Context, Sequence[bytes]], Awaitable[Sequence[bytes]]]
"""Adds to stored rows what is looked up when they are read."""


_WORDLESS: Final = FieldIndex[Any](lambda _: {})


async def _as_stored(_: Context, rows: Sequence[bytes]) -> Sequence[bytes]:
    return rows


@frozen
class Listing(Generic[T]):
    """How the rows of a collection are listed and read.

    What narrows and sorts them is declared by the fields of the request (`FilterFields`). Where a
    list takes a question, `words` indexes its rows, or the `text_rows` that hold their words by the
    same ids and no earlier in order. `look_ups` are of filters whose values depend on other rows,
    by index. `complete` adds what is not stored. Of filters that very many rows match, the store
    walks the first one in `rarest`.
    """

    collection: Collection[T]
    words: FieldIndex[Any] | None = None
    text_rows: Collection[Any] | None = None
    look_ups: Mapping[str, LookUp] = field(factory=dict)
    rarest: tuple[str, ...] = ()
    complete: Completion = _as_stored

    @property
    def texts(self) -> Collection[Any]:
        """The collection that holds the words of its rows."""
        return self.text_rows or self.collection

    async def page(
        self,
        ctx: Context,
        request: Any,
        choice: Selection | None = None,
        *,
        ranges: Mapping[str, Range] | None = None,
        keep: Callable[[T], bool] | None = None,
        binding: Mapping[str, Values] | None = None,
    ) -> Page[T]:
        """One page of the rows that a request selects, by its filters, `q`, `cursor` and `limit`.

        A `choice` says what it selects where its own filters do not say all of it. `ranges` that
        depend on more than the request narrow it further, and `keep` says of a row whether it is
        one; `binding` is what these follow from, as it was sent.

        Raises:
            Problem: INVALID_CURSOR when the cursor is not one of this list with these filters.
        """
        choice = choice or list_selection(request)
        text = None if self.words is None else or_default(request.q, None)
        identity = {**choice.where, **(binding or {}), "q": (text or "", str(choice.is_sorted))}
        bounds: RowBounds = {**choice.bounds, "ranges": choice.ranges}
        digest = ctx.list_binding(identity, choice.order, form=self.collection.form, **bounds)
        carry = (
            [] if isinstance(request.cursor, Unset) else ctx.unseal_cursor(request.cursor, digest)
        )
        after = Position(*carry[:3]) if carry else None
        filters: Filters = {
            **choice.bounds,
            "where": await self.resolve(ctx, choice.where),
            "ranges": {**choice.ranges, **(ranges or {})},
        }
        rows: list[_Hit[T]]
        weights: list[int] = []
        if text is None and keep is None:
            part = await ctx.tx.documents.scan(
                self.collection, order=choice.order, after=after, limit=request.limit, **filters
            )
            rows, end = [(row, None) for row in part.rows], part.end
        else:
            question = await self._question(ctx, text, carry[3:])
            index = self.words or _WORDLESS
            search = _ListSearch(self, filters, choice.order, keep, index, question)
            is_sorted = search.is_ranked and choice.is_sorted
            rows, end = await (_sort_best if is_sorted else _scan)(
                ctx, search, after, request.limit
            )
            weights = search.weights
        next_carry = [] if end is None else [end.rank, *weights]
        is_wanted = "match" in or_default(getattr(request, "include", UNSET), ())
        raws = [with_match(row.raw, match) if is_wanted else row.raw for row, match in rows]
        raws = list(await self.complete(ctx, raws))
        return Page(tuple(raws), ctx.seal_cursor(end, digest, next_carry))

    async def _question(
        self, ctx: Context, text: str | None, carry: Sequence[int]
    ) -> WeightedQuery | None:
        """The question with the weights of its tokens; None where none is asked."""
        if self.words is None or text is None:
            return None
        query = self.words.query(text)
        if len(carry) != 1 + len(query.shares):  # at first, or of a version that counts otherwise
            carry = await _token_weights(ctx, self.texts, query)
        is_common, *weights = carry
        table = {token: n for token, n in zip(query.shares, weights, strict=True) if n}
        return WeightedQuery(query, table, bool(is_common))

    async def resolve(self, ctx: Context, where: Mapping[str, Values]) -> dict[str, Values]:
        """The filters as the store takes them: looked up, the rarest first."""
        clauses: dict[str, Values] = {}
        for name in sorted(where, key=lambda name: (*self.rarest, name).index(name)):
            look_up = self.look_ups.get(name)
            clauses[name] = where[name] if look_up is None else await look_up(ctx, where[name])
        return clauses

    async def row(self, ctx: Context, id_: str) -> Single[T]:
        """One row, also by a former id where the collection has these as the facet `key`.

        Raises:
            Problem: NOT_FOUND.
        """
        load = ctx.load_by_key if "key" in self.collection.facets else ctx.load
        document = await load(self.collection, id_)
        (raw,) = await self.complete(ctx, [document.raw])
        return single_of(document, raw)


def single_of(document: StoredRow[Any], raw: bytes) -> Single[Any]:
    """A row with what is looked up on reading, which may change where the row does not."""
    return Single(raw, (*document.tag, sha256(raw).hexdigest()[:16]))


def with_match(row: bytes, match: Match | None) -> bytes:
    """The row with its `match`; null where the list was not searched."""
    return b'%b,"match":%b}' % (row[:-1], wire.to_bytes(match))


@frozen
class _ListSearch(Generic[T]):
    """One search of a list: its declaration, the filters of the store, the order and question."""

    listing: Listing[T]
    filters: Filters
    order: str | None
    keep: Callable[[T], bool] | None
    index: FieldIndex[Any]
    question: WeightedQuery | None

    @property
    def text_rows(self) -> Collection[Any] | None:
        """The collection with the texts of the rows; None where the rows hold them."""
        return self.listing.text_rows if self.question is not None else None

    @property
    def is_ranked(self) -> bool:
        """Whether the store ranks the rows by a question."""
        return self.question is not None and not self.question.is_common

    @property
    def weights(self) -> list[int]:
        """The state that a cursor carries: 1 for a common question, else 0, then the weights."""
        if self.question is None:
            return []
        weights, shares = self.question.weights, self.question.query.shares
        return [int(self.question.is_common), *(weights.get(token, 0) for token in shares)]

    async def fetch(
        self, ctx: Context, after: Position | None, limit: int
    ) -> tuple[list[_Pair[T]], Position | None]:
        """The next rows of the store, each with the row of its text, and the position after."""
        part = await self.fetch_rows(ctx, after, limit)
        if self.text_rows is None:
            return [(row, row) for row in part.rows], part.end
        others = self.listing.collection if self.is_ranked else self.text_rows
        beside = await ctx.tx.documents.get_many(others, [row.id for row in part.rows])
        pairs = [(row, beside[row.id]) for row in part.rows if row.id in beside]
        return [pair[::-1] for pair in pairs] if self.is_ranked else pairs, part.end

    async def fetch_rows(self, ctx: Context, after: Position | None, limit: int) -> Slice[Any]:
        """The next rows of the store: those of the list, or those of their texts."""
        filters, documents = self.filters, ctx.tx.documents
        if self.question is None or not self.is_ranked:
            return await documents.scan(
                self.listing.collection, order=self.order, after=after, limit=limit, **filters
            )
        if self.text_rows is not None:
            filters = {"start": filters.get("start")}
        return await documents.search(
            self.listing.texts, self.question.store_tokens, after=after, limit=limit, **filters
        )

    def judge(self, pair: _Pair[T]) -> tuple[bool, Match | None]:
        """Whether a row matches, and the match where the list is searched."""
        row, words = pair
        question, texts = self.question, self.listing.texts
        match = None if question is None else self.index.match(texts.decode(words.raw), question)
        is_unfiltered = self.text_rows is not None and self.is_ranked
        if (question and not match) or (is_unfiltered and not self._is_within(row)):
            return False, None
        return self.keep is None or self.keep(self.listing.collection.decode(row.raw)), match

    def _is_within(self, document: StoredRow[T]) -> bool:
        """Whether a row meets the filters, for rows that the store could not filter."""
        record = self.listing.collection.record(self.listing.collection.decode(document.raw))
        criteria = criteria_of(self.listing.collection, **self.filters)
        values = {**{name: (key,) for name, key in record.keys.items()}, **record.facets}
        order = NumberSpan("", *number_bounds(criteria.start, criteria.end))
        return (
            order.contains(record.order)
            and all(span.contains(record.numbers[span.name]) for span in criteria.spans)
            and all(set(values[name]) & set(row) for name, row in criteria.where.items())
        )

    def number(self, stored: StoredRow[T]) -> int:
        """The number by which the list sorts a row."""
        row, collection = self.listing.collection.decode(stored.raw), self.listing.collection
        number = collection.numbers[self.order](row) if self.order else collection.order(row)
        return NO_NUMBER if number is None else number

    def place(self, pair: _Pair[T]) -> Position:
        """The position in the list after a row."""
        document, words = pair
        if self.question is not None and self.is_ranked:
            rank = self.index.rank(self.listing.texts.decode(words.raw), self.question)
            return Position(words.order, document.id, rank)
        return Position(self.number(document), document.id)

    def is_over(self, end: Position) -> bool:
        """Whether no row after this position can match the question."""
        return self.question is not None and self.is_ranked and end.rank < self.question.threshold


async def _scan(
    ctx: Context, search: _ListSearch[T], after: Position | None, limit: int
) -> _HitPage[T]:
    """A page of matching rows in the order of the store, and the position after it."""
    rows: list[_Hit[T]] = []
    size = max(limit, AT_ONCE)
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
    """A page of the best rows in the order that the request asks for, and the position after it."""
    best, _ = await _scan(ctx, search, None, SORTED_MAX)
    keys = {row.id: (search.number(row), row.id) for row, _ in best}
    ranking = sorted(best, key=lambda hit: keys[hit[0].id], reverse=True)
    rest = [hit for hit in ranking if after is None or keys[hit[0].id] < (after.order, after.id)]
    end = Position(*keys[rest[limit - 1][0].id]) if len(rest) > limit else None
    return rest[:limit], end


async def _token_weights(ctx: Context, collection: Collection[Any], query: TokenQuery) -> list[int]:
    """Whether the question is common (1 or 0), then the weight of each token.

    Beside rarer tokens a common one has the weight 0.
    """
    total = await ctx.tx.documents.count(collection, limit=ROWS_MAX)
    counts = await holders(ctx, collection, query.shares, COUNTED_MAX)
    is_common = bool(query.tokens) and all(counts[w] >= COUNTED_MAX for w in query.tokens)
    rarer = {w: n for w, n in query.shares.items() if is_common or counts[w] < COUNTED_MAX}
    table = Frequencies(total, {word: max(1, n) for word, n in counts.items()}, base=None)
    weights = term_weights(rarer, table, WEIGHT)
    return [is_common, *(weights.get(token, 0) for token in query.shares)]
